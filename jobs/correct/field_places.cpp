// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/field_places.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/input/file_access.hpp"
#include "kernels/elements/elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace runner {
namespace {

/// Whether the file has a dataset of this name with one element for each of so many frames, or one
/// that cannot be looked at: who reads it says why.
bool may_have_list(FileAccess& files, const std::string& file, const std::string& dataset,
                   std::int64_t frames) {
    try {
        if (!files.has_dataset(file, dataset)) {
            return false;
        }
        const std::vector<DatasetContent> found = files.content(file, dataset).datasets;
        return found.size() == 1 && (found[0].shape == std::vector<std::int64_t>{frames} ||
                                     found[0].shape == std::vector<std::int64_t>{frames, 1});
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
        return true;
    }
}

/// The numbers of such a dataset. @throws Error (input).
std::vector<double> numbers_of_list(FileAccess& files, const std::string& file,
                                    const std::string& dataset, std::int64_t frames) {
    const std::unique_ptr<RowReader> reader = open_rows_of(files, file, dataset, 1);
    const ArrayInfo array = reader->info().array;
    if (!is_number(array.type)) {
        throw Error(ExitCode::input, {"cannot take the times of frames", file + ":" + dataset,
                                      "its elements are " + type_text(array), ""});
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(array)));
    reader->read(0, frames, bytes.data()); // each element is a row
    std::vector<double> numbers(static_cast<std::size_t>(frames));
    load_elements(array.type, bytes.data(), frames, numbers.data());
    return numbers;
}

/// Where frames are on a scale: at their times, or where there are none at their numbers.
double position(const std::vector<double>& times, std::int64_t frame) {
    return times.empty() ? static_cast<double>(frame) : times[static_cast<std::size_t>(frame)];
}

/// The mean position of each group, added in the frames' order.
std::vector<double> mean_positions(const std::vector<double>& times,
                                   const std::vector<FrameGroup>& groups,
                                   const std::vector<std::int64_t>& taken) {
    std::vector<double> means;
    for (const FrameGroup& group : groups) {
        double sum = 0;
        for (std::int64_t i = 0; i < group.count; ++i) {
            sum += position(times, taken[static_cast<std::size_t>(group.first + i)]);
        }
        means.push_back(sum / static_cast<double>(group.count));
    }
    return means;
}

/// Whether each frame has a time, none before that of the frame before, and groups differ.
bool are_times(const std::vector<double>& times, const std::vector<double>& means) {
    return std::is_sorted(times.begin(), times.end()) &&
           std::adjacent_find(means.begin(), means.end(), std::greater_equal<>()) == means.end() &&
           std::all_of(times.begin(), times.end(), [](double time) { return std::isfinite(time); });
}

/// The dataset of a number for each frame that is their time; "" where there is none.
std::string times_of_scan(const JobInput& input) {
    const std::int64_t frames = std::ssize(input.roles.frames);
    for (const char* name : {"start_time", "time"}) {
        for (const std::string& group : input.roles.groups) {
            std::string dataset = group + (group.ends_with('/') ? "" : "/") + name;
            if (may_have_list(*input.files, input.source.file, dataset, frames)) {
                return dataset;
            }
        }
    }
    return "";
}

/// The time of each frame of the scan; empty where the file has none, or none that can be used, and
/// then `note` says why.
std::vector<double> frame_times(const JobInput& input, const std::vector<FrameGroup>& groups,
                                const std::vector<std::int64_t>& taken, std::string& note) {
    const std::string dataset = times_of_scan(input);
    if (dataset.empty()) {
        return {};
    }
    std::string why = "they do not rise from frame to frame";
    try {
        std::vector<double> times = numbers_of_list(*input.files, input.source.file, dataset,
                                                    std::ssize(input.roles.frames));
        if (are_times(times, mean_positions(times, groups, taken))) {
            return times;
        }
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
        why = error.text().why;
    }
    note =
        fmt::format("the times of frames in {} are not used, their numbers are: {}", dataset, why);
    return {};
}

/// The number in the scan of each frame of the input.
std::vector<std::int64_t> numbers_of_input(const JobInput& input, const FieldRole& role,
                                           std::int64_t frames) {
    const std::int64_t extent = input.array.shape.front();
    const std::int64_t count =
        input.part ? input.part->count.front() : std::ssize(input.roles.frames);
    if (count != extent || (input.part && input.part->drops(0))) {
        throw Error(ExitCode::usage,
                    {"cannot interpolate the " + std::string(role.name),
                     "correct." + std::string(role.key) + ".between",
                     fmt::format("what it corrects has {}, and {} of the scan are taken: they are "
                                 "no more the same",
                                 counted(extent, "frame"), count),
                     "Put correct before the step that joins or drops frames"});
    }
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i < frames; ++i) {
        const std::int64_t frame = i / (frames / extent);
        numbers.push_back(!input.part ? frame
                          : input.part->frames.empty()
                              ? input.part->first.front() + frame
                              : input.part->frames[static_cast<std::size_t>(frame)]);
    }
    return numbers;
}

/// Leaves out the groups that no place names.
void keep_needed(FieldPlaces& found) {
    std::vector<std::int32_t> kept(found.groups.size(), -1);
    for (const FieldPlace& place : found.places) {
        kept[static_cast<std::size_t>(place.before)] = 0;
        kept[static_cast<std::size_t>(place.after)] = 0;
    }
    std::vector<FrameGroup> groups;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (kept[i] == 0) {
            kept[i] = static_cast<std::int32_t>(groups.size());
            groups.push_back(found.groups[i]);
        }
    }
    for (FieldPlace& place : found.places) {
        place.before = kept[static_cast<std::size_t>(place.before)];
        place.after = kept[static_cast<std::size_t>(place.after)];
    }
    found.groups = std::move(groups);
    if (found.groups.size() == 1) {
        found.places.clear();
    }
}

} // namespace

std::vector<FrameGroup> frame_groups(const std::vector<std::int64_t>& taken,
                                     const std::vector<std::int64_t>& of_role) {
    std::vector<FrameGroup> groups;
    const auto index = [&](std::int64_t frame) {
        return std::lower_bound(of_role.begin(), of_role.end(), frame) - of_role.begin();
    };
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const bool follows =
            i > 0 && index(taken[i]) - index(taken[i - 1]) == taken[i] - taken[i - 1];
        if (!follows) {
            groups.push_back({static_cast<std::int64_t>(i), 0});
        }
        ++groups.back().count;
    }
    return groups;
}

std::vector<FieldPlace> places_among(const std::vector<double>& groups,
                                     const std::vector<double>& frames) {
    std::vector<FieldPlace> places;
    for (const double t : frames) {
        const auto next = std::upper_bound(groups.begin(), groups.end(), t) - groups.begin();
        const auto last = std::ssize(groups) - 1;
        FieldPlace place{static_cast<std::int32_t>(std::max<std::ptrdiff_t>(next - 1, 0)),
                         static_cast<std::int32_t>(std::min(next, last))};
        if (place.before != place.after) {
            const double from = groups[static_cast<std::size_t>(place.before)];
            const double to = groups[static_cast<std::size_t>(place.after)];
            place.weight = static_cast<float>((t - from) / (to - from));
        }
        places.push_back(place);
    }
    return places;
}

FieldPlaces field_places(const JobInput& input, const FieldRole& role,
                         const std::vector<std::int64_t>& taken, std::int64_t frames) {
    FieldPlaces found;
    const std::vector<std::int64_t> numbers = numbers_of_input(input, role, frames);
    found.groups = frame_groups(taken, input.roles.of(role.frames));
    if (found.groups.size() == 1) {
        found.note = fmt::format("the {} is not interpolated: its frames are one group in the scan",
                                 role.name);
        return found;
    }
    const std::vector<double> times = frame_times(input, found.groups, taken, found.note);
    std::vector<double> at;
    at.reserve(numbers.size());
    for (const std::int64_t number : numbers) {
        at.push_back(position(times, number));
    }
    found.places = places_among(mean_positions(times, found.groups, taken), at);
    keep_needed(found);
    return found;
}

} // namespace runner
