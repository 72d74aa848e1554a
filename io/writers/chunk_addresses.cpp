// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/chunk_addresses.hpp"
#include "io/rows/dense_rows.hpp"

#include "base/format.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_handle.hpp"

#include <algorithm>
#include <array>

namespace runner {
namespace {

std::int64_t address_of(const DatasetHandle& dataset, const SpaceHandle& space,
                        const ChunkGrid& grid, std::int64_t index) {
    std::array<hsize_t, H5S_MAX_RANK> start{};
    haddr_t address = HADDR_UNDEF;
    hsize_t bytes = 0;
    unsigned skipped_filters = 0;
    hdf5_must(H5Dget_chunk_info(dataset.get(), space.get(), static_cast<hsize_t>(index),
                                start.data(), &skipped_filters, &address, &bytes),
              "H5Dget_chunk_info");
    const std::vector<std::int64_t> expected = grid.start_of(index);
    if (address == HADDR_UNDEF || static_cast<std::int64_t>(bytes) != grid.chunk_bytes() ||
        !std::equal(expected.begin(), expected.end(), start.begin(),
                    [](std::int64_t a, hsize_t b) { return static_cast<hsize_t>(a) == b; })) {
        refuse_changed_output(fmt::format("chunk {}", index));
    }
    return static_cast<std::int64_t>(address);
}

} // namespace

std::vector<std::int64_t> chunk_addresses(const OutputDataset& output, const ChunkGrid& grid) {
    const FileHandle file = of_output([&] { return open_hdf5(output.file); });
    const DatasetHandle dataset = open_dataset(file, output.file, output.dataset);
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    std::vector<std::int64_t> addresses;
    if (grid.count() <= listed_chunks) {
        for (std::int64_t index = 0; index < grid.count(); ++index) {
            addresses.push_back(address_of(dataset, space, grid, index));
        }
        return addresses;
    }
    // One after the other, as HDF5's computed index has it; the last one tells if it is that index.
    const std::int64_t first = address_of(dataset, space, grid, 0);
    const std::int64_t last = address_of(dataset, space, grid, grid.count() - 1);
    if (last != first + (grid.count() - 1) * grid.chunk_bytes()) {
        throw Error(ExitCode::defect, {"HDF5 does not store the chunks one after the other",
                                       output.file, "", "Use larger chunks"});
    }
    for (std::int64_t index = 0; index < grid.count(); ++index) {
        addresses.push_back(first + index * grid.chunk_bytes());
    }
    return addresses;
}

} // namespace runner
