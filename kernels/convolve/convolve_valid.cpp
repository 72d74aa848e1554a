// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_valid.hpp"

#include <algorithm>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

bool has_one_sign(const std::vector<double>& taps) {
    const auto [least, most] = std::minmax_element(taps.begin(), taps.end());
    return taps.empty() || *least >= 0 || *most <= 0;
}

template <class Body> void for_parts(CpuQueue& queue, std::int64_t count, const Body& body) {
    constexpr std::int64_t block = 1 << 14;
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, count, block), [&](const Range& range) {
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                body(i);
            }
        });
    });
}

template <class Weight>
void split(CpuQueue& queue, const ValidConvolution& valid, std::int64_t count, const std::byte* in,
           std::byte* values, std::byte* weights) {
    const bool counts_invalid = weight_use(valid.convolution) == WeightUse::refuse;
    visit_element_type(valid.convolution.in_type, [&](auto zero) {
        using T = decltype(zero);
        const InvalidTest<T> is_invalid = invalid_test<T>(valid.invalid);
        const auto* from = reinterpret_cast<const T*>(in);
        auto* to = reinterpret_cast<T*>(values);
        auto* weight = reinterpret_cast<Weight*>(weights);
        for_parts(queue, count, [=](std::int64_t i) {
            const bool invalid = is_invalid(from[i]);
            to[i] = invalid ? T{} : from[i];
            weight[i] = invalid == counts_invalid ? 1 : 0;
        });
    });
}

template <class Sum>
void join(CpuQueue& queue, const ValidConvolution& valid, std::int64_t count,
          const std::byte* values, const std::byte* weights, std::byte* out) {
    const bool divides = weight_use(valid.convolution) == WeightUse::divide;
    const auto* value = reinterpret_cast<const Sum*>(values);
    const auto* weight = reinterpret_cast<const Sum*>(weights);
    visit_element_type(valid.convolution.out_type, [&](auto zero) {
        using Out = decltype(zero);
        const auto mark =
            invalid_element<Out>(invalid_value(valid.convolution.out_type, valid.invalid));
        auto* to = reinterpret_cast<Out*>(out);
        for_parts(queue, count, [=](std::int64_t i) {
            const bool is_none = weight[i] == 0;
            to[i] = is_none == divides ? mark
                                       : converted<Out>(divides ? value[i] / weight[i] : value[i]);
        });
    });
}

} // namespace

WeightUse weight_use(const Convolution& convolution) {
    return has_one_sign(convolution.row_taps) && has_one_sign(convolution.column_taps) &&
                   has_one_sign(convolution.depth_taps)
               ? WeightUse::divide
               : WeightUse::refuse;
}

Convolution of_values(const Convolution& convolution) {
    Convolution values = convolution;
    values.out_type = convolution.compute_type();
    return values;
}

Convolution of_weights(const Convolution& convolution) {
    Convolution weights = of_values(convolution);
    weights.in_type = convolution.compute_type() == ElementType::float64 ? ElementType::int32
                                                                         : ElementType::uint8;
    weights.fill = 1;
    if (weight_use(convolution) == WeightUse::refuse) {
        weights.fill = 0;
        for (std::vector<double>* taps :
             {&weights.row_taps, &weights.column_taps, &weights.depth_taps}) {
            std::transform(taps->begin(), taps->end(), taps->begin(),
                           [](double tap) { return tap == 0 ? 0.0 : 1.0; });
        }
    }
    return weights;
}

void split_valid(CpuQueue& queue, const ValidConvolution& valid, std::int64_t count,
                 const std::byte* in, std::byte* values, std::byte* weights) {
    if (valid.convolution.compute_type() == ElementType::float64) {
        split<std::int32_t>(queue, valid, count, in, values, weights);
    } else {
        split<std::uint8_t>(queue, valid, count, in, values, weights);
    }
}

void join_valid(CpuQueue& queue, const ValidConvolution& valid, std::int64_t count,
                const std::byte* values, const std::byte* weights, std::byte* out) {
    if (valid.convolution.compute_type() == ElementType::float64) {
        join<double>(queue, valid, count, values, weights, out);
    } else {
        join<float>(queue, valid, count, values, weights, out);
    }
}

} // namespace runner
