// SPDX-License-Identifier: BSD-3-Clause
#include "views/frame_angles.hpp"

#include "base/element_type.hpp"
#include "base/format.hpp"
#include "io/inspect/exchange_names.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <vector>

namespace runner {
namespace {

std::vector<double> numbers_of(const PlainValue& value) {
    std::vector<double> numbers(static_cast<std::size_t>(value.count()));
    visit_element_type(value.type, [&](auto number) {
        const std::byte* from = value.bytes.data();
        for (double& each : numbers) {
            std::memcpy(&number, from, sizeof(number));
            each = static_cast<double>(number);
            from += sizeof(number);
        }
    });
    return numbers;
}

} // namespace

std::optional<FrameAngles> frame_angles(const Metadata& metadata) {
    const auto are_angles = [&](const Coordinates& each) {
        return each.axis == 0 && (each.name == "rotation_angle" || each.name == exchange_angles) &&
               each.values.kind == PlainValue::Kind::number && !metadata.shape.empty() &&
               each.values.count() == metadata.shape.front();
    };
    const auto found =
        std::find_if(metadata.coordinates.begin(), metadata.coordinates.end(), are_angles);
    if (found == metadata.coordinates.end()) {
        return std::nullopt;
    }
    const std::vector<double> all = numbers_of(found->values);
    std::vector<double> finite;
    std::copy_if(all.begin(), all.end(), std::back_inserter(finite),
                 [](double angle) { return std::isfinite(angle); });
    if (finite.empty()) {
        return std::nullopt;
    }
    const auto [least, greatest] = std::minmax_element(finite.begin(), finite.end());
    FrameAngles angles{std::ssize(all), all.front(), all.back(), *least, *greatest};
    for (const NamedValue& each : found->attributes) {
        if ((each.name == "units" || each.name == "unit") && each.value.texts.size() == 1) {
            angles.unit = each.value.texts.front();
        }
    }
    return angles;
}

std::string to_text(const FrameAngles& angles) {
    const std::string unit = angles.unit.empty() ? "" : " " + angles.unit;
    std::string text =
        fmt::format("{} from {:g} to {:g}{}", angles.count, angles.first, angles.last, unit);
    const bool spans = (angles.first == angles.least && angles.last == angles.greatest) ||
                       (angles.first == angles.greatest && angles.last == angles.least);
    return spans ? text
                 : text + fmt::format(", between {:g} and {:g}", angles.least, angles.greatest);
}

} // namespace runner
