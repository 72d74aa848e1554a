// SPDX-License-Identifier: BSD-3-Clause
#include "io/images/levels_ahead.hpp"

#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

LevelSweep sweep_of_image(const OutputDataset& output) {
    return sweep_of(output, ChunkGrid(output.array, output.layout));
}

/// Rows of the longest band, in all its layers.
std::int64_t band_rows(const LevelSweep& sweep) {
    const auto& extents = sweep.volumes().extents;
    return std::min(sweep.step()[0], extents[0]) * std::min(sweep.step()[1], extents[1]);
}

/// Writes rows, and makes levels of them at the same time.
class LevelledRows final : public RowWriter {
  public:
    LevelledRows(std::unique_ptr<RowWriter> writer, LevelsAhead& levels)
        : writer_(std::move(writer)), levels_(levels), both_(2) {}

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        both_.run(2, [&](std::int64_t item, int /*thread*/) {
            item == 0 ? writer_->write(first, rows, from) : levels_.add(first, rows, from);
        });
    }

    void write_runs(std::span<const RowsInMemory> runs) override {
        both_.run(2, [&](std::int64_t item, int /*thread*/) {
            if (item == 0) {
                writer_->write_runs(runs);
                return;
            }
            for (const RowsInMemory& run : runs) {
                levels_.add(run.first, run.rows, run.data);
            }
        });
    }

    void start_sync() noexcept override { writer_->start_sync(); }

    void hand_over() override { writer_->hand_over(); }

    void sync() override { writer_->sync(); }

    void finish(Sync sync) override {
        writer_->finish(sync);
        levels_.close();
    }

  private:
    std::unique_ptr<RowWriter> writer_;
    LevelsAhead& levels_;
    IoThreads both_;
};

} // namespace

std::unique_ptr<LevelsAhead> LevelsAhead::of(const OutputDataset& output, std::int64_t memory,
                                             int threads) {
    if (folder_of(output.layout) == nullptr || output.array.shape.size() < 2 ||
        (coarser_levels(output).empty() && !stated_channels(output))) {
        return nullptr;
    }
    const std::int64_t making = sweep_of_image(output).memory();
    const int at_once = static_cast<int>(
        std::clamp<std::int64_t>(memory / 2 / std::max<std::int64_t>(making, 1), 0, threads));
    return at_once == 0 ? nullptr
                        : std::make_unique<LevelsAhead>(output, memory - at_once * making, at_once);
}

LevelsAhead::LevelsAhead(const OutputDataset& output, std::int64_t memory, int threads)
    : sweep_(sweep_of_image(output)), element_bytes_(size_of(output.array.type)),
      row_bytes_(runner::row_bytes(output.array)), elements_(sweep_, LevelElements::Where::files),
      store_(store_at(sweep_, elements_.places())),
      makers_(static_cast<std::size_t>(threads), LevelMaker(sweep_)),
      extremes_(static_cast<std::size_t>(threads), ChannelExtremes(output)),
      buffers_(memory, band_rows(sweep_) * row_bytes_),
      made_(static_cast<std::size_t>(sweep_.regions()), '0'), threads_(threads) {}

/// The band that has a row of the output.
VolumeBox LevelsAhead::band_at(std::int64_t row) const {
    const auto& [depth, height, width] = sweep_.volumes().extents;
    const std::int64_t step_z = sweep_.step()[0];
    const std::int64_t step_y = sweep_.step()[1];
    const std::int64_t frame = row / height;
    VolumeBox box{frame / depth};
    box.start = {frame % depth / step_z * step_z, row % height / step_y * step_y, 0};
    box.count = {std::min(step_z, depth - box.start[0]), std::min(step_y, height - box.start[1]),
                 width};
    return box;
}

/// The output's row at which a layer of a band begins.
std::int64_t LevelsAhead::row_of(const VolumeBox& box, std::int64_t layer) const {
    const std::int64_t depth = sweep_.volumes().extents[0];
    const std::int64_t height = sweep_.volumes().extents[1];
    return (box.volume * depth + box.start[0] + layer) * height + box.start[1];
}

void LevelsAhead::add(std::int64_t first, std::int64_t rows, const std::byte* from) {
    const std::int64_t height = sweep_.volumes().extents[1];
    const std::int64_t width = sweep_.volumes().extents[2];
    const std::int64_t end = first + rows;
    for (std::int64_t row = first; row < end;) {
        const VolumeBox box = band_at(row);
        const std::int64_t begin = row_of(box, 0);
        const std::int64_t count = std::min(end, row - (row - begin) % height + box.count[1]) - row;
        const std::byte* const here = from + (row - first) * row_bytes_;
        if (begin < first || row_of(box, box.count[0] - 1) + box.count[1] > end) {
            keep(box, row, count, here);
        } else if (row == begin) { // all of the band is in the caller's memory
            add_regions(box, {here, height * width, width});
        }
        row += count;
    }
    rows_ += rows;
    make_whole();
}

void LevelsAhead::add_regions(const VolumeBox& band, const BoxElements& elements) {
    for (const VolumeBox& region : sweep_.regions_in(band)) {
        BoxElements there = elements;
        there.first += (region.start[2] - band.start[2]) * element_bytes_;
        whole_.push_back({region, there});
    }
}

/// Copies rows of one layer of a band to its memory, and makes it whole when they were the last.
void LevelsAhead::keep(const VolumeBox& box, std::int64_t row, std::int64_t rows,
                       const std::byte* from) {
    Band* const band = band_of(box);
    if (band == nullptr) {
        return;
    }
    const std::int64_t layer = (row - row_of(box, 0)) / sweep_.volumes().extents[1];
    const std::int64_t at = layer * box.count[1] + row - row_of(box, layer);
    std::byte* const to = buffers_.data(band->buffer);
    std::copy_n(from, rows * row_bytes_, to + at * row_bytes_);
    for (std::int64_t i = at; i < at + rows; ++i) {
        band->missing -= band->has[static_cast<std::size_t>(i)] ? 0 : 1;
        band->has[static_cast<std::size_t>(i)] = true;
    }
    band->touched = rows_;
    if (band->missing == 0) {
        add_regions(box, {to, box.count[1] * box.count[2], box.count[2]});
        emptied_.push_back(band->buffer);
        bands_.erase(row_of(box, 0));
    }
}

/// The band of a box, which may begin with it; null where there is no memory for it.
LevelsAhead::Band* LevelsAhead::band_of(const VolumeBox& box) {
    const std::int64_t begin = row_of(box, 0);
    const auto found = bands_.find(begin);
    if (found != bands_.end()) {
        return &found->second;
    }
    const std::optional<std::size_t> buffer = left_.contains(begin) ? std::nullopt : take_buffer();
    if (!buffer) {
        left_.insert(begin);
        return nullptr;
    }
    Band band;
    band.buffer = *buffer;
    band.missing = box.count[0] * box.count[1];
    band.has.resize(static_cast<std::size_t>(band.missing));
    return &bands_.emplace(begin, std::move(band)).first->second;
}

/// Rows come about in their order: a band that had none while those of two more layers of regions
/// came is not completed by this rank.
std::optional<std::size_t> LevelsAhead::take_buffer() {
    std::optional<std::size_t> buffer = buffers_.take();
    const std::int64_t layers = 2 * sweep_.step()[0] * sweep_.volumes().extents[1];
    for (auto band = bands_.begin(); !buffer && band != bands_.end();) {
        if (rows_ - band->second.touched > layers) {
            buffers_.give_back(band->second.buffer);
            left_.insert(band->first);
            band = bands_.erase(band);
            buffer = buffers_.take();
        } else {
            ++band;
        }
    }
    if (!buffer) {
        make_whole(); // which may free some
        buffer = buffers_.take();
    }
    return buffer;
}

/// Makes levels of the regions whose elements are all in memory.
void LevelsAhead::make_whole() {
    if (whole_.empty()) {
        return;
    }
    threads_.run(std::ssize(whole_), [&](std::int64_t item, int thread) {
        const auto own = static_cast<std::size_t>(thread);
        const Whole& whole = whole_[static_cast<std::size_t>(item)];
        makers_[own].make(
            whole.region, whole.elements,
            [&](const VolumeBox& part, const BoxElements& there) {
                extremes_[own].take(part, there);
            },
            store_);
    });
    for (const Whole& whole : whole_) {
        made_[static_cast<std::size_t>(sweep_.index_of(whole.region))] = '1';
    }
    whole_.clear();
    for (const std::size_t buffer : emptied_) {
        buffers_.give_back(buffer);
    }
    emptied_.clear();
}

void LevelsAhead::close() {
    bands_.clear();
    buffers_.clear();
    elements_.close();
}

Extremes LevelsAhead::extremes() const {
    Extremes found;
    for (const ChannelExtremes& count : extremes_) {
        join(found, count.found());
    }
    return found;
}

std::unique_ptr<RowWriter> write_beside(std::unique_ptr<RowWriter> writer, LevelsAhead& levels) {
    return std::make_unique<LevelledRows>(std::move(writer), levels);
}

} // namespace runner
