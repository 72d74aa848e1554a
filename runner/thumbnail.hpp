// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// An image at the size it is shown in: averages of its elements.
struct Thumbnail {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 1;      ///< 1, or 3 for colour
    bool is_bytes = false; ///< of a uint8 dataset: values are shown as they are
    /// height × width × channels; NaN where no element was finite.
    std::vector<double> values;
};

/// Reads frame `frame` of a dataset and averages it down to at most `size` on its longer side, or
/// repeats its pixels. `where` names the dataset. @throws Error as render() says.
Thumbnail make_thumbnail(RowReader& reader, const std::string& where, std::int64_t frame,
                         std::int64_t size);

} // namespace runner
