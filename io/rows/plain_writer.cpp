// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/plain_writer.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/row_geometry.hpp"

namespace runner {
namespace {

/// Plain writes at positions, a block a thread where several can write at once.
class PlainWriter final : public RowWriter {
  public:
    PlainWriter(const OutputDataset& output, std::int64_t offset, int threads)
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

std::unique_ptr<RowWriter> open_plain_writer(const OutputDataset& output, std::int64_t offset,
                                             int threads) {
    return std::make_unique<PlainWriter>(output, offset, threads);
}

void refuse_changed_output(const std::string& where) {
    throw Error(ExitCode::output, {"the output is not the one that was created", where,
                                   "another program changed it", "Restart the job"});
}

} // namespace runner
