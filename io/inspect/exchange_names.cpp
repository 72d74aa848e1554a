// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/exchange_names.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace runner {
namespace {

constexpr std::string_view group_name = "exchange";

bool is_exchange(std::string_view group) {
    if (!group.starts_with(group_name)) {
        return false;
    }
    const std::string_view rest = group.substr(group_name.size());
    return rest.empty() ||
           (rest.size() > 1 && rest.front() == '_' &&
            std::all_of(rest.begin() + 1, rest.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

std::string_view dataset_of(FrameRole role) {
    return role == FrameRole::flat ? "data_white"
                                   : (role == FrameRole::dark ? "data_dark" : "data");
}

} // namespace

std::optional<FrameRole> exchange_role(const std::string& dataset) {
    const std::size_t slash = dataset.rfind('/');
    if (slash == std::string::npos) {
        return std::nullopt;
    }
    const std::string_view path(dataset);
    const std::string_view group = path.substr(0, slash);
    const std::size_t above = group.rfind('/');
    if (!is_exchange(above == std::string_view::npos ? group : group.substr(above + 1))) {
        return std::nullopt;
    }
    for (const FrameRole role : {FrameRole::projection, FrameRole::flat, FrameRole::dark}) {
        if (path.substr(slash + 1) == dataset_of(role)) {
            return role;
        }
    }
    return std::nullopt;
}

bool counts_frames(const Axes& axes) {
    return axes.find(exchange_angles).value_or(0) == 0 && axes.find("frame").value_or(0) == 0;
}

std::string exchange_field(const std::string& data, FrameRole role) {
    return data.substr(0, data.rfind('/') + 1).append(dataset_of(role));
}

} // namespace runner
