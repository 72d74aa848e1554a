// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "jobs/correct/field.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace runner {

/// Images that a field is made of.
struct Images {
    Reduce reduce = Reduce::mean;
    std::shared_ptr<RowReader> reader;
    std::int64_t reader_bytes = 0;
    bool is_packed = false;
    std::int64_t packed_together = 1; ///< images that share chunks
    std::int64_t packed_rows = 1;
    std::int64_t first_image = 0; ///< of the reader's images
    std::int64_t count = 0;
    std::int64_t rows = 0;    ///< of an image
    std::int64_t columns = 0; ///< elements of a row
    /// The numbers of the frames of a scan that they are taken from; empty: all there are.
    std::vector<std::int64_t> frames = {};
    /// Their invalid elements (kernels/elements/invalid.hpp), which a field is not made of;
    /// nothing: all are values.
    std::optional<double> invalid = {};
    std::vector<std::string> notes = {}; ///< what is odd about them and their file

    ElementType type() const { return reader->info().array.type; }
    std::int64_t row_bytes() const { return columns * size_of(type()); }

    /// Rows [first, first + band) of images [image, image + images), one image after the other.
    void read(std::int64_t image, std::int64_t images, std::int64_t first, std::int64_t band,
              std::byte* to) const;

    /// The images of so many of the frames, from the one at `place` in `frames` on, by the same
    /// reader.
    Images part(std::int64_t place, std::int64_t of_frames) const;
};

/// The images for frames of these extents; where the field is interpolated, those of all groups of
/// frames. No image is read yet. Sums of a few sizes of all images
/// or of one stay below 2⁶³.
/// @throws Error (usage, input).
Images open_images(const FieldSource& source, const FieldRole& role, const JobInput& input,
                   const std::vector<std::int64_t>& frame);

} // namespace runner
