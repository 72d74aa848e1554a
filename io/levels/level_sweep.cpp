// SPDX-License-Identifier: BSD-3-Clause
#include "io/levels/level_sweep.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "io/levels/reduce_blocks.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace runner {
namespace {

using Triple = std::array<std::int64_t, 3>;

/// Bytes of a region where blocks are not larger.
constexpr std::int64_t wanted_region_bytes = 8 * MiB;

constexpr std::int64_t most_samples = 4; ///< of a pixel

/// Extents of a region: whole blocks of the last level, and by them whole grains, as long as it has
/// the wanted bytes; then more along x, so that its rows are long, and of colour along what is x
/// there.
Triple region_extents(const Volumes& volumes, const Triple& block, const Triple& grain,
                      std::int64_t element_bytes) {
    const auto bytes = [&](const Triple& extents) {
        std::int64_t product = element_bytes;
        for (std::size_t i = 0; i < extents.size(); ++i) {
            product *= std::min(extents[i], volumes.extents[i]);
        }
        return product;
    };
    Triple step = block;
    for (std::size_t i = step.size(); i-- > 0;) {
        Triple larger = step;
        larger[i] = round_up(std::min(grain[i], volumes.extents[i]), block[i]);
        step = bytes(larger) <= wanted_region_bytes ? larger : step;
    }
    while (step[2] < volumes.extents[2] && 2 * bytes(step) <= wanted_region_bytes) {
        step[2] *= 2;
    }
    // The samples of a pixel are a short row; its line is what is stored together.
    while (volumes.extents[2] <= most_samples && step[1] < volumes.extents[1] &&
           2 * bytes(step) <= wanted_region_bytes) {
        step[1] *= 2;
    }
    return step;
}

/// Makes it so long at least. What it has is of no use any more.
template <class T> void lengthen(std::vector<T>& all, std::int64_t length) {
    if (std::ssize(all) < length) {
        all.resize(static_cast<std::size_t>(length));
    }
}

} // namespace

Volumes::Volumes(std::span<const std::int64_t> shape) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const std::size_t behind = shape.size() - axis;
        if (behind <= extents.size()) {
            extents[extents.size() - behind] = shape[axis];
        } else {
            count *= shape[axis];
        }
    }
}

VolumeBox box_of_level(const VolumeBox& box, const Triple& factors) {
    VolumeBox made{box.volume};
    for (std::size_t i = 0; i < factors.size(); ++i) {
        made.start[i] = box.start[i] / factors[i];
        made.count[i] = ceil_divide(box.count[i], factors[i]);
    }
    return made;
}

VolumeBox box_of_image(const VolumeBox& box, const Triple& factors, const Volumes& image) {
    VolumeBox made{box.volume};
    for (std::size_t i = 0; i < factors.size(); ++i) {
        made.start[i] = box.start[i] * factors[i];
        made.count[i] = std::min(box.count[i] * factors[i], image.extents[i] - made.start[i]);
    }
    return made;
}

void each_run(const Volumes& array, const VolumeBox& box,
              const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& take) {
    const auto& [depth, height, width] = array.extents;
    const bool whole_rows = box.count[2] == width;
    const bool whole_layers = whole_rows && box.count[1] == height;
    const std::int64_t layers = whole_layers ? 1 : box.count[0];
    const std::int64_t rows = whole_rows ? 1 : box.count[1];
    const std::int64_t together = box.elements() / (layers * rows);
    for (std::int64_t z = 0; z < layers; ++z) {
        for (std::int64_t y = 0; y < rows; ++y) {
            const std::int64_t layer = box.volume * depth + box.start[0] + z;
            take((layer * height + box.start[1] + y) * width + box.start[2],
                 (z * rows + y) * together, together);
        }
    }
}

LevelSweep::LevelSweep(const ArrayInfo& image, std::vector<CoarserLevel> levels,
                       const Triple& grain)
    : image_(image), volumes_(image.shape), levels_(std::move(levels)) {
    Triple block = {1, 1, 1};
    for (const CoarserLevel& level : levels_) { // each is whole blocks of the ones before
        std::transform(block.begin(), block.end(), level.factors.begin(), block.begin(),
                       [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    }
    step_ = region_extents(volumes_, block, grain, size_of(image.type));
}

std::int64_t LevelSweep::regions() const {
    std::int64_t count = volumes_.count;
    for (std::size_t i = 0; i < step_.size(); ++i) {
        count *= ceil_divide(volumes_.extents[i], step_[i]);
    }
    return count;
}

VolumeBox LevelSweep::region(std::int64_t index) const {
    VolumeBox box;
    for (std::size_t i = step_.size(); i-- > 0;) {
        const std::int64_t along = ceil_divide(volumes_.extents[i], step_[i]);
        box.start[i] = index % along * step_[i];
        box.count[i] = std::min(step_[i], volumes_.extents[i] - box.start[i]);
        index /= along;
    }
    box.volume = index;
    return box;
}

std::int64_t LevelSweep::index_of(const VolumeBox& region) const {
    std::int64_t index = region.volume;
    for (std::size_t i = 0; i < step_.size(); ++i) {
        index = index * ceil_divide(volumes_.extents[i], step_[i]) + region.start[i] / step_[i];
    }
    return index;
}

std::vector<std::int64_t> LevelSweep::regions_without(const MadeRegions& made) const {
    std::vector<std::int64_t> missing;
    for (std::int64_t i = 0; i < regions(); ++i) {
        if (made.empty() || made[static_cast<std::size_t>(i)] != '1') {
            missing.push_back(i);
        }
    }
    return missing;
}

std::vector<VolumeBox> LevelSweep::regions_in(const VolumeBox& box) const {
    std::vector<VolumeBox> regions;
    const auto end = [&](std::size_t i) { return box.start[i] + box.count[i]; };
    VolumeBox each{box.volume};
    for (each.start[0] = box.start[0]; each.start[0] < end(0); each.start[0] += step_[0]) {
        for (each.start[1] = box.start[1]; each.start[1] < end(1); each.start[1] += step_[1]) {
            for (each.start[2] = box.start[2]; each.start[2] < end(2); each.start[2] += step_[2]) {
                for (std::size_t i = 0; i < step_.size(); ++i) {
                    each.count[i] = std::min(step_[i], end(i) - each.start[i]);
                }
                regions.push_back(each);
            }
        }
    }
    return regions;
}

std::int64_t LevelSweep::begin_of(std::size_t level, const VolumeBox& piece) const {
    const auto& [depth, height, width] = Volumes(levels_[level].dataset.array.shape).extents;
    const auto& [z, y, x] = piece.start;
    return (piece.volume * depth + z) * height * width +
           piece.count[0] * (y * width + piece.count[1] * x);
}

void LevelSweep::each_run(
    std::size_t level, const VolumeBox& box,
    const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& take) const {
    const Volumes all(levels_[level].dataset.array.shape);
    VolumeBox piece{box.volume};
    const auto find_piece = [&](std::size_t axis, std::int64_t at) {
        const std::int64_t step = step_[axis] / levels_[level].factors[axis];
        piece.start[axis] = at / step * step;
        piece.count[axis] = std::min(step, all.extents[axis] - piece.start[axis]);
        return at - piece.start[axis];
    };
    for (std::int64_t row = 0; row < box.count[0] * box.count[1]; ++row) {
        const std::int64_t z = find_piece(0, box.start[0] + row / box.count[1]);
        const std::int64_t y = find_piece(1, box.start[1] + row % box.count[1]);
        for (std::int64_t done = 0; done < box.count[2];) {
            const std::int64_t x = find_piece(2, box.start[2] + done);
            const std::int64_t count = std::min(piece.count[2] - x, box.count[2] - done);
            take(begin_of(level, piece) + (z * piece.count[1] + y) * piece.count[2] + x,
                 row * box.count[2] + done, count);
            done += count;
        }
    }
}

std::int64_t LevelSweep::sum_bytes() const {
    if (levels_.empty() || levels_.front().dataset.layout.pyramid.downsample != Downsample::mean ||
        levels_.front().dataset.invalid_value) {
        return 0;
    }
    std::int64_t elements = 1; // of the largest block
    for (const CoarserLevel& level : levels_) {
        elements = std::max(elements, level.factors[0] * level.factors[1] * level.factors[2]);
    }
    constexpr std::array<std::int64_t, 2> sizes = {sizeof(std::int32_t), sizeof(std::int64_t)};
    const auto* const exact = std::find_if(sizes.begin(), sizes.end(), [&](std::int64_t bytes) {
        return has_exact_sums(image_, elements, bytes);
    });
    return exact == sizes.end() ? 0 : *exact;
}

std::int64_t LevelSweep::memory() const {
    std::int64_t bytes = size_of(image_.type);
    std::int64_t rows = 1;
    for (std::size_t i = 0; i < step_.size(); ++i) {
        bytes *= std::min(step_[i], volumes_.extents[i]);
        rows *= i < 2 ? std::min(step_[i], volumes_.extents[i]) : 1;
    }
    // The region, a level of it, and what its blocks are gathered in or added up to.
    constexpr std::int64_t sums = 32; // of integers of 64 bits, with the number of values
    const std::int64_t columns = std::min(step_[2], volumes_.extents[2]);
    std::int64_t all_sums = 2 * sum_bytes();
    for (std::size_t i = 0; i < step_.size() && all_sums > 0; ++i) {
        all_sums *=
            ceil_divide(std::min(step_[i], volumes_.extents[i]), levels_.front().factors[i]);
    }
    return 3 * bytes + all_sums + columns * sums + rows * std::int64_t{sizeof(void*)};
}

void LevelMaker::make(const VolumeBox& region, const Read& read, const Take& take) {
    elements_.resize(static_cast<std::size_t>(region.elements() * size_of(sweep_.image_.type)));
    read(region, elements_.data());
    make(
        region, {elements_.data(), region.count[1] * region.count[2], region.count[2]},
        [](const VolumeBox& /*part*/, const BoxElements& /*elements*/) {}, take);
}

void LevelMaker::make(const VolumeBox& region, const BoxElements& elements, const Look& look,
                      const Take& take) {
    if (sum_bytes_ == sizeof(std::int32_t)) {
        make_means(region, elements, look, take, short_sums_);
        return;
    }
    if (sum_bytes_ == sizeof(std::int64_t)) {
        make_means(region, elements, look, take, long_sums_);
        return;
    }
    look(region, elements);
    const std::int64_t size = size_of(sweep_.image_.type);
    for (std::size_t i = 0; i < sweep_.levels().size(); ++i) {
        const CoarserLevel& level = sweep_.levels()[i];
        const VolumeBox box = box_of_level(region, level.factors);
        lengthen(made_, box.elements() * size);
        reduce_blocks(sweep_.image_,
                      {region.count, level.factors, {elements.layer_pitch, elements.row_pitch}},
                      {level.dataset.layout.pyramid.downsample, level.dataset.invalid_value},
                      elements.first, made_.data());
        take(i, box, made_.data());
    }
}

/// The first level, layer by layer of blocks: layers lie so far apart that more would not stay in
/// the cache between the looks at them.
template <class S>
void LevelMaker::make_first(const VolumeBox& region, const BoxElements& elements, const Look& look,
                            S* sums) {
    const Triple& factors = sweep_.levels().front().factors;
    std::byte* made = made_.data();
    for (std::int64_t z = 0; z < region.count[0]; z += factors[0]) {
        VolumeBox part = region;
        part.start[0] += z;
        part.count[0] = std::min(factors[0], region.count[0] - z);
        BoxElements there = elements;
        there.first += z * elements.layer_pitch * size_of(sweep_.image_.type);
        look(part, there);
        const Blocks blocks{part.count, factors, {there.layer_pitch, there.row_pitch}};
        sum_blocks(sweep_.image_, blocks, there.first, sums);
        mean_blocks(sweep_.image_, blocks, sums, made);
        const std::int64_t count = blocks.counts()[1] * blocks.counts()[2];
        sums += count;
        made += count * size_of(sweep_.image_.type);
    }
}

template <class S>
void LevelMaker::make_means(const VolumeBox& region, const BoxElements& elements, const Look& look,
                            const Take& take, Sums<S>& sums) {
    const std::vector<CoarserLevel>& levels = sweep_.levels();
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const Blocks blocks{region.count, levels[i].factors};
        const VolumeBox box = box_of_level(region, blocks.factors);
        sums.above.swap(sums.level);
        lengthen(sums.level, box.elements());
        lengthen(made_, box.elements() * size_of(sweep_.image_.type));
        if (i == 0) {
            make_first(region, elements, look, sums.level.data());
        } else {
            const Triple& smaller = levels[i - 1].factors;
            Blocks of_sums{Blocks{region.count, smaller}.counts(), {}};
            std::transform(blocks.factors.begin(), blocks.factors.end(), smaller.begin(),
                           of_sums.factors.begin(), std::divides<>());
            sum_blocks(of_sums, sums.above.data(), sums.level.data());
            mean_blocks(sweep_.image_, blocks, sums.level.data(), made_.data());
        }
        take(i, box, made_.data());
    }
}

} // namespace runner
