// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner::trial {

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

/// How a part may be cut along an axis.
struct InputAxis {
    std::int64_t reach = 0; ///< elements on either side that a result is computed from
    std::int64_t step = 1;  ///< a part begins at multiples of it
    std::int64_t block = 1; ///< elements that become one of the output
    bool wraps = false;     ///< results at one end are computed from elements at the other too
    bool is_cut = true;     ///< a part may have less of it
    bool is_shown = false;  ///< pictures of the output have it as rows or columns

    bool operator==(const InputAxis&) const = default;
};

/// What the choice of a part depends on.
struct WholeInput {
    std::vector<std::int64_t> shape; ///< without the channels of colour; one axis or more
    std::vector<InputAxis> axes;     ///< as many
};

/// Where the part lies.
enum class PartPlace { central, first };

/// An element that the middle of the part is near, as far as the input reaches.
struct PartMiddle {
    std::size_t axis = 0;
    std::int64_t at = 0;
};

/// A box of about `elements`, or of the fewest that have room for a picture between its borders:
/// as long as possible along the last axis, then along the one before, and so on. It begins at
/// multiples of the axes' steps.
Box choose_part(const WholeInput& whole, std::int64_t elements, PartPlace place,
                const std::optional<PartMiddle>& around = {});

/// The elements of the part whose results equal those of the whole job: all but those that are
/// computed with the border of a cut. It begins at multiples of the axes' blocks. Nothing if
/// there are no such elements.
std::optional<Box> exact_part(const WholeInput& whole, const Box& part);

/// "10:20,200:800,:" as ranges of the last axes, the others whole. @throws Error (usage) for a text
/// of another form, and for a range that is empty, ends beyond its axis or does not begin at a
/// multiple of the axis's step.
Box parse_part(const WholeInput& whole, const std::string& text);

} // namespace runner::trial
