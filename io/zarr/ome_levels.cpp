// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/ome_levels.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "base/units.hpp"
#include "io/zarr/ome_group.hpp"
#include "io/zarr/zarr_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace runner {
namespace {

using Extents = std::vector<std::int64_t>;

constexpr std::int64_t short_image = 256;      // of y and x, where "auto" ends
constexpr std::int64_t most_block_bytes = GiB; // which a thread holds
constexpr double as_tall = 1.001;              // spacings in files are rounded

/// What an image's axes of space are, and how far apart elements are along them.
struct Spaces {
    std::optional<std::size_t> depth; ///< z of a volume
    std::vector<std::size_t> plane;   ///< the two others
    std::vector<std::string> names;   ///< of all axes
    std::vector<double> spacings;     ///< of all axes, comparable with one another

    explicit Spaces(const Axes& axes) {
        const auto count = std::count_if(axes.each.begin(), axes.each.end(),
                                         [](const Axis& axis) { return is_space(axis.name); });
        bool in_metres = true;
        for (std::size_t i = 0; i < axes.each.size(); ++i) {
            const Axis& axis = axes.each[i];
            names.push_back(axis.name);
            if (!is_space(axis.name)) {
                continue;
            }
            if (count > 2 && axis.name == "z") {
                depth = i;
            } else {
                plane.push_back(i);
            }
            in_metres = in_metres && metres_in(axis.unit).has_value();
        }
        for (const Axis& axis : axes.each) {
            const double unit = in_metres ? metres_in(axis.unit).value_or(1.0) : 1.0;
            spacings.push_back(axis.spacing.value_or(1.0) * unit);
        }
    }
};

/// Bytes of the elements that an element of a level is made of.
std::int64_t block_bytes(const ArrayInfo& image, const Extents& factors) {
    ArrayInfo block = image;
    for (std::size_t axis = 0; axis < factors.size(); ++axis) {
        block.shape[axis] =
            axis + 3 < factors.size() ? 1 : std::min(image.shape[axis], factors[axis]);
    }
    return byte_count(block);
}

/// How many elements of the image a block has along each axis, level after level.
class LevelFactors {
  public:
    explicit LevelFactors(const OutputDataset& output)
        : image_(output.array), shape_(output.array.shape), pyramid_(output.layout.pyramid),
          spaces_(ome_image_axes(output)), factors_(shape_.size(), 1) {}

    std::vector<Extents> all() {
        std::vector<Extents> levels;
        while (is_wanted(std::ssize(levels) + 1)) {
            const Extents next = next_factors();
            const bool is_auto = pyramid_.levels == 0;
            if (next == factors_ || (is_auto && block_bytes(image_, next) > most_block_bytes)) {
                break;
            }
            factors_ = next;
            levels.push_back(next);
        }
        return levels;
    }

  private:
    std::int64_t extent(std::size_t axis) const {
        return ceil_divide(shape_[axis], factors_[axis]);
    }

    bool is_wanted(std::int64_t there) const {
        return pyramid_.levels != 0
                   ? there < pyramid_.levels
                   : std::any_of(spaces_.plane.begin(), spaces_.plane.end(),
                                 [&](std::size_t axis) { return extent(axis) > short_image; });
    }

    /// What is given for z, y and x, or for the last two of the image's axes of space in this
    /// order.
    std::int64_t given_factor(std::size_t axis) const {
        const Extents& given = pyramid_.factors;
        const std::string_view name = spaces_.names[axis];
        std::size_t behind = std::string_view("xyz").find(name);
        if (given.size() == 2) {
            behind = static_cast<std::size_t>(std::count_if(
                spaces_.names.begin(), spaces_.names.end(),
                [&](const std::string& other) { return is_space(other) && other < name; }));
        }
        return behind < given.size() ? given[given.size() - 1 - behind] : 1;
    }

    Extents next_factors() const {
        Extents next = factors_;
        const auto coarsen = [&](std::size_t axis, std::int64_t factor) {
            next[axis] *= extent(axis) > 1 ? factor : 1;
        };
        const bool is_given = !pyramid_.factors.empty();
        for (const std::size_t axis : spaces_.plane) {
            coarsen(axis, is_given ? given_factor(axis) : 2);
        }
        if (spaces_.depth) {
            const std::size_t axis = *spaces_.depth;
            coarsen(axis, is_given ? given_factor(axis) : is_as_wide() ? 2 : 1);
        }
        return next;
    }

    /// Whether the voxels of the level are no longer taller than wide, along what has several.
    bool is_as_wide() const {
        const auto apart = [&](std::size_t axis) {
            return spaces_.spacings[axis] * static_cast<double>(factors_[axis]);
        };
        return std::all_of(spaces_.plane.begin(), spaces_.plane.end(), [&](std::size_t axis) {
            return extent(axis) == 1 || apart(*spaces_.depth) <= apart(axis) * as_tall;
        });
    }

    const ArrayInfo& image_;
    const Extents& shape_;
    const Pyramid& pyramid_;
    Spaces spaces_;
    Extents factors_;
};

void check_block(const OutputDataset& output, const Extents& factors) {
    const std::int64_t bytes = block_bytes(output.array, factors);
    if (bytes > most_block_bytes) {
        throw Error(ExitCode::usage,
                    {"cannot make the levels of the image", "output.levels",
                     "an element of the last one is made of a block of " + size_text(bytes) +
                         ", and " + size_text(most_block_bytes) + " is the most",
                     "Ask for fewer levels, as output.levels = 6"});
    }
}

/// The scale and the translation of a level are numbers.
void check_scale(const Axes& axes, const Extents& factors) {
    for (std::size_t i = 0; i < std::min(axes.each.size(), factors.size()); ++i) {
        const Axis& axis = axes.each[i];
        const double spacing = axis.spacing.value_or(1.0);
        const auto factor = static_cast<double>(factors[i]);
        if (!std::isfinite(spacing * factor) ||
            !std::isfinite(axis.origin.value_or(0.0) + (factor - 1) / 2 * spacing)) {
            throw Error(ExitCode::usage,
                        {"cannot write the scale of the image",
                         fmt::format("a spacing of {:g} along {}", spacing, axis.name),
                         std::isfinite(spacing)
                             ? fmt::format("{} times that in a level is more than a number can be",
                                           factors[i])
                             : "OME-Zarr has no such number",
                         "Say a smaller spacing with input.spacing"});
        }
    }
}

} // namespace

std::vector<CoarserLevel> ome_levels(const OutputDataset& output) {
    std::vector<CoarserLevel> levels;
    const Axes named = ome_image_axes(output);
    for (const Extents& factors : LevelFactors(output).all()) {
        check_block(output, factors);
        check_scale(named, factors);
        CoarserLevel level{output};
        OutputDataset& dataset = level.dataset;
        dataset.layout.pyramid.level = std::ssize(levels) + 1;
        dataset.layout.pyramid.levels = 1; // it has none of its own
        dataset.dataset = "/" + std::to_string(dataset.layout.pyramid.level);
        dataset.layout.chunk = zarr_chunk(output.array, output.layout);
        const std::size_t axes = factors.size();
        for (std::size_t axis = 0; axis < axes; ++axis) {
            dataset.array.shape[axis] = ceil_divide(output.array.shape[axis], factors[axis]);
            const std::size_t behind = axes - axis;
            if (behind <= level.factors.size()) {
                level.factors[level.factors.size() - behind] = factors[axis];
            }
        }
        levels.push_back(std::move(level));
    }
    return levels;
}

void check_ome_axes(const OutputDataset& output) {
    check_ome_order(output);
    check_scale(ome_image_axes(output), Extents(output.array.shape.size(), 1));
    (void)coarser_levels(output);
}

} // namespace runner
