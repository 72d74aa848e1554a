// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// Whether an attribute of this name has a size of an element for each axis, in their order.
bool is_list_of_sizes(const std::string& name);

/// Numbers of a list as they are, some of them.
PlainValue chosen(const PlainValue& values, const std::vector<std::int64_t>& numbers);

/// The numbers first, first + step … of which there are `count`.
std::vector<std::int64_t> evenly(std::int64_t first, std::int64_t step, std::int64_t count);

/// The values of an axis of `extent` elements that becomes `count` blocks: the means of the blocks,
/// of integers as float64; of edges, those of the blocks.
PlainValue in_blocks(const PlainValue& values, std::int64_t extent, std::int64_t block,
                     std::int64_t count);

} // namespace runner
