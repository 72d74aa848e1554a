// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows.hpp"

#include "io/chunk_grid.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_file.hpp"
#include "io/packed_chunks.hpp"

#include <cstddef>

namespace runner {
namespace {

[[noreturn]] void refuse(std::int64_t chunk, const std::string& why) {
    throw Error(ExitCode::output,
                {"cannot put the compressed chunks together", "chunk " + std::to_string(chunk), why,
                 "Set run.resume = \"never\" to start the job anew"});
}

/// In the chunks' order, whoever wrote them when: the same job makes the same file.
void store_chunks(const OutputDataset& output, const PackedChunks& chunks, const ChunkGrid& grid) {
    FileHandle file = update_hdf5(output.file);
    DatasetHandle dataset = open_dataset(file, output.file, output.dataset);
    std::vector<std::byte> bytes;
    for (std::int64_t index = 0; index < grid.count(); ++index) {
        if (!chunks.read(index, bytes)) {
            refuse(index,
                   chunks.has(index) ? "its bytes have changed on the disk" : "no rank wrote it");
        }
        const auto start = grid.start_of(index);
        const std::vector<hsize_t> offset(start.begin(), start.end());
        if (H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, offset.data(), bytes.size(),
                           bytes.data()) < 0) {
            throw_hdf5(ExitCode::output, "cannot store a compressed chunk",
                       file_and_dataset(output.file, output.dataset) + ", from element " +
                           shape_text(start),
                       "Free space on that file system, then run the same command again");
        }
    }
    if (!dataset.close()) {
        throw_hdf5(ExitCode::output, "cannot store the dataset", output.file);
    }
    close_hdf5(std::move(file), output.file);
}

} // namespace

void assemble_output(const OutputDataset& output) {
    if (!output.layout.chunk.empty() && output.layout.compression != Compression::none) {
        store_chunks(output, PackedChunks(output), ChunkGrid(output.array, output.layout));
    }
}

} // namespace runner
