// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "views/pictures/thumbnail.hpp"

#include <optional>
#include <span>

namespace runner::trial {

/// Numbers about the same images before and after a job, by which to choose among results. Channels
/// of colour count as images of their own; elements that are not finite count nowhere. Nothing
/// where the images are too small, or no element counts.

/// The standard deviation of white noise, robust against edges: 1.4826 times the median size of the
/// responses to the Laplacian difference mask [1 -2 1; -2 4 -2; 1 -2 1] / 6 (Immerkær, Computer
/// Vision and Image Understanding 64, 300, 1996, with the median for the mean).
std::optional<double> noise_of(std::span<const Thumbnail> images);

/// What the job has removed: after less before, of images of one size and number of channels.
struct Removed {
    double changed = 0;   ///< share of the elements that differ, 0 to 1
    double deviation = 0; ///< standard deviation of the differences
    /// The autocorrelation of the differences between neighbours, along rows or columns, whichever
    /// is of the larger size: about 0 if the job removed white noise alone. Nothing where all
    /// differences are equal.
    std::optional<double> structure;
    /// The larger one, with its sign, of both autocorrelations. A filter that is too weak removes
    /// the finest noise alone, which makes it negative; structure makes it positive. Nothing where
    /// all differences are equal.
    std::optional<double> correlation;
    std::int64_t elements = 0; ///< that count

    /// What `correlation` of white noise of so many elements exceeds about once in 400 times.
    double white_limit() const;
};
std::optional<Removed> removed_between(std::span<const Thumbnail> before,
                                       std::span<const Thumbnail> after);

/// How steep edges are after the job, as a share of before. The edges are the 2 % of places with
/// the steepest slope before; the slope is between the means of two elements on either side, along
/// rows and columns. The slopes after are projected on those before, so that noise after does not
/// count.
std::optional<double> sharpness_of(std::span<const Thumbnail> before,
                                   std::span<const Thumbnail> after);

} // namespace runner::trial
