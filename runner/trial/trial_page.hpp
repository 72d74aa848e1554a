// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace runner {

/// One run of a trial, for its page.
struct TrialPicture {
    std::string heading;        ///< "denoise.strength = 0.4"; "" if there is one run
    std::string line;           ///< the command that runs the whole job with this value
    std::string facts;          ///< "whole job: 12 s, 1.2 GiB"
    std::vector<std::byte> png; ///< of the output
};

/// What the page of a trial shows.
struct TrialPage {
    std::string title;
    std::vector<std::string> lines; ///< about the part and the prediction
    std::vector<std::byte> before;  ///< PNG of the input
    std::string before_caption;
    std::vector<TrialPicture> pictures; ///< row by row
    std::size_t columns = 1;
};

/// The page: HTML that loads nothing and has no script.
std::string trial_html(const TrialPage& page);

} // namespace runner
