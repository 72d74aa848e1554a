// SPDX-License-Identifier: BSD-3-Clause
#include "views/made_text.hpp"

#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/formats/rows_format.hpp"

#include <filesystem>
#include <system_error>

namespace runner {
namespace {

std::string size_on_disk(const std::string& file) {
    std::error_code failure;
    const std::uintmax_t bytes = std::filesystem::file_size(file, failure);
    return failure ? "" : ", " + size_text(static_cast<std::int64_t>(bytes));
}

} // namespace

std::string made_text(const std::string& file, const std::string& dataset, const ArrayInfo& array) {
    const std::string name = rows_format_of(file) == nullptr ? file + ":" + dataset : file;
    return printable(name) + ": " + type_text(array) + " " + shape_text(array.shape) +
           size_on_disk(file) + "\n";
}

std::string made_picture_text(const std::string& file, std::int64_t width, std::int64_t height) {
    return fmt::format("{}: {} x {} pixels{}\n", printable(file), width, height,
                       size_on_disk(file));
}

std::string made_sequence_text(std::int64_t count, const std::string& first,
                               const std::string& last) {
    return counted(count, "picture") + ", " + printable(first) +
           (count == 1 ? "" : " to " + printable(last)) + "\n";
}

} // namespace runner
