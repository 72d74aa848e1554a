// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace runner {

/// Which bits of a mask's element say that the element it stands for is invalid.
enum class MaskBits {
    any,   ///< a number other than 0
    nexus, ///< of integers bits 0 to 15, the flaws of NeXus' pixel_mask; of floats any number but 0
};

/// A flag for each element: not 0 where it is invalid.
using MaskFlags = std::vector<std::uint8_t>;

/// Whether a mask may have elements of this type: real numbers and h5py's bool.
bool can_be_mask(const ArrayInfo& mask);

/// The flags of all elements of a mask, in their order. @throws Error (input) as read() does.
MaskFlags flags_of(RowReader& mask, MaskBits bits);

/// Sets in `flags` those of `more` too, of which one repeats in the other. The longer one is the
/// result.
MaskFlags joined_flags(MaskFlags flags, MaskFlags more);

/// A mask of a dataset's shape, whose rows are read beside those of the dataset.
struct MaskRows {
    std::unique_ptr<RowReader> rows;
    MaskBits bits = MaskBits::any;
};

/// What a masked element becomes.
struct MaskedElement {
    std::vector<std::byte> bytes; ///< of the element's type, in this machine's order
    /// What an element that is not masked, and equal to it, means: that it is invalid as well, or
    /// that the two could not be told apart.
    enum class Equal { invalid, error } equal = Equal::invalid;
    std::string where; ///< the input, for messages
    std::string name;  ///< the element as a number, for messages
};

/// Rows of a dataset of numbers in which every element that a mask marks is `element`. Element i of
/// the dataset has flag i modulo their number; no flags mark nothing. Each of `masks` has the
/// dataset's shape. `threads` ≥ 1. read() @throws Error (input) for an element that is not masked
/// and could not be told from those that are.
std::unique_ptr<RowReader> open_masked_rows(std::unique_ptr<RowReader> rows,
                                            std::shared_ptr<const MaskFlags> flags,
                                            std::vector<MaskRows> masks, MaskedElement element,
                                            int threads);

/// What it takes of memory beside its readers and flags, with so many masks that are read.
std::int64_t masked_rows_bytes(std::size_t masks);

} // namespace runner
