// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/invalid.hpp"

#include "kernels/elements/elementwise.cuh"

namespace runner {
namespace {

constexpr int threads = elementwise_threads;

template <class In, class Out>
__global__ void __launch_bounds__(threads)
    mark_kernel(InvalidTest<In> is_invalid, Out mark, std::int64_t count, const In* in, Out* out) {
    const std::int64_t step = std::int64_t{gridDim.x} * threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += step) {
        if (is_invalid(in[i])) {
            out[i] = mark;
        }
    }
}

} // namespace

void mark_invalid(CudaQueue& queue, const InvalidMapping& mapping, std::int64_t count,
                  const std::byte* in, std::byte* out) {
    if (count == 0) {
        return;
    }
    visit_element_type(mapping.in_type, [&](auto in_zero) {
        using In = decltype(in_zero);
        visit_element_type(mapping.out_type, [&](auto out_zero) {
            using Out = decltype(out_zero);
            launch(queue, strided_shape(count), mark_kernel<In, Out>,
                   invalid_test<In>(mapping.in_value), invalid_element<Out>(mapping.out_value),
                   count, reinterpret_cast<const In*>(in), reinterpret_cast<Out*>(out));
        });
    });
}

} // namespace runner
