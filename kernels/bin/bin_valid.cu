// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/bin/bin_device.cuh"
#include "kernels/elements/invalid.hpp"

namespace runner {
namespace {

using namespace bin_cuda;

/// The element `value` of a type, which is invalid.
struct InvalidStore {
    double value;

    __device__ void operator()(ElementType type, std::byte* out, std::int64_t at) const {
        const double results[1] = {value};
        if (type == ElementType::float32) {
            reinterpret_cast<float*>(out)[at] = std::numeric_limits<float>::quiet_NaN();
        } else if (type == ElementType::float64) {
            reinterpret_cast<double*>(out)[at] = std::numeric_limits<double>::quiet_NaN();
        } else {
            store_as(type, results, 1, true, out, at);
        }
    }
};

/// A thread makes one element of the valid ones of its block.
template <class In>
__global__ void __launch_bounds__(threads, blocks_at_once)
    bin_valid_kernel(BinView view, std::uint32_t strips, InvalidTest<In> is_invalid,
                     InvalidStore store_invalid, const In* in, std::byte* out) {
    const std::uint32_t line = blockIdx.x / strips;
    const std::int64_t row = std::int64_t{line} * blockDim.y + threadIdx.y;
    const std::int64_t element =
        std::int64_t{blockIdx.x - line * strips} * blockDim.x + threadIdx.x;
    const std::int64_t pitch = view.out_columns * view.channels;
    if (row >= view.frames * view.out_layers * view.out_rows || element >= pitch) {
        return;
    }
    const BlockRows rows(view, row);
    const std::int64_t pixel = view.channels == 1 ? element : element / view.channels;
    const std::int64_t x = pixel * view.factor_x;
    const auto x_count = static_cast<int>(min(view.columns - x, view.factor_x));
    const std::int64_t in_pitch = view.columns * view.channels;
    double sum = 0;
    std::int64_t count = 0;
    for (int z = 0; z < rows.z_count; ++z) {
        const In* from = in + (rows.first + z * view.rows) * in_pitch + x * view.channels +
                         (element - pixel * view.channels);
        for (int y = 0; y < rows.y_count; ++y, from += in_pitch) {
#pragma unroll 4
            for (int i = 0; i < x_count; ++i) {
                const In value = from[i * view.channels];
                if (!is_invalid(value)) {
                    sum = __dadd_rn(sum, to_double(value));
                    ++count;
                }
            }
        }
    }
    if (count == 0) {
        store_invalid(view.out_type, out, row * pitch + element);
        return;
    }
    const double results[1] = {view.is_mean ? __ddiv_rn(sum, static_cast<double>(count)) : sum};
    store_as(view.out_type, results, 1, true, out, row * pitch + element);
}

} // namespace

void bin_valid(CudaQueue& queue, const Bin& bin, const BinView& view, const std::byte* in,
               std::byte* out) {
    visit_element_type(bin.in_type, [&](auto zero) {
        using In = decltype(zero);
        launch_rows<In>(queue, view, view.out_columns * view.channels, bin_valid_kernel<In>,
                        invalid_test<In>(*bin.invalid),
                        InvalidStore{invalid_value(bin.out_type, *bin.invalid)},
                        reinterpret_cast<const In*>(in), out);
    });
}

} // namespace runner
