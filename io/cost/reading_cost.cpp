// SPDX-License-Identifier: BSD-3-Clause
#include "io/cost/reading_cost.hpp"

#include "io/files/io_threads.hpp"
#include "io/formats/rows_format.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace runner {
namespace {

using Way = DatasetLayout::Way;

/// What counting takes at most; a second, about.
constexpr std::int64_t most_visits = 2'000'000;

/// Counts what one rank reads.
class RankReader {
  public:
    RankReader(const DatasetLayout& layout, const std::optional<DatasetPart>& part,
               ReadingCost& cost)
        : layout_(layout), cost_(cost) {
        if (part) {
            map_.emplace(layout.info.array.shape, *part);
        }
    }

    void read(const RowRuns& runs) {
        for (std::int64_t run = 0; run < runs.runs && visits_ < most_visits; ++run) {
            const std::int64_t first = runs.first + run * runs.stride;
            if (!map_) {
                read_rows(first, runs.rows, runs.columns);
                continue;
            }
            const RowRuns box = map_->rows_of_box({first, runs.rows, 1, 0, 0, runs.columns});
            const std::int64_t end = box.first + box.rows;
            for (std::int64_t row = box.first; row < end && visits_ < most_visits;) {
                const std::int64_t rows = std::min(end - row, map_->adjacent(row));
                read_rows(map_->row_of(row), rows, box.columns);
                row += rows;
            }
        }
    }

    /// Elements whose reading was counted.
    std::int64_t counted() const { return counted_; }

  private:
    /// Rows of the dataset; `columns` of each are wanted.
    void read_rows(std::int64_t first, std::int64_t rows, std::int64_t columns) {
        const ArrayInfo& array = layout_.info.array;
        counted_ += rows * (array.shape.size() > 1 ? columns : 1);
        ++visits_;
        if (layout_.way != Way::sources) {
            return read_from(layout_, 0, first, rows, columns);
        }
        for (const RowPiece& piece : pieces_within(layout_.pieces, first, rows)) {
            read_from(layout_.sources[static_cast<std::size_t>(piece.source)], piece.source + 1,
                      piece.source_first, piece.rows, columns);
        }
    }

    void read_from(const DatasetLayout& from, std::int64_t number, std::int64_t first,
                   std::int64_t rows, std::int64_t columns) {
        const ArrayInfo& array = from.info.array;
        const std::int64_t wanted =
            rows * (array.shape.size() > 1 ? columns : 1) * size_of(array.type);
        if (from.way != Way::chunks) {
            const double share = static_cast<double>(wanted) /
                                 static_cast<double>(std::max<std::int64_t>(byte_count(array), 1));
            cost_.unpacked += wanted;
            cost_.stored += from.way == Way::positions
                                ? wanted
                                : static_cast<std::int64_t>(
                                      static_cast<double>(from.info.stored_bytes) * share);
            return;
        }
        ChunkVisits& visits = readers_.try_emplace(number, from).first->second;
        const std::int64_t chunks = visits.chunks();
        const std::int64_t stored = visits.stored();
        const std::int64_t before = visits.visits();
        // As RowReader::read_runs() asks for rows of which it wants some columns.
        const std::int64_t most =
            columns == row_elements(array)
                ? rows
                : std::clamp<std::int64_t>(io_block_bytes / row_bytes(array), 1, rows);
        for (std::int64_t done = 0; done < rows; done += most) {
            visits.read(first + done, std::min(most, rows - done));
        }
        cost_.unpacked += (visits.chunks() - chunks) * byte_count({array.type, from.info.chunk});
        cost_.stored += visits.stored() - stored;
        visits_ += visits.visits() - before;
    }

    const DatasetLayout& layout_;
    std::optional<PartRowMap> map_; ///< of the part
    ReadingCost& cost_;
    std::map<std::int64_t, ChunkVisits> readers_; ///< by the source's number
    std::int64_t visits_ = 0;
    std::int64_t counted_ = 0;
};

std::int64_t elements_of(const std::vector<RowRuns>& reads, bool one_axis) {
    std::int64_t elements = 0;
    for (const RowRuns& runs : reads) {
        elements += runs.runs * runs.rows * (one_axis ? 1 : runs.columns);
    }
    return elements;
}

} // namespace

ChunkVisits::ChunkVisits(const DatasetLayout& layout)
    : layout_(layout), counts_(chunk_counts(layout.info)) {}

void ChunkVisits::visit(std::int64_t index, std::int64_t last_row, std::int64_t end) {
    ++visits_;
    if (kept_indices_.contains(index)) {
        return;
    }
    ++chunks_;
    const auto place = std::lower_bound(
        layout_.chunks.begin(), layout_.chunks.end(), index,
        [](const ChunkPlace& each, std::int64_t wanted) { return each.index < wanted; });
    stored_ += place != layout_.chunks.end() && place->index == index ? place->bytes : 0;
    // In a call that takes several boxes of rows a chunk may be met again.
    kept_.emplace(std::max(last_row, end - 1), index);
    kept_indices_.insert(index);
}

void ChunkVisits::read(std::int64_t first, std::int64_t rows) {
    const std::vector<std::int64_t>& shape = layout_.info.array.shape;
    const std::vector<std::int64_t>& chunk = layout_.info.chunk;
    const std::int64_t end = first + rows;
    for (std::int64_t at = first; at < end;) {
        const RowBox box = box_at(shape, at, end);
        std::vector<std::int64_t> low(shape.size());
        std::vector<std::int64_t> high(shape.size());
        std::int64_t cells = 1;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            low[axis] = box.start[axis] / chunk[axis];
            high[axis] = (box.start[axis] + box.count[axis] - 1) / chunk[axis];
            cells *= high[axis] - low[axis] + 1;
        }
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            std::int64_t rest = cell;
            std::int64_t index = 0;
            std::int64_t last_row = 0;
            std::int64_t index_step = 1;
            std::int64_t row_step = 1;
            for (std::size_t axis = shape.size(); axis-- > 0;) {
                const std::int64_t extent = high[axis] - low[axis] + 1;
                const std::int64_t number = low[axis] + rest % extent;
                rest /= extent;
                index += number * index_step;
                index_step *= counts_[axis];
                if (axis < row_axes(shape)) {
                    last_row += (std::min((number + 1) * chunk[axis], shape[axis]) - 1) * row_step;
                    row_step *= shape[axis];
                }
            }
            visit(index, last_row, end);
        }
        at += box.rows;
    }
    while (!kept_.empty() && kept_.begin()->first < end) {
        kept_indices_.erase(kept_.begin()->second);
        kept_.erase(kept_.begin());
    }
}

double ReadingCost::amplification() const {
    return wanted == 0 ? 1.0 : static_cast<double>(unpacked) / static_cast<double>(wanted);
}

std::string reading_way(const DatasetLayout& layout) {
    switch (layout.way) {
    case Way::positions: return "in place, by several threads";
    case Way::chunks:
        return layout.filters.empty() ? "in place, chunk by chunk, by several threads"
                                      : "unpacked by our own decoders, on all cores";
    case Way::format: return "unpacked by one thread from front to back";
    case Way::library:
        return rows_format_of(layout.file) == nullptr ? "through HDF5, in one process"
                                                      : "by the format's library, in one process";
    case Way::sources:
        return layout.sources.empty()
                   ? "nothing of it is stored"
                   : "from " + std::to_string(layout.sources.size()) + " datasets or files, each " +
                         reading_way(layout.sources.front());
    }
    return "";
}

ReadingCost reading_cost(const DatasetLayout& layout, const std::optional<DatasetPart>& part,
                         const std::vector<std::vector<RowRuns>>& reads) {
    ReadingCost cost;
    cost.way = reading_way(layout);
    const bool one_axis = layout.info.array.shape.size() == 1;
    for (const std::vector<RowRuns>& of_rank : reads) {
        ReadingCost own;
        RankReader reader(layout, part, own);
        for (const RowRuns& runs : of_rank) {
            reader.read(runs);
        }
        const std::int64_t all = elements_of(of_rank, one_axis);
        cost.wanted += all * size_of(layout.info.array.type);
        double more = 1.0;
        if (reader.counted() < all && reader.counted() > 0) {
            more = static_cast<double>(all) / static_cast<double>(reader.counted());
            cost.exact = false;
        }
        cost.stored += static_cast<std::int64_t>(static_cast<double>(own.stored) * more);
        cost.unpacked += static_cast<std::int64_t>(static_cast<double>(own.unpacked) * more);
    }
    return cost;
}

std::optional<std::int64_t> rows_of_whole_chunks(const DatasetLayout& layout) {
    if (layout.way != Way::chunks) {
        return std::nullopt;
    }
    const std::vector<std::int64_t>& shape = layout.info.array.shape;
    std::int64_t rows = 1;
    bool whole = true; // all axes behind
    for (std::size_t axis = row_axes(shape); axis-- > 0;) {
        const std::int64_t chunk = std::min(layout.info.chunk[axis], shape[axis]);
        rows *= whole || chunk > 1 ? chunk : 1;
        if (!whole && chunk > 1) { // rows of several indices: the band of all chunks beside it
            rows = chunk;
            for (std::size_t behind = axis + 1; behind < row_axes(shape); ++behind) {
                rows *= shape[behind];
            }
        }
        whole = whole && chunk == shape[axis];
    }
    return rows;
}

} // namespace runner
