// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"

#include <functional>
#include <string>
#include <vector>

namespace runner {

/// How messages call datasets of errors, before their names.
inline constexpr const char* errors_words = "the errors ";

/// Takes out of a dataset's attributes the names of datasets beside it that an output is without:
/// CF's `coordinates`, `ancillary_variables` and `grid_mapping`, and NeXus' `uncertainties`.
/// `is_lost`: whether there is such a dataset, and the output does not have it. Returns the names,
/// for messages: "the errors data_errors".
std::vector<std::string>
take_named_datasets(std::vector<NamedValue>& attributes,
                    const std::function<bool(const std::string& name)>& is_lost);

} // namespace runner
