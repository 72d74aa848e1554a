// SPDX-License-Identifier: BSD-3-Clause
// Written without libtiff, whose writing of many pages and of single lines is slow: without
// compression all places are known before the first element is.
#include "io/tiff/tiff_description.hpp"
#include "io/tiff/tiff_file.hpp"
#include "io/tiff/tiff_image.hpp"
#include "io/tiff/tiff_layout.hpp"

namespace runner {
namespace {

TiffDescription described(const TiffImage& image, const OutputDataset& output,
                          TiffFlavour flavour) {
    return flavour == TiffFlavour::ome ? ome_description(image, output)
                                       : imagej_description(image, output);
}

TiffLayout layout_of(const TiffImage& image, const OutputDataset& output, TiffFlavour flavour) {
    return {image, described(image, output, flavour).tags};
}

} // namespace

DataPlace place_tiff(const OutputDataset& output, TiffFlavour flavour) {
    return {TiffLayout::data_at, byte_count(output.array),
            layout_of(tiff_image(output), output, flavour).size()};
}

void make_tiff_structure(const OutputDataset& output, TiffFlavour flavour,
                         const StructurePiece& piece) {
    constexpr std::int64_t buffer_bytes = 1 << 20;
    const TiffImage image = tiff_image(output);
    const TiffLayout layout = layout_of(image, output, flavour);
    piece(0, layout.header().get());
    TiffBytes bytes = layout.common();
    std::int64_t at = layout.common_at();
    for (std::int64_t page = 0; page < image.pages(); ++page) {
        layout.add_page(page, bytes);
        if (bytes.size() >= buffer_bytes) {
            piece(at, bytes.get());
            at += bytes.size();
            bytes.clear();
        }
    }
    layout.add_tail(bytes);
    piece(at, bytes.get());
}

std::vector<std::string> left_out_of_tiff(const OutputDataset& output, TiffFlavour flavour) {
    return described(tiff_image(output), output, flavour).left_out;
}

} // namespace runner
