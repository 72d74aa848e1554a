// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "base/format.hpp"
#include "io/formats/png_writer.hpp"
#include "io/metadata/lost_metadata.hpp"
#include "views/converted_metadata.hpp"
#include "views/frame_source.hpp"
#include "views/made_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace runner {
namespace {

/// One frame as a picture, lines at a time.
void write_picture(FrameSource& source, Palette palette, std::int64_t frame,
                   const std::string& file, std::vector<std::byte>& lines) {
    const ImageShape& image = source.image;
    const ArrayInfo& array = source.reader->info().array;
    const std::int64_t line_bytes = image.line_elements() * size_of(array.type);
    const int bits = 8 * static_cast<int>(size_of(array.type));
    PngFormat format{image.width, image.height, image.channels, {}, bits};
    if (palette == Palette::sand) {
        format.palette.assign(sand_colours.begin(), sand_colours.end());
    }
    PngWriter writer(file, format);
    const std::int64_t step = std::ssize(lines) / line_bytes;
    for (std::int64_t line = 0; line < image.height; line += step) {
        const std::int64_t count = std::min(step, image.height - line);
        const std::int64_t first = frame * image.height + line;
        source.reader->read(first * image.rows_per_line(), count * image.rows_per_line(),
                            lines.data());
        if (palette == Palette::sand) {
            check_cells(lines.data(), count * image.width,
                        {image.width, image.height, first * image.width}, source.where);
        }
        writer.write(reinterpret_cast<const std::uint8_t*>(lines.data()), count);
    }
    writer.finish();
}

void check_elements(const FrameSource& source) {
    const ArrayInfo& array = source.reader->info().array;
    if (array.type != ElementType::uint8 && array.type != ElementType::uint16) {
        throw Error(ExitCode::usage,
                    {"cannot make pixels of the elements as they are", source.where,
                     "they are " + type_text(array) + ", neither uint8 nor uint16",
                     "Use runner render, which scales values to grey"});
    }
}

/// What the pictures, which have pixels alone, are without.
std::vector<std::string> lost_in_pictures(const FrameSource& source,
                                          const ConvertRequest& request) {
    const OutputDataset output = converted_dataset(source, request, request.output);
    return lost_in_conversion(source, request, output, lost_axes(output.axes));
}

} // namespace

std::string convert_to_pictures(FrameSource& source, const ConvertRequest& request) {
    check_elements(source);
    const ImageShape& image = source.image;
    if (!request.frames && image.frames > 1) {
        throw Error(ExitCode::usage,
                    {"a picture shows one frame", request.output,
                     fmt::format("{} has {}", source.where, image.frames),
                     source.may_be_colour
                         ? "Add --colour if its last axis is colour, else choose one with --frame"
                         : "Choose one with --frame, or several with --frames (a file each)"});
    }
    const Palette palette =
        palette_for(request.palette, source.content, source.reader->info().array, source.where);
    const bool several = request.frames && request.frames->count == FrameChoice::Count::several;
    const NumberedNames names(request.output, source.numbers, source.frames, source.where);
    const std::int64_t line_bytes =
        image.line_elements() * size_of(source.reader->info().array.type);
    std::vector<std::byte> lines(static_cast<std::size_t>(
        std::clamp<std::int64_t>(convert_buffer_bytes / line_bytes, 1, image.height) * line_bytes));
    const auto name_of_frame = [&](std::int64_t frame) {
        return several ? names.of(frame) : request.output;
    };
    for (std::int64_t i = 0; i < source.frames.count; ++i) {
        check_not_input(request.input, name_of_frame(source.frames[i])); // before any is made
        check_absent(name_of_frame(source.frames[i]), request.overwrite);
    }
    for (std::int64_t i = 0; i < source.frames.count; ++i) {
        const std::int64_t frame = source.frames[i];
        make_file(name_of_frame(frame), request.overwrite, RowWriter::Sync::no,
                  [&](const std::string& partial) {
                      write_picture(source, palette, frame, partial, lines);
                  });
    }
    const FrameRange& frames = source.frames;
    warn_of(lost_in_pictures(source, request), source, request);
    return several ? made_sequence_text(frames.count, names.of(frames[0]),
                                        names.of(frames[frames.count - 1]))
                   : made_picture_text(request.output, image.width, image.height);
}

} // namespace runner
