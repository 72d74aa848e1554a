// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/keys.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace runner {

class FileAccess;

/// Taps given by name: exp(-k²/2σ²) for |k| ≤ radius, normalised to sum 1.
struct GaussianTaps {
    double sigma = 1;
    int radius = 0;
};

/// 2 radius + 1 equal taps of sum 1.
struct BoxTaps {
    int radius = 0;
};

/// Taps that lie in a dataset with one axis, of any integer or float type.
struct FileTaps {
    std::string file;
    std::string dataset;
};

/// The taps of one pass as the job file gives them; a list stands for itself.
using TapsChoice = std::variant<std::vector<double>, GaussianTaps, BoxTaps, FileTaps>;

/// How taps may be written, for the error where they are missing.
extern const char* const taps_to_write;

/// A list, or a table of gaussian, box, or file with dataset.
Form<TapsChoice> taps_form();

/// Reads Gaussians of a number, which is the sigma along y and x, or of several, along y and x or
/// z, y and x: taps in this order. A sigma of 0 leaves its axis as it is. Reports a wrong value.
std::optional<std::vector<TapsChoice>> parse_sigmas(TableReader& table, const std::string& key);

/// The numbers: an odd count, at most 2 · 128 + 1, all finite.
/// Gaussian: in float64, the sum taken from the outermost pair inwards and the middle last. The
/// same bytes wherever std::exp is; C libraries may differ in its last bit. File: read by `files`.
/// @throws Error (input) for a file that cannot be read or does not fit.
std::vector<double> make_taps(const TapsChoice& choice, FileAccess* files);

} // namespace runner
