// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/chunk_files.hpp"
#include "io/input/layout_readers.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/filters/kept_chunks.hpp"
#include "io/filters/member_checks.hpp"
#include "io/filters/unpacker.hpp"
#include "io/input/open_rows.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/rows.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace runner {
namespace {

/// Bytes of a number whose bytes have an order: a complex one is two.
std::int64_t number_bytes(ElementType type) { return size_of(type) / (is_complex(type) ? 2 : 1); }

class ChunkReader final : public RowReader {
  public:
    ChunkReader(const DatasetLayout& layout, int threads)
        : info_(layout.info), fill_(layout.fill), places_(layout.chunks), edges_(layout.edges),
          counts_(chunk_counts(layout.info)), where_(file_and_dataset(layout.file, layout.dataset)),
          in_folder_(!layout.chunk_files.empty()), files_(layout), members_(layout.members),
          chunk_bytes_(byte_count({info_.array.type, info_.chunk})),
          is_packed_(!layout.filters.empty()), kept_(chunk_bytes_, most_kept_bytes),
          threads_(threads) {
        for (int thread = 0; thread < threads; ++thread) {
            unpackers_.emplace_back(layout.filters, chunk_bytes_);
            packed_.emplace_back();
        }
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const std::int64_t end = first + rows;
        const std::set<Chunk> set = chunks_of_rows(info_.array.shape, info_.chunk, first, end);
        const std::vector<Chunk> chunks(set.begin(), set.end());
        threads_.run(std::ssize(chunks), [&](std::int64_t item, int thread) {
            read_chunk(chunks[static_cast<std::size_t>(item)], first, end, to,
                       static_cast<std::size_t>(thread));
        });
        kept_.drop_before(end);
    }

    /// Each chunk of runs that are dense in memory is unpacked once, all at the same time.
    void read_scattered(std::span<const ScatteredRows> all) override {
        const std::int64_t row = row_bytes(info_.array);
        if (info_.array.shape.size() == 1 ||
            std::any_of(all.begin(), all.end(),
                        [&](const auto& run) { return run.pitch != row; })) {
            RowReader::read_scattered(all);
            return;
        }
        std::map<Chunk, std::vector<const ScatteredRows*>> runs_of;
        for (const ScatteredRows& run : all) {
            check_rows(info_.array, run.first, run.rows);
            for (const Chunk& chunk :
                 chunks_of_rows(info_.array.shape, info_.chunk, run.first, run.first + run.rows)) {
                runs_of[chunk].push_back(&run);
            }
        }
        for (auto& [chunk, runs] : runs_of) {
            std::sort(runs.begin(), runs.end(),
                      [](const auto* a, const auto* b) { return a->first < b->first; });
        }
        const std::vector<std::pair<Chunk, std::vector<const ScatteredRows*>>> chunks(
            runs_of.begin(), runs_of.end());
        threads_.run(std::ssize(chunks), [&](std::int64_t item, int thread) {
            const auto& [chunk, runs] = chunks[static_cast<std::size_t>(item)];
            const auto kept = kept_.find(chunk);
            const std::span<const std::byte> elements =
                kept ? *kept : load(chunk, static_cast<std::size_t>(thread));
            copy_lines(chunk, elements, [&, &runs = runs](std::int64_t of_array) -> std::byte* {
                const auto behind = std::upper_bound(
                    runs.begin(), runs.end(), of_array,
                    [](std::int64_t each, const auto* run) { return each < run->first; });
                if (behind == runs.begin()) {
                    return nullptr;
                }
                const ScatteredRows& run = **std::prev(behind);
                const std::int64_t in_run = of_array - run.first;
                return in_run < run.rows ? run.to + in_run * row : nullptr;
            });
        });
    }

  private:
    void read_chunk(const Chunk& chunk, std::int64_t first, std::int64_t end, std::byte* to,
                    std::size_t thread) {
        if (const auto kept = kept_.find(chunk)) {
            return copy_rows(chunk, *kept, first, end, to);
        }
        if (const std::optional<std::int64_t> row = whole_rows(chunk, first, end)) {
            const auto bytes = static_cast<std::size_t>(chunk_bytes_);
            (void)load_to(chunk, thread, {to + (*row - first) * row_bytes(info_.array), bytes});
            return;
        }
        // Rows are read in order: the next call begins within a chunk that has more of them.
        std::optional<std::vector<std::byte>> buffer =
            last_row(chunk) >= end ? kept_.take_buffer() : std::nullopt;
        if (!buffer) { // what is not kept is unpacked again
            return copy_rows(chunk, load(chunk, thread), first, end, to);
        }
        const std::span<const std::byte> elements = load_to(chunk, thread, *buffer);
        copy_rows(chunk, elements, first, end, to);
        kept_.keep(chunk, std::move(*buffer), elements, last_row(chunk));
    }

    /// The first row of a chunk that is nothing but whole rows, one after the other, all of them in
    /// [first, end).
    std::optional<std::int64_t> whole_rows(const Chunk& chunk, std::int64_t first,
                                           std::int64_t end) const {
        const std::size_t axes = chunk.size();
        if (axes < 2 || info_.chunk[axes - 1] != info_.array.shape[axes - 1]) {
            return std::nullopt;
        }
        const std::int64_t lines = chunk_bytes_ / row_bytes(info_.array);
        const std::int64_t row = row_of_line(chunk, 0);
        const bool dense =
            row >= first && row + lines <= end && row_of_line(chunk, lines - 1) == row + lines - 1;
        return dense ? std::optional(row) : std::nullopt;
    }

    /// The chunk's elements at the beginning of `to`, which has a chunk's bytes.
    std::span<const std::byte> load_to(const Chunk& chunk, std::size_t thread,
                                       std::span<std::byte> to) {
        const ChunkPlace* const place = place_of(chunk);
        if (place == nullptr) { // never written
            fill(to);
            return to;
        }
        std::size_t bytes = to.size();
        if (is_packed_ || place->bytes != chunk_bytes_) {
            const std::vector<std::byte>& packed = fetch(chunk, *place, thread);
            bytes = unpackers_[thread].unpack_to(packed, place->skipped, name_of(chunk, *place), to,
                                                 bytes_within(chunk));
        } else {
            file_of(chunk, *place)->read(place->offset, place->bytes, to.data());
        }
        if (info_.big_endian) {
            const std::int64_t size = number_bytes(info_.array.type);
            swap_bytes(to.data(), static_cast<std::int64_t>(bytes) / size, size);
        }
        return to.first(bytes);
    }

    void fill(std::span<std::byte> to) const {
        for (std::size_t at = 0; at < to.size(); at += fill_.size()) {
            std::copy(fill_.begin(), fill_.end(), to.data() + at);
        }
    }

    std::string name_of(const Chunk& chunk, const ChunkPlace& place) const {
        if (info_.storage != "strips" && info_.storage != "tiles") {
            return where_ + ", chunk from " + shape_text(chunk) +
                   (in_folder_ ? ", in " + files_.name(place.file) : "");
        }
        const std::size_t axes = chunk.size() - (info_.channels.value_or(1) > 1 ? 1 : 0);
        const std::int64_t of_page = counts_[axes - 2] * counts_[axes - 1];
        const std::int64_t index = index_of(chunk);
        return where_ + ", page " + std::to_string(index / of_page) +
               (info_.storage == "strips" ? ", strip " : ", tile ") +
               std::to_string(index % of_page);
    }

    std::int64_t index_of(const Chunk& chunk) const {
        std::int64_t index = 0;
        for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
            index = index * counts_[axis] + chunk[axis] / info_.chunk[axis];
        }
        return index;
    }

    /// Bytes that a stored chunk has at least: those within the array where it may be cut.
    std::int64_t bytes_within(const Chunk& chunk) const {
        std::int64_t bytes = chunk_bytes_;
        for (std::size_t axis = 0; edges_ == EdgeChunks::cut && axis < chunk.size(); ++axis) {
            bytes = bytes / info_.chunk[axis] *
                    std::min(info_.chunk[axis], info_.array.shape[axis] - chunk[axis]);
        }
        return bytes;
    }

    std::span<const std::byte> load(const Chunk& chunk, std::size_t thread) {
        std::vector<std::byte>& packed = packed_[thread];
        const ChunkPlace* const place = place_of(chunk);
        if (place == nullptr) { // never written
            packed.resize(static_cast<std::size_t>(chunk_bytes_));
            fill(packed);
            return packed;
        }
        (void)fetch(chunk, *place, thread);
        const auto elements = unpackers_[thread].unpack(
            packed, place->skipped, name_of(chunk, *place), bytes_within(chunk));
        if (info_.big_endian) {
            const std::int64_t bytes = std::ssize(elements);
            if (elements.data() != packed.data()) {
                packed.assign(elements.begin(), elements.end());
            }
            const std::int64_t size = number_bytes(info_.array.type);
            swap_bytes(packed.data(), bytes / size, size);
            // Behind the elements a checksum may follow.
            return std::span(packed).first(static_cast<std::size_t>(bytes));
        }
        return elements;
    }

    /// Null where the chunk was never written.
    const ChunkPlace* place_of(const Chunk& chunk) const {
        const std::int64_t index = index_of(chunk);
        const auto place = std::lower_bound(
            places_.begin(), places_.end(), index,
            [](const ChunkPlace& each, std::int64_t wanted) { return each.index < wanted; });
        return place == places_.end() || place->index != index ? nullptr : &*place;
    }

    std::shared_ptr<const File> file_of(const Chunk& chunk, const ChunkPlace& place) {
        if (place.bytes == 0) {
            throw Error(ExitCode::input,
                        {"cannot read a chunk", name_of(chunk, place),
                         "the file's index of its chunks gives it a place or a size that cannot be "
                         "right",
                         "The file is damaged: copy it again, or make it again"});
        }
        std::shared_ptr<const File> file = files_.open(place.file);
        members_.check(*file, place.offset);
        return file;
    }

    /// The chunk as it is stored.
    const std::vector<std::byte>& fetch(const Chunk& chunk, const ChunkPlace& place,
                                        std::size_t thread) {
        const std::shared_ptr<const File> file = file_of(chunk, place);
        std::vector<std::byte>& packed = packed_[thread];
        packed.resize(static_cast<std::size_t>(place.bytes));
        file->read(place.offset, place.bytes, packed.data());
        return packed;
    }

    /// Number of the last row of the array that the chunk holds a part of.
    std::int64_t last_row(const Chunk& chunk) const {
        std::int64_t row = 0;
        for (std::size_t axis = 0; axis < row_axes(info_.array.shape); ++axis) {
            const std::int64_t extent = info_.array.shape[axis];
            row = row * extent + std::min(chunk[axis] + info_.chunk[axis], extent) - 1;
        }
        return row;
    }

    /// Copies what the chunk holds of rows [first, end) to its place among them.
    void copy_rows(const Chunk& chunk, std::span<const std::byte> elements, std::int64_t first,
                   std::int64_t end, std::byte* to) const {
        const std::vector<std::int64_t>& shape = info_.array.shape;
        const std::int64_t size = size_of(info_.array.type);
        if (shape.size() == 1) {
            const std::int64_t low = std::max(first, chunk[0]);
            const std::int64_t high = std::min({end, chunk[0] + info_.chunk[0], shape[0]});
            std::copy_n(elements.data() + (low - chunk[0]) * size, (high - low) * size,
                        to + (low - first) * size);
            return;
        }
        while (first < end) {
            const RowBox box = box_at(shape, first, end);
            copy_box(chunk, elements, box, to);
            to += box.rows * row_bytes(info_.array);
            first += box.rows;
        }
    }

    /// Copies what the chunk holds of a box of whole rows to its place behind the box's first row.
    /// A chunk of many frames is read a frame at a time, so lines of other rows are not looked at.
    void copy_box(const Chunk& chunk, std::span<const std::byte> elements, const RowBox& box,
                  std::byte* to) const {
        const std::vector<std::int64_t>& shape = info_.array.shape;
        const std::size_t last = shape.size() - 1;
        const std::int64_t size = size_of(info_.array.type);
        const std::int64_t used = std::min(info_.chunk[last], shape[last] - chunk[last]) * size;
        const std::int64_t stored = std::ssize(elements) / (info_.chunk[last] * size);
        std::vector<std::int64_t> low(last);
        std::vector<std::int64_t> high(last);
        for (std::size_t axis = 0; axis < last; ++axis) {
            low[axis] = std::max(chunk[axis], box.start[axis]);
            high[axis] =
                std::min(chunk[axis] + info_.chunk[axis], box.start[axis] + box.count[axis]);
            if (low[axis] >= high[axis]) {
                return;
            }
        }
        for (std::vector<std::int64_t> at = low; at[0] < high[0];) {
            std::int64_t line = 0;
            std::int64_t row = 0;
            for (std::size_t axis = 0; axis < last; ++axis) {
                line = line * info_.chunk[axis] + at[axis] - chunk[axis];
                row = row * shape[axis] + at[axis] - box.start[axis];
            }
            const std::byte* from = elements.data() + line * info_.chunk[last] * size;
            std::byte* place = to + row * row_bytes(info_.array) + chunk[last] * size;
            const std::int64_t lines = std::min(high[last - 1] - at[last - 1], stored - line);
            for (std::int64_t i = 0; i < lines; ++i) {
                std::copy_n(from, used, place);
                from += info_.chunk[last] * size;
                place += row_bytes(info_.array);
            }
            at[last - 1] = high[last - 1];
            for (std::size_t axis = last - 1; axis > 0 && at[axis] == high[axis]; --axis) {
                at[axis] = low[axis];
                ++at[axis - 1];
            }
        }
    }

    /// Copies each line of a chunk to its row's place, which `place_of_row` gives, or null.
    template <class Place>
    void copy_lines(const Chunk& chunk, std::span<const std::byte> elements,
                    const Place& place_of_row) const {
        const std::vector<std::int64_t>& shape = info_.array.shape;
        const std::int64_t size = size_of(info_.array.type);
        const std::size_t last = shape.size() - 1;
        const std::int64_t line = info_.chunk[last] * size;
        const std::int64_t used = std::min(info_.chunk[last], shape[last] - chunk[last]) * size;
        const std::int64_t lines = std::ssize(elements) / line;
        for (std::int64_t number = 0; number < lines; ++number) {
            const std::int64_t row = row_of_line(chunk, number);
            std::byte* const to = row < 0 ? nullptr : place_of_row(row);
            if (to != nullptr) {
                std::copy_n(elements.data() + number * line, used, to + chunk[last] * size);
            }
        }
    }

    /// The array's row that line `number` of a chunk is a part of; -1 for a line beyond the array.
    std::int64_t row_of_line(const Chunk& chunk, std::int64_t number) const {
        std::int64_t row = 0;
        std::int64_t below = 1; // rows of the array in one step of the axis
        for (std::size_t axis = info_.array.shape.size() - 1; axis-- > 0;) {
            const std::int64_t at = chunk[axis] + number % info_.chunk[axis];
            number /= info_.chunk[axis];
            if (at >= info_.array.shape[axis]) {
                return -1;
            }
            row += at * below;
            below *= info_.array.shape[axis];
        }
        return row;
    }

    DatasetInfo info_;
    std::vector<std::byte> fill_;    ///< one element
    std::vector<ChunkPlace> places_; ///< in the order of their indices
    EdgeChunks edges_;
    std::vector<std::int64_t> counts_; ///< of chunks along each axis
    std::string where_;
    bool in_folder_; ///< each chunk in the file of its place
    ChunkFiles files_;
    MemberChecks members_;
    std::int64_t chunk_bytes_;
    bool is_packed_;
    std::vector<Unpacker> unpackers_;            ///< one a thread
    std::vector<std::vector<std::byte>> packed_; ///< one a thread
    KeptChunks kept_;
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowReader> open_chunk_reader(const DatasetLayout& layout, int threads) {
    return std::make_unique<ChunkReader>(layout, threads);
}

} // namespace runner
