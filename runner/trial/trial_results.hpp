// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/trial/trial_page.hpp"
#include "views/pictures/thumbnail.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace runner::trial {

/// How close a result is to the file that --against names.
struct Closeness {
    std::optional<double> psnr; ///< as Comparison's, over the images that the page shows
    std::optional<double> ssim;
};

/// One run on the part.
struct TrialResult {
    std::string heading;          ///< "denoise.strength = 0.4"; "" if there is one run
    std::string line;             ///< the command that runs the whole job with these values
    std::string facts;            ///< predicted time and memory of the whole job
    std::vector<Thumbnail> after; ///< one for each slice
    std::optional<Closeness> closeness;
    /// The least and the greatest value that it has been clipped to.
    std::optional<std::array<double, 2>> ends;
};

/// What a trial has found.
struct TrialResults {
    std::string title;
    std::vector<std::string> lines;  ///< about the part and the prediction
    std::vector<std::string> slices; ///< input elements that each shows
    std::string before_caption;
    std::vector<Thumbnail> before; ///< one for each slice
    std::vector<TrialResult> runs; ///< in the order of the sweep, one or more
    std::size_t columns = 1;       ///< that the page has for them
    /// Before and after lie along the same axes.
    bool is_one_place = true;
    /// Before and after have one unit too, so that they share a range of values and have
    /// differences.
    bool is_alike = true;
};

/// The page: all results with one range of values, the differences with another, and the numbers to
/// choose by.
TrialPage page_of(const TrialResults& results);

} // namespace runner::trial
