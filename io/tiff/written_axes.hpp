// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/axes.hpp"
#include "io/tiff/tiff_image.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// An axis of a TIFF file that is written.
struct WrittenAxis {
    std::size_t number = 0; ///< in the array
    std::int64_t extent = 1;
    char letter = '?'; ///< t, c, z, y or x; '?' where it may be any
    Axis at;
};

/// The axes of pages, and with how much of them is said.
class WrittenAxes {
  public:
    WrittenAxes(const TiffImage& image, const OutputDataset& output);

    /// Those that count pages, the slowest first, but for those of one element.
    std::vector<WrittenAxis> pages;
    WrittenAxis y;
    WrittenAxis x;

    /// The one of `pages` with that letter; null where there is none.
    const WrittenAxis* find(char letter) const;

    /// Metres in the unit that all lengths of z, y and x are in; 1e-6 where there are several;
    /// nothing where none has a unit.
    std::optional<double> metres() const;

    /// The spacing of the axis in units of so many metres; without, as it is. Nothing where it is
    /// not known, or has no such unit.
    static std::optional<double> length(const WrittenAxis& axis, std::optional<double> metres);
    /// The same in seconds.
    static std::optional<double> seconds(const WrittenAxis& axis);

    void say_spacing(const WrittenAxis& axis) { said_spacings_.at(axis.number) = true; }
    void say_origin(const WrittenAxis& axis) { said_origins_.at(axis.number) = true; }
    void say_channels() { said_channels_ = true; }

    /// Whether the file says what the axes of pages are, by their letters.
    enum class Letters { said, unsaid };

    /// What was not said, of the names of axes and of channels, and of where the elements lie.
    std::vector<std::string> left_out(Letters letters) const;

  private:
    /// The names that the axes have in the file, where others are known; else "".
    std::string other_names(Letters letters) const;

    const Axes& axes_;
    std::vector<bool> said_spacings_;
    std::vector<bool> said_origins_;
    bool said_channels_ = false;
};

} // namespace runner
