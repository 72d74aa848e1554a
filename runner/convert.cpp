// SPDX-License-Identifier: BSD-3-Clause
#include "runner/convert.hpp"

#include "base/error.hpp"
#include "io/sand_file.hpp"
#include "runner/frame_source.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace runner {
namespace {

struct OutputFormat {
    std::string_view ending;
    void (*write)(FrameSource& source, const ConvertRequest& request);
};

constexpr std::array output_formats = {
    OutputFormat{".sand", convert_to_rows}, OutputFormat{".h5", convert_to_rows},
    OutputFormat{".hdf5", convert_to_rows}, OutputFormat{".png", convert_to_pictures}};

/// Formats that others read, so that a name of theirs is no HDF5 file of an odd name.
constexpr std::array<std::string_view, 11> unread_endings = {
    ".npy", ".npz", ".tif", ".tiff", ".png", ".raw", ".bin", ".jpg", ".gif", ".mrc", ".nii"};

const OutputFormat* format_of(const std::string& output) {
    const auto* found =
        std::find_if(output_formats.begin(), output_formats.end(),
                     [&](const OutputFormat& format) { return output.ends_with(format.ending); });
    return found == output_formats.end() ? nullptr : found;
}

FrameSource open_source(const ConvertRequest& request) {
    FrameSource source;
    source.where = is_sand_name(request.input) ? request.input
                                               : std::string(request.input) + ":" + request.dataset;
    source.reader = open_rows(request.input, request.dataset, request.threads);
    const DatasetInfo& info = source.reader->info();
    if (!is_number(info.array.type) && !request.output.ends_with(".h5") &&
        !request.output.ends_with(".hdf5")) {
        throw Error(ExitCode::input, {"cannot convert the elements", source.where,
                                      "they are " + type_text(info.array) + ", no numbers",
                                      "HDF5 files hold them: name an output that ends in .h5"});
    }
    const bool cells = request.palette == Palette::sand || is_sand_name(request.output);
    source.content = cells ? Content::sand : content_of(request.input, info);
    source.image = image_shape(info.array, source.content, source.where);
    const std::int64_t frames = source.image.frames;
    source.frames = choose_frames(request.frames.value_or(FrameChoice{}), frames, source.where);
    source.numbers =
        frame_numbers(request.input, request.dataset, frames, request.first_generation);
    return source;
}

void check_apart(const std::string& input, const std::string& written) {
    std::error_code ignored;
    if (std::filesystem::equivalent(input, written, ignored)) {
        throw Error(ExitCode::usage, {"cannot write over the input", input,
                                      "the output has that name until it is complete",
                                      "Give one of them another name"});
    }
}

} // namespace

std::string output_endings() {
    std::string text;
    for (std::size_t i = 0; i < output_formats.size(); ++i) {
        text += i == 0 ? "" : (i + 1 < output_formats.size() ? ", " : " and ");
        text += output_formats[i].ending;
    }
    return text;
}

void check_formats(const std::string& input, const std::string& output) {
    const std::string known =
        "Known are .sand and HDF5 files to read, and " + output_endings() + " to make";
    if (std::any_of(unread_endings.begin(), unread_endings.end(),
                    [&](std::string_view ending) { return input.ends_with(ending); })) {
        throw Error(ExitCode::usage, {"cannot convert the input", input,
                                      "files of that ending cannot be read", known});
    }
    if (format_of(output) == nullptr) {
        throw Error(ExitCode::usage, {"cannot convert to the output", output,
                                      "its ending names no format that can be made", known});
    }
}

void check_absent(const std::string& output, Overwrite overwrite) {
    std::error_code ignored;
    if (overwrite == Overwrite::no && std::filesystem::exists(output, ignored)) {
        throw Error(ExitCode::output, {"the output is already there", output, "it would be lost",
                                       "Add --overwrite, or name another"});
    }
}

void make_file(const std::string& output, Overwrite overwrite, RowWriter::Sync sync,
               const std::function<void(const std::string& partial)>& write) {
    check_absent(output, overwrite);
    const std::string partial = output + ".partial";
    try {
        write(partial);
        publish_output(partial, output, overwrite, sync);
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove(partial, ignored);
        throw;
    }
}

void convert(const ConvertRequest& request) {
    check_formats(request.input, request.output);
    check_apart(request.input, request.output + ".partial");
    FrameSource source = open_source(request);
    format_of(request.output)->write(source, request);
}

} // namespace runner
