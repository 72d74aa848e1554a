// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "io/input/source_rows.hpp"
#include "io/inspect/virtual_parts.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/row_pieces.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// More are left to HDF5.
constexpr std::size_t most_sources = 1 << 16;

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

/// The number of the source that stands for rows which no other gives, until it has one.
constexpr std::int64_t filled = -1;

RowPiece filled_rows(std::int64_t first, std::int64_t rows) { return {first, rows, filled, first}; }

/// In the order of the rows, joined; nothing unless they are all rows of the array, each once, or
/// those between them may be filled in.
std::optional<std::vector<RowPiece>> whole(std::vector<RowPiece> pieces, const ArrayInfo& array,
                                           bool fills) {
    std::sort(pieces.begin(), pieces.end(),
              [](const RowPiece& a, const RowPiece& b) { return a.first < b.first; });
    pieces.push_back({row_count(array), 0, filled, row_count(array)});
    std::vector<RowPiece> all;
    std::int64_t next = 0;
    for (const RowPiece& piece : pieces) {
        if (piece.first < next || (piece.first > next && !fills)) {
            return std::nullopt;
        }
        if (piece.first > next) {
            append_piece(all, filled_rows(next, piece.first - next));
        }
        if (piece.rows > 0) {
            append_piece(all, piece);
        }
        next = piece.first + piece.rows;
    }
    return all;
}

/// The extents of the one box that a mapping fills of a dataset of this shape, without axes of one
/// element before the last `axes`; nothing where it is not one, or has other axes.
std::optional<std::vector<std::int64_t>> box_of(const Selection& elements,
                                                std::vector<std::int64_t> shape, std::size_t axes) {
    if (!elements.is_all) {
        if (elements.corners.size() != 2 * shape.size()) {
            return std::nullopt;
        }
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            shape[axis] = elements.corners[axis + shape.size()] - elements.corners[axis] + 1;
        }
    }
    while (shape.size() > axes && shape.front() == 1) {
        shape.erase(shape.begin());
    }
    return shape.size() == axes ? std::optional(std::move(shape)) : std::nullopt;
}

/// The shape that a source has where it has all that is mapped of it: longer along the first axis,
/// if at all. Nothing where more is lacking.
std::optional<ArrayInfo> mapped_array(const ArrayInfo& source, const VirtualMapping& mapping,
                                      const ArrayInfo& array) {
    ArrayInfo mapped = source;
    const Selection& taken = mapping.source_elements;
    const std::size_t axes = source.shape.size();
    if (taken.is_all && !holds_mapped(source.shape, mapping, array.shape)) {
        const auto box = box_of(mapping.elements, array.shape, axes);
        if (!box) {
            return std::nullopt;
        }
        mapped.shape = *box;
    } else if (!taken.is_all) {
        if (taken.axes != axes) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < taken.corners.size(); ++i) {
            std::int64_t& extent = mapped.shape[i % axes];
            extent = std::max(extent, taken.corners[i] + 1);
        }
    }
    try {
        (void)byte_count(mapped);
    } catch (const Error&) { // of no shape that there is
        return std::nullopt;
    }
    return std::equal(mapped.shape.begin() + 1, mapped.shape.end(), source.shape.begin() + 1,
                      source.shape.end())
               ? std::optional(std::move(mapped))
               : std::nullopt;
}

bool fits(const DatasetLayout& source, const ArrayInfo& array) {
    const bool is_read_here =
        source.way != DatasetLayout::Way::library && source.way != DatasetLayout::Way::sources;
    const ArrayInfo& there = source.info.array;
    return is_read_here && there.type == array.type && there.stored == array.stored &&
           row_elements(there) == row_elements(array);
}

/// The sources of a virtual dataset and the rows that are theirs.
class SourceMap {
  public:
    SourceMap(const DatasetLayout& layout, const FindSource& find,
              const std::optional<SourceFill>& fill)
        : layout_(layout), array_(layout.info.array), find_(find), fill_(fill) {}

    /// False where its rows are not to be read in place.
    bool add(const VirtualMapping& mapping) {
        if (fill_ && fill_->missing.contains(mapping.file)) {
            return add_missing(mapping);
        }
        std::optional<std::int64_t> number = known_number(mapping);
        if (!number) {
            std::optional<DatasetLayout> source = find_(mapping.file, mapping.dataset);
            if (source && is_nested(*source)) {
                return add_nested(mapping, *source);
            }
            number = source ? number_of(mapping.file, mapping.dataset, *std::move(source))
                            : std::nullopt;
        }
        if (!number) {
            return false;
        }
        const ArrayInfo& there = sources_[static_cast<std::size_t>(*number)].info.array;
        const std::optional<ArrayInfo> mapped =
            fill_ ? mapped_array(there, mapping, array_) : std::optional(there);
        const std::size_t before = pieces_.size();
        if (!mapped || !add_rows(mapping, array_, *mapped, *number, pieces_) ||
            pieces_.size() > most_pieces) {
            return false;
        }
        if (cut_to(row_count(there), before)) {
            shorter_.insert(mapping.file);
        }
        return true;
    }

    /// Gives them to the layout where they are all its rows.
    void finish(DatasetLayout& layout) {
        auto all = whole(std::move(pieces_), array_, fill_.has_value());
        if (!all) {
            shorter_.clear();
            return;
        }
        for (RowPiece& piece : *all) {
            piece.source = piece.source == filled ? std::ssize(sources_) : piece.source;
        }
        if (std::any_of(all->begin(), all->end(), [&](const RowPiece& piece) {
                return piece.source == std::ssize(sources_);
            })) {
            sources_.push_back(unwritten());
        }
        layout.way = DatasetLayout::Way::sources;
        layout.sources = std::move(sources_);
        layout.pieces = *std::move(all);
    }

    const std::set<std::string>& shorter() const { return shorter_; }

  private:
    std::optional<std::int64_t> known_number(const VirtualMapping& mapping) const {
        const auto known = numbers_.find({mapping.file, mapping.dataset});
        return known == numbers_.end() ? std::nullopt : std::optional(known->second);
    }

    /// The number of a source of this name, which it gets where it has none.
    std::optional<std::int64_t> number_of(const std::string& file, const std::string& dataset,
                                          DatasetLayout source) {
        const auto [entry, is_new] = numbers_.try_emplace({file, dataset}, std::ssize(sources_));
        if (is_new) {
            if (sources_.size() == most_sources || !fits(source, array_)) {
                numbers_.erase(entry);
                return std::nullopt;
            }
            sources_.push_back(std::move(source));
        }
        return entry->second;
    }

    /// Whether it is itself a virtual dataset whose rows are read in place.
    bool is_nested(const DatasetLayout& source) const {
        return source.way == DatasetLayout::Way::sources && !fill_ &&
               row_elements(source.info.array) == row_elements(array_);
    }

    /// Takes the rows of such a dataset from where it takes them.
    bool add_nested(const VirtualMapping& mapping, const DatasetLayout& nested) {
        std::vector<RowPiece> own;
        if (!add_rows(mapping, array_, nested.info.array, 0, own)) {
            return false;
        }
        for (const RowPiece& piece : own) {
            for (RowPiece part : pieces_within(nested.pieces, piece.source_first, piece.rows)) {
                const DatasetLayout& source = nested.sources[static_cast<std::size_t>(part.source)];
                // The mapping names it otherwise, or not at all.
                const auto number = number_of("\n" + source.file, source.dataset, source);
                if (!number || pieces_.size() == most_pieces) {
                    return false;
                }
                part.first += piece.first - piece.source_first;
                part.source = *number;
                pieces_.push_back(part);
            }
        }
        return true;
    }

    bool add_missing(const VirtualMapping& mapping) {
        const auto runs = runs_of(mapping.elements, array_.shape);
        const std::int64_t row = row_elements(array_);
        if (!runs || pieces_.size() + runs->size() > most_pieces) {
            return false;
        }
        for (const ElementRun& run : *runs) {
            if (run.first % row != 0 || run.count % row != 0) {
                return false;
            }
            pieces_.push_back(filled_rows(run.first / row, run.count / row));
        }
        return true;
    }

    /// Fills in what the pieces from number `from` on take behind the rows of their source. Returns
    /// whether there is any.
    bool cut_to(std::int64_t rows, std::size_t from) {
        bool any = false;
        const std::size_t end = pieces_.size();
        for (std::size_t i = from; i < end; ++i) {
            const RowPiece piece = pieces_[i];
            const std::int64_t there =
                std::clamp<std::int64_t>(rows - piece.source_first, 0, piece.rows);
            if (there < piece.rows) {
                any = true;
                pieces_[i].rows = there;
                pieces_.push_back(filled_rows(piece.first + there, piece.rows - there));
            }
        }
        std::erase_if(pieces_, [](const RowPiece& piece) { return piece.rows == 0; });
        return any;
    }

    /// A dataset of the array's rows of which no chunk was ever written.
    DatasetLayout unwritten() const {
        constexpr std::int64_t most_elements = 1 << 20;
        DatasetLayout none{
            layout_.file, layout_.dataset, layout_.holder, {}, DatasetLayout::Way::chunks};
        none.info.array = array_;
        none.info.chunk.assign(array_.shape.size(), 1);
        none.info.chunk.back() = array_.shape.back();
        if (array_.shape.size() == 1) {
            none.info.chunk.back() = std::min(array_.shape.back(), most_elements);
        } else {
            std::int64_t& rows = none.info.chunk[array_.shape.size() - 2];
            rows = std::clamp<std::int64_t>(most_elements / array_.shape.back(), 1,
                                            array_.shape[array_.shape.size() - 2]);
        }
        none.fill = fill_->element;
        return none;
    }

    const DatasetLayout& layout_;
    ArrayInfo array_;
    const FindSource& find_;
    const std::optional<SourceFill>& fill_;
    std::map<std::pair<std::string, std::string>, std::int64_t> numbers_;
    std::vector<DatasetLayout> sources_;
    std::vector<RowPiece> pieces_;
    std::set<std::string> shorter_;
};

} // namespace

std::set<std::string> add_sources(DatasetLayout& layout, const PropertyHandle& creation,
                                  const FindSource& find, const std::optional<SourceFill>& fill) {
    const auto mappings = virtual_mappings(creation);
    SourceMap map(layout, find, fill);
    if (!mappings ||
        !std::all_of(mappings->begin(), mappings->end(),
                     [&](const VirtualMapping& mapping) { return map.add(mapping); })) {
        return {};
    }
    map.finish(layout);
    return map.shorter();
}

} // namespace runner
