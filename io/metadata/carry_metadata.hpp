// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"
#include "io/rows/dataset_part.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// What an output has of its input: which of the input's metadata is still true of it.
struct Likeness {
    /// What happens to the elements. Each includes those before it.
    enum class Values {
        none,    ///< nothing of the input's metadata holds
        foreign, ///< not values at places of the input: only the attributes of its group hold
        other,   ///< other values at the same places: names and coordinates hold
        scaled,  ///< of the same unit
        alike,   ///< of the same unit and the same zero, as means are
        coded,   ///< each a value that the input may have too, and means the same there
        same     ///< the input's own elements
    } values = Values::none;

    /// Where an axis of the output comes from.
    struct Axis {
        std::int64_t axis = -1; ///< of the input; -1: it is a new one
        std::int64_t block = 1; ///< elements of the input that one of the output stands for
        /// The element of the input that the first one of the output begins at; below 0 where that
        /// lies before the input.
        std::int64_t first = 0;
    };
    /// Where the elements of the output's axes are along those of the input.
    std::vector<AxisOrigin> origins() const;

    std::vector<Axis> axes = {};
    std::vector<std::int64_t> shape = {}; ///< of the output

    /// The likeness of an output with the axes of its input.
    static Likeness in_place(Values values, const std::vector<std::int64_t>& shape);
};

/// The metadata of a part of the dataset.
Metadata metadata_of_part(const Metadata& whole, const DatasetPart& part);

/// What is still true of an output that is like the dataset in this way. Coordinates of an axis in
/// blocks are the means of the blocks' (of edges, those of the blocks), and of a shorter one the
/// first; on a longer one even ones go on. What is left out although
/// nobody can tell that it no longer holds is added to `left_out`.
Metadata carried_metadata(const Metadata& input, const Likeness& output);

/// What has become of a dataset's axes.
struct AxisChange {
    std::vector<std::int64_t> from;   ///< shape before
    std::vector<Likeness::Axis> axes; ///< of each axis after
    std::vector<std::int64_t> to;     ///< shape after
    bool is_cut = false;              ///< to a part that begins elsewhere, or leaves elements out

    bool reorders() const;     ///< the axes are others, or in another order
    bool blocks() const;       ///< elements are joined, or of a cut left out evenly
    bool thins_pixels() const; ///< a cut leaves elements of a later axis than the first out
    bool adds() const;         ///< an axis is new
};

/// The attributes that hold after the change, for elements that are `values` like those before.
/// What is left out although nobody can tell that it no longer holds is added to `left_out`, with
/// `where` before it.
std::vector<NamedValue> held_attributes(const std::vector<NamedValue>& attributes,
                                        const AxisChange& change, Likeness::Values values,
                                        const std::string& where,
                                        std::vector<std::string>& left_out);

} // namespace runner
