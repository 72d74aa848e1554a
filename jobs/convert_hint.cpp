// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/convert_hint.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace runner {
namespace {

/// A word as a shell takes it.
std::string shell_word(const std::string& word) {
    constexpr std::string_view marks = "/._-:+,=@%";
    const bool plain = std::all_of(word.begin(), word.end(), [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               marks.find(c) != std::string_view::npos;
    });
    if (plain) {
        return word;
    }
    std::string quoted = "'";
    for (const char c : word) {
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return quoted + "'";
}

} // namespace

std::string convert_command(const InputDataset& source, const std::string& suffix) {
    const std::filesystem::path file(source.file);
    const std::filesystem::path made =
        file.parent_path() / (file.stem().string() + "-" + suffix + ".h5");
    const std::string dataset =
        source.dataset.starts_with('/') ? source.dataset : "/" + source.dataset;
    return "runner convert " + shell_word(source.file + ":" + dataset) + " " +
           shell_word(made.string() + ":" + dataset);
}

std::string convert_hint(const InputDataset& source, const std::string& type) {
    return source.file.empty()
               ? "Generate it as " + type
               : "Convert it: " + convert_command(source, type) + " --dtype " + type;
}

} // namespace runner
