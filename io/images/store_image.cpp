// SPDX-License-Identifier: BSD-3-Clause
#include "io/images/store_image.hpp"

#include "base/pages.hpp"
#include "io/files/io_threads.hpp"
#include "io/filters/packer.hpp"
#include "io/images/image_units.hpp"
#include "io/levels/channel_extremes.hpp"
#include "io/output/create_output.hpp"
#include "io/output/folder_files.hpp"
#include "io/output/level_files.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// A box of an image in memory, dense.
class UnitElements {
  public:
    /// `bytes`: the most that it will have.
    UnitElements(const ArrayInfo& array, std::int64_t bytes)
        : array_(array), size_(size_of(array.type)), volumes_(array.shape), bytes_(bytes) {}

    /// Rows of the array are the reader's from `first` on.
    void read(const ArrayBox& box, RowReader& reader, std::int64_t first) {
        box_ = box;
        const std::size_t axes = box.start.size();
        const std::int64_t height = array_.shape[axes - 2];
        const std::int64_t rows = box.count[axes - 2];
        const std::int64_t columns = box.count[axes - 1];
        // Frames that are side by side along the axis before the last two, as many as there are.
        const std::int64_t together = axes > 2 ? box.count[axes - 3] : 1;
        const std::int64_t frames = box.elements() / (rows * columns);
        for (std::int64_t frame = 0; frame < frames; frame += together) {
            const std::int64_t row = frame_at(frame) * height + box.start[axes - 2];
            std::byte* const to = bytes_.data() + frame * rows * columns * size_;
            if (columns == array_.shape.back() && (rows == height || together == 1)) {
                reader.read(first + row, together * rows, to);
            } else {
                reader.read_runs(
                    {first + row, rows, together, height, box.start[axes - 1], columns}, to);
            }
        }
    }

    /// The volumes that it has parts of.
    std::vector<VolumeBox> volumes() const {
        const std::size_t axes = box_.start.size();
        VolumeBox box;
        for (std::size_t i = 0; i < std::min<std::size_t>(axes, 3); ++i) {
            box.start[2 - i] = box_.start[axes - 1 - i];
            box.count[2 - i] = box_.count[axes - 1 - i];
        }
        const std::int64_t layers = box.count[0]; // of two axes there is one
        std::vector<VolumeBox> volumes;
        const std::int64_t frames = box_.elements() / (box.count[1] * box.count[2]);
        for (std::int64_t frame = 0; frame < frames; frame += layers) {
            box.volume = frame_at(frame) / volumes_.extents[0];
            volumes.push_back(box);
        }
        return volumes;
    }

    /// A part of the volume that is number `volume` of volumes(), `all`.
    BoxElements part_of(std::int64_t volume, const VolumeBox& all, const VolumeBox& part) const {
        const std::int64_t row =
            (part.start[0] - all.start[0]) * all.count[1] + part.start[1] - all.start[1];
        const std::int64_t at =
            volume * all.elements() + row * all.count[2] + part.start[2] - all.start[2];
        return {bytes_.data() + at * size_, all.count[1] * all.count[2], all.count[2]};
    }

    /// Copies what it has of the box from `start` on to an array of `extents`, which begins there.
    void copy(const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& extents,
              std::byte* to) const {
        const std::size_t last = start.size() - 1;
        std::vector<std::int64_t> count = extents;
        for (std::size_t axis = 0; axis <= last; ++axis) {
            count[axis] =
                std::min(extents[axis], box_.start[axis] + box_.count[axis] - start[axis]);
        }
        const std::int64_t runs = checked_product(std::span(count).first(last));
        for (std::int64_t run = 0; run < runs; ++run) {
            std::int64_t rest = run;
            std::int64_t from_row = 0;
            std::int64_t to_row = 0;
            std::int64_t from_pitch = 1;
            std::int64_t to_pitch = 1;
            for (std::size_t axis = last; axis-- > 0;) {
                const std::int64_t at = rest % count[axis];
                rest /= count[axis];
                from_row += (start[axis] - box_.start[axis] + at) * from_pitch;
                to_row += at * to_pitch;
                from_pitch *= box_.count[axis];
                to_pitch *= extents[axis];
            }
            std::copy_n(bytes_.data() +
                            (from_row * box_.count[last] + start[last] - box_.start[last]) * size_,
                        count[last] * size_, to + to_row * extents[last] * size_);
        }
    }

  private:
    /// The frame of the array, a run along its last two axes, that is frame `index` of the box.
    std::int64_t frame_at(std::int64_t index) const {
        std::int64_t frame = 0;
        std::int64_t pitch = 1;
        for (std::size_t axis = box_.start.size() - 2; axis-- > 0;) {
            frame += (box_.start[axis] + index % box_.count[axis]) * pitch;
            index /= box_.count[axis];
            pitch *= array_.shape[axis];
        }
        return frame;
    }

    const ArrayInfo& array_;
    std::int64_t size_;
    Volumes volumes_;
    ArrayBox box_;
    Pages bytes_;
};

/// Chunks of a unit.
class UnitChunks final : public ChunkSource {
  public:
    /// All outlive it.
    UnitChunks(const OutputDataset& output, const ChunkGrid& grid, const UnitElements& unit)
        : grid_(grid), unit_(unit), cuts_(cuts_chunks(output.array, output.layout)),
          packer_(output.layout, grid.chunk_bytes(), output.array) {}

    std::span<const std::byte> packed(std::int64_t index) override {
        const auto used = static_cast<std::size_t>(grid_.cut_bytes(index));
        whole_.resize(static_cast<std::size_t>(grid_.chunk_bytes()));
        if (used < whole_.size()) {
            std::fill(whole_.begin(), whole_.end(), std::byte{0});
        }
        unit_.copy(grid_.start_of(index), grid_.chunk(), whole_.data());
        return packer_.pack(std::span(whole_).first(cuts_ ? used : whole_.size()));
    }

    static std::int64_t memory(const OutputDataset& output, const ChunkGrid& grid) {
        return grid.chunk_bytes() + Packer::memory(output.layout, grid.chunk_bytes());
    }

  private:
    const ChunkGrid& grid_;
    const UnitElements& unit_;
    bool cuts_; ///< chunks at the array's end are stored without what is beyond it
    Packer packer_;
    std::vector<std::byte> whole_;
};

/// The output, and how it is cut.
struct Image {
    explicit Image(const OutputDataset& made)
        : output(made), grid(made.array, made.layout), sweep(sweep_of(made, grid)),
          units(made, grid, sweep), has_levels(!sweep.levels().empty() || stated_channels(made)) {}

    /// Memory that a team of so many threads takes.
    std::int64_t memory(int threads) const {
        return units.bytes() + threads * (UnitChunks::memory(output, grid) + sweep.memory());
    }

    const OutputDataset& output;
    ChunkGrid grid;
    LevelSweep sweep;
    ImageUnits units;
    bool has_levels; ///< or extremes of channels
};

/// Threads that make one unit at a time.
class Team {
  public:
    Team(const Image& image, int threads, RowReader& reader, std::int64_t first)
        : image_(image), reader_(reader), first_(first),
          elements_(image.output.array, image.units.bytes()),
          chunks_(chunks_of(image, threads, elements_)), packers_(chunks_),
          makers_(chunks_.size(), LevelMaker(image.sweep)),
          extremes_(chunks_.size(), ChannelExtremes(image.output)), threads_(threads) {}

    void make(std::int64_t index, const LevelMaker::Take& take) {
        const ArrayBox unit = image_.units.unit(index);
        const std::vector<std::int64_t> files = image_.units.files_of(unit);
        const std::vector<ArrayBox> slabs = image_.units.slabs_of(unit);
        if (slabs.size() == 1) {
            elements_.read(unit, reader_, first_);
            store_folder_files(image_.output, files, RowWriter::Sync::no, chunks_);
            make_levels(take);
            return;
        }
        FolderFile file(image_.output, files.front());
        std::span<const std::int64_t> chunks = file.chunks();
        for (const ArrayBox& slab : slabs) {
            elements_.read(slab, reader_, first_);
            const std::size_t count = &slab == &slabs.back()
                                          ? chunks.size()
                                          : static_cast<std::size_t>(image_.units.slab_chunks());
            file.append(chunks.first(count), packers_);
            chunks = chunks.subspan(count);
            make_levels(take);
        }
        file.finish(RowWriter::Sync::no);
    }

    const std::vector<ChannelExtremes>& extremes() const { return extremes_; }

  private:
    static std::vector<std::unique_ptr<ChunkSource>> chunks_of(const Image& image, int threads,
                                                               const UnitElements& elements) {
        std::vector<std::unique_ptr<ChunkSource>> chunks;
        chunks.reserve(static_cast<std::size_t>(threads));
        for (int i = 0; i < threads; ++i) {
            chunks.push_back(std::make_unique<UnitChunks>(image.output, image.grid, elements));
        }
        return chunks;
    }

    /// What the levels have of the elements in memory, and the extremes of these.
    void make_levels(const LevelMaker::Take& take) {
        const std::vector<VolumeBox> volumes =
            image_.has_levels ? elements_.volumes() : std::vector<VolumeBox>();
        for (std::size_t i = 0; i < volumes.size(); ++i) {
            const std::vector<VolumeBox> regions = image_.sweep.regions_in(volumes[i]);
            threads_.run(std::ssize(regions), [&](std::int64_t item, int thread) {
                const auto own = static_cast<std::size_t>(thread);
                const VolumeBox& region = regions[static_cast<std::size_t>(item)];
                const BoxElements elements =
                    elements_.part_of(static_cast<std::int64_t>(i), volumes[i], region);
                makers_[own].make(
                    region, elements,
                    [&](const VolumeBox& part, const BoxElements& there) {
                        extremes_[own].take(part, there);
                    },
                    take);
            });
        }
    }

    const Image& image_;
    RowReader& reader_;
    std::int64_t first_; ///< of the reader's rows
    UnitElements elements_;
    std::vector<std::unique_ptr<ChunkSource>> chunks_; ///< one a thread
    ChunkPackers packers_;
    std::vector<LevelMaker> makers_;        ///< one a thread
    std::vector<ChannelExtremes> extremes_; ///< one a thread
    IoThreads threads_;
};

/// Makes all units, and puts the elements of levels to their places. Returns the extremes of
/// channels.
Extremes store_units(const Image& image, const ImageTeams& teams,
                     std::span<const std::unique_ptr<RowReader>> readers, std::int64_t first,
                     const std::vector<LevelPlace>& places) {
    std::vector<std::unique_ptr<Team>> all;
    all.reserve(readers.size());
    for (const auto& reader : readers) {
        all.push_back(std::make_unique<Team>(image, teams.threads, *reader, first));
    }
    const LevelMaker::Take take = store_at(image.sweep, places);
    IoThreads pool(teams.teams);
    pool.run(image.units.count(), [&](std::int64_t unit, int team) {
        all[static_cast<std::size_t>(team)]->make(unit, take);
    });
    Extremes found;
    for (const auto& team : all) {
        for (const ChannelExtremes& some : team->extremes()) {
            join(found, some.found());
        }
    }
    return found;
}

/// Stores all levels: the first, which has most of the elements and few files, beside the others.
void store_levels(const LevelSweep& sweep, const std::vector<LevelPlace>& places,
                  AssemblyShare share) {
    constexpr std::size_t together = 2;
    share.memory /= together;
    const std::size_t levels = sweep.levels().size();
    IoThreads both(together);
    both.run(static_cast<std::int64_t>(std::min(levels, together)),
             [&](std::int64_t item, int /*thread*/) {
                 const auto first = static_cast<std::size_t>(item);
                 const std::size_t end = first == 0 ? 1 : levels;
                 for (std::size_t level = first; level < end; ++level) {
                     store_level(sweep, level, places[level], share);
                 }
             });
}

} // namespace

ImageTeams image_teams(const OutputDataset& output, int threads, std::int64_t memory) {
    if (folder_of(output.layout) == nullptr || output.array.shape.size() < 2) {
        return {};
    }
    const Image image(output);
    ImageTeams teams;
    teams.teams = static_cast<int>(std::min<std::int64_t>(threads, image.units.count()));
    for (; teams.teams > 0; --teams.teams) {
        teams.threads = threads / teams.teams;
        if (teams.teams * image.memory(teams.threads) <= memory) {
            break;
        }
    }
    return teams;
}

void store_image(const OutputDataset& output, const ImageTeams& teams, std::int64_t memory,
                 std::span<const std::unique_ptr<RowReader>> readers, std::int64_t first) {
    create_output(output);
    const Image image(output);
    const std::int64_t left = memory - teams.teams * image.memory(teams.threads);
    const AssemblyShare share{.threads = teams.teams * teams.threads, .memory = left / 2};
    const bool in_memory = LevelElements::bytes(image.sweep) <= left / 2;
    if (!in_memory) {
        prepare_levels(output, share);
    }
    LevelElements elements(image.sweep,
                           in_memory ? LevelElements::Where::memory : LevelElements::Where::files);
    OutputDataset made = output;
    made.extremes = store_units(image, teams, readers, first, elements.places());
    store_levels(image.sweep, elements.places(), share);
    elements.close();
    place_written(made);
}

} // namespace runner
