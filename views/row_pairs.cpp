// SPDX-License-Identifier: BSD-3-Clause
#include "views/row_pairs.hpp"

#include <cmath>

namespace runner {
namespace {

constexpr std::int64_t window = 7;

/// The five sums that a window's similarity is made of.
struct Sums {
    double a = 0;
    double b = 0;
    double aa = 0;
    double bb = 0;
    double ab = 0;

    void add(const Sums& other) {
        a += other.a;
        b += other.b;
        aa += other.aa;
        bb += other.bb;
        ab += other.ab;
    }
    void add(double x, double y) { add({x, y, x * x, y * y, x * y}); }
};

/// Sum and number of similarities.
struct Total {
    double sum = 0;
    std::int64_t count = 0;
};

double similarity(const Sums& sums, double peak) {
    constexpr double n = window * window;
    const double c1 = 0.01 * peak * (0.01 * peak);
    const double c2 = 0.03 * peak * (0.03 * peak);
    const double mean_a = sums.a / n;
    const double mean_b = sums.b / n;
    const double sample = n / (n - 1);
    const double variance_a = sample * (sums.aa / n - mean_a * mean_a);
    const double variance_b = sample * (sums.bb / n - mean_b * mean_b);
    const double covariance = sample * (sums.ab / n - mean_a * mean_b);
    return (2 * mean_a * mean_b + c1) * (2 * covariance + c2) /
           ((mean_a * mean_a + mean_b * mean_b + c1) * (variance_a + variance_b + c2));
}

/// All windows whose upper row begins at `a` and `b`. Sums are restarted for each window: a running
/// sum would carry a NaN, and rounding errors, along the row.
Total row_of_windows(const double* a, const double* b, std::int64_t columns, double peak) {
    std::vector<Sums> down(static_cast<std::size_t>(columns));
    for (std::int64_t row = 0; row < window; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
            down[static_cast<std::size_t>(column)].add(a[row * columns + column],
                                                       b[row * columns + column]);
        }
    }
    Total total;
    for (std::size_t left = 0; left + window <= down.size(); ++left) {
        Sums sums;
        for (std::size_t column = left; column < left + window; ++column) {
            sums.add(down[column]);
        }
        const double value = similarity(sums, peak);
        if (std::isfinite(value)) {
            total.sum += value;
            ++total.count;
        }
    }
    return total;
}

/// The windows of all rows in the buffers, in parallel, added up in order.
void add_windows(const RowPairs<double>& pairs, std::int64_t columns, double peak, Total& total) {
    const std::int64_t rows = std::ssize(pairs.a()) / columns - (window - 1);
    if (rows <= 0) {
        return;
    }
    std::vector<Total> parts(static_cast<std::size_t>(rows));
    tbb::parallel_for(std::int64_t{0}, rows, [&](std::int64_t row) {
        parts[static_cast<std::size_t>(row)] = row_of_windows(
            pairs.a().data() + row * columns, pairs.b().data() + row * columns, columns, peak);
    });
    for (const Total& part : parts) {
        total.sum += part.sum;
        total.count += part.count;
    }
}

} // namespace

std::optional<double> mean_ssim(RowReader& a, RowReader& b, double peak) {
    const std::vector<std::int64_t>& shape = a.info().array.shape;
    if (shape.size() < 2 || !(peak > 0) || !std::isfinite(peak)) {
        return std::nullopt;
    }
    const std::int64_t columns = shape.back();
    const std::int64_t frame_rows = shape[shape.size() - 2];
    if (columns < window || frame_rows < window) {
        return std::nullopt;
    }
    RowPairs<double> pairs(a, b);
    Total total;
    for (std::int64_t frame = 0; frame < pairs.rows(); frame += frame_rows) {
        std::int64_t held = 0;
        for (std::int64_t row = 0; row < frame_rows; row += pairs.step()) {
            const std::int64_t rows = std::min(pairs.step(), frame_rows - row);
            pairs.read(frame + row, rows, held * columns);
            add_windows(pairs, columns, peak, total);
            held = std::min(window - 1, held + rows);
        }
    }
    return total.count == 0 ? std::nullopt
                            : std::optional(total.sum / static_cast<double>(total.count));
}

} // namespace runner
