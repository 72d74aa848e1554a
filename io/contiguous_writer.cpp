// SPDX-License-Identifier: BSD-3-Clause
#include "io/of_output.hpp"
#include "io/row_writers.hpp"

#include "io/file.hpp"
#include "io/io_threads.hpp"
#include "io/row_geometry.hpp"

namespace runner {
namespace {

/// Plain writes at positions, a block a thread where several can write at once.
class ContiguousWriter final : public RowWriter {
  public:
    ContiguousWriter(const OutputDataset& output, std::int64_t offset, int threads)
        : array_(output.array), offset_(offset), file_(output.file, File::Mode::update),
          threads_(file_.one_writer_at_a_time() ? 1 : threads) {}

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        check_rows(array_, first, rows);
        const std::int64_t bytes = rows * row_bytes(array_);
        const std::int64_t offset = offset_ + first * row_bytes(array_);
        threads_.run_blocks(bytes, [&](std::int64_t begin, std::int64_t count) {
            file_.write(offset + begin, count, from + begin);
        });
    }

    void sync() override { file_.sync(); }

    void finish(Sync sync) override {
        if (sync == Sync::yes) {
            file_.sync();
        }
        file_.close();
    }

  private:
    ArrayInfo array_;
    std::int64_t offset_;
    File file_;
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowWriter> open_contiguous_writer(const OutputDataset& output, int threads) {
    const DatasetInfo info =
        of_output([&] { return inspect_dataset(output.file, output.dataset); });
    if (!info.offset || info.array != output.array) {
        throw Error(ExitCode::output, {"the output is not the one that was created", output.file,
                                       "another program changed it", "Start again"});
    }
    return open_plain_writer(output, *info.offset, threads);
}

std::unique_ptr<RowWriter> open_plain_writer(const OutputDataset& output, std::int64_t offset,
                                             int threads) {
    return std::make_unique<ContiguousWriter>(output, offset, threads);
}

} // namespace runner
