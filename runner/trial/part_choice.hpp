// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/job.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// A half-open range of indices along each axis.
struct Box {
    std::vector<std::int64_t> first;
    std::vector<std::int64_t> last;

    std::int64_t extent(std::size_t axis) const { return last[axis] - first[axis]; }
    std::int64_t elements() const;
    /// "[10:20, 200:800, 0:512]", as numpy takes it.
    std::string text() const;

    bool operator==(const Box&) const = default;
};

/// What the choice of a part depends on.
struct WholeInput {
    std::vector<std::int64_t> shape; ///< without the channels of colour; one axis or more
    Locality locality;
    std::vector<bool> is_cut; ///< of each axis: whether a part may have less of it
};

/// The one along this axis of numbers along z, y and x, the last three of an array's axes;
/// `elsewhere` along the axes before.
std::int64_t along(const std::array<std::int64_t, 3>& zyx, std::size_t axis, std::size_t axes,
                   std::int64_t elsewhere);

/// Where the part lies.
enum class PartPlace { central, first };

/// A box of about `elements`, or of the fewest that have room for a picture between its borders:
/// as long as possible along the last axis, then along the one before, and so on. It begins at
/// multiples of the locality's steps.
Box choose_part(const WholeInput& whole, std::int64_t elements, PartPlace place);

/// The elements of the part whose results equal those of the whole job: all but those that are
/// computed with the border of a cut. It begins at multiples of the locality's blocks. Nothing if
/// there are no such elements.
std::optional<Box> exact_part(const WholeInput& whole, const Box& part);

/// "10:20,200:800,:" as ranges of the last axes, the others whole. @throws Error (usage) for a text
/// of another form, and for a range that is empty, ends beyond its axis or does not begin at a
/// multiple of the locality's step.
Box parse_part(const WholeInput& whole, const std::string& text);

} // namespace runner
