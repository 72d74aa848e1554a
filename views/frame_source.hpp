// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "views/convert.hpp"
#include "views/pictures/image_shape.hpp"

#include <functional>
#include <memory>
#include <string>

namespace runner {

/// What convert() reads, opened.
struct FrameSource {
    /// Opens the same rows again, for `threads` ≥ 1. It refers to the request and to files.
    std::function<std::unique_ptr<RowReader>(int threads)> open;
    std::unique_ptr<RowReader> reader;
    std::string where;
    Content content = Content::any;
    bool has_other_type = false; ///< than the file's elements
    bool may_be_colour = false;  ///< its last axis, of which nothing says it
    ImageShape image;            ///< of an array of one axis: a single column
    FrameRange frames;           ///< those to convert
    FrameNumbers numbers;

    /// Rows of the reader that a frame is.
    std::int64_t frame_rows() const { return image.height * image.rows_per_line(); }
};

/// At most so many bytes of elements pass through memory at once, or what is least to write.
inline constexpr std::int64_t convert_buffer_bytes = 64 << 20;

/// @throws Error (output) for a file that exists and is not to be overwritten.
void check_absent(const std::string& output, Overwrite overwrite);

/// Whether a file that is there is the input, or one of the files of its pattern.
bool is_of_input(const std::string& input, const std::string& file);

/// Refuses an output that is the input, or shares a file with it, whatever is to be overwritten.
/// @throws Error (usage).
void check_not_input(const std::string& input, const std::string& output);

/// Has `write` make `output` under its partial name and gives it its own. @throws Error (output)
/// as check_absent(); what `write` throws, with nothing left.
void make_file(const std::string& output, Overwrite overwrite, RowWriter::Sync sync,
               const std::function<void(const std::string& partial)>& write);

/// To formats of rows, and to pictures; in a file each. Return what convert() does.
std::string convert_to_rows(FrameSource& source, const ConvertRequest& request);
std::string convert_to_pictures(FrameSource& source, const ConvertRequest& request);

} // namespace runner
