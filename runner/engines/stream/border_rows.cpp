// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/stream/border_rows.hpp"

#include <algorithm>
#include <cstring>

namespace runner::stream {

BorderRows::BorderRows(const Decomposition& decomposition, int rank, std::int64_t row_bytes)
    : decomposition_(decomposition), slab_(decomposition.slab(rank)), row_bytes_(row_bytes),
      plan_(make_border_plan(decomposition, rank)) {
    std::int64_t offset = 0;
    hold(plan_.own, traded_, offset);
    for (const Transfer& transfer : plan_.receives) {
        hold(transfer.rows, traded_, offset);
    }
    std::sort(traded_.begin(), traded_.end(),
              [](const Held& a, const Held& b) { return a.rows.first < b.rows.first; });
    early_offset_ = offset;
    const bool periodic = decomposition.border == RowBorder::periodic;
    const std::int64_t early = periodic ? 2 * decomposition.halo * row_bytes : 0;
    memory_.resize(static_cast<std::size_t>(offset + early));
}

void BorderRows::hold(const RowSet& rows, std::vector<Held>& held, std::int64_t& offset) const {
    for (const RowRange& range : rows) {
        held.push_back({range, offset});
        offset += range.count() * row_bytes_;
    }
}

const BorderRows::Held* BorderRows::find(const std::vector<Held>& held, std::int64_t row) {
    for (const Held& run : held) {
        if (row >= run.rows.first && row < run.rows.last) {
            return &run;
        }
    }
    return nullptr;
}

template <class ReadRest>
void BorderRows::fill(const std::vector<Held>& held, RowRange rows, std::byte* to,
                      ReadRest read_rest) const {
    while (!rows.empty()) {
        RowRange part = rows;
        if (const Held* run = find(held, rows.first)) {
            part.last = std::min(rows.last, run->rows.last);
            std::memcpy(to,
                        memory_.data() + run->offset + (rows.first - run->rows.first) * row_bytes_,
                        static_cast<std::size_t>(part.count() * row_bytes_));
        } else {
            for (const Held& other : held) {
                if (other.rows.first > rows.first) {
                    part.last = std::min(part.last, other.rows.first);
                }
            }
            read_rest(part, to);
        }
        to += part.count() * row_bytes_;
        rows.first = part.last;
    }
}

void BorderRows::read_storage(RowRange rows, RowReader& reader, std::byte* to) {
    reader.read(rows.first, rows.count(), to);
    bytes_read_ += rows.count() * row_bytes_;
}

void BorderRows::read_own(RowReader& reader) {
    for (const RowRange& range : plan_.own) {
        read_storage(range, reader, memory_.data() + find(traded_, range.first)->offset);
    }
}

void BorderRows::exchange(const Ranks& ranks) {
    // A sent range lies within one held run, since `own` is the union of what is sent; a received
    // one is held as it is.
    std::vector<Message<const std::byte>> sends;
    for (const Transfer& transfer : plan_.sends) {
        for (const RowRange& range : transfer.rows) {
            const Held& run = *find(traded_, range.first);
            const std::int64_t offset = run.offset + (range.first - run.rows.first) * row_bytes_;
            const std::int64_t bytes = range.count() * row_bytes_;
            sends.push_back({transfer.rank, memory_.data() + offset, bytes});
            bytes_sent_ += bytes;
        }
    }
    std::vector<Message<std::byte>> receives;
    for (const Transfer& transfer : plan_.receives) {
        for (const RowRange& range : transfer.rows) {
            const Held& run = *find(traded_, range.first);
            receives.push_back(
                {transfer.rank, memory_.data() + run.offset, range.count() * row_bytes_});
        }
    }
    ranks.exchange(sends, receives);
}

void BorderRows::enter_frame(std::int64_t frame, RowReader& reader) {
    if (frame == current_frame_) {
        return;
    }
    current_frame_ = frame;
    early_.clear();
    const std::int64_t start = frame * decomposition_.rows;
    const RowSet early =
        early_rows(decomposition_, frame, std::max<std::int64_t>(0, slab_.first - start),
                   std::min(decomposition_.rows, slab_.last - start));
    std::int64_t offset = early_offset_;
    hold(early, early_, offset);
    for (const Held& run : early_) {
        read_rows(run.rows, reader, memory_.data() + run.offset);
    }
}

void BorderRows::read(std::int64_t frame, RowRange range, RowReader& reader, std::byte* to) {
    enter_frame(frame, reader);
    for (const RowSource& source : row_sources(decomposition_, frame, range)) {
        fill(early_, {source.source, source.source + source.count},
             to + (source.extended - range.first) * row_bytes_,
             [&](RowRange rest, std::byte* target) { read_rows(rest, reader, target); });
    }
}

void BorderRows::read_rows(RowRange rows, RowReader& reader, std::byte* to) {
    fill(traded_, rows, to,
         [&](RowRange rest, std::byte* target) { read_storage(rest, reader, target); });
}

} // namespace runner::stream
