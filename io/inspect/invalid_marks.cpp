// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/invalid_marks.hpp"

#include "base/format.hpp"
#include "io/inspect/attribute_list.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <variant>

namespace runner {
namespace {

std::string number_text(std::int64_t value) { return std::to_string(value); }
std::string number_text(double value) {
    return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value);
}

/// One number or several; nothing where it is no number.
std::optional<std::string> numbers_text(const AttributeValue& value) {
    std::string text;
    std::visit(
        [&text]<class T>(const T& each) {
            if constexpr (std::is_arithmetic_v<T>) {
                text = number_text(each);
            } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                                 std::is_same_v<T, std::vector<double>>) {
                for (const auto& number : each) {
                    text += (text.empty() ? "" : ", ") + number_text(number);
                }
            }
        },
        value);
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

/// A number, or an array that has one element; nothing for others.
std::optional<double> one_number(const AttributeValue& value) {
    std::optional<double> number;
    std::visit(
        [&number]<class T>(const T& each) {
            if constexpr (std::is_arithmetic_v<T>) {
                number = static_cast<double>(each);
            } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                                 std::is_same_v<T, std::vector<double>>) {
                number = each.size() == 1 ? std::optional(static_cast<double>(each.front()))
                                          : std::nullopt;
            }
        },
        value);
    return number;
}

/// The path of the mask of a detector; "" where there is none.
std::string pixel_mask(const FileHandle& file, const std::string& path) {
    for (std::size_t end = path.rfind('/'); end != std::string::npos;
         end = end == 0 ? std::string::npos : path.rfind('/', end - 1)) {
        const std::string group = path.substr(0, end);
        for (const char* place :
             {"/pixel_mask", "/detector/pixel_mask", "/instrument/detector/pixel_mask",
              "/instrument/detector/detectorSpecific/pixel_mask"}) {
            if (group + place != path && is_own_object(file, group + place)) {
                return group + place;
            }
        }
    }
    return "";
}

} // namespace

bool is_own_object(const FileHandle& file, const std::string& path) {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const std::string part = path.substr(0, end);
        H5L_info_t link{};
        if (H5Lexists(file.get(), part.c_str(), H5P_DEFAULT) <= 0 ||
            H5Lget_info(file.get(), part.c_str(), &link, H5P_DEFAULT) < 0 ||
            link.type != H5L_TYPE_HARD) {
            return false;
        }
        if (end == std::string::npos) {
            return true;
        }
    }
}

void find_invalid_marks(const FileHandle& file, const DatasetHandle& dataset,
                        const std::string& path, DatasetInfo& info) {
    for (const char* name : {"_FillValue", "missing_value"}) {
        const std::optional<AttributeValue> value = attribute_of(dataset.get(), name);
        if (const auto text = value ? numbers_text(*value) : std::nullopt) {
            info.invalid.push_back(std::string(name) + " = " + *text);
            info.invalid_value = info.invalid_value ? info.invalid_value : one_number(*value);
        }
    }
    const std::string mask = pixel_mask(file, path.starts_with('/') ? path : "/" + path);
    if (!mask.empty()) {
        info.invalid.push_back("pixel_mask = " + mask);
    }
}

} // namespace runner
