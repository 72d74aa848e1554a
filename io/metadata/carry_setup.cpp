// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/carry_setup.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>

namespace runner {
namespace {

void lose(ScanNumber& number, const std::string& why) {
    if (number.usable()) {
        number.fault = number.path + " " + why;
    }
}

void multiply(ScanNumber& number, std::int64_t by) {
    if (by == 1) {
        return;
    }
    const double product = number.value * static_cast<double>(by);
    visit_element_type(number.type, [&]<class T>(T /*zero*/) {
        if constexpr (std::is_floating_point_v<T>) {
            number.value = static_cast<double>(static_cast<T>(product));
        } else if (product < static_cast<double>(std::numeric_limits<T>::max())) {
            number.value = product;
        } else {
            lose(number, "has a type that is too small for larger pixels");
        }
    });
}

} // namespace

ScanSetup lost_setup(ScanSetup setup, const std::string& why) {
    for (ScanNumber* const number :
         {&setup.energy, &setup.distance, &setup.x_pixel_size, &setup.y_pixel_size}) {
        lose(*number, why);
    }
    return setup;
}

ScanSetup setup_of_part(ScanSetup setup, const DatasetPart& part) {
    return part.dropped.empty() && part.step.empty()
               ? setup
               : lost_setup(std::move(setup), "is of other frames than input.select takes");
}

ScanSetup carried_setup(ScanSetup setup, const Likeness& output) {
    constexpr std::size_t axes = 3;
    bool keeps = output.values > Likeness::Values::foreign && output.axes.size() == axes;
    for (std::size_t i = 0; keeps && i < axes; ++i) {
        keeps = output.axes[i].axis == static_cast<std::int64_t>(i);
    }
    if (!keeps) {
        return lost_setup(std::move(setup), "is of frames, which a step before this one changes");
    }
    multiply(setup.y_pixel_size, output.axes[1].block);
    multiply(setup.x_pixel_size, output.axes[2].block);
    return setup;
}

} // namespace runner
