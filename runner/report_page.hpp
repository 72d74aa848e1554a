// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace runner {

/// A small picture of the data, and what it shows.
struct PagePicture {
    std::string caption;
    std::vector<std::byte> png; ///< empty: there is none, and the caption says why
};

/// A report (report_json()) as a page for a browser: a pure function. The page asks no network for
/// anything. @throws nlohmann::json::exception where the text is no report.
std::string report_page(const std::string& report_json, const std::vector<PagePicture>& pictures);

} // namespace runner
