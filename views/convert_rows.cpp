// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/io_threads.hpp"
#include "io/files/write_back.hpp"
#include "io/formats/rows_format.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/images/store_image.hpp"
#include "io/input/generations.hpp"
#include "io/metadata/lost_metadata.hpp"
#include "io/metadata/write_metadata.hpp"
#include "io/output/default_plot.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/rows/row_geometry.hpp"
#include "views/converted_metadata.hpp"
#include "views/frame_source.hpp"
#include "views/made_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// Copies rows from one frame's first, or from a run of frames that follow one another there as
/// well as here. With two `buffers`, rows are read while those before them are written.
class RowCopy {
  public:
    RowCopy(FrameSource& source, const OutputDataset& output, const RowSteps& steps, int buffers)
        : source_(source), output_(output), writer_(make_rows(output, steps)),
          alignment_(steps.alignment), step_(steps.rows), threads_(buffers),
          buffer_(static_cast<std::size_t>(step_ * row_bytes(output.array))),
          read_(buffers > 1 ? buffer_.size() : 0) {}

    void copy_all() {
        const FrameRange& frames = source_.frames;
        const bool whole = output_.array == source_.reader->info().array;
        // Rows of one axis-0 number are whole frames then, and steps of chunks begin with them.
        const bool has_frames = output_.layout.is_hdf5() && output_.array.shape.size() > 2;
        if (whole && (alignment_ == 1 || has_frames) &&
            source_.reader->info().order == DatasetInfo::Order::first_fastest) {
            copy_boxes();
        } else {
            const std::int64_t height = source_.frame_rows();
            const std::int64_t together = frames.step == 1 ? frames.count : 1;
            for (std::int64_t frame = 0; frame < frames.count; frame += together) {
                copy(frames[frame] * height, frame * height, together * height);
            }
        }
        write_pending();
        writer_->finish(RowWriter::Sync::no);
    }

  private:
    /// Rows of the source that follow one another in the output too.
    struct Run {
        std::int64_t from = 0;
        std::int64_t to = 0;
        std::int64_t rows = 0;
    };

    void copy(std::int64_t from, std::int64_t to, std::int64_t rows) {
        for (std::int64_t row = 0; row < rows;) {
            const std::int64_t count =
                rows_to_border(output_.array, alignment_, to + row, std::min(step_, rows - row));
            copy({from + row, to + row, count});
            row += count;
        }
    }

    /// Writes what was read before, and reads this.
    void copy(const Run& run) {
        if (read_.empty()) {
            source_.reader->read(run.from, run.rows, buffer_.data());
            write(run.from, run.to, run.rows, buffer_.data());
            return;
        }
        threads_.run(2, [&](std::int64_t item, int /*thread*/) {
            if (item == 0) {
                source_.reader->read(run.from, run.rows, read_.data());
            } else {
                write_pending();
            }
        });
        buffer_.swap(read_);
        pending_ = run;
    }

    void write_pending() {
        if (pending_.rows > 0) {
            write(pending_.from, pending_.to, pending_.rows, buffer_.data());
        }
    }

    /// Rows of the source, in their place in the output.
    void write(std::int64_t from, std::int64_t to, std::int64_t rows, const std::byte* elements) {
        if (holds_cells(output_.file)) {
            const std::int64_t width = source_.image.width;
            check_cells(elements, rows * width, {width, source_.image.height, from * width},
                        source_.where);
        }
        writer_->write(to, rows, elements);
        if (write_back_.is_due(rows * row_bytes(output_.array))) {
            writer_->start_sync();
        }
    }

    /// Copies an array whose first axis runs fastest: rows of several numbers along that axis at
    /// once, for long runs to read, and of each number several, for long runs to write.
    void copy_boxes() {
        constexpr std::int64_t read_bytes = 4096;
        const std::int64_t numbers = output_.array.shape.front();
        const std::int64_t inner = row_count(output_.array) / numbers;
        const std::int64_t long_run =
            std::min(step_, std::max(step_ / inner, read_bytes / size_of(output_.array.type)));
        const std::int64_t most_numbers =
            std::clamp<std::int64_t>(std::min(long_run, step_ / alignment_), 1, numbers);
        const std::int64_t most_rows = std::clamp<std::int64_t>(step_ / most_numbers, 1, inner);
        for (std::int64_t first = 0; first < numbers; first += most_numbers) {
            const std::int64_t count = std::min(most_numbers, numbers - first);
            for (std::int64_t row = 0; row < inner;) {
                const std::int64_t rows = rows_to_border(output_.array, alignment_, row,
                                                         std::min(most_rows, inner - row));
                source_.reader->read_runs(
                    {first * inner + row, rows, count, inner, 0, row_elements(output_.array)},
                    buffer_.data());
                for (std::int64_t i = 0; i < count; ++i) {
                    const std::int64_t at = (first + i) * inner + row;
                    write(at, at, rows, buffer_.data() + i * rows * row_bytes(output_.array));
                }
                row += rows;
            }
        }
    }

    FrameSource& source_;
    const OutputDataset& output_;
    std::unique_ptr<RowWriter> writer_;
    std::int64_t alignment_;
    std::int64_t step_;
    IoThreads threads_;
    std::vector<std::byte> buffer_;
    std::vector<std::byte> read_; ///< of the run behind; empty where there is one buffer
    Run pending_;                 ///< in buffer_, to be written
    WriteBack write_back_;
};

/// Makes an output that is a folder in one pass; false where it cannot be done so.
bool copy_image(const FrameSource& source, const OutputDataset& output,
                const ConvertRequest& request) {
    if (source.frames.step != 1 ||
        source.reader->info().order != DatasetInfo::Order::last_fastest) {
        return false;
    }
    const OutputDataset made = as_named(output);
    const ImageTeams teams = image_teams(made, request.threads, request.memory);
    if (teams.teams == 0) {
        return false;
    }
    std::vector<std::unique_ptr<RowReader>> readers;
    readers.reserve(static_cast<std::size_t>(teams.teams));
    for (int team = 0; team < teams.teams; ++team) {
        readers.push_back(source.open(teams.threads));
    }
    store_image(made, teams, request.memory, readers, source.frames[0] * source.frame_rows());
    return true;
}

void add_generations(const FrameSource& source, const OutputDataset& output) {
    std::vector<std::uint64_t> generations;
    generations.reserve(static_cast<std::size_t>(source.frames.count));
    for (std::int64_t i = 0; i < source.frames.count; ++i) {
        generations.push_back(source.numbers.of(source.frames[i]));
    }
    write_generations(output.file, output.dataset, generations);
}

} // namespace

std::string convert_to_rows(FrameSource& source, const ConvertRequest& request) {
    ArrayInfo made;
    make_file(request.output, request.overwrite, RowWriter::Sync::yes,
              [&](const std::string& partial) {
                  const OutputDataset output = converted_dataset(source, request, partial);
                  made = output.array;
                  check_axes(output);
                  const RowSteps steps =
                      row_steps(output, convert_buffer_bytes, request.memory, request.threads);
                  if (!copy_image(source, output, request)) {
                      const bool two =
                          steps.bytes + steps.rows * row_bytes(output.array) <= request.memory;
                      RowCopy(source, output, steps, two ? 2 : 1).copy_all();
                  }
                  if (!output.layout.is_hdf5()) {
                      warn_of(lost_in_conversion(source, request, output, lost_axes(output)),
                              source, request);
                      return; // it has no place for what follows
                  }
                  const Metadata metadata = converted_metadata(source, request, output);
                  if (source.numbers.generations) {
                      add_generations(source, output);
                  }
                  if (source.content == Content::sand) {
                      write_attributes(output.file, {{"kind", cells_kind}});
                  }
                  write_default_plot(output.file, output.dataset, source.image.channels);
                  std::vector<std::string> lost = metadata.left_out;
                  for (std::string& each : write_metadata(output.file, output.dataset, metadata)) {
                      lost.push_back(std::move(each));
                  }
                  warn_of(lost, source, request);
              });
    return made_text(request.output, request.output_dataset, made);
}

} // namespace runner
