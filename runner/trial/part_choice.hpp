// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/locality.hpp"

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

/// A job's input, as a part of it is chosen.
struct WholeInput {
    std::vector<std::int64_t> shape; ///< without the channels of colour; one axis or more
    Locality locality;
    std::vector<bool> is_cut; ///< of each axis: whether it may be
};

/// Where the part lies.
enum class PartPlace { central, first };

/// A box of about `elements`, or of the fewest that have room for a picture between its borders:
/// as long as possible along the last axis, then along the one before, and so on. It begins at
/// multiples of the locality's steps.
Box choose_part(const WholeInput& whole, std::int64_t elements, PartPlace place);

/// The elements of the part that the part's job makes as the whole job does: without what is
/// computed with the border of a cut. It begins at multiples of the locality's blocks. Nothing
/// where there are none.
std::optional<Box> exact_part(const WholeInput& whole, const Box& part);

/// "10:20,200:800,:" as ranges of the last axes, the others whole. @throws Error (usage) for a text
/// of another form, a range that is empty or leads beyond its axis, or which does not begin at a
/// multiple of the locality's step.
Box parse_part(const WholeInput& whole, const std::string& text);

} // namespace runner
