// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/match/volume.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/rows/axes.hpp"
#include "io/rows/row_geometry.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

namespace runner {
namespace {

constexpr std::uint32_t infinity_bits = 0x7F800000U;

/// Without their sign, the bits of floats order as their magnitudes, and infinity and NaN are last.
std::uint32_t magnitude_bits(float value) {
    return std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
}

std::uint32_t most_bits(const float* values, std::int64_t count) {
    std::uint32_t most = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        most = std::max(most, magnitude_bits(values[i]));
    }
    return most;
}

/// Calls `part` with each part of the elements: the first, and the values as float32.
template <class Part>
void for_floats(ElementType type, const std::byte* in, std::int64_t count, const Part& part) {
    if (type == ElementType::float32) {
        part(0, reinterpret_cast<const float*>(in), count);
        return;
    }
    constexpr std::int64_t most = 1 << 12;
    std::array<float, most> values;
    for (std::int64_t i = 0; i < count; i += most) {
        const std::int64_t here = std::min(most, count - i);
        load_elements(type, in + i * size_of(type), here, values.data());
        part(i, values.data(), here);
    }
}

std::uint32_t most_bits(ElementType type, const std::byte* in, std::int64_t count) {
    using Range = tbb::blocked_range<std::int64_t>;
    return tbb::parallel_reduce(
        Range(0, count, 1 << 16), std::uint32_t{0},
        [&](const Range& range, std::uint32_t most) {
            for_floats(type, in + range.begin() * size_of(type), range.end() - range.begin(),
                       [&](std::int64_t /*first*/, const float* values, std::int64_t part) {
                           most = std::max(most, most_bits(values, part));
                       });
            return most;
        },
        [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
}

/// The same of valid elements. `odd`: called with the first that is not finite, if there is one.
template <class Odd>
std::uint32_t most_valid_bits(const Volume& volume, const std::byte* in, std::int64_t count,
                              const Odd& odd) {
    return visit_element_type(volume.type, [&](auto zero) {
        using T = decltype(zero);
        const auto* elements = reinterpret_cast<const T*>(in);
        const InvalidTest<T> is_invalid = invalid_test<T>(*volume.invalid);
        const auto bits_of = [&](std::int64_t i) {
            return is_invalid(elements[i]) ? 0 : magnitude_bits(static_cast<float>(elements[i]));
        };
        using Range = tbb::blocked_range<std::int64_t>;
        const std::uint32_t all = tbb::parallel_reduce(
            Range(0, count, 1 << 16), std::uint32_t{0},
            [&](const Range& range, std::uint32_t most) {
                for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                    most = std::max(most, bits_of(i));
                }
                return most;
            },
            [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
        for (std::int64_t i = 0; all >= infinity_bits && i < count; ++i) {
            if (bits_of(i) >= infinity_bits) {
                odd(i, static_cast<float>(elements[i]));
            }
        }
        return all;
    });
}

[[noreturn]] void refuse_value(const Volume& volume, std::int64_t voxel, float value) {
    const std::array<std::int64_t, 3> at = {voxel / volume.layer_voxels(),
                                            voxel / volume.shape[2] % volume.shape[1],
                                            voxel % volume.shape[2]};
    throw Error(ExitCode::input,
                {"a voxel of the input is not a finite number",
                 volume.source.file + ":" + volume.source.dataset + ", voxel " +
                     toml_text(std::span<const std::int64_t>(at)) +
                     (volume.sample ? fmt::format(", sample {}", *volume.sample) : ""),
                 "it is " + toml_text(static_cast<double>(value)),
                 std::string("Patches with it have no distances: write a number "
                             "there") +
                     (std::isnan(value) ? ", or input.invalid = \"nan\" if it is "
                                          "no value"
                                        : "")});
}

/// The step that makes float32 of integers and adds no error to the rounding; "" for other
/// elements, whose range float64 cannot shift exactly.
std::string rescale_step(ElementType type) {
    return visit_element_type(type, [](auto zero) -> std::string {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) {
            using Limits = std::numeric_limits<T>;
            const std::array<double, 2> range = {static_cast<double>(Limits::min()),
                                                 static_cast<double>(Limits::max())};
            const std::string all = toml_text(std::span<const double>(range));
            return "kind = \"rescale\"; from = " + all + "; to = " + all + "; dtype = \"float32\"";
        } else {
            return "";
        }
    });
}

/// How to get the input as float32: with a step before this one, or, if no step makes it, with a
/// converted file.
std::string float_hint(const JobInput& input) {
    const std::string step = rescale_step(input.array.type);
    const std::string before = "Put a [[step]] before it, ";
    if (input.is_of_step) {
        return before + (step.empty()
                             ? "kind = \"convolve\"; row_taps = [1.0]; column_taps = [1.0]; "
                               "dtype = \"float32\""
                             : step);
    }
    return (step.empty() ? "" : before + step + ". ") + convert_hint(input.source, "float32");
}

/// The name of an axis that a job can take one index of; "" where none of the names serves.
std::string name_beside_space(const Axes& axes) {
    const auto beside = std::find_if(axes.each.begin(), axes.each.end(), [](const Axis& axis) {
        const bool is_word = std::all_of(axis.name.begin(), axis.name.end(), [](char letter) {
            return (letter >= 'a' && letter <= 'z') || letter == '_';
        });
        return is_word && !axis.name.empty() && axis.name != "z" && axis.name != "y" &&
               axis.name != "x";
    });
    return beside == axes.each.end() ? "" : beside->name;
}

/// How an input of more than three axes becomes one that fits, as far as its axes are known.
std::string fewer_axes_hint(const JobInput& input) {
    std::string choose = "Choose a dataset of three axes, or of two";
    const std::vector<std::int64_t>& shape = input.array.shape;
    if (shape.size() < 4) {
        return choose;
    }
    const std::string name = name_beside_space(input.axes);
    const bool is_open = shape.size() == 4 && !input.channels && may_be_colour(shape);
    const std::string colour =
        is_open ? "; if the last axis is colour, write input.colour = true" : "";
    if (!name.empty()) {
        return choose + "; input.select = { " + name + " = 0 } takes one index of another" + colour;
    }
    if (shape.size() > 5) {
        return choose;
    }
    const bool is_four = shape.size() == 4;
    return choose + colour + (is_open ? "; else name" : "; or name") +
           " the axes, as input.axes = \"" + (is_four ? "tzyx" : "tczyx") +
           "\", and take one index by input.select = " +
           (is_four ? "{ t = 0 }" : "{ t = 0, c = 0 }");
}

} // namespace

Volume make_volume(const JobInput& input, std::string_view kind, VoxelTypes types) {
    const ArrayInfo& array = input.array;
    const std::string name(kind);
    if (array.shape.size() < 2 || array.shape.size() > 3) {
        throw Error(ExitCode::input,
                    {name + " needs a volume or an image", "input.dataset",
                     "its shape is " + shape_text(array.shape), fewer_axes_hint(input)});
    }
    refuse_empty(array.shape);
    if (types == VoxelTypes::all
            ? !is_number(array.type)
            : array.type != ElementType::uint8 && array.type != ElementType::uint16 &&
                  array.type != ElementType::float32) {
        throw Error(ExitCode::input,
                    {name + " does not take this element type", "input.dataset",
                     "it is " + std::string(name_of(array.type)) + ", not uint8, uint16 or float32",
                     float_hint(input)});
    }
    Volume volume;
    volume.type = array.type;
    volume.source = input.source;
    volume.sample = input.sample;
    volume.is_image = array.shape.size() == 2;
    volume.invalid = input.invalid;
    std::copy(array.shape.rbegin(), array.shape.rend(), volume.shape.rbegin());
    return volume;
}

float checked_magnitude(const Volume& volume, std::int64_t first, std::int64_t rows,
                        const std::byte* in) {
    if (volume.type == ElementType::uint8 || volume.type == ElementType::uint16) {
        return volume.type == ElementType::uint8 ? 255.0F : 65535.0F;
    }
    const std::int64_t count = rows * volume.shape[2];
    if (volume.invalid) {
        return std::bit_cast<float>(
            most_valid_bits(volume, in, count, [&](std::int64_t at, float value) {
                refuse_value(volume, first * volume.shape[2] + at, value);
            }));
    }
    const std::uint32_t most = most_bits(volume.type, in, count);
    if (most >= infinity_bits) {
        for_floats(
            volume.type, in, count, [&](std::int64_t at, const float* values, std::int64_t part) {
                const float* odd = std::find_if(values, values + part, [](float value) {
                    return magnitude_bits(value) >= infinity_bits;
                });
                if (odd != values + part) {
                    refuse_value(volume, first * volume.shape[2] + at + (odd - values), *odd);
                }
            });
    }
    return std::bit_cast<float>(most);
}

std::array<std::int64_t, 3> reach_of(const Match& match, const MatchReach& reach) {
    std::array<std::int64_t, 3> far = {0, 0, 0};
    for (std::size_t i = 0; i < far.size(); ++i) {
        if (match.volume.at(i) > 1) {
            far.at(i) = reach.half_windows * (match.window.at(i) / 2) +
                        reach.patches * (match.patch.at(i) - 1);
        }
    }
    return far;
}

Locality match_locality(const Match& match, const MatchReach& reach) {
    Locality locality;
    for (std::size_t i = 0; i < locality.reach.size(); ++i) {
        if (match.volume.at(i) == 1) {
            continue; // an image
        }
        // A patch covers patch - 1 voxels on either side of another that it covers. With a step,
        // the last reference of a box, which the whole volume need not have, covers one more.
        locality.reach.at(i) =
            reach.half_windows * (match.window.at(i) / 2) + reach.patches * match.patch.at(i);
        locality.step.at(i) = match.step;
    }
    return locality;
}

Locality match_mixing(const Match& match) {
    Locality mixing;
    for (std::size_t i = 0; i < mixing.reach.size(); ++i) {
        mixing.reach.at(i) =
            match.volume.at(i) == 1 ? 0 : match.window.at(i) / 2 + match.patch.at(i) - 1;
    }
    return mixing;
}

} // namespace runner
