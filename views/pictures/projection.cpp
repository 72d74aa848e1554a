// SPDX-License-Identifier: BSD-3-Clause
#include "views/pictures/projection.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// Values of pixels, to which elements are added in any order of lines but in order along each.
class Pixels {
  public:
    /// `invalid`: the number of elements that are no values.
    Pixels(std::int64_t count, Projection projection, std::optional<double> invalid)
        : projection_(projection), invalid_(invalid),
          values_(static_cast<std::size_t>(count), start()), counts_(values_.size()) {}

    void add(std::int64_t pixel, double value) {
        if (!std::isfinite(value) || value == invalid_) {
            return;
        }
        double& own = values_[static_cast<std::size_t>(pixel)];
        switch (projection_) {
        case Projection::maximum: own = std::max(own, value); break;
        case Projection::minimum: own = std::min(own, value); break;
        case Projection::mean: own += value; break;
        }
        ++counts_[static_cast<std::size_t>(pixel)];
    }

    std::vector<double> finish() && {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            if (counts_[i] == 0) {
                values_[i] = std::numeric_limits<double>::quiet_NaN();
            } else if (projection_ == Projection::mean) {
                values_[i] /= static_cast<double>(counts_[i]);
            }
        }
        return std::move(values_);
    }

  private:
    double start() const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        return projection_ == Projection::mean      ? 0
               : projection_ == Projection::maximum ? -infinity
                                                    : infinity;
    }

    Projection projection_;
    std::optional<double> invalid_;
    std::vector<double> values_;
    std::vector<std::int64_t> counts_;
};

/// Adds rows [first, first + count) of plane `z`. No two threads meet at a pixel.
template <class T>
void add_rows(const T* rows, std::int64_t z, std::int64_t first, std::int64_t count,
              const VolumeView& view, Pixels& pixels) {
    constexpr std::int64_t columns_at_once = 512;
    const std::int64_t groups = (view.width + columns_at_once - 1) / columns_at_once;
    if (view.axis == 1) {
        tbb::parallel_for(std::int64_t{0}, groups, [&](std::int64_t group) {
            const std::int64_t end = std::min(view.width, (group + 1) * columns_at_once);
            for (std::int64_t y = 0; y < count; ++y) {
                for (std::int64_t x = group * columns_at_once; x < end; ++x) {
                    pixels.add(z * view.width + x, static_cast<double>(rows[y * view.width + x]));
                }
            }
        });
        return;
    }
    tbb::parallel_for(std::int64_t{0}, count, [&](std::int64_t y) {
        for (std::int64_t x = 0; x < view.width; ++x) {
            const std::int64_t pixel =
                view.axis == 0 ? (first + y) * view.width + x : z * view.height + first + y;
            pixels.add(pixel, static_cast<double>(rows[y * view.width + x]));
        }
    });
}

} // namespace

std::vector<double> project(const ImageSource& source, std::int64_t volume, Projection projection) {
    constexpr std::int64_t memory = 64 * MiB;
    constexpr std::int64_t most_pixels = std::int64_t{1} << 28;
    const VolumeView& view = *source.view;
    if (source.image.width > most_pixels / source.image.height) {
        throw Error(ExitCode::usage,
                    {"the projection is too large", source.where,
                     fmt::format("{} x {} values are held in memory, at most {}",
                                 source.image.width, source.image.height, most_pixels),
                     "Project along another axis"});
    }
    const ElementType type = source.reader->info().array.type;
    const std::int64_t row_bytes = view.width * size_of(type);
    const std::int64_t step = std::clamp<std::int64_t>(memory / row_bytes, 1, view.height);
    std::vector<std::byte> rows(static_cast<std::size_t>(step * row_bytes));
    Pixels pixels(source.image.width * source.image.height, projection,
                  source.reader->info().invalid_value);
    for (std::int64_t z = 0; z < view.depth; ++z) {
        for (std::int64_t first = 0; first < view.height; first += step) {
            const std::int64_t count = std::min(step, view.height - first);
            source.reader->read((volume * view.depth + z) * view.height + first, count,
                                rows.data());
            visit_element_type(type, [&](auto zero) {
                using T = decltype(zero);
                add_rows(reinterpret_cast<const T*>(rows.data()), z, first, count, view, pixels);
            });
        }
    }
    return std::move(pixels).finish();
}

} // namespace runner
