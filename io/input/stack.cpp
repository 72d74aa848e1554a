// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/stack.hpp"

#include "base/error.hpp"
#include "base/joined_meaning.hpp"
#include "base/rounding.hpp"
#include "io/files/file_names.hpp"
#include "io/files/io_threads.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/layout_of.hpp"
#include "io/input/plane_set.hpp"
#include "io/rows/axes.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace runner {
namespace {

constexpr const char* what_stack = "cannot read the stack of files";

std::string text_of(const DatasetInfo& info) {
    return type_text(info.array) + " " + shape_text(info.array.shape) +
           (info.channels.value_or(1) > 1 ? " in colour" : "");
}

/// Refuses a file that cannot be a frame beside the first.
void check_alike(const DatasetLayout& first, const DatasetLayout& file) {
    const std::string is = text_of(file.info);
    const std::string was = text_of(first.info);
    if (is != was) {
        throw Error(ExitCode::input,
                    {what_stack, file.file,
                     "it is " + is + ", and the first file, " + first.file + ", is " + was,
                     "All files must be alike: name those that are, or mend it"});
    }
}

/// Leaves of an axis what another file says too.
void keep_common(const Axis& other, Axis& axis) {
    if (other.name != axis.name) {
        axis = {};
    }
    if (other.spacing != axis.spacing || other.unit != axis.unit) {
        axis.spacing.reset();
    }
    if (other.origin != axis.origin || other.unit != axis.unit) {
        axis.origin.reset();
    }
    if (!axis.spacing && !axis.origin) {
        axis.unit.clear();
    }
}

std::string said_by(const DatasetLayout& file) {
    return file.file + " says " + file.info.axes.text();
}

/// What all files say of their axes, but for where they lie in space; a note where they differ.
Axes common_axes(const std::string& stack, const std::vector<DatasetLayout>& files,
                 std::vector<std::string>& notes) {
    const auto plain = [](const DatasetLayout& file) {
        Axes axes = file.info.axes;
        axes.sform.reset();
        axes.qform.reset();
        return axes;
    };
    const Axes first = plain(files.front());
    Axes common = first;
    const DatasetLayout* unlike = nullptr;
    for (const DatasetLayout& file : files) {
        const Axes axes = plain(file);
        if (axes == first) {
            continue;
        }
        unlike = unlike == nullptr ? &file : unlike;
        if (axes.each.size() != common.each.size()) {
            common = {}; // one of them has none
        }
        for (std::size_t i = 0; i < common.each.size(); ++i) {
            keep_common(axes.each[i], common.each[i]);
        }
        for (const ChannelList& each : channel_lists) {
            if (axes.*each.list != common.*each.list) {
                (common.*each.list).clear();
            }
        }
    }
    if (unlike != nullptr) {
        notes.push_back(format_error(
            {"the files of the stack do not agree on their axes", stack,
             said_by(files.front()) + ", and " + said_by(*unlike) + "; what differs is left out",
             "Say it by input.axes or input.spacing"}));
    }
    return common;
}

/// Joins what the files say of their elements, where the layout has what the first says.
void take_meaning(DatasetInfo& info, const std::vector<DatasetLayout>& files) {
    JoinedMeaning all("files");
    for (const DatasetLayout& file : files) {
        all.add(file.file, {file.info.notes, file.info.invalid, file.info.invalid_value});
        for (const std::string& each : file.info.unkept) {
            if (std::find(info.unkept.begin(), info.unkept.end(), each) == info.unkept.end()) {
                info.unkept.push_back(each);
            }
        }
    }
    Meaning meaning = all.joined();
    info.notes.erase(info.notes.begin(), info.notes.begin() + std::ssize(files.front().info.notes));
    info.notes.insert(info.notes.begin(), meaning.notes.begin(), meaning.notes.end());
    info.invalid = std::move(meaning.invalid);
    info.invalid_value = meaning.invalid_value;
}

/// Gives the axes the affines of the files, where all have the same; a note where they differ.
void take_affines(const std::string& stack, const std::vector<DatasetLayout>& files,
                  DatasetInfo& info) {
    const Axes& first = files.front().info.axes;
    const auto unlike =
        std::find_if(files.begin(), files.end(), [&first](const DatasetLayout& file) {
            return file.info.axes.sform != first.sform || file.info.axes.qform != first.qform;
        });
    if (unlike != files.end()) {
        info.notes.push_back(
            format_error({"the files of the stack do not agree on where they lie in space", stack,
                          files.front().file + " and " + unlike->file +
                              " have different affines (sform, qform); the affine is lost",
                          "Where it matters, bring them to one grid before"}));
    } else if (info.axes.known()) {
        info.axes.sform = first.sform;
        info.axes.qform = first.qform;
    }
}

/// Puts the axis of the files before the others.
void add_frames(Axes& axes) {
    axes.each.insert(axes.each.begin(), Axis{"frame"});
    for (std::optional<Affine>* affine : {&axes.sform, &axes.qform}) {
        if (*affine) {
            (*affine)->steps.insert((*affine)->steps.begin(), Affine::Vector{});
        }
    }
}

/// Makes the files those of the stack, which has its shape and pieces already.
void take_sources(DatasetLayout& layout, std::vector<DatasetLayout> files) {
    DatasetInfo& info = layout.info;
    (void)byte_count(info.array); // past 63 bits it throws
    info.storage = "stack of files";
    info.chunk.clear();
    info.offset.reset();
    info.order = DatasetInfo::Order::last_fastest;
    info.stored_bytes = 0;
    take_meaning(info, files);
    for (DatasetLayout& file : files) {
        info.stored_bytes += file.info.stored_bytes;
        layout.files.merge(file.files);
        if (file.way == DatasetLayout::Way::library) {
            layout.way = DatasetLayout::Way::library;
        }
    }
    layout.sources = std::move(files);
}

/// Whether a folder is a file to its format.
bool is_store(const std::string& path) {
    const RowsFormat* const format = rows_format_of(path);
    return format != nullptr && format->folder != nullptr;
}

} // namespace

bool is_stack(const std::string& file) {
    std::error_code failure;
    return has_wildcards(file) && !std::filesystem::exists(file, failure);
}

std::vector<std::string> stack_files(const std::string& stack) {
    std::vector<std::string> files = expand_pattern(stack).files;
    if (files.empty() && !expand_pattern(stack, is_store).files.empty()) {
        throw Error(ExitCode::input,
                    {what_stack, stack, "its files are folders, as Zarr stores are",
                     "Name one of them. To run a job on each there is [batch]"});
    }
    if (files.empty()) {
        throw Error(ExitCode::input, {what_stack, stack, "no file matches this name",
                                      "Check the folder and the ending; ls " + stack});
    }
    std::sort(files.begin(), files.end(),
              [](const std::string& a, const std::string& b) { return natural_less(a, b); });
    return files;
}

std::string broken_links_note(const std::string& stack, InputRules::Missing missing) {
    const std::vector<std::string> broken = expand_pattern(stack).missing;
    if (broken.empty()) {
        return "";
    }
    const ErrorText text = missing_text("a file of the stack is not there", stack, broken);
    if (missing != InputRules::Missing::skip) {
        throw Error(ExitCode::input, text);
    }
    return format_error({"files are left out of the stack", text.where, text.why, ""});
}

void for_each_file(std::int64_t files, const std::function<void(std::int64_t)>& work) {
    constexpr std::int64_t least = 64; // starting a thread takes as long as some files
    constexpr std::int64_t most = 4;   // each takes 128 MiB of the probing process' addresses
    const std::int64_t cores = std::max(std::thread::hardware_concurrency(), 1U);
    IoThreads threads(
        static_cast<int>(std::clamp<std::int64_t>(files / least, 1, std::min(most, cores))));
    const std::int64_t pieces = 16 * std::int64_t{threads.threads()};
    const std::int64_t piece = std::max<std::int64_t>(files / pieces, 1);
    threads.run(ceil_divide(files, piece), [&](std::int64_t index, int /*thread*/) {
        const std::int64_t end = std::min((index + 1) * piece, files);
        for (std::int64_t file = index * piece; file < end; ++file) {
            work(file);
        }
    });
}

DatasetLayout join_stack(const std::string& stack, const std::string& dataset,
                         std::vector<DatasetLayout> files) {
    DatasetLayout layout{stack, dataset, stack, files.front().info, DatasetLayout::Way::sources};
    DatasetInfo& info = layout.info;
    info.array.shape.insert(info.array.shape.begin(), std::ssize(files));
    std::vector<std::string> names;
    std::int64_t next = 0;
    for (const DatasetLayout& file : files) {
        check_alike(files.front(), file);
        const std::int64_t rows = row_count(file.info.array);
        layout.pieces.push_back({next, rows, std::ssize(names), 0});
        next += rows;
        names.push_back(file.file);
    }
    info.axes = common_axes(stack, files, info.notes);
    take_affines(stack, files, info);
    if (info.axes.known()) {
        add_frames(info.axes);
    }
    if (const std::string gap = first_gap(names); !gap.empty()) {
        info.notes.push_back(format_error({"a number is missing in the stack", stack, gap,
                                           "If a file is missing, add it before you continue"}));
    }
    take_sources(layout, std::move(files));
    return layout;
}

namespace {

/// The files as the image that they say they are, or as frames in the order of their names.
DatasetLayout join_files(const std::string& stack, const std::string& dataset,
                         std::vector<DatasetLayout> files) {
    if (std::optional<DatasetLayout> layout = join_planes(stack, dataset, files)) {
        take_sources(*layout, std::move(files));
        return *std::move(layout);
    }
    const auto part = std::find_if(files.begin(), files.end(), [](const DatasetLayout& file) {
        return !file.elsewhere.empty();
    });
    const std::string note =
        part == files.end()
            ? ""
            : format_error({"the files are parts of an image, and not read as it", part->file,
                            part->elsewhere,
                            "They are taken as frames in the order of their names"});
    DatasetLayout layout = join_stack(stack, dataset, std::move(files));
    if (!note.empty()) {
        layout.info.notes.push_back(note);
    }
    return layout;
}

} // namespace

DatasetLayout stack_layout(const std::string& stack, const std::string& dataset,
                           InputRules::Missing missing) {
    const RowsFormat* const format = rows_format_of(stack);
    if (format == nullptr) {
        throw Error(ExitCode::input,
                    {what_stack, stack,
                     "its name does not end as those of .npy, .tif, .png, .nii or .mrc files",
                     "End it so, as slices/*.tif, or say what the files hold (input.raw). For HDF5 "
                     "files there is [batch], and HDF5's own virtual datasets"});
    }
    const std::string note = broken_links_note(stack, missing);
    const std::vector<std::string> names = stack_files(stack);
    std::vector<DatasetLayout> files(names.size());
    for_each_file(std::ssize(names), [&](std::int64_t index) {
        const auto i = static_cast<std::size_t>(index);
        files[i] = layout_of_format(names[i], dataset, *format, FileIs::a_part);
    });
    DatasetLayout layout = join_files(stack, dataset, std::move(files));
    if (!note.empty()) {
        layout.info.notes.push_back(note);
    }
    return layout;
}

FileContent stack_content(const DatasetLayout& layout) {
    const DatasetInfo& info = layout.info;
    FileContent content;
    content.file = layout.file;
    content.format = "stack of " + std::to_string(layout.sources.size()) + " files";
    content.bytes = mark_of_input(layout.file).bytes;
    DatasetContent dataset;
    dataset.path = layout.dataset.empty() ? "/data" : layout.dataset;
    dataset.type = type_text(info.array);
    dataset.shape = info.array.shape;
    dataset.bytes = byte_count(info.array);
    dataset.stored_bytes = info.stored_bytes;
    dataset.storage = info.storage;
    dataset.filters = info.filters;
    content.datasets.push_back(std::move(dataset));
    return content;
}

FileMark mark_of_input(const std::string& file) {
    if (!is_stack(file)) {
        return mark_of(file);
    }
    FileMark all;
    for (const std::string& each : expand_pattern(file).files) {
        const FileMark mark = mark_of(each);
        all.bytes = std::max<std::int64_t>(all.bytes, 0) + std::max<std::int64_t>(mark.bytes, 0);
        all.modified = std::max(all.modified, mark.modified);
    }
    return all;
}

} // namespace runner
