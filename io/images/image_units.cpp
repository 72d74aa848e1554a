// SPDX-License-Identifier: BSD-3-Clause
#include "io/images/image_units.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace runner {
namespace {

/// Units of small files are lengthened to this: short reads cost more, and a reader unpacks again
/// what it has unpacked before where a unit ends within a chunk of the source.
constexpr std::int64_t wanted_unit_bytes = 64 * MiB;

/// A slab has so much at least, for the same reasons.
constexpr std::int64_t wanted_slab_bytes = 16 * MiB;

/// What units are multiples of along an axis, for the regions of the sweep.
std::int64_t region_step(const LevelSweep& sweep, std::size_t axis, std::size_t axes) {
    const std::size_t swept = sweep.step().size(); // the last axes
    return axis + swept < axes ? 1 : sweep.step().at(axis + swept - axes);
}

} // namespace

std::int64_t ArrayBox::elements() const { return checked_product(count); }

ImageUnits::ImageUnits(const OutputDataset& output, const ChunkGrid& grid, const LevelSweep& sweep)
    : shape_(output.array.shape), element_bytes_(size_of(output.array.type)), chunk_(grid.chunk()),
      file_(folder_of(output.layout)->extents(output.array, output.layout)), unit_(file_) {
    bool is_one_file = folder_of(output.layout)->slice == nullptr;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
        const std::int64_t step = region_step(sweep, axis, shape_.size());
        unit_[axis] = std::min(std::lcm(file_[axis], step), shape_[axis]);
        is_one_file = is_one_file && unit_[axis] <= file_[axis];
    }
    lengthen_units();
    slab_ = unit_.front();
    if (is_one_file && bytes_of(unit_) > wanted_unit_bytes) {
        cut_units(grid, sweep);
    }
}

std::int64_t ImageUnits::bytes_of(const std::vector<std::int64_t>& extents) const {
    return checked_product(extents) * element_bytes_;
}

/// Along the inner axes first, as rows lie in most sources.
void ImageUnits::lengthen_units() {
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
        const std::int64_t times =
            std::min(wanted_unit_bytes / bytes_of(unit_), ceil_divide(shape_[axis], unit_[axis]));
        unit_[axis] = std::min(std::max<std::int64_t>(times, 1) * unit_[axis], shape_[axis]);
        if (unit_[axis] < shape_[axis]) {
            return;
        }
    }
}

/// Chunks that share their place along the first axis that has several follow one another.
void ImageUnits::cut_units(const ChunkGrid& grid, const LevelSweep& sweep) {
    const auto first =
        std::find_if(unit_.begin(), unit_.end(), [](std::int64_t extent) { return extent > 1; });
    axis_ = static_cast<std::size_t>(first - unit_.begin());
    slab_ = unit_[axis_];
    const std::int64_t step =
        std::lcm(grid.chunk()[axis_], region_step(sweep, axis_, shape_.size()));
    if (step >= slab_) {
        return;
    }
    const std::int64_t step_bytes = bytes_of(unit_) / slab_ * step;
    slab_ = std::min(slab_, step * ceil_divide(wanted_slab_bytes, step_bytes));
}

std::int64_t ImageUnits::count() const {
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
        count *= ceil_divide(shape_[axis], unit_[axis]);
    }
    return count;
}

std::int64_t ImageUnits::bytes() const { return bytes_of(unit_) / unit_[axis_] * slab_; }

ArrayBox ImageUnits::unit(std::int64_t index) const {
    ArrayBox box{shape_, unit_};
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
        const std::int64_t along = ceil_divide(shape_[axis], unit_[axis]);
        box.start[axis] = index % along * unit_[axis];
        box.count[axis] = std::min(unit_[axis], shape_[axis] - box.start[axis]);
        index /= along;
    }
    return box;
}

std::vector<std::int64_t> ImageUnits::files_of(const ArrayBox& unit) const {
    std::vector<std::int64_t> files = {0};
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
        std::vector<std::int64_t> finer;
        const std::int64_t along = ceil_divide(shape_[axis], file_[axis]);
        const std::int64_t begin = unit.start[axis] / file_[axis];
        const std::int64_t end = ceil_divide(unit.start[axis] + unit.count[axis], file_[axis]);
        for (const std::int64_t file : files) {
            for (std::int64_t at = begin; at < end; ++at) {
                finer.push_back(file * along + at);
            }
        }
        files = std::move(finer);
    }
    return files;
}

std::vector<ArrayBox> ImageUnits::slabs_of(const ArrayBox& unit) const {
    std::vector<ArrayBox> slabs;
    for (std::int64_t at = 0; at < unit.count[axis_]; at += slab_) {
        slabs.push_back(unit);
        slabs.back().start[axis_] += at;
        slabs.back().count[axis_] = std::min(slab_, unit.count[axis_] - at);
    }
    return slabs;
}

std::int64_t ImageUnits::slab_chunks() const {
    std::int64_t chunks = slab_ / chunk_[axis_];
    for (std::size_t axis = axis_ + 1; axis < shape_.size(); ++axis) {
        chunks *= file_[axis] / chunk_[axis];
    }
    return chunks;
}

} // namespace runner
