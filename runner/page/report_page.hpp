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

/// A page for a browser that holds a report (report_json()) and pictures; its script
/// (runner/page/report_page.js) draws them. The page loads nothing from anywhere. `name`: of the
/// report, for errors. @throws Error (input) for a text that is no report.
std::string report_page(const std::string& name, const std::string& report_json,
                        const std::vector<PagePicture>& pictures);

/// A page for a browser that draws a batch: `report` is report_json() of a batch::Report
/// (runner/batch/batch_report.hpp).
std::string batch_page(const std::string& report);

} // namespace runner
