// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/chunk_files.hpp"
#include "io/input/layout_readers.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/io_threads.hpp"
#include "io/filters/chunk_lines.hpp"
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
        : info_(layout.info), lines_(info_.array, info_.chunk), fill_(layout.fill),
          places_(layout.chunks), edges_(layout.edges), counts_(chunk_counts(layout.info)),
          where_(file_and_dataset(layout.file, layout.dataset)),
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
            const auto place_of_row = [&, &runs = runs](std::int64_t of_array) -> std::byte* {
                const auto behind = std::upper_bound(
                    runs.begin(), runs.end(), of_array,
                    [](std::int64_t each, const auto* run) { return each < run->first; });
                if (behind == runs.begin()) {
                    return nullptr;
                }
                const ScatteredRows& run = **std::prev(behind);
                const std::int64_t in_run = of_array - run.first;
                return in_run < run.rows ? run.to + in_run * row : nullptr;
            };
            const auto own = static_cast<std::size_t>(thread);
            if (const ChunkPlace* const plain = plain_place_of(chunk)) {
                return read_lines(chunk, *plain, own, {0, lines_.count()},
                                  [&, &chunk = chunk](const StoredLines& lines) {
                                      lines_.copy_lines(chunk, lines, place_of_row);
                                  });
            }
            const auto kept = kept_.find(chunk);
            lines_.copy_lines(chunk, {0, kept ? *kept : load(chunk, own)}, place_of_row);
        });
    }

  private:
    void read_chunk(const Chunk& chunk, std::int64_t first, std::int64_t end, std::byte* to,
                    std::size_t thread) {
        if (const auto kept = kept_.find(chunk)) {
            return lines_.copy_rows(chunk, {0, *kept}, first, end, to);
        }
        if (const std::optional<std::int64_t> row = lines_.whole_rows(chunk, first, end)) {
            const auto bytes = static_cast<std::size_t>(chunk_bytes_);
            (void)load_to(chunk, thread, {to + (*row - first) * row_bytes(info_.array), bytes});
            return;
        }
        if (const ChunkPlace* const plain = plain_place_of(chunk)) {
            return read_lines(
                chunk, *plain, thread, lines_.within(chunk, first, end),
                [&](const StoredLines& lines) { lines_.copy_rows(chunk, lines, first, end, to); });
        }
        // Rows are read in order: the next call begins within a chunk that has more of them.
        std::optional<std::vector<std::byte>> buffer =
            lines_.last_row(chunk) >= end ? kept_.take_buffer() : std::nullopt;
        if (!buffer) { // what is not kept is unpacked again
            return lines_.copy_rows(chunk, {0, load(chunk, thread)}, first, end, to);
        }
        const std::span<const std::byte> elements = load_to(chunk, thread, *buffer);
        lines_.copy_rows(chunk, {0, elements}, first, end, to);
        kept_.keep(chunk, std::move(*buffer), elements, lines_.last_row(chunk));
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
            const bool is_missing = in_folder_ && !is_there(files_.name(place.file));
            throw Error(ExitCode::input,
                        {"cannot read a chunk", name_of(chunk, place),
                         is_missing   ? "its file is missing"
                         : in_folder_ ? "the size of its file, or what that says of its chunks, "
                                        "cannot be right"
                                      : "the file's index of its chunks gives it a place or a size "
                                        "that cannot be right",
                         "The file is damaged: copy it again, or make it again"});
        }
        std::shared_ptr<const File> file = files_.open(place.file);
        members_.check(*file, place.offset);
        return file;
    }

    /// Where a chunk is that is stored as its elements are, of an array of several axes; else null.
    const ChunkPlace* plain_place_of(const Chunk& chunk) const {
        const ChunkPlace* const place = is_packed_ || chunk.size() < 2 ? nullptr : place_of(chunk);
        return place != nullptr && place->bytes == chunk_bytes_ ? place : nullptr;
    }

    /// Reads lines of a plain chunk, a few at a time: these are in the thread's cache when `take`
    /// copies them.
    template <class Take>
    void read_lines(const Chunk& chunk, const ChunkPlace& place, std::size_t thread,
                    const ChunkLines::Range& lines, const Take& take) {
        constexpr std::int64_t most_bytes = 256 << 10;
        const std::int64_t together = std::max<std::int64_t>(1, most_bytes / lines_.bytes());
        const std::shared_ptr<const File> file = file_of(chunk, place);
        std::vector<std::byte>& piece = packed_[thread];
        for (std::int64_t line = lines.begin; line < lines.end; line += together) {
            const std::int64_t bytes = std::min(together, lines.end - line) * lines_.bytes();
            piece.resize(static_cast<std::size_t>(bytes));
            file->read(place.offset + line * lines_.bytes(), bytes, piece.data());
            if (info_.big_endian) {
                const std::int64_t size = number_bytes(info_.array.type);
                swap_bytes(piece.data(), bytes / size, size);
            }
            take(StoredLines{line, piece});
        }
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

    DatasetInfo info_;
    ChunkLines lines_;
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
