// SPDX-License-Identifier: BSD-3-Clause
// Written without libtiff, whose writing of many pages and of single lines is slow: without
// compression all places are known before the first element is.
#include "io/tiff/tiff_description.hpp"
#include "io/tiff/tiff_file.hpp"
#include "io/tiff/tiff_image.hpp"
#include "io/tiff/tiff_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace runner {
namespace {

TiffDescription described(const TiffImage& image, const OutputDataset& output,
                          TiffFlavour flavour) {
    return flavour == TiffFlavour::ome ? ome_description(image, output)
                                       : imagej_description(image, output);
}

TiffLayout layout_of(const TiffImage& image, const OutputDataset& output, TiffFlavour flavour,
                     TiffPacking packing = {}) {
    std::vector<TiffImage> levels;
    for (const CoarserLevel& level : coarser_levels(output)) {
        levels.push_back(tiff_image(level.dataset));
    }
    return {image, described(image, output, flavour).tags, std::move(packing), levels};
}

void make_structure(const TiffLayout& layout, std::int64_t pages, const StructurePiece& piece) {
    constexpr std::int64_t buffer_bytes = 1 << 20;
    piece(0, layout.header().get());
    TiffBytes bytes = layout.common();
    std::int64_t at = layout.common_at();
    for (std::int64_t item = 0; item < layout.levels() * pages; ++item) {
        layout.add_page(item / pages, item % pages, bytes);
        if (bytes.size() >= buffer_bytes) {
            piece(at, bytes.get());
            at += bytes.size();
            bytes.clear();
        }
    }
    layout.add_tail(bytes);
    piece(at, bytes.get());
}

} // namespace

DataPlace place_tiff(const OutputDataset& output, TiffFlavour flavour) {
    return {TiffLayout::data_at, byte_count(output.array),
            layout_of(tiff_image(output), output, flavour).size()};
}

void make_tiff_structure(const OutputDataset& output, TiffFlavour flavour,
                         const StructurePiece& piece) {
    const TiffImage image = tiff_image(output);
    make_structure(layout_of(image, output, flavour), image.pages(), piece);
}

void make_packed_tiff_structure(const OutputDataset& output, TiffFlavour flavour,
                                std::span<const std::int64_t> sizes, const StructurePiece& piece) {
    const TiffImage image = tiff_image(output);
    make_structure(
        layout_of(image, output, flavour,
                  {output.layout.compression, output.layout.tile, {sizes.begin(), sizes.end()}}),
        image.pages(), piece);
}

bool is_tiff_compression(Compression compression) {
    return compression == Compression::deflate || compression == Compression::zstd ||
           compression == Compression::lzw;
}

std::vector<std::int64_t> tiff_chunk(const ArrayInfo& array, const OutputLayout& layout) {
    const TiffImage image = tiff_image({{}, {}, array, layout});
    std::vector<std::int64_t> chunk(array.shape.size(), 1);
    const std::size_t line = image.leading.size();
    const TiffStrips strips = tiff_strips(image, layout.compression, layout.tile);
    chunk[line] = strips.lines;
    std::copy(array.shape.begin() + static_cast<std::ptrdiff_t>(line) + 1, array.shape.end(),
              chunk.begin() + static_cast<std::ptrdiff_t>(line) + 1);
    chunk[line + 1] = strips.columns;
    return chunk;
}

bool has_tiff_tiles(const ArrayInfo& array, const OutputLayout& layout) {
    return tiff_strips(tiff_image({{}, {}, array, layout}), layout.compression, layout.tile).tiled;
}

std::vector<std::string> left_out_of_tiff(const OutputDataset& output, TiffFlavour flavour) {
    return described(tiff_image(output), output, flavour).left_out;
}

} // namespace runner
