// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// Where the elements of a dataset lie in space and time, as far as its file says.
struct Placement {
    struct Axis {
        double spacing = 0; ///< from one element to the next, ≥ 0; 0: not known
        std::string unit;   ///< of spacing and origin, as the file names it; "": not known
        double origin = 0;  ///< of the first element

        bool operator==(const Axis&) const = default;
    };
    using Vector = std::array<double, 3>;

    /// A point is origin + Σ steps[axis] · index. Axes that are not of space have steps of 0.
    struct Affine {
        std::int64_t code = 0;      ///< which space the points are in, as NIfTI-1 numbers them
        std::vector<Vector> steps;  ///< of each axis of the dataset
        std::vector<Vector> beside; ///< of axes of space that the dataset does not have
        Vector origin{};

        bool operator==(const Affine&) const = default;
    };

    std::vector<Axis> axes;      ///< of each axis of the dataset; empty: nothing is known
    std::optional<Affine> sform; ///< any affine
    std::optional<Affine> qform; ///< one whose steps stand upright on one another

    bool known() const { return !axes.empty(); }
    bool operator==(const Placement&) const = default;
};

/// Where an axis comes from: its element i is at index first + i · step of `axis`.
struct AxisOrigin {
    std::int64_t axis = -1; ///< -1: it is a new one
    double first = 0;
    double step = 1; ///< 0: its elements are not evenly apart
};

/// The placement of an array whose axes come from those of `whole`. What is no longer known is
/// left out; of an axis that is gone the first element is taken.
Placement placed(const Placement& whole, const std::vector<AxisOrigin>& axes);

/// Metres in a unit of length, of any usual name: "mm", "micrometer", "angstrom".
std::optional<double> metres_in(std::string_view unit);

/// On one line, as JSON; "" where nothing is known.
std::string to_text(const Placement& placement);

/// The same back, of a dataset of so many axes. Nothing for a text that is none.
std::optional<Placement> placement_of(std::string_view text, std::size_t axes);

/// For people: "2 × 0.5 × 0.5 mm, sform 1"; "" where no spacing is known.
std::string spacing_text(const Placement& placement);

} // namespace runner
