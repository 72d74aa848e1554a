// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/index_range.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

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

/// A bound as an index from 0; one beyond the axis is an error, as it is more likely a mistake than
/// meant.
std::int64_t index_of(std::int64_t bound, std::int64_t extent, const RangePlace& place) {
    if (bound < -extent || bound > extent) {
        refuse_part(place, fmt::format("{} is beyond the {} elements", bound, extent));
    }
    return bound < 0 ? bound + extent : bound;
}

} // namespace

std::optional<IndexRange> range_of_text(std::string_view text) {
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

std::optional<IndexRange> parse_range(TableReader& table, std::string_view key, RangeStep steps) {
    const std::optional<std::string> text = table.text(key);
    if (!text) {
        return std::nullopt;
    }
    const std::optional<IndexRange> range = range_of_text(*text);
    if (!range) {
        table.complain(key, std::string("expected a range like \"200:1800\"") +
                                (steps == RangeStep::any ? " or \"0:3000:2\"" : "") + ", got " +
                                quoted_text(*text));
    } else if (steps == RangeStep::one && range->step != 1) {
        table.complain(key, "takes no step, got " + quoted_text(*text));
    }
    return range;
}

FramesTaken parse_frame_range(TableReader& table, std::string_view key) {
    const TableValue* const value = table.value(key);
    const auto* const text = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
    if (text != nullptr && *text == "all") {
        (void)table.text(key);
        return AllFrames{};
    }
    const std::optional<IndexRange> range = parse_range(table, key, RangeStep::any);
    return range ? FramesTaken(*range) : FramesTaken();
}

std::string toml_text(const IndexRange& range) {
    const auto bound = [](const std::optional<std::int64_t>& number) {
        return number ? std::to_string(*number) : "";
    };
    return toml_text(std::string_view(bound(range.begin) + ":" + bound(range.end) +
                                      (range.step == 1 ? "" : fmt::format(":{}", range.step))));
}

Indices indices_of(const IndexRange& range, std::int64_t extent, const RangePlace& place) {
    const Indices found{index_of(range.begin.value_or(0), extent, place),
                        index_of(range.end.value_or(extent), extent, place)};
    if (found.first >= found.last) {
        refuse_part(place, fmt::format("the range is empty: it would take none of the {} elements",
                                       extent));
    }
    return found;
}

std::vector<std::int64_t> chosen_by(const IndexRange& range, std::int64_t frames,
                                    const std::vector<std::int64_t>& listed,
                                    const RangePlace& place) {
    const Indices all = indices_of(range, listed.empty() ? frames : std::ssize(listed), place);
    std::vector<std::int64_t> chosen;
    chosen.reserve(static_cast<std::size_t>((all.last - all.first - 1) / range.step + 1));
    for (std::int64_t index = all.first; index < all.last; index += range.step) {
        chosen.push_back(listed.empty() ? index : listed[static_cast<std::size_t>(index)]);
        if (index > all.last - range.step) {
            break; // the sum could pass 63 bits
        }
    }
    return chosen;
}

void refuse_part(const RangePlace& place, const std::string& why) {
    throw Error(ExitCode::usage,
                {"cannot take that part of the input", place.key, why + " of " + place.where,
                 "runner inspect shows the shape; give a range within it"});
}

} // namespace runner
