// SPDX-License-Identifier: BSD-3-Clause
#include "io/row_writers.hpp"

#include "io/chunk_grid.hpp"
#include "io/file.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_file.hpp"

#include <algorithm>
#include <array>

namespace runner {
namespace {

/// Bytes [begin, end) of the file.
struct Place {
    haddr_t begin = 0;
    haddr_t end = 0;
};

[[noreturn]] void refuse(const OutputDataset& output, const std::string& why) {
    throw Error(ExitCode::output,
                {"cannot write into the output", file_and_dataset(output.file, output.dataset),
                 "HDF5's index of its chunks is damaged: " + why,
                 "Run the job again with output.overwrite = true"});
}

/// Where the index has chunk `index` of the grid.
Place place_of(const OutputDataset& output, const DatasetHandle& dataset, const SpaceHandle& space,
               const ChunkGrid& grid, std::int64_t index) {
    std::array<hsize_t, H5S_MAX_RANK> start{};
    haddr_t address = HADDR_UNDEF;
    hsize_t bytes = 0;
    unsigned skipped = 0;
    const bool known = H5Dget_chunk_info(dataset.get(), space.get(), static_cast<hsize_t>(index),
                                         start.data(), &skipped, &address, &bytes) >= 0;
    const std::vector<std::int64_t> expected = grid.start_of(index);
    if (!known || skipped != 0 || address == HADDR_UNDEF ||
        !std::equal(expected.begin(), expected.end(), start.begin(),
                    [](std::int64_t a, hsize_t b) { return static_cast<hsize_t>(a) == b; })) {
        refuse(output, "it has no chunk from element " + shape_text(expected));
    }
    return {address, address + bytes};
}

} // namespace

void check_chunk_places(const OutputDataset& output) {
    const ChunkGrid grid(output.array, output.layout);
    if (grid.count() > listed_chunks) {
        return;
    }
    const auto size = static_cast<haddr_t>(File(output.file, File::Mode::read).size());
    const FileHandle file = open_hdf5(output.file);
    const DatasetHandle dataset = open_dataset(file, output.file, output.dataset);
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    std::vector<Place> places;
    for (std::int64_t index = 0; index < grid.count(); ++index) {
        places.push_back(place_of(output, dataset, space, grid, index));
    }
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.begin < b.begin; });
    haddr_t free = 0;
    for (const Place& place : places) {
        if (place.begin < free || place.end < place.begin || place.end > size) {
            refuse(output, "bytes " + std::to_string(place.begin) + " to " +
                               std::to_string(place.end) + " are beyond the file or of two chunks");
        }
        free = place.end;
    }
}

} // namespace runner
