// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/text_file.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/files/own_file.hpp"

#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <span>

namespace runner {

void write_text_file(const std::string& path, const std::string& text) {
    replace_file(path, std::as_bytes(std::span(text)));
}

std::string read_text_file(const std::string& path, std::int64_t most_bytes) {
    const auto refuse = [&](const std::string& why) {
        throw Error(ExitCode::input, {"cannot read", path, why, "Check the path"});
    };
    std::error_code failure;
    if (std::filesystem::is_directory(path, failure)) {
        refuse("it is a directory");
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        refuse(errno_text(errno));
    }
    std::string text;
    std::array<char, 65536> part{};
    while (file.read(part.data(), part.size()) || file.gcount() > 0) {
        text.append(part.data(), static_cast<std::size_t>(file.gcount()));
        if (static_cast<std::int64_t>(text.size()) > most_bytes) {
            refuse("it has more than " + size_text(most_bytes));
        }
    }
    if (file.bad()) {
        refuse(errno_text(errno));
    }
    return text;
}

std::string utc_text(long long seconds_since_1970) {
    const auto time = static_cast<std::time_t>(seconds_since_1970);
    std::tm parts{};
    std::array<char, 32> text{};
    if (::gmtime_r(&time, &parts) == nullptr) {
        return "";
    }
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

} // namespace runner
