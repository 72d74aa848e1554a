// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/input_part.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// A bound of a range: nothing where it is left out. False for anything but an integer.
bool take_bound(std::string_view text, std::optional<std::int64_t>& bound) {
    if (text.empty()) {
        return true;
    }
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    bound = number;
    return failure == std::errc() && end == text.data() + text.size();
}

std::optional<IndexRange> range_of(std::string_view text) {
    std::array<std::optional<std::int64_t>, 3> bounds;
    std::size_t count = 0;
    while (count < bounds.size()) {
        const std::size_t colon = std::min(text.find(':'), text.size());
        if (!take_bound(text.substr(0, colon), bounds.at(count))) {
            return std::nullopt;
        }
        ++count;
        if (colon == text.size()) {
            text = {};
            break;
        }
        text.remove_prefix(colon + 1);
        if (count == bounds.size()) {
            return std::nullopt;
        }
    }
    if (count < 2 || bounds[2].value_or(1) < 1) {
        return std::nullopt;
    }
    return IndexRange{bounds[0], bounds[1], bounds[2].value_or(1)};
}

enum class RangeStep { one, any };

std::optional<IndexRange> parse_range(TableReader& table, std::string_view key, RangeStep steps) {
    const std::optional<std::string> text = table.text(key);
    if (!text) {
        return std::nullopt;
    }
    const std::optional<IndexRange> range = range_of(*text);
    if (!range) {
        table.complain(key, std::string("expected a range like \"200:1800\"") +
                                (steps == RangeStep::any ? " or \"0:3000:2\"" : "") + ", got " +
                                quoted_text(*text));
    } else if (steps == RangeStep::one && range->step != 1) {
        table.complain(key, "takes no step, got " + quoted_text(*text));
    }
    return range;
}

std::optional<FramesWhere> parse_where(TableReader& frames) {
    FramesWhere where;
    if (!frames.has("where")) {
        frames.missing("where", "where = \"/entry/instrument/detector/image_key\", a dataset with "
                                "one number for each frame");
    }
    where.dataset = frames.text("where").value_or("");
    if (!frames.has("equals")) {
        frames.missing("equals", "equals = 0, the number of the frames to take");
    }
    where.equals = frames.integer("equals").value_or(0);
    frames.finish();
    return where;
}

[[noreturn]] void refuse(const std::string& key, const std::string& why, const std::string& where) {
    throw Error(ExitCode::usage, {"cannot take that part of the input", key, why + " of " + where,
                                  "runner inspect shows the shape; give a range within it"});
}

/// A bound as an index from 0; one beyond the axis is an error, as it is more likely a mistake than
/// meant.
std::int64_t index_of(std::int64_t bound, std::int64_t extent, const std::string& key,
                      const std::string& where) {
    if (bound < -extent || bound > extent) {
        refuse(key, fmt::format("{} is beyond the {} elements", bound, extent), where);
    }
    return bound < 0 ? bound + extent : bound;
}

struct Indices {
    std::int64_t first = 0;
    std::int64_t last = 0; ///< exclusive
};

Indices indices_of(const IndexRange& range, std::int64_t extent, const std::string& key,
                   const std::string& where) {
    const Indices found{index_of(range.begin.value_or(0), extent, key, where),
                        index_of(range.end.value_or(extent), extent, key, where)};
    if (found.first >= found.last) {
        refuse(key,
               fmt::format("the range is empty: it would take none of the {} elements", extent),
               where);
    }
    return found;
}

std::vector<std::int64_t> frames_of(const IndexRange& range, std::int64_t extent,
                                    const std::string& where) {
    const Indices all = indices_of(range, extent, "input.frames", where);
    std::vector<std::int64_t> frames;
    frames.reserve(static_cast<std::size_t>((all.last - all.first - 1) / range.step + 1));
    for (std::int64_t frame = all.first; frame < all.last; frame += range.step) {
        frames.push_back(frame);
        if (frame > all.last - range.step) {
            break; // the sum could pass 63 bits
        }
    }
    return frames;
}

std::vector<std::int64_t> frames_of(const FramesWhere& wanted, std::span<const std::int64_t> marks,
                                    std::int64_t extent, const std::string& where) {
    const auto count = static_cast<std::int64_t>(marks.size());
    if (count != extent) {
        refuse("input.frames",
               fmt::format("{} has {} numbers for the {} frames", wanted.dataset, count, extent),
               where);
    }
    std::vector<std::int64_t> frames;
    for (std::int64_t frame = 0; frame < extent; ++frame) {
        if (marks[static_cast<std::size_t>(frame)] == wanted.equals) {
            frames.push_back(frame);
        }
    }
    if (frames.empty()) {
        refuse("input.frames", fmt::format("{} is {} for no frame", wanted.dataset, wanted.equals),
               where);
    }
    return frames;
}

} // namespace

bool InputPart::is_whole() const {
    return !rows && !columns && !depth && std::holds_alternative<std::monostate>(frames);
}

std::string toml_lines(const InputPart& part) {
    const auto bound = [](const std::optional<std::int64_t>& number) {
        return number ? std::to_string(*number) : "";
    };
    const auto text_of = [&](const IndexRange& range) {
        return toml_text(std::string_view(bound(range.begin) + ":" + bound(range.end) +
                                          (range.step == 1 ? "" : fmt::format(":{}", range.step))));
    };
    std::string region;
    for (const auto& [key, range] :
         {std::pair("rows", part.rows), {"columns", part.columns}, {"depth", part.depth}}) {
        if (range) {
            region += (region.empty() ? "" : ", ") + std::string(key) + " = " + text_of(*range);
        }
    }
    std::string text = region.empty() ? "" : "region = { " + region + " }\n";
    if (const auto* const range = std::get_if<IndexRange>(&part.frames)) {
        text += "frames = " + text_of(*range) + "\n";
    } else if (const auto* const where = std::get_if<FramesWhere>(&part.frames)) {
        text += fmt::format("frames = {{ where = {}, equals = {} }}\n",
                            toml_text(std::string_view(where->dataset)), where->equals);
    }
    return text;
}

InputPart parse_input_part(TableReader& input) {
    InputPart part;
    if (std::optional<TableReader> region = input.table("region")) {
        part.rows = parse_range(*region, "rows", RangeStep::one);
        part.columns = parse_range(*region, "columns", RangeStep::one);
        part.depth = parse_range(*region, "depth", RangeStep::one);
        region->finish();
    }
    const TableValue* const frames = input.value("frames");
    if (frames != nullptr && std::holds_alternative<TableEntries>(frames->data)) {
        if (std::optional<TableReader> table = input.table("frames")) {
            part.frames = parse_where(*table).value();
        }
    } else if (const auto range = parse_range(input, "frames", RangeStep::any)) {
        part.frames = *range;
    }
    return part;
}

DatasetPart resolve_part(const InputPart& part, const DatasetInfo& info,
                         std::span<const std::int64_t> marks, const std::string& where) {
    const std::vector<std::int64_t>& shape = info.array.shape;
    DatasetPart found{std::vector<std::int64_t>(shape.size(), 0), shape};
    const std::size_t axes = shape.size() - (info.channels.value_or(1) > 1 ? 1 : 0);
    const auto cut = [&](const std::optional<IndexRange>& range, std::size_t from_last,
                         const char* key) {
        if (!range) {
            return;
        }
        if (from_last > axes) {
            refuse(key, "there is no such axis in the shape " + shape_text(shape), where);
        }
        const std::size_t axis = axes - from_last;
        const Indices taken = indices_of(*range, shape[axis], key, where);
        found.first[axis] = taken.first;
        found.count[axis] = taken.last - taken.first;
    };
    cut(part.columns, 1, "input.region.columns");
    cut(part.rows, 2, "input.region.rows");
    cut(part.depth, 3, "input.region.depth");
    if (std::holds_alternative<std::monostate>(part.frames)) {
        return found;
    }
    if (axes < 2 || found.first[0] != 0 || found.count[0] != shape[0]) {
        refuse("input.frames",
               axes < 2 ? "there are no frames in the shape " + shape_text(shape)
                        : "input.region cuts the first axis already",
               where);
    }
    found.frames = std::holds_alternative<IndexRange>(part.frames)
                       ? frames_of(std::get<IndexRange>(part.frames), shape[0], where)
                       : frames_of(std::get<FramesWhere>(part.frames), marks, shape[0], where);
    found.count[0] = static_cast<std::int64_t>(found.frames.size());
    return found;
}

} // namespace runner
