// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/open_output_rows.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/file_access.hpp"
#include "io/input/stored_places.hpp"
#include "io/output/assemble_output.hpp"
#include "io/output/create_output.hpp"
#include "io/output/level_files.hpp"
#include "io/output/output_size.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/row_writers.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace runner {
namespace {

/// Writes compressed chunks to a shard, and from there into the output.
class AssemblingWriter final : public RowWriter {
  public:
    AssemblingWriter(OutputDataset output, const RowSteps& steps)
        : output_(std::move(output)), share_{.threads = steps.threads, .memory = steps.spare},
          shard_(open_output_rows(output_, 0, steps.threads, 1, steps.spare)) {}
    AssemblingWriter(const AssemblingWriter&) = delete;
    AssemblingWriter& operator=(const AssemblingWriter&) = delete;
    ~AssemblingWriter() override {
        shard_.reset();
        if (!is_finished_) {
            try {
                remove_shards(output_);
            } catch (const Error&) { // the next program to make this output removes them
            }
        }
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        shard_->write(first, rows, from);
    }

    void hand_over() override { shard_->hand_over(); }

    void sync() override { shard_->sync(); }

    void finish(Sync sync) override {
        shard_->finish(Sync::no);
        assemble_output(output_, share_);
        output_.extremes = make_levels(output_, share_);
        if (folder_of(output_.layout) != nullptr) {
            place_written(output_);
        } else if (sync == Sync::yes) {
            File file(output_.file, File::Mode::update);
            file.sync();
            file.close();
        }
        remove_shards(output_);
        is_finished_ = true;
    }

  private:
    OutputDataset output_;
    AssemblyShare share_;
    std::unique_ptr<RowWriter> shard_;
    bool is_finished_ = false;
};

/// Writes elements into their places in one file, and then its coarser levels.
class LevelledWriter final : public RowWriter {
  public:
    LevelledWriter(OutputDataset output, const RowSteps& steps)
        : output_(std::move(output)), share_{.threads = steps.threads, .memory = steps.spare},
          rows_(open_output_rows(output_, 0, steps.threads)) {}

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        rows_->write(first, rows, from);
    }

    void start_sync() noexcept override { rows_->start_sync(); }

    void hand_over() override { rows_->hand_over(); }

    void sync() override { rows_->sync(); }

    void finish(Sync sync) override {
        rows_->finish(sync);
        share_.sync = sync;
        make_levels(output_, share_);
    }

  private:
    OutputDataset output_;
    AssemblyShare share_;
    std::unique_ptr<RowWriter> rows_;
};

[[noreturn]] void refuse_memory(const OutputDataset& output, std::int64_t aligned_rows,
                                std::int64_t needed, std::int64_t available) {
    const bool has_chunks = !output.layout.chunk.empty();
    const std::string rows =
        std::to_string(aligned_rows) + " × " + std::to_string(row_elements(output.array));
    throw Error(ExitCode::usage,
                {"cannot pass the rows through memory",
                 has_chunks ? "chunk " + shape_text(output.layout.chunk) : output.file,
                 "the rows that are written at once, " + rows +
                     " elements, and their chunks take " + size_text(needed) + ", and " +
                     size_text(available) + " are available",
                 has_chunks ? "Give chunks of fewer rows" : "Free memory"});
}

/// The byte from which on a contiguous dataset's elements lie in the output itself.
std::int64_t offset_of(FileAccess& files, const OutputDataset& output, const std::string& dataset,
                       const ArrayInfo& array) {
    const DatasetLayout layout = files.layout(output.file, dataset);
    if (layout.way != DatasetLayout::Way::positions || layout.holder != output.file ||
        layout.info.array != array) {
        refuse_changed_storage(output, dataset);
    }
    return *layout.info.offset;
}

std::vector<std::int64_t> offsets_of_fields(FileAccess& files, const OutputDataset& output) {
    std::vector<std::int64_t> offsets;
    for (const OutputField& field : output.fields) {
        offsets.push_back(offset_of(files, output, field.dataset, field.array));
    }
    return offsets;
}

std::vector<std::int64_t> addresses_of(const DatasetLayout& layout) {
    std::vector<std::int64_t> addresses;
    addresses.reserve(layout.chunks.size());
    for (const ChunkPlace& chunk : layout.chunks) {
        addresses.push_back(chunk.offset);
    }
    return addresses;
}

/// A writer for one file of an output in parts.
std::unique_ptr<RowWriter> reopen_part(FileAccess& files, const OutputDataset& whole,
                                       const DatasetLayout& part) {
    OutputDataset output{part.holder, part.dataset, part.info.array, whole.layout};
    output.layout.chunk = part.info.chunk;
    if (output.layout.compression != Compression::none) {
        return open_stored_chunk_writer(files, output, 1);
    }
    return part.way == DatasetLayout::Way::positions
               ? open_plain_writer(output, *part.info.offset, 1)
               : open_chunk_writer(output, addresses_of(stored_places(files, output)), 1);
}

std::unique_ptr<RowWriter> reopen_parts(FileAccess& files, const OutputDataset& output,
                                        const DatasetLayout& layout, int threads) {
    if (layout.info.array != output.array) {
        refuse_changed_storage(output, output.dataset);
    }
    std::vector<std::unique_ptr<RowWriter>> writers;
    for (const DatasetLayout& part : layout.sources) {
        writers.push_back(reopen_part(files, output, part));
    }
    return open_pieces_writer(output.array, layout.pieces, std::move(writers), threads);
}

} // namespace

std::unique_ptr<RowWriter> open_output_rows(const OutputDataset& output, int rank, int threads,
                                            std::int64_t attempt, std::int64_t waiting) {
    if (!output.layout.is_hdf5() && !is_packed(output.layout)) {
        return output.layout.format->open_writer(output, threads);
    }
    if (output.parts.several() && output.layout.compression == Compression::none) {
        return open_parts_writer(output, threads);
    }
    if (!output.fields.empty()) {
        return open_fields_writer(output, threads);
    }
    if (output.layout.is_hdf5() && output.layout.chunk.empty()) {
        return open_contiguous_writer(output, threads);
    }
    return !is_packed(output.layout) ? open_chunk_writer(output, threads)
                                     : open_packed_writer(output, rank, threads, attempt, waiting);
}

RowSteps row_steps(const OutputDataset& output, std::int64_t buffer_bytes, std::int64_t most_bytes,
                   int threads) {
    if (output.layout.is_hdf5() && !output.layout.chunk.empty()) {
        check_chunk(output.array, output.layout.chunk, "chunk " + shape_text(output.layout.chunk));
    }
    RowSteps steps;
    try {
        steps.alignment = row_alignment(output.array, output.layout);
    } catch (const Error& error) {
        throw Error(of_output(error, output.file));
    }
    const std::int64_t row = row_bytes(output.array);
    steps.rows = std::clamp(buffer_bytes / row, std::min(steps.alignment, row_count(output.array)),
                            row_count(output.array));
    const auto needed = [&] {
        return steps.rows * row + writer_bytes(output.array, output.layout, steps.threads);
    };
    for (steps.threads = threads; steps.threads > 1 && needed() > most_bytes;) {
        steps.threads /= 2;
    }
    steps.bytes = needed();
    if (steps.bytes > most_bytes) {
        refuse_memory(output, steps.alignment, steps.bytes, most_bytes);
    }
    steps.spare = (most_bytes - steps.bytes) / 2; // a caller may keep more than a step
    return steps;
}

OutputDataset as_named(OutputDataset output) {
    output.layout.format = written_format_of(output.file);
    if (!output.layout.is_hdf5() && output.layout.compression == Compression::none) {
        output.layout.compression = output.layout.format->usual;
    }
    return output;
}

std::unique_ptr<RowWriter> make_rows(const OutputDataset& output, const RowSteps& steps) {
    OutputDataset made = as_named(output);
    create_output(made);
    if (is_packed(made.layout)) {
        return std::make_unique<AssemblingWriter>(std::move(made), steps);
    }
    if (!coarser_levels(made).empty()) {
        return std::make_unique<LevelledWriter>(std::move(made), steps);
    }
    return open_output_rows(made, 0, steps.threads);
}

std::unique_ptr<RowWriter> reopen_output_rows(FileAccess& files, const OutputDataset& output,
                                              int threads) {
    if (!output.layout.is_hdf5()) {
        return !is_packed(output.layout) ? open_output_rows(output, 0, threads)
                                         : open_stored_chunk_writer(files, output, threads);
    }
    if (!output.fields.empty()) {
        return open_fields_writer(output, offsets_of_fields(files, output), threads);
    }
    const DatasetLayout layout = files.layout(output.file, output.dataset);
    if (layout.way == DatasetLayout::Way::sources) {
        return reopen_parts(files, output, layout, threads);
    }
    if (output.layout.chunk.empty()) {
        return open_plain_writer(output, offset_of(files, output, output.dataset, output.array),
                                 threads);
    }
    return output.layout.compression == Compression::none
               ? open_chunk_writer(output, addresses_of(stored_places(files, output)), threads)
               : open_stored_chunk_writer(files, output, threads);
}

} // namespace runner
