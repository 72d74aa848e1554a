// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "base/joined_meaning.hpp"
#include "io/rows/rows.hpp"
#include "io/rows/stored_rows.hpp"
#include "io/tiff/tiff_handle.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What the pages of a TIFF file have in common, and where each begins.
struct TiffPages {
    ElementType type = ElementType::uint8;
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t depth = 1;             ///< slices of a page, which is a volume then (ImageDepth)
    int samples = 1;                    ///< of a pixel, together: 1, 3 for colour, or 4 with alpha
    std::vector<std::uint64_t> offsets; ///< of each page's directory in the file
    std::vector<std::uint64_t> directories; ///< of reduced pages too
    /// More pages than directories: all lie dense from `first_plane` on.
    std::int64_t hidden_pages = 0;
    std::int64_t first_plane = 0; ///< byte of the file; where there are hidden pages
    /// Why the pages are not all planes of the dataset: what says so and where the others are.
    std::string elsewhere;
    std::optional<PlanesOfSet> of_set; ///< then too, where each page is a plane of the dataset
    /// What the first page's description says of them: the extents of the axes that count pages, of
    /// which none is 1, where they are several; and all axes of array().
    std::vector<std::int64_t> leading;
    Axes axes;
    std::string storage; ///< "strips", "tiles"
    std::string compression;
    std::vector<std::string> invalid; ///< as DatasetInfo's
    std::optional<double> invalid_value;
    std::vector<std::string> unkept; ///< as DatasetInfo's
    std::vector<std::string> notes;

    std::int64_t pages() const { return std::ssize(offsets) + hidden_pages; }
    /// [pages, depth, height, width], with `leading` for `pages` where there are several such axes,
    /// without `pages` and `depth` where they are 1, with the samples of colour last.
    ArrayInfo array() const;
};

/// Goes through all pages. Reduced ones (thumbnails, parts of pyramids) are left out. Where the
/// description of the first names more planes (named_planes()), these are found too.
/// @throws Error (input) when one is damaged, of a type that cannot be read, unlike the first, or
/// not found.
TiffPages list_tiff_pages(TiffHandle& tiff);

/// What the page that the handle is at says of elements that are not what they seem, and which are
/// no values. `description`: its text. `where`: the page, for messages.
Meaning meaning_of_page(const TiffHandle& tiff, const std::string& description,
                        const TiffPages& page, const std::string& where);

/// Whether this strip or tile of the page that the handle is at has no bytes in the file: its
/// elements are 0.
bool is_sparse(const TiffHandle& tiff, std::int64_t number);

/// What is known of the dataset that the pages are; the handle is at one of them. Without a place.
DatasetInfo tiff_info(const TiffHandle& tiff, const TiffPages& pages);

} // namespace runner
