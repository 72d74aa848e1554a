// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/map_parts.hpp"

#include "io/hdf5/hdf5_type.hpp"
#include "io/rows/output_parts.hpp"
#include "io/rows/row_geometry.hpp"

#include <filesystem>
#include <vector>

namespace runner {
namespace {

SpaceHandle space_of(const std::vector<std::int64_t>& shape) {
    const std::vector<hsize_t> extents(shape.begin(), shape.end());
    return SpaceHandle(
        hdf5_must(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                  "H5Screate_simple"));
}

void select_rows(const SpaceHandle& space, const std::vector<std::int64_t>& shape,
                 std::int64_t first, std::int64_t rows) {
    for (const std::int64_t end = first + rows; first < end;) {
        const Box box = box_at(shape, first, end);
        const std::vector<hsize_t> start(box.start.begin(), box.start.end());
        const std::vector<hsize_t> count(shape.size(), 1);
        const std::vector<hsize_t> block(box.count.begin(), box.count.end());
        hdf5_must(H5Sselect_hyperslab(space.get(), H5S_SELECT_OR, start.data(), nullptr,
                                      count.data(), block.data()),
                  "H5Sselect_hyperslab");
        first += box.rows;
    }
}

/// HDF5 takes %b in the name of a source for a number, and %% for %.
std::string source_name(const OutputDataset& output, std::int64_t part) {
    const std::string name = std::filesystem::path(output.parts.folder).filename().string() + "/" +
                             part_name(part, output.parts.set);
    std::string escaped;
    for (const char c : name) {
        escaped += c == '%' ? "%%" : std::string(1, c);
    }
    return escaped;
}

} // namespace

void map_parts(const PropertyHandle& creation, const OutputDataset& output) {
    const std::vector<RowPiece> pieces = deal_rows(output.array, output.parts);
    for (std::int64_t part = 0; part < output.parts.parts; ++part) {
        const SpaceHandle rows = space_of(output.array.shape);
        hdf5_must(H5Sselect_none(rows.get()), "H5Sselect_none");
        for (const RowPiece& piece : pieces) {
            if (piece.source == part) {
                select_rows(rows, output.array.shape, piece.first, piece.rows);
            }
        }
        const SpaceHandle all = space_of(part_dataset(output, pieces, part).array.shape);
        hdf5_must(H5Pset_virtual(creation.get(), rows.get(), source_name(output, part).c_str(),
                                 part_dataset_name, all.get()),
                  "H5Pset_virtual");
    }
}

} // namespace runner
