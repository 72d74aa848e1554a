// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "io/generations.hpp"
#include "io/row_geometry.hpp"
#include "io/sand_file.hpp"
#include "runner/frame_source.hpp"

#include <algorithm>
#include <vector>

namespace runner {
namespace {

/// The frames as they will be stored, whatever the input's leading axes.
OutputDataset output_of(const FrameSource& source, const ConvertRequest& request,
                        const std::string& partial) {
    const ArrayInfo& array = source.reader->info().array;
    const std::size_t axes = array.shape.size();
    OutputDataset output{partial, request.output_dataset, {array.type, {}}, {}};
    output.array.shape = {source.frames.count, array.shape[axes - 2], array.shape[axes - 1]};
    if (is_sand_name(request.output)) {
        output.layout.format = FileFormat::sand;
    }
    return output;
}

/// Copies rows from one frame's first, or from a run of frames that follow one another there as
/// well as here.
class RowCopy {
  public:
    RowCopy(FrameSource& source, const OutputDataset& output, int threads)
        : source_(source), output_(output), writer_(open_output_rows(output, 0, threads)),
          height_(output.array.shape[1]), alignment_(row_alignment(output.array, output.layout)),
          step_(std::clamp(convert_buffer_bytes / row_bytes(output.array), alignment_,
                           row_count(output.array))),
          buffer_(static_cast<std::size_t>(step_ * row_bytes(output.array))) {}

    void copy_all() {
        const FrameRange& frames = source_.frames;
        const std::int64_t together = frames.step == 1 ? frames.count : 1;
        for (std::int64_t frame = 0; frame < frames.count; frame += together) {
            copy(frames[frame] * height_, frame * height_, together * height_);
        }
        writer_->finish(RowWriter::Sync::no);
    }

  private:
    void copy(std::int64_t from, std::int64_t to, std::int64_t rows) {
        for (std::int64_t row = 0; row < rows;) {
            const std::int64_t count =
                rows_to_border(output_.array, alignment_, to + row, std::min(step_, rows - row));
            source_.reader->read(from + row, count, buffer_.data());
            if (output_.layout.format == FileFormat::sand) {
                const std::int64_t width = output_.array.shape[2];
                check_cells(buffer_.data(), count * width, {width, height_, (from + row) * width},
                            source_.where);
            }
            writer_->write(to + row, count, buffer_.data());
            row += count;
        }
    }

    FrameSource& source_;
    const OutputDataset& output_;
    std::unique_ptr<RowWriter> writer_;
    std::int64_t height_;
    std::int64_t alignment_;
    std::int64_t step_;
    std::vector<std::byte> buffer_;
};

void add_generations(const FrameSource& source, const OutputDataset& output) {
    std::vector<std::uint64_t> generations;
    generations.reserve(static_cast<std::size_t>(source.frames.count));
    for (std::int64_t i = 0; i < source.frames.count; ++i) {
        generations.push_back(source.numbers.of(source.frames[i]));
    }
    write_generations(output.file, output.dataset, generations);
}

} // namespace

void convert_to_rows(FrameSource& source, const ConvertRequest& request) {
    if (source.image.channels != 1) {
        throw Error(ExitCode::usage,
                    {"cannot convert pictures in colour to frames", source.where,
                     "its last axis, of 3 bytes, is red, green and blue", "Make a .png of them"});
    }
    make_file(request.output, request.overwrite, RowWriter::Sync::yes,
              [&](const std::string& partial) {
                  const OutputDataset output = output_of(source, request, partial);
                  create_output(output);
                  RowCopy(source, output, request.threads).copy_all();
                  if (output.layout.format == FileFormat::sand) {
                      return;
                  }
                  if (source.numbers.generations) {
                      add_generations(source, output);
                  }
                  if (source.content == Content::sand) {
                      write_attributes(output.file, {{"kind", "sand"}});
                  }
              });
}

} // namespace runner
