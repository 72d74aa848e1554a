// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/map_parts.hpp"

#include "io/hdf5/hdf5_type.hpp"
#include "io/rows/output_parts.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace runner {
namespace {

/// A part of more series than these is one mapping, whose selection lists the boxes.
constexpr std::size_t most_mappings = 4;

SpaceHandle space_of(const std::vector<std::int64_t>& shape) {
    const std::vector<hsize_t> extents(shape.begin(), shape.end());
    return SpaceHandle(
        hdf5_must(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                  "H5Screate_simple"));
}

/// Boxes of one extent, at equal distances along one axis: a selection that HDF5 stores in a few
/// numbers. Of boxes listed one by one it stores each, and adds each to the selection when the
/// dataset is opened: 20 to 60 ms for 4,096 of them.
struct BoxSeries {
    RowBox first;
    std::size_t axis = 0;
    std::int64_t distance = 0; ///< from start to start; 0 for one box
    std::int64_t boxes = 1;
    std::int64_t rows = 0; ///< of all boxes

    /// Adds the box that follows, if it is the next of the series.
    bool add(const RowBox& box) {
        const std::int64_t steps = boxes;
        std::vector<std::int64_t> from = first.start;
        if (steps == 1) {
            const auto differs = std::mismatch(from.begin(), from.end(), box.start.begin());
            if (differs.first == from.end()) {
                return false;
            }
            axis = static_cast<std::size_t>(differs.first - from.begin());
            distance = *differs.second - *differs.first;
        }
        from[axis] += steps * distance;
        if (box.count != first.count || box.start != from || distance <= first.count[axis]) {
            return false;
        }
        ++boxes;
        rows += box.rows;
        return true;
    }

    void select(const SpaceHandle& space) const {
        const std::vector<hsize_t> start(first.start.begin(), first.start.end());
        std::vector<hsize_t> stride(first.count.begin(), first.count.end());
        std::vector<hsize_t> count(start.size(), 1);
        const std::vector<hsize_t> block(first.count.begin(), first.count.end());
        stride[axis] = static_cast<hsize_t>(std::max(distance, first.count[axis]));
        count[axis] = static_cast<hsize_t>(boxes);
        hdf5_must(H5Sselect_hyperslab(space.get(), H5S_SELECT_OR, start.data(), stride.data(),
                                      count.data(), block.data()),
                  "H5Sselect_hyperslab");
    }
};

void add_boxes(const std::vector<std::int64_t>& shape, std::int64_t first, std::int64_t rows,
               std::vector<BoxSeries>& series) {
    for (const std::int64_t end = first + rows; first < end;) {
        const RowBox box = box_at(shape, first, end);
        if (series.empty() || !series.back().add(box)) {
            series.push_back({box, 0, 0, 1, box.rows});
        }
        first += box.rows;
    }
}

SpaceHandle selected(const std::vector<std::int64_t>& shape, std::span<const BoxSeries> series) {
    SpaceHandle space = space_of(shape);
    hdf5_must(H5Sselect_none(space.get()), "H5Sselect_none");
    for (const BoxSeries& each : series) {
        each.select(space);
    }
    return space;
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
        std::vector<BoxSeries> all;
        for (const RowPiece& piece : pieces) {
            if (piece.source == part) {
                add_boxes(output.array.shape, piece.first, piece.rows, all);
            }
        }
        const std::vector<std::int64_t> shape = part_dataset(output, pieces, part).array.shape;
        const std::span<const BoxSeries> series = all;
        const std::size_t step = series.size() > most_mappings ? series.size() : 1;
        std::int64_t row = 0; // of the part
        for (std::size_t i = 0; i < series.size(); i += step) {
            std::int64_t rows = 0;
            for (const BoxSeries& each : series.subspan(i, step)) {
                rows += each.rows;
            }
            std::vector<BoxSeries> there;
            add_boxes(shape, row, rows, there);
            hdf5_must(H5Pset_virtual(creation.get(),
                                     selected(output.array.shape, series.subspan(i, step)).get(),
                                     source_name(output, part).c_str(), part_dataset_name,
                                     selected(shape, there).get()),
                      "H5Pset_virtual");
            row += rows;
        }
    }
}

} // namespace runner
