// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace runner {

/// A small picture of the data, and what it shows.
struct PagePicture {
    std::string caption;
    std::vector<std::byte> png; ///< empty: there is none, and the caption says why
};

/// The error (input) of a text that is no report.
Error no_report(const std::string& name, const std::string& why);

/// A report (report_json()) as a page for a browser: a pure function. The page asks no network for
/// anything. `name`: of the report, for errors. @throws Error (input) for a text that is no report.
std::string report_page(const std::string& name, const std::string& report_json,
                        const std::vector<PagePicture>& pictures);

} // namespace runner
