// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/invalid_marks.hpp"

#include "base/format.hpp"
#include "io/inspect/attribute_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

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

constexpr const char* mask_name = "/pixel_mask";
constexpr const char* dectris_group = "/detectorSpecific";

/// The groups with a mask where a detector of `group` may have one. Several, where the file does
/// not say which of several detectors' masks it is.
std::vector<std::string> groups_with_mask(const FileHandle& file, const std::string& group) {
    const auto has_mask = [&file](const std::string& place) {
        return is_own_object(file, place + mask_name);
    };
    for (const std::string& place :
         {group, group + dectris_group, group + "/detector", group + "/instrument/detector",
          group + "/instrument/detector" + dectris_group}) {
        if (has_mask(place)) {
            return {place};
        }
    }
    std::vector<std::string> found;
    for (const std::string& name : names_in_group(file, group + "/instrument")) {
        std::string detector = group;
        detector.append("/instrument/").append(name);
        if (!has_mask(detector)) {
            detector += dectris_group;
        }
        if (has_mask(detector)) {
            found.push_back(std::move(detector));
        }
    }
    return found;
}

/// The same for the groups that a dataset is in, the nearest first.
std::vector<std::string> groups_with_mask_around(const FileHandle& file, const std::string& path) {
    for (std::size_t end = path.rfind('/'); end != std::string::npos;
         end = end == 0 ? std::string::npos : path.rfind('/', end - 1)) {
        std::vector<std::string> found = groups_with_mask(file, path.substr(0, end));
        if (!found.empty()) {
            return found;
        }
    }
    return {};
}

/// What the first soft link of a path makes of it; nothing where there is none that can be read.
std::optional<std::string> behind_soft_link(const FileHandle& file, const std::string& path) {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const std::string part = path.substr(0, end);
        H5L_info_t link{};
        if (H5Lget_info(file.get(), part.c_str(), &link, H5P_DEFAULT) < 0 ||
            link.type == H5L_TYPE_EXTERNAL) {
            return std::nullopt;
        }
        if (link.type == H5L_TYPE_SOFT) {
            std::string target(link.u.val_size, '\0');
            if (target.empty() || H5Lget_val(file.get(), part.c_str(), target.data(), target.size(),
                                             H5P_DEFAULT) < 0) {
                return std::nullopt;
            }
            target.resize(std::min(target.find('\0'), target.size()));
            if (!target.starts_with('/')) {
                target.insert(0, part.substr(0, part.rfind('/') + 1));
            }
            return end == std::string::npos ? target : target.append(path.substr(end));
        }
        if (end == std::string::npos) {
            return std::nullopt;
        }
    }
}

/// Where the dataset of a path is itself, as far as soft links lead to it.
std::string real_path(const FileHandle& file, std::string path) {
    constexpr int most_links = 16;
    for (int i = 0; i < most_links; ++i) {
        std::optional<std::string> next = behind_soft_link(file, path);
        if (!next) {
            return path;
        }
        path = *std::move(next);
    }
    return path;
}

/// Detectors by Dectris write the type's largest number for saturated pixels and gaps.
void find_largest(DatasetInfo& info) {
    if (!is_number(info.array.type)) {
        return;
    }
    visit_element_type(info.array.type, [&info](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T>) {
            constexpr T largest = std::numeric_limits<T>::max();
            info.invalid.push_back("saturated or gap = " + std::to_string(largest));
            info.invalid_value =
                info.invalid_value ? info.invalid_value : static_cast<double>(largest);
        }
    });
}

void find_masks(const FileHandle& file, const std::string& path, DatasetInfo& info) {
    const std::string real = real_path(file, path);
    std::vector<std::string> groups = groups_with_mask_around(file, real);
    if (groups.empty() && real != path) {
        groups = groups_with_mask_around(file, path);
    }
    for (const std::string& group : groups) {
        constexpr int most = 16; // pixel_mask_N
        for (int i = 0; i <= most; ++i) {
            const std::string mask = group + mask_name + (i == 0 ? "" : fmt::format("_{}", i));
            if (mask == path || mask == real) {
                info.masks.clear(); // a mask has none
                return;
            }
            if (is_own_object(file, mask)) {
                info.masks.push_back(mask);
            }
        }
    }
    for (const std::string& mask : info.masks) {
        info.invalid.push_back(mask_mark(mask));
    }
    if (groups.size() > 1) { // which of them it is, the file does not say
        info.masks.clear();
    }
    if (groups.size() == 1 &&
        (groups[0].ends_with(dectris_group) || is_own_object(file, groups[0] + dectris_group))) {
        find_largest(info);
    }
}

} // namespace

std::vector<std::string> names_in_group(const FileHandle& file, const std::string& group) {
    constexpr std::size_t most = 4096;
    std::vector<std::string> names;
    const auto add = [](hid_t /*group*/, const char* name, const H5L_info_t* /*link*/,
                        void* list) -> herr_t {
        auto& all = *static_cast<std::vector<std::string>*>(list);
        all.emplace_back(name);
        return all.size() < most ? 0 : 1;
    };
    if (is_own_object(file, group)) {
        (void)H5Literate_by_name(file.get(), group.c_str(), H5_INDEX_NAME, H5_ITER_INC, nullptr,
                                 add, &names, H5P_DEFAULT);
    }
    return names;
}

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
    find_masks(file, path.starts_with('/') ? path : "/" + path, info);
    for (const char* name : range_attributes) {
        const std::optional<AttributeValue> value = attribute_of(dataset.get(), name);
        if (const auto text = value ? numbers_text(*value) : std::nullopt) {
            info.invalid.push_back(range_mark(std::string(name) + " = " + *text));
        }
    }
}

} // namespace runner
