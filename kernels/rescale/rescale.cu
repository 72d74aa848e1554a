// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/converted.cuh"
#include "kernels/elements/elementwise.cuh"
#include "kernels/rescale/rescale.hpp"

namespace runner {
namespace {

/// One element.
template <class In, class Out> struct Map {
    double from_low;
    double factor;
    double to_low;
    double least;
    double most;
    bool flat;

    __device__ Out operator()(In element) const {
        if (flat) {
            return converted_on_device<Out>(to_low);
        }
        const double y = __fma_rn(__dsub_rn(to_double(element), from_low), factor, to_low);
        // Comparisons, not fmin and fmax: a NaN stays.
        const double above = y < least ? least : y;
        return converted_on_device<Out>(above > most ? most : above);
    }
};

} // namespace

void rescale(CudaQueue& queue, const Rescale& rescale, std::int64_t count, const std::byte* in,
             std::byte* out) {
    visit_element_type(rescale.in_type, [&](auto in_zero) {
        visit_element_type(rescale.out_type, [&](auto out_zero) {
            using In = decltype(in_zero);
            using Out = decltype(out_zero);
            const bool flat = rescale.is_flat();
            launch_elementwise<In, Out>(queue, count, in, out,
                                        Map<In, Out>{rescale.from_low, flat ? 0 : rescale.factor(),
                                                     rescale.to_low, rescale.least(),
                                                     rescale.most(), flat});
        });
    });
}

} // namespace runner
