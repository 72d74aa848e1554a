// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/reduce/reduce_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace runner {

/// Numbers added up as docs/reduce.md says, in float64.
inline double sum_in_order(const std::vector<double>& values) {
    double all = 0;
    for (std::size_t begin = 0; begin < values.size(); begin += Reduction::piece) {
        std::array<double, Reduction::lanes> partial{};
        const std::size_t end = std::min<std::size_t>(values.size(), begin + Reduction::piece);
        for (std::size_t i = begin; i < end; ++i) {
            partial[i % Reduction::lanes] += values[i];
        }
        for (std::size_t half = Reduction::lanes / 2; half > 0; half /= 2) {
            for (std::size_t j = 0; j < half; ++j) {
                partial[j] += partial[j + half];
            }
        }
        all += partial[0];
    }
    return all;
}

/// The elements of a place in order, one index after the other.
template <class In>
std::vector<In> elements_of_place(const Reduction& r, const In* group, std::int64_t place) {
    const auto& k = r.kept;
    group += place / (k[1].extent * k[2].extent) * k[0].stride +
             place / k[2].extent % k[1].extent * k[1].stride + place % k[2].extent * k[2].stride;
    std::vector<In> elements;
    for (std::int64_t a = 0; a < r.reduced[0].extent; ++a) {
        for (std::int64_t b = 0; b < r.reduced[1].extent; ++b) {
            for (std::int64_t c = 0; c < r.reduced[2].extent; ++c) {
                elements.push_back(group[a * r.reduced[0].stride + b * r.reduced[1].stride +
                                         c * r.reduced[2].stride]);
            }
        }
    }
    return elements;
}

/// Those that put() takes as they come: each of a place's results.
template <class In, class Out, class Put>
void reduce_place(const Reduction& r, const std::vector<In>& all, const Put& put) {
    using Operation = Reduction::Operation;
    std::vector<In> valid;
    std::vector<double> values; // an invalid one adds 0
    bool has_nan = false;
    for (const In element : all) {
        const bool is_value = !r.invalid || !invalid_test<In>(*r.invalid)(element);
        values.push_back(is_value ? static_cast<double>(element) : 0);
        if (is_value) {
            valid.push_back(element);
            has_nan = has_nan || is_nan(element);
        }
    }
    if (r.operation == Operation::histogram) {
        for (std::int64_t bin = 0; bin < r.bins; ++bin) {
            const auto edge = [&](std::int64_t i) {
                return i == r.bins
                           ? r.range[1]
                           : r.range[0] + static_cast<double>(i) * ((r.range[1] - r.range[0]) /
                                                                    static_cast<double>(r.bins));
            };
            put(static_cast<Out>(std::count_if(valid.begin(), valid.end(), [&](In element) {
                const auto value = static_cast<double>(element);
                return value >= edge(bin) &&
                       (value < edge(bin + 1) || (bin + 1 == r.bins && value == edge(bin + 1)));
            })));
        }
        return;
    }
    const std::int64_t results = r.results();
    if (valid.empty()) {
        for (std::int64_t i = 0; i < results; ++i) {
            put(invalid_element<Out>(invalid_value(r.out_type, *r.invalid)));
        }
        return;
    }
    const auto count = static_cast<double>(valid.size());
    double sum = sum_in_order(values);
    if constexpr (std::is_integral_v<In>) {
        WideInteger exact = 0;
        for (const In element : valid) {
            exact += element;
        }
        sum = static_cast<double>(exact);
        if (r.operation == Operation::sum) {
            put(static_cast<Out>(
                std::clamp<WideInteger>(exact, std::numeric_limits<SumElement<In>>::min(),
                                        std::numeric_limits<SumElement<In>>::max())));
            return;
        }
    }
    if (r.operation == Operation::sum) {
        put(static_cast<Out>(sum));
    } else if (r.operation == Operation::mean) {
        put(converted<Out>(sum / count));
    } else if (r.operation == Operation::std) {
        std::vector<double> squares;
        for (const In element : all) {
            const bool is_value = !r.invalid || !invalid_test<In>(*r.invalid)(element);
            const double distance = static_cast<double>(element) - sum / count;
            squares.push_back(is_value ? distance * distance : 0);
        }
        put(converted<Out>(std::sqrt(sum_in_order(squares) / count)));
    } else {
        std::sort(valid.begin(), valid.end(),
                  [](In a, In b) { return ordered_key(a) < ordered_key(b); });
        const auto at = [&](double percentile) {
            const auto rank = std::floor(percentile * (count - 1) / 100);
            const In element = valid[static_cast<std::size_t>(rank)];
            put(static_cast<Out>(has_nan ? std::numeric_limits<In>::quiet_NaN() : element));
        };
        switch (r.operation) {
        case Operation::min: at(0); break;
        case Operation::max: at(100); break;
        case Operation::median: at(50); break;
        default: std::for_each(r.percentiles.begin(), r.percentiles.end(), at);
        }
    }
}

/// What reduce() makes, an element at a time.
template <class In, class Out>
std::vector<Out> reduce_reference(const Reduction& r, std::int64_t groups,
                                  const std::vector<In>& in) {
    std::vector<Out> out;
    for (std::int64_t group = 0; group < groups; ++group) {
        for (std::int64_t place = 0; place < r.places(); ++place) {
            const In* const from = in.data() + group * r.places() * r.elements();
            reduce_place<In, Out>(r, elements_of_place(r, from, place),
                                  [&](Out result) { out.push_back(result); });
        }
    }
    return out;
}

} // namespace runner
