// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/written_format.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/files/byte_source.hpp"
#include "io/files/file.hpp"
#include "io/rows/dense_rows.hpp"

#include <algorithm>
#include <vector>

namespace runner {
namespace {

void write_structure(const OutputDataset& output, const File& file) {
    output.layout.format->structure(output,
                                    [&](std::int64_t offset, std::span<const std::byte> bytes) {
                                        file.write(offset, std::ssize(bytes), bytes.data());
                                    });
}

[[noreturn]] void refuse_structure(const std::string& file, const std::string& why) {
    throw Error(ExitCode::input,
                {"cannot read the output", file, why, "Remove the file and run the job again"});
}

} // namespace

std::int64_t dense_alignment(const ArrayInfo& /*array*/) { return 1; }

std::unique_ptr<RowReader> open_dense_output(const OutputDataset& output, int threads) {
    DenseLayout layout;
    layout.array = output.array;
    layout.offset = output.layout.format->place(output).begin;
    layout.storage = "contiguous";
    return open_dense_rows(open_plain_source(output.file), output.file, "cannot read the output",
                           std::move(layout), threads);
}

std::unique_ptr<RowWriter> open_dense_writer(const OutputDataset& output, int threads) {
    const DataPlace place = output.layout.format->place(output);
    if (File(output.file, File::Mode::update).size() != place.file_bytes) {
        refuse_changed_output(output.file);
    }
    return open_plain_writer(output, place.begin, threads);
}

void create_written(const OutputDataset& output) {
    const DataPlace place = output.layout.format->place(output);
    File file(output.file, File::Mode::create);
    file.resize(place.file_bytes);
    file.reserve(0, place.file_bytes);
    write_structure(output, file);
    file.close();
}

void restore_written(const OutputDataset& output) {
    const DataPlace place = output.layout.format->place(output);
    File file(output.file, File::Mode::update);
    if (file.size() < place.file_bytes) {
        throw Error(ExitCode::output,
                    {"cannot resume from the partial output", output.file,
                     "it has " + size_text(file.size()) + " of " + size_text(place.file_bytes),
                     "Set run.resume = \"never\" to restart the job"});
    }
    file.resize(place.file_bytes);
    write_structure(output, file);
    file.sync();
    file.close();
}

void place_written(const OutputDataset& output) {
    File file(output.file, File::Mode::update);
    file.resize(output.layout.format->place(output).file_bytes);
    write_structure(output, file);
    file.close();
}

void check_written(const OutputDataset& output) {
    const DataPlace place = output.layout.format->place(output);
    const File file(output.file, File::Mode::read);
    if (file.size() != place.file_bytes) {
        refuse_structure(output.file, fmt::format("it has {} bytes, and was made with {}",
                                                  file.size(), place.file_bytes));
    }
    std::vector<std::byte> there;
    output.layout.format->structure(
        output, [&](std::int64_t offset, std::span<const std::byte> bytes) {
            there.resize(bytes.size());
            file.read(offset, std::ssize(there), there.data());
            const auto differs = std::mismatch(there.begin(), there.end(), bytes.begin()).first;
            if (differs != there.end()) {
                refuse_structure(output.file,
                                 fmt::format("byte {} of its structure has changed",
                                             offset + std::distance(there.begin(), differs)));
            }
        });
}

} // namespace runner
