// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace runner {

/// The type of that name as an array without extents: one of all_element_types or float16.
std::optional<ArrayInfo> convertible_type(std::string_view name);

/// Their names, for messages.
std::string convertible_type_names();

/// What becomes of a value that the type cannot hold: an error, or the nearest that it can.
enum class Beyond { refuse, clip };

/// A reader of the same rows as elements of another type. To integers values are rounded to the
/// nearest, halves to even; to floats likewise, in one rounding; infinities and NaN stay in floats.
/// `where` names the dataset. Reading throws Error (input) for the first value that does not fit,
/// with its position: of another range unless `beyond` is clip, and NaN in any case.
/// @throws Error (input): its elements are neither numbers nor float16.
std::unique_ptr<RowReader> with_type(std::unique_ptr<RowReader> reader, const ArrayInfo& type,
                                     Beyond beyond, const std::string& where);

} // namespace runner
