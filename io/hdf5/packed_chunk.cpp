// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/packed_chunk.hpp"

#include "base/array_info.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"

#include <utility>

namespace runner {

void store_packed_chunks(const std::string& file, const std::string& dataset,
                         const std::vector<PackedChunk>& chunks) {
    FileHandle handle = update_hdf5(file);
    DatasetHandle opened = open_dataset(handle, file, dataset);
    for (const PackedChunk& chunk : chunks) {
        const std::vector<hsize_t> offset(chunk.start.begin(), chunk.start.end());
        if (H5Dwrite_chunk(opened.get(), H5P_DEFAULT, 0, offset.data(), chunk.bytes.size(),
                           chunk.bytes.data()) < 0) {
            throw_hdf5(ExitCode::output, "cannot store a compressed chunk",
                       file_and_dataset(file, dataset) + ", from element " +
                           shape_text(chunk.start),
                       "Free space on that file system and start again");
        }
    }
    if (!opened.close()) {
        throw_hdf5(ExitCode::output, "cannot store the dataset", file);
    }
    close_hdf5(std::move(handle), file);
}

} // namespace runner
