// SPDX-License-Identifier: BSD-3-Clause
#include "views/pictures/frame_choice.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/generations.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace runner {
namespace {

std::string counted_frames(std::int64_t frames) {
    return fmt::format("{}{}", frames, (frames == 1 ? " frame" : " frames, from 0"));
}

/// A number of at least `least`; nothing for an empty text. False for any other.
bool read_part(std::string_view text, std::int64_t least, std::optional<std::int64_t>& number) {
    if (text.empty()) {
        return true;
    }
    std::int64_t value = 0;
    const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    number = value;
    return failure == std::errc{} && stop == text.data() + text.size() && value >= least &&
           value < std::numeric_limits<std::int64_t>::max();
}

} // namespace

std::optional<FrameChoice> parse_frames(const std::string& text) {
    FrameChoice choice;
    choice.count = FrameChoice::Count::several;
    if (text == "all") {
        return choice;
    }
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) {
        return std::nullopt;
    }
    const std::string_view whole = text;
    const std::size_t second = std::min(whole.find(':', colon + 1), whole.size());
    std::optional<std::int64_t> first;
    std::optional<std::int64_t> step;
    if (!read_part(whole.substr(0, colon), 0, first) ||
        !read_part(whole.substr(colon + 1, second - colon - 1), 1, choice.end) ||
        !read_part(whole.substr(std::min(second + 1, whole.size())), 1, step)) {
        return std::nullopt;
    }
    choice.first = first.value_or(0);
    choice.step = step.value_or(1);
    if (choice.end && *choice.end <= choice.first) {
        return std::nullopt;
    }
    return choice;
}

FrameRange choose_frames(const FrameChoice& choice, std::int64_t frames, const std::string& where) {
    const std::int64_t end = choice.end.value_or(std::max(frames, choice.first + 1));
    if (end > frames) {
        throw Error(ExitCode::usage, {fmt::format("there is no frame {}", end - 1), where,
                                      "the dataset has " + counted_frames(frames),
                                      "Choose others with --frame or --frames"});
    }
    return {choice.first, choice.step, (end - choice.first - 1) / choice.step + 1};
}

FrameNumbers frame_numbers(FileAccess& files, const std::string& file, const std::string& dataset,
                           std::int64_t frames, std::optional<std::uint64_t> first_generation) {
    if (first_generation) {
        return {std::nullopt, *first_generation, true};
    }
    if (holds_cells(file)) { // the published program writes no start state
        return {std::nullopt, 1, true};
    }
    auto listed = read_generations(files, file, dataset, frames);
    const bool known = listed.has_value();
    return {std::move(listed), 0, known};
}

NumberedNames::NumberedNames(std::string name, FrameNumbers numbers, const FrameRange& range,
                             const std::string& where)
    : name_(std::move(name)), numbers_(std::move(numbers)) {
    std::uint64_t largest = numbers_.of(range[range.count - 1]);
    if (numbers_.listed) {
        std::vector<std::uint64_t> all;
        for (std::int64_t i = 0; i < range.count; ++i) {
            all.push_back(numbers_.of(range[i]));
        }
        std::sort(all.begin(), all.end());
        if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end()) {
            throw Error(ExitCode::input, {"cannot name the pictures of the frames", where,
                                          fmt::format("two frames are of generation {}", *twice),
                                          "Choose the frames so that each number is there once"});
        }
        largest = all.back();
    }
    digits_ = std::max(digits_, std::to_string(largest).size());
}

std::string NumberedNames::of(std::int64_t frame) const {
    const std::string number = std::to_string(numbers_.of(frame));
    const std::size_t dot = name_.rfind('.');
    return name_.substr(0, dot) + "-" +
           std::string(digits_ - std::min(digits_, number.size()), '0') + number +
           name_.substr(dot);
}

} // namespace runner
