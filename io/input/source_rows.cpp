// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/source_rows.hpp"

#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/input/chunk_reader.hpp"
#include "io/inspect/virtual_mappings.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// Each is an open file while rows are read.
constexpr std::size_t most_sources = 512;

/// More are left to HDF5.
constexpr std::size_t most_pieces = 1 << 20;

/// Adds the rows of one mapping; false where they are not whole rows.
bool add_rows(const VirtualMapping& mapping, const ArrayInfo& array, const ArrayInfo& there,
              std::int64_t source, std::vector<RowPiece>& pieces) {
    const auto runs = runs_of(mapping.elements, array.shape);
    const auto source_runs = runs_of(mapping.source_elements, there.shape);
    if (!runs || !source_runs) {
        return false;
    }
    const std::int64_t row = row_elements(array);
    auto from = source_runs->begin();
    std::int64_t used = 0; // of the source's run
    for (const ElementRun& run : *runs) {
        for (std::int64_t done = 0; done < run.count;) {
            if (from == source_runs->end()) {
                return false;
            }
            const std::int64_t count = std::min(run.count - done, from->count - used);
            const std::int64_t first = run.first + done;
            const std::int64_t source_first = from->first + used;
            if (first % row != 0 || count % row != 0 || source_first % row != 0) {
                return false;
            }
            pieces.push_back({first / row, count / row, source, source_first / row});
            done += count;
            used += count;
            if (used == from->count) {
                ++from;
                used = 0;
            }
        }
    }
    return from == source_runs->end();
}

/// In the order of the rows, joined; nothing unless they are all rows of the array, each once.
std::optional<std::vector<RowPiece>> whole(std::vector<RowPiece> pieces, const ArrayInfo& array) {
    std::sort(pieces.begin(), pieces.end(),
              [](const RowPiece& a, const RowPiece& b) { return a.first < b.first; });
    std::vector<RowPiece> all;
    std::int64_t next = 0;
    for (const RowPiece& piece : pieces) {
        if (piece.first != next) {
            return std::nullopt;
        }
        next += piece.rows;
        append_piece(all, piece);
    }
    return next == row_count(array) ? std::optional(std::move(all)) : std::nullopt;
}

bool fits(const DatasetLayout& source, const ArrayInfo& array) {
    const bool is_read_here =
        source.way == DatasetLayout::Way::positions || source.way == DatasetLayout::Way::chunks;
    const ArrayInfo& there = source.info.array;
    return is_read_here && there.type == array.type && there.stored == array.stored &&
           row_elements(there) == row_elements(array);
}

/// Plain sources are read at positions by any number of threads, each of the others by one.
class SourceReader final : public RowReader {
  public:
    SourceReader(const DatasetLayout& layout, int threads)
        : info_(layout.info), pieces_(layout.pieces), threads_(threads) {
        info_.offset.reset();
        for (const DatasetLayout& source : layout.sources) {
            const bool plain = source.way == DatasetLayout::Way::positions;
            sources_.push_back(
                {plain ? std::optional(File(source.holder, File::Mode::read)) : std::nullopt,
                 source.info.offset.value_or(0), plain ? nullptr : open_chunk_reader(source, 1)});
        }
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const std::int64_t row = row_bytes(info_.array);
        const std::vector<Task> tasks = tasks_of(first, rows);
        threads_.run(std::ssize(tasks), [&](std::int64_t index, int /*thread*/) {
            for (const Block& block : tasks[static_cast<std::size_t>(index)]) {
                read_block(block, to + (block.first - first) * row);
            }
        });
    }

  private:
    struct Source {
        std::optional<File> file; ///< of a plain one
        std::int64_t offset = 0;
        std::unique_ptr<RowReader> reader; ///< of another
    };
    /// A piece, or bytes of it where the source is plain.
    struct Block {
        std::int64_t first = 0;
        std::int64_t rows = 0;
        std::int64_t source = 0;
        std::int64_t source_first = 0;
        std::int64_t begin = 0; ///< byte
        std::int64_t bytes = 0;
    };
    using Task = std::vector<Block>; ///< of one thread

    std::vector<Task> tasks_of(std::int64_t first, std::int64_t rows) const {
        const std::int64_t row = row_bytes(info_.array);
        const std::int64_t most = block_for(rows * row, threads_.threads());
        std::vector<Task> tasks;
        std::map<std::int64_t, Task> by_source;
        for (const auto& [begin, count, source, source_first] :
             pieces_within(pieces_, first, rows)) {
            if (!sources_[static_cast<std::size_t>(source)].file) {
                by_source[source].push_back({begin, count, source, source_first, 0, count * row});
                continue;
            }
            for (std::int64_t at = 0; at < count * row; at += most) {
                tasks.push_back(
                    {{begin, count, source, source_first, at, std::min(most, count * row - at)}});
            }
        }
        for (auto& [source, task] : by_source) {
            tasks.push_back(std::move(task));
        }
        return tasks;
    }

    void read_block(const Block& block, std::byte* to) {
        Source& source = sources_[static_cast<std::size_t>(block.source)];
        if (source.reader) {
            return source.reader->read(block.source_first, block.rows, to);
        }
        source.file->read(source.offset + block.source_first * row_bytes(info_.array) + block.begin,
                          block.bytes, to + block.begin);
    }

    DatasetInfo info_;
    std::vector<RowPiece> pieces_;
    std::vector<Source> sources_;
    IoThreads threads_;
};

} // namespace

void add_sources(DatasetLayout& layout, const PropertyHandle& creation, const FindSource& find) {
    const auto mappings = virtual_mappings(creation);
    if (!mappings || layout.info.big_endian) {
        return;
    }
    const ArrayInfo& array = layout.info.array;
    std::map<std::pair<std::string, std::string>, std::int64_t> numbers;
    std::vector<DatasetLayout> sources;
    std::vector<RowPiece> pieces;
    for (const VirtualMapping& mapping : *mappings) {
        const auto [entry, is_new] =
            numbers.try_emplace({mapping.file, mapping.dataset}, std::ssize(sources));
        if (is_new) {
            std::optional<DatasetLayout> source = find(mapping.file, mapping.dataset);
            if (!source || sources.size() == most_sources) {
                return;
            }
            sources.push_back(*std::move(source));
        }
        const DatasetLayout& source = sources[static_cast<std::size_t>(entry->second)];
        if (!fits(source, array) ||
            !add_rows(mapping, array, source.info.array, entry->second, pieces) ||
            pieces.size() > most_pieces) {
            return;
        }
    }
    if (std::optional<std::vector<RowPiece>> all = whole(std::move(pieces), array)) {
        layout.way = DatasetLayout::Way::sources;
        layout.sources = std::move(sources);
        layout.pieces = *std::move(all);
    }
}

std::unique_ptr<RowReader> open_source_reader(const DatasetLayout& layout, int threads) {
    return std::make_unique<SourceReader>(layout, threads);
}

} // namespace runner
