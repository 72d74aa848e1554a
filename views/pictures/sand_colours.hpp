// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/formats/png_writer.hpp"
#include "views/pictures/image_shape.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace runner {

/// How cells become pixels.
enum class Palette {
    grey, ///< values as any other's
    sand, ///< a colour each for empty, water, sand and wall
};

/// Empty, water, sand, wall.
inline constexpr std::array<Colour, 4> sand_colours = {Colour{22, 25, 34}, Colour{66, 133, 199},
                                                       Colour{226, 182, 92}, Colour{126, 122, 120}};

/// The palette that was asked for; without one, that of the content. @throws Error (usage) for the
/// colours of sand where the elements are no bytes, Error (input) where they are no numbers;
/// `where` names the dataset.
Palette palette_for(const std::optional<Palette>& asked, Content content, const ArrayInfo& array,
                    const std::string& where);

/// Where cells lie: their frame's width and height, and how many cells come before the first of
/// them, counted through all frames.
struct CellPlace {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::int64_t first = 0;
};

/// @throws Error (input) naming frame, row and column of the first of `count` bytes that is none of
/// the four materials; `where` names the dataset.
void check_cells(const std::byte* cells, std::int64_t count, const CellPlace& place,
                 const std::string& where);

/// Red, green and blue of `count` cells, each 0 … 3.
void colour_cells(const std::byte* cells, std::int64_t count, std::byte* pixels);

} // namespace runner
