// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_valid.hpp"
#include "kernels/elements/converted.cuh"
#include "kernels/elements/elementwise.cuh"

namespace runner {
namespace {

constexpr int threads = elementwise_threads;

/// Calls body(i) for i from 0 to count − 1.
template <class Body> __device__ void for_elements(std::int64_t count, const Body& body) {
    const std::int64_t step = std::int64_t{gridDim.x} * threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += step) {
        body(i);
    }
}

template <class T, class Weight>
__global__ void __launch_bounds__(threads)
    split_kernel(InvalidTest<T> is_invalid, bool counts_invalid, std::int64_t count, const T* in,
                 T* values, Weight* weights) {
    for_elements(count, [&](std::int64_t i) {
        const T element = in[i];
        const bool invalid = is_invalid(element);
        values[i] = invalid ? T{} : element;
        weights[i] = invalid == counts_invalid ? 1 : 0;
    });
}

template <class Sum> __device__ Sum quotient(Sum a, Sum b) {
    if constexpr (sizeof(Sum) == sizeof(double)) {
        return __ddiv_rn(a, b);
    } else {
        return __fdiv_rn(a, b);
    }
}

template <class Sum, class Out>
__global__ void __launch_bounds__(threads)
    join_kernel(Out mark, bool divides, std::int64_t count, const Sum* values, const Sum* weights,
                Out* out) {
    for_elements(count, [&](std::int64_t i) {
        const Sum weight = weights[i];
        const bool is_none = weight == 0;
        out[i] = is_none == divides
                     ? mark
                     : converted_on_device<Out>(divides ? quotient(values[i], weight) : values[i]);
    });
}

/// Calls visit with a zero of the compute type.
template <class Visit> void visit_sum(const Convolution& convolution, const Visit& visit) {
    if (convolution.compute_type() == ElementType::float64) {
        visit(double{});
    } else {
        visit(float{});
    }
}

} // namespace

void split_valid(CudaQueue& queue, const ValidConvolution& valid, std::int64_t count,
                 const std::byte* in, std::byte* values, std::byte* weights) {
    if (count == 0) {
        return;
    }
    const bool counts_invalid = weight_use(valid.convolution) == WeightUse::refuse;
    visit_element_type(valid.convolution.in_type, [&](auto zero) {
        using T = decltype(zero);
        const auto start = [&](auto weight) {
            using Weight = decltype(weight);
            launch(queue, strided_shape(count), split_kernel<T, Weight>,
                   invalid_test<T>(valid.invalid), counts_invalid, count,
                   reinterpret_cast<const T*>(in), reinterpret_cast<T*>(values),
                   reinterpret_cast<Weight*>(weights));
        };
        if (valid.convolution.compute_type() == ElementType::float64) {
            start(std::int32_t{});
        } else {
            start(std::uint8_t{});
        }
    });
}

void join_valid(CudaQueue& queue, const ValidConvolution& valid, std::int64_t count,
                const std::byte* values, const std::byte* weights, std::byte* out) {
    if (count == 0) {
        return;
    }
    const bool divides = weight_use(valid.convolution) == WeightUse::divide;
    const double mark = invalid_value(valid.convolution.out_type, valid.invalid);
    visit_sum(valid.convolution, [&](auto sum) {
        using Sum = decltype(sum);
        visit_element_type(valid.convolution.out_type, [&](auto zero) {
            using Out = decltype(zero);
            launch(queue, strided_shape(count), join_kernel<Sum, Out>, invalid_element<Out>(mark),
                   divides, count, reinterpret_cast<const Sum*>(values),
                   reinterpret_cast<const Sum*>(weights), reinterpret_cast<Out*>(out));
        });
    });
}

} // namespace runner
