// SPDX-License-Identifier: BSD-3-Clause
#include "base/sizes.hpp"
#include "io/files/io_threads.hpp"
#include "io/formats/rows_format.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/input/generations.hpp"
#include "io/metadata/axis_metadata.hpp"
#include "io/metadata/lost_metadata.hpp"
#include "io/metadata/write_metadata.hpp"
#include "io/output/default_plot.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/row_geometry.hpp"
#include "views/frame_source.hpp"
#include "views/made_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {
namespace {

/// The axes of an array of `count` axes that has the chosen frames.
Axes axes_of_frames(const Axes& whole, const FrameSource& source, std::size_t count) {
    const std::size_t of_frame = source.image.channels > 1 ? 3 : 2;
    const std::vector<std::int64_t>& shape = source.reader->info().array.shape;
    if (whole.each.size() < of_frame || whole.each.size() != shape.size()) {
        return {};
    }
    const std::size_t lead = shape.size() - of_frame;
    DatasetPart part{std::vector<std::int64_t>(shape.size(), 0), shape};
    if (count == of_frame) {
        std::int64_t frame = source.frames[0];
        for (std::size_t axis = lead; axis-- > 0; frame /= shape[axis]) {
            part.first[axis] = frame % shape[axis];
            part.count[axis] = 1;
            part.dropped.insert(part.dropped.begin(), axis);
        }
        return axes_of_part(whole, part);
    }
    if (lead == 1) {
        part.count[0] = source.frames.count;
        for (std::int64_t i = 0; i < source.frames.count; ++i) {
            part.frames.push_back(source.frames[i]);
        }
        return axes_of_part(whole, part);
    }
    std::vector<AxisOrigin> kept = {{-1}}; // frames of several axes in a row
    for (std::size_t axis = lead; axis < shape.size(); ++axis) {
        kept.push_back({static_cast<std::int64_t>(axis)});
    }
    return moved_axes(whole, kept);
}

/// What will be stored: the array as it is, or the chosen frames.
OutputDataset output_of(const FrameSource& source, const ConvertRequest& request,
                        const std::string& partial) {
    const ArrayInfo& array = source.reader->info().array;
    const bool is_sand = source.content == Content::sand;
    OutputDataset output{partial, request.output_dataset, array, request.layout};
    output.axes = request.axes;
    output.invalid_value = source.reader->info().invalid_value;
    if (request.frames || is_sand) {
        output.array.shape = {source.image.height, source.image.width};
        if (is_sand || request.frames->count == FrameChoice::Count::several) {
            output.array.shape.insert(output.array.shape.begin(), source.frames.count);
        }
        if (source.image.channels > 1) {
            output.array.shape.push_back(source.image.channels);
        }
        output.axes = axes_of_frames(request.axes, source, output.array.shape.size());
    }
    output.layout.format = written_format_of(request.output);
    if (source.image.channels > 1 || source.reader->info().channels) {
        output.layout.channels = static_cast<int>(source.image.channels);
    }
    return output;
}

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
        waiting_ += rows * row_bytes(output_.array);
        if (waiting_ >= 64 * MiB) { // the file is synced at the end, and then less is left
            writer_->start_sync();
            waiting_ = 0;
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
    std::int64_t waiting_ = 0;    ///< bytes since start_sync()
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

std::string convert_to_rows(FrameSource& source, const ConvertRequest& request) {
    ArrayInfo made;
    make_file(
        request.output, request.overwrite, RowWriter::Sync::yes, [&](const std::string& partial) {
            const OutputDataset output = output_of(source, request, partial);
            made = output.array;
            check_axes(output);
            const RowSteps steps =
                row_steps(output, convert_buffer_bytes, request.memory, request.threads);
            const bool two = steps.bytes + steps.rows * row_bytes(output.array) <= request.memory;
            RowCopy(source, output, steps, two ? 2 : 1).copy_all();
            if (!output.layout.is_hdf5()) {
                if (const auto lost = lost_axes(output); request.warn && !lost.empty()) {
                    request.warn(lost_text(source.where, lost));
                }
                return; // it has no place for what follows
            }
            if (source.numbers.generations) {
                add_generations(source, output);
            }
            if (source.content == Content::sand) {
                write_attributes(output.file, {{"kind", cells_kind}});
            }
            write_default_plot(output.file, output.dataset, source.image.channels);
            Metadata metadata;
            set_axes(metadata, output.axes);
            (void)write_metadata(output.file, output.dataset, metadata);
        });
    return made_text(request.output, request.output_dataset, made);
}

} // namespace runner
