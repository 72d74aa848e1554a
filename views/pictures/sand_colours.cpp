// SPDX-License-Identifier: BSD-3-Clause
#include "views/pictures/sand_colours.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <algorithm>
#include <cstring>

namespace runner {

Palette palette_for(const std::optional<Palette>& asked, Content content, const ArrayInfo& array,
                    const std::string& where) {
    if (asked == Palette::sand && array.type != ElementType::uint8) {
        throw Error(ExitCode::usage, {"cannot draw in the colours of sand", where,
                                      "its elements are " + type_text(array) + ", not uint8",
                                      "Leave out --palette"});
    }
    if (!is_number(array.type)) {
        throw Error(ExitCode::input, {"cannot make a picture of the dataset", where,
                                      "its elements are " + type_text(array) + ", not real numbers",
                                      "Name a dataset of real numbers"});
    }
    return asked.value_or(content == Content::sand ? Palette::sand : Palette::grey);
}

void check_cells(const std::byte* cells, std::int64_t count, const CellPlace& place,
                 const std::string& where) {
    constexpr std::int64_t block = 4096;
    constexpr std::byte beyond{0xFC};
    for (std::int64_t begin = 0; begin < count; begin += block) {
        const std::int64_t end = std::min(begin + block, count);
        std::byte seen{0};
        for (std::int64_t i = begin; i < end; ++i) {
            seen |= cells[i];
        }
        if ((seen & beyond) == std::byte{0}) {
            continue;
        }
        const std::byte* wrong = std::find_if(cells + begin, cells + end, [](std::byte cell) {
            return (cell & beyond) != std::byte{0};
        });
        const std::int64_t at = place.first + (wrong - cells);
        throw Error(
            ExitCode::input,
            {"a cell is none of the materials",
             fmt::format("{}, frame {}, row {}, column {}", where, at / place.width / place.height,
                         at / place.width % place.height, at % place.width),
             fmt::format("it is {}, and they are 0 empty, 1 water, 2 sand, 3 wall",
                         std::to_integer<int>(*wrong)),
             "Name a dataset of sand, or draw it with --palette grey"});
    }
}

void colour_cells(const std::byte* cells, std::int64_t count, std::byte* pixels) {
    for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(pixels + 3 * i, sand_colours[std::to_integer<std::size_t>(cells[i])].data(), 3);
    }
}

} // namespace runner
