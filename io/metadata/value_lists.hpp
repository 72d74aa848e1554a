// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"

#include <cstdint>
#include <optional>
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
/// of integers as float64; of edges, those of the blocks. In blocks of one they are the first ones
/// as they are.
PlainValue in_blocks(const PlainValue& values, std::int64_t extent, std::int64_t block,
                     std::int64_t count);

/// The values of an axis of `extent` elements, or their edges, that becomes a longer one of
/// `count`: its element i is element first + i of this. Beyond the ends they go on as evenly, as
/// float64 unless they are float32. Nothing where they are not evenly apart, to a thousandth of a
/// step.
std::optional<PlainValue> continued(const PlainValue& values, std::int64_t extent,
                                    std::int64_t first, std::int64_t count);

} // namespace runner
