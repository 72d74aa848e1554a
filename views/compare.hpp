// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace runner {

class FileAccess;

struct CompareRequest {
    std::string file_a;
    std::string dataset_a;
    std::string file_b;
    std::string dataset_b;
    double tolerance = 0; ///< the largest absolute difference that is still no difference
    int threads = 1;      ///< that read, ≥ 1; computing takes TBB's
    /// A dataset of the same shape that differences are divided by too; none where empty.
    std::string file_by = {};
    std::string dataset_by = {};
};

/// A difference and where it is.
struct Extreme {
    double value = 0;
    std::vector<std::int64_t>
        position; ///< the first element that has it; empty where there is none
    double a = 0; ///< the elements there
    double b = 0;
};

/// Differences divided by the magnitude of a third dataset's elements.
struct DividedDifferences {
    /// Finite ones by decades, as Comparison::decades.
    std::map<int, std::int64_t> decades;
    std::int64_t infinite = 0; ///< by 0, or not finite themselves
    double mean = 0;           ///< of the finite ones, elements that are equal counted in
};

/// How B differs from A; both were read as values, whatever their types. Extremes and the range of
/// complex numbers are told of their moduli. Of elements that are no values, compared byte by byte,
/// different and first's position are all that is told, and the absolute difference is infinite.
struct Comparison {
    CompareRequest request;
    ArrayInfo a;
    ArrayInfo b;
    std::int64_t elements = 0;
    /// Elements of unequal value. NaN equals NaN, -0 equals 0.
    std::int64_t different = 0;
    /// The first of them, in the order in which elements lie: |a - b| there.
    Extreme first;
    /// |a - b|; infinite where one alone is NaN, or infinities differ.
    Extreme absolute;
    /// |a - b| / max(|a|, |b|).
    Extreme relative;
    /// Root of the mean of squared differences over all elements.
    double rmse = 0;
    /// What PSNR and SSIM take as the range of values: for integers the width of the range of A's
    /// type (255 for uint8), for floats the greatest less the least finite element of A.
    double peak = 0;
    /// 20 log10(peak / rmse) in dB; nothing where the rmse is 0 (no noise at all) or no number, or
    /// the peak 0.
    std::optional<double> psnr;
    /// Structural similarity after Wang et al. 2004: the mean over all 7 × 7 windows that lie
    /// wholly in a frame (the last two axes) and hold finite elements only, equal weights, sample
    /// covariance, K1 = 0.01, K2 = 0.03; as scikit-image's default. 1 where nothing differs.
    /// Nothing where there is no such window or the peak is 0, and of complex numbers that differ.
    std::optional<double> ssim;
    /// Finite differences by decades: the count of 10^k ≤ |a - b| < 10^(k+1) at k.
    std::map<int, std::int64_t> decades;
    std::int64_t infinite = 0; ///< differences that are infinite
    std::optional<DividedDifferences> divided;

    bool as_bytes = false; ///< they are no values

    /// They differ by more than the tolerance.
    bool differs() const { return different > 0 && !(absolute.value <= request.tolerance); }
};

/// Compares two datasets in bounded memory; where they differ both are read a second time, for the
/// SSIM, whose constants need the peak.
/// @throws Error: (input) when one cannot be read; (differs) when the shapes are not the same,
/// or the types of elements that are neither numbers nor complex.
Comparison compare(FileAccess& files, const CompareRequest& request);

/// The same of open rows of one shape, without what a request names, and without a third dataset.
/// @throws Error as compare() does, and (differs) for other shapes.
Comparison compare_rows(RowReader& a, RowReader& b, CompareRequest request = {});

/// The result for people, ending with a line break, and as one JSON object, where what is infinite
/// or not there is null.
std::string comparison_text(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);

} // namespace runner
