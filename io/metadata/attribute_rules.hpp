// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/carry_metadata.hpp"
#include "io/metadata/metadata.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// What has become of a dataset's axes.
struct AxisChange {
    std::vector<std::int64_t> from;   ///< shape before
    std::vector<Likeness::Axis> axes; ///< of each axis after
    std::vector<std::int64_t> to;     ///< shape after
    bool is_cut = false;              ///< to a part that begins elsewhere

    bool reorders() const; ///< the axes are others, or in another order
    bool blocks() const;   ///< elements are joined
    bool adds() const;     ///< an axis is new
};

/// The attributes that hold after the change, for elements that are `values` like those before.
/// What is left out although nobody can tell that it no longer holds is added to `left_out`, with
/// `where` before it.
std::vector<NamedValue> held_attributes(const std::vector<NamedValue>& attributes,
                                        const AxisChange& change, Likeness::Values values,
                                        const std::string& where,
                                        std::vector<std::string>& left_out);

} // namespace runner
