// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/output_fields.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/input/open_rows.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/writers/row_writers.hpp"

#include <algorithm>
#include <cstring>

namespace runner {
namespace {

constexpr std::int64_t block_bytes = fields_block_bytes;

/// How many rows pass through a block.
std::int64_t block_rows(std::int64_t row) { return std::max<std::int64_t>(1, block_bytes / row); }

/// Bytes of a row that belong to each field.
std::vector<std::int64_t> widths_of(std::span<const OutputField> fields) {
    std::vector<std::int64_t> widths;
    widths.reserve(fields.size());
    for (const OutputField& field : fields) {
        widths.push_back(row_bytes(field.array));
    }
    return widths;
}

/// Copies `width` bytes of each of some rows.
void copy_columns(std::int64_t rows, std::int64_t width, const std::byte* from,
                  std::int64_t from_row, std::byte* to, std::int64_t to_row) {
    for (std::int64_t i = 0; i < rows; ++i) {
        std::memcpy(to + i * to_row, from + i * from_row, static_cast<std::size_t>(width));
    }
}

class FieldsReader final : public RowReader {
  public:
    FieldsReader(std::span<const OutputField> fields,
                 std::vector<std::unique_ptr<RowReader>> readers)
        : widths_(widths_of(fields)), readers_(std::move(readers)) {
        info_.array = joined_array(fields);
        info_.storage = "contiguous";
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const std::int64_t row = row_bytes(info_.array);
        const std::int64_t most = block_rows(row);
        block_.resize(static_cast<std::size_t>(std::min(rows, most) * row));
        for (std::int64_t done = 0; done < rows; done += most) {
            const std::int64_t count = std::min(most, rows - done);
            std::int64_t at = 0;
            for (std::size_t i = 0; i < readers_.size(); ++i) {
                readers_[i]->read(first + done, count, block_.data());
                copy_columns(count, widths_[i], block_.data(), widths_[i], to + done * row + at,
                             row);
                at += widths_[i];
            }
        }
    }

  private:
    DatasetInfo info_;
    std::vector<std::int64_t> widths_;
    std::vector<std::unique_ptr<RowReader>> readers_;
    std::vector<std::byte> block_;
};

/// Plain writes at positions, a block of rows a thread.
class FieldsWriter final : public RowWriter {
  public:
    FieldsWriter(const OutputDataset& output, std::vector<std::int64_t> offsets, int threads)
        : array_(output.array), widths_(widths_of(output.fields)), offsets_(std::move(offsets)),
          file_(output.file, File::Mode::update),
          threads_(file_.one_writer_at_a_time() ? 1 : threads),
          blocks_(static_cast<std::size_t>(threads_.threads())) {
        for (std::vector<std::byte>& block : blocks_) {
            const std::int64_t row = row_bytes(array_);
            block.resize(static_cast<std::size_t>(block_rows(row) * row));
        }
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        check_rows(array_, first, rows);
        const std::int64_t row = row_bytes(array_);
        const std::int64_t most = block_rows(row);
        threads_.run((rows + most - 1) / most, [&](std::int64_t index, int thread) {
            const std::int64_t begin = index * most;
            write_block(first + begin, std::min(most, rows - begin), from + begin * row,
                        blocks_[static_cast<std::size_t>(thread)].data());
        });
    }

    void start_sync() noexcept override { file_.start_sync(); }

    void sync() override { file_.sync(); }

    void finish(Sync sync) override {
        if (sync == Sync::yes) {
            file_.sync();
        }
        file_.close();
    }

  private:
    void write_block(std::int64_t first, std::int64_t rows, const std::byte* from,
                     std::byte* block) const {
        const std::int64_t row = row_bytes(array_);
        for (std::size_t i = 0; i < widths_.size(); ++i) {
            copy_columns(rows, widths_[i], from, row, block, widths_[i]);
            file_.write(offsets_[i] + first * widths_[i], rows * widths_[i], block);
            from += widths_[i];
        }
    }

    ArrayInfo array_;
    std::vector<std::int64_t> widths_;
    std::vector<std::int64_t> offsets_;
    File file_;
    IoThreads threads_;
    std::vector<std::vector<std::byte>> blocks_;
};

} // namespace

ArrayInfo joined_array(std::span<const OutputField> fields) {
    std::int64_t bytes = 0;
    for (const OutputField& field : fields) {
        bytes += row_bytes(field.array);
    }
    return {ElementType::uint8, {row_count(fields.front().array), bytes}};
}

std::vector<OutputField> fields_of(std::span<const DatasetLayout> layouts) {
    std::vector<OutputField> fields;
    for (const DatasetLayout& layout : layouts) {
        fields.push_back({layout.dataset, layout.info.array});
        if (row_count(fields.back().array) != row_count(fields.front().array)) {
            throw Error(
                ExitCode::input,
                {"cannot read the output's datasets", file_and_dataset(layout.file, layout.dataset),
                 fmt::format("it has {} rows, and {} has {}", row_count(fields.back().array),
                             fields.front().dataset, row_count(fields.front().array)),
                 "Run the job again with output.overwrite = true"});
        }
    }
    return fields;
}

std::unique_ptr<RowReader> join_fields(std::span<const OutputField> fields,
                                       std::vector<std::unique_ptr<RowReader>> readers) {
    return std::make_unique<FieldsReader>(fields, std::move(readers));
}

std::unique_ptr<RowReader> open_output_reader(const OutputDataset& output, int threads) {
    if (output.fields.empty()) {
        return open_rows(output.file, output.dataset, threads);
    }
    std::vector<std::unique_ptr<RowReader>> readers;
    for (const OutputField& field : output.fields) {
        readers.push_back(open_rows(output.file, field.dataset, threads));
    }
    return join_fields(output.fields, std::move(readers));
}

std::unique_ptr<RowWriter> open_fields_writer(const OutputDataset& output, int threads) {
    std::vector<std::int64_t> offsets;
    for (const OutputField& field : output.fields) {
        const DatasetInfo info =
            of_output([&] { return inspect_dataset(output.file, field.dataset); });
        if (!info.offset || info.array != field.array) {
            refuse_changed_output(output.file);
        }
        offsets.push_back(*info.offset);
    }
    return open_fields_writer(output, std::move(offsets), threads);
}

std::unique_ptr<RowWriter> open_fields_writer(const OutputDataset& output,
                                              std::vector<std::int64_t> offsets, int threads) {
    return std::make_unique<FieldsWriter>(output, std::move(offsets), threads);
}

} // namespace runner
