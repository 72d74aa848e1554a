// SPDX-License-Identifier: BSD-3-Clause
#include "views/convert.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "io/files/file_names.hpp"
#include "io/formats/format_signature.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/slice_names.hpp"
#include "io/input/file_access.hpp"
#include "io/inspect/colour_marks.hpp"
#include "io/output/own_parts.hpp"
#include "io/output/publish_output.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "views/frame_source.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr std::string_view picture_ending = ".png";

/// Endings of formats that others read, so that a name of theirs is no HDF5 file of an odd name.
constexpr std::array<std::string_view, 7> unread_endings = {".npz", ".jpg", ".jpeg", ".gif",
                                                            ".bmp", ".img", ".hdr"};

/// Endings of files that do not say what they hold.
constexpr std::array<std::string_view, 3> raw_endings = {".raw", ".bin", ".dat"};

/// In letters of any case.
bool has_ending(const std::string& name, std::string_view ending) {
    return name.size() >= ending.size() &&
           std::equal(ending.begin(), ending.end(), name.end() - std::ssize(ending),
                      [](char a, char b) {
                          return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
                      });
}

template <class Endings> bool ends_in(const std::string& name, const Endings& endings) {
    return std::any_of(endings.begin(), endings.end(),
                       [&](std::string_view ending) { return has_ending(name, ending); });
}

/// "a, b and c".
std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += i == 0 ? "" : (i + 1 < names.size() ? ", " : " and ");
        text += names[i];
    }
    return text;
}

void add_endings(const RowsFormat& format, std::vector<std::string>& names) {
    std::istringstream endings{std::string(format.endings)};
    for (std::string ending; endings >> ending;) {
        names.push_back(ending);
    }
}

std::string input_endings() {
    std::vector<std::string> names;
    for (const RowsFormat& format : rows_formats()) {
        add_endings(format, names);
    }
    names.emplace_back("HDF5 files");
    return listed(names);
}

/// Whether convert_to_rows() makes such files.
bool is_of_rows(const std::string& output) {
    return output_name_fault(output).empty() &&
           (is_folder_output(output) || !has_ending(output, picture_ending));
}

/// Whether a file of this name holds such an array.
bool can_hold(const std::string& output, const ArrayInfo& array) {
    try {
        const WrittenFormat* const written = written_format_of(output);
        return written != nullptr && written->place({{}, {}, array, {}}).bytes > 0;
    } catch (const Error&) {
        return false;
    }
}

/// Each element of one axis is a row.
ImageShape column_of(const ArrayInfo& array) { return {1, array.shape.front(), 1, 1}; }

/// Warns where nothing says whether the last axis is colour, and the output will: pictures of uint8
/// are taken for RGB.
void warn_of_colour(const FrameSource& source, const ConvertRequest& request) {
    OutputLayout layout;
    layout.format = written_format_of(request.output);
    if (source.may_be_colour && says_colour(layout) && request.warn) {
        request.warn(
            unmarked_colour_note(source.reader->info().array.shape, source.where,
                                 source.image.channels > 1 ? "colour" : "an axis of the image",
                                 "Add --colour if it is colour, else --colour=false"));
    }
}

using OpenRows = std::function<std::unique_ptr<RowReader>(int threads)>;

/// Opens the input's rows, with the elements that the file has.
OpenRows opener(FileAccess& files, const ConvertRequest& request) {
    if (request.raw) {
        return
            [&request](int threads) { return open_raw_rows(request.input, *request.raw, threads); };
    }
    DatasetLayout layout = files.layout(request.input, request.dataset);
    if (request.type || !is_hdf5_name(request.output)) { // an HDF5 file holds it as it is
        take_truth_as_numbers(layout);
    }
    return
        [&files, layout = std::move(layout)](int threads) { return files.open(layout, threads); };
}

FrameSource open_source(FileAccess& files, const ConvertRequest& request) {
    FrameSource source;
    const bool alone = request.raw || rows_format_of(request.input) != nullptr;
    source.where = alone ? request.input : request.input + ":" + request.dataset;
    const OpenRows stored = opener(files, request);
    source.reader = stored(request.threads);
    source.open = stored;
    if (request.type) {
        source.has_other_type = type_text(*request.type) != type_text(source.reader->info().array);
        source.open = [&request, stored, where = source.where](int threads) {
            return with_type(stored(threads), *request.type, request.beyond, where);
        };
        source.reader =
            with_type(std::move(source.reader), *request.type, request.beyond, source.where);
    }
    DatasetInfo info = source.reader->info();
    info.channels = chosen_channels(info, request.colour, source.where);
    if (!is_number(info.array.type) && !is_hdf5_name(request.output) &&
        !(is_float16(info.array) && can_hold(request.output, info.array))) {
        throw Error(ExitCode::input,
                    {"cannot convert the elements", source.where,
                     "they are " + type_text(info.array) + ", which this output cannot hold",
                     std::string("HDF5 files hold them: name an output that ends "
                                 "in .h5") +
                         (is_float16(info.array) ? "; or add --dtype float32" : "")});
    }
    const bool cells = request.palette == Palette::sand || holds_cells(request.output);
    if (cells) {
        source.content = Content::sand;
    } else if (!request.raw) {
        source.content = content_of(files, request.input, info);
    }
    source.may_be_colour = !request.colour && !source.reader->info().channels &&
                           source.content != Content::sand && may_be_colour(info.array.shape);
    const bool as_it_is = !request.frames && !cells && is_of_rows(request.output);
    source.image = as_it_is && info.array.shape.size() == 1
                       ? column_of(info.array)
                       : image_shape(info, source.content, source.where);
    const std::int64_t frames = source.image.frames;
    source.frames = choose_frames(request.frames.value_or(FrameChoice{}), frames, source.where);
    if (!request.raw || request.first_generation) {
        source.numbers =
            frame_numbers(files, request.input, request.dataset, frames, request.first_generation);
    }
    return source;
}

/// Whether the two name one file, or sets of files that share one.
bool share_a_file(const std::string& input, const std::string& output) {
    const std::optional<SliceNames> slices = SliceNames::of(output);
    if (!slices) {
        return is_of_input(input, output);
    }
    const std::vector<std::string> there = slices->there();
    return std::any_of(there.begin(), there.end(), [&](const std::string& name) {
        return is_of_input(input, slices->folder() + name);
    });
}

void check_apart(const std::string& input, const std::string& output) {
    check_not_input(input, output);
    if (const auto taken = name_on_the_way(output, input)) {
        throw Error(ExitCode::usage,
                    {"cannot write over the input", input,
                     taken == partial_name(output)
                         ? "the output has that name until it is complete"
                         : "the output has " + printable(*taken) + " beside it while it is made",
                     "Give one of them another name"});
    }
}

} // namespace

void check_formats(const std::string& input, const std::string& output, InputNames names) {
    const std::string known =
        "Known are " + input_endings() + " to read, and " + written_endings() + " to make";
    const bool said = names == InputNames::say_format && rows_format_of(input) == nullptr &&
                      !begins_as_hdf5(input);
    if (said && ends_in(input, raw_endings)) {
        throw Error(ExitCode::usage,
                    {"cannot convert the input", input, "it does not say what it holds",
                     "Say it: --shape Z,Y,X --dtype TYPE, --offset BYTES, --big-endian"});
    }
    if (said && ends_in(input, unread_endings)) {
        throw Error(ExitCode::usage, {"cannot convert the input", input,
                                      "files of that ending cannot be read", known});
    }
    if (const std::string fault = slices_fault(output); !fault.empty()) {
        throw Error(ExitCode::usage, {"cannot convert to the output", output, fault, ""});
    }
    if (const std::string fault = name_length_fault(output); !fault.empty()) {
        throw Error(ExitCode::usage, {"cannot convert to the output", output, fault, ""});
    }
    if (!is_of_rows(output) && !has_ending(output, picture_ending)) {
        throw Error(ExitCode::usage, {"cannot convert to the output", output,
                                      "its ending names no format that can be made", known});
    }
}

bool is_of_input(const std::string& input, const std::string& file) {
    std::error_code failure;
    return std::filesystem::exists(file, failure) &&
           (has_wildcards(input) ? matches_pattern(input, file)
                                 : std::filesystem::equivalent(input, file, failure));
}

void check_not_input(const std::string& input, const std::string& output) {
    if (share_a_file(input, output)) {
        throw Error(ExitCode::usage,
                    {"cannot write over the input", input,
                     "what " + printable(output) + " does not hold of it would be lost",
                     "Give the output another name; then remove or rename the input yourself"});
    }
}

void check_absent(const std::string& output, Overwrite overwrite) {
    if (overwrite == Overwrite::no && is_output_there(output)) {
        clean_up_beside(output);
        throw Error(ExitCode::output, {"the output is already there", output, "it would be lost",
                                       "Add --overwrite, or name another"});
    }
    if (is_folder_output(output)) {
        check_replaced(output);
    }
}

void make_file(const std::string& output, Overwrite overwrite, RowWriter::Sync sync,
               const std::function<void(const std::string& partial)>& write) {
    check_absent(output, overwrite);
    PartialOutput made(output);
    write(made.partial());
    made.publish(overwrite, sync);
}

std::string convert(FileAccess& files, const ConvertRequest& request) {
    check_formats(request.input, request.output,
                  request.raw ? InputNames::are_raw : InputNames::say_format);
    check_apart(request.input, request.output);
    FrameSource source = open_source(files, request);
    std::string made = is_of_rows(request.output) ? convert_to_rows(source, request)
                                                  : convert_to_pictures(source, request);
    warn_of_colour(source, request);
    return made;
}

} // namespace runner
