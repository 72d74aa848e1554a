// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/stripes/stripes_find.hpp"

#include "kernels/queue/parts.hpp"

#include <algorithm>
#include <array>

namespace runner {
namespace {

/// The sum of term(0) … term(count − 1), as sum_parts says.
template <class Term> double sum_of(std::int64_t count, const Term& term) {
    std::array<double, sum_parts> parts{};
    for (std::int64_t first = 0; first < count; first += sum_parts) {
        const std::int64_t last = std::min<std::int64_t>(count, first + sum_parts);
        for (std::int64_t i = first; i < last; ++i) {
            parts[static_cast<std::size_t>(i - first)] += term(i);
        }
    }
    for (std::size_t half = sum_parts / 2; half > 0; half /= 2) {
        for (std::size_t i = 0; i < half; ++i) {
            parts[i] += parts[i + half];
        }
    }
    return parts[0];
}

double key_value(const LongEntry& entry) { return StripeEntry<double>::element(entry.key); }

} // namespace

void find_ratios(CpuQueue& queue, const StripeSearch& search) {
    const StripeLines<double>& all = search.all;
    const std::int64_t kept = all.rows - 2 * search.dropped();
    for_parts(queue, all.count(), 0, [&](std::int64_t line) {
        const LongEntry* const entries = all.entries + line * all.rows + search.dropped();
        const double* const smooth = all.smooth + line * all.rows;
        const double own = sum_of(kept, [&](std::int64_t i) { return key_value(entries[i]); });
        const double usual = sum_of(kept, [&](std::int64_t i) { return smooth[entries[i].row]; });
        search.factors[line] = usual == 0 ? 1 : own / usual;
    });
}

void find_changes(CpuQueue& queue, const StripeSearch& search) {
    const StripeLines<double>& all = search.all;
    for_parts(queue, all.count(), change_operations(all.count() * all.rows), [&](std::int64_t i) {
        const double* const line = all.lines + i * all.rows;
        search.factors[i] =
            sum_of(all.rows, [&](std::int64_t r) { return search.change(line, r); });
    });
}

void divide_factors(CpuQueue& queue, const StripeSearch& search) {
    const std::int64_t columns = search.all.columns;
    for_parts(queue, search.all.frames, 0, [&](std::int64_t frame) {
        double* const factors = search.factors + frame * columns;
        const double* const backgrounds = search.backgrounds + frame * columns;
        const double mean = sum_of(columns, [&](std::int64_t x) { return backgrounds[x]; }) /
                            static_cast<double>(columns);
        for (std::int64_t x = 0; x < columns; ++x) {
            factors[x] /= backgrounds[x] == 0 ? mean : backgrounds[x];
        }
    });
}

void find_limits(CpuQueue& queue, const StripeSearch& search) {
    const std::int64_t columns = search.all.columns;
    const FactorFit fit(columns);
    for_parts(queue, search.all.frames, 0, [&](std::int64_t frame) {
        const LongEntry* const entries = search.entries + frame * columns;
        const auto factor = [&](std::int64_t i) { return key_value(entries[fit.first + i]); };
        const double sum = sum_of(fit.count, factor);
        const double moment =
            sum_of(fit.count, [&](std::int64_t i) { return fit.place(i) * factor(i); });
        search.limits[frame] = fit.limits(sum, moment, key_value(entries[0]),
                                          key_value(entries[columns - 1]), columns, search.snr);
    });
}

void replace_large(CpuQueue& queue, const StripeSearch& search) {
    const StripeLines<double>& all = search.all;
    for_parts(queue, all.count(), 0, [&](std::int64_t line) {
        double* const values = all.lines + line * all.rows;
        if (search.is_stripe(line / all.columns, line % all.columns)) {
            std::copy_n(all.smooth + line * all.rows, all.rows, values);
            return;
        }
        for (std::int64_t r = 0; r < all.rows; ++r) {
            values[r] /= search.factors[line];
        }
    });
}

void replace_dead(CpuQueue& queue, const StripeSearch& search) {
    const StripeLines<double>& all = search.all;
    for_parts(queue, all.frames, 0, [&](std::int64_t frame) { search.find_neighbours(frame); });
    for_parts(queue, all.count(), 0, [&](std::int64_t line) {
        if (search.left[line] < 0) {
            return;
        }
        for (std::int64_t r = 0; r < all.rows; ++r) {
            all.lines[line * all.rows + r] =
                search.between(line / all.columns, line % all.columns, r);
        }
    });
}

} // namespace runner
