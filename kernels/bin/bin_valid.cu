// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/bin/bin_device.cuh"
#include "kernels/elements/invalid.hpp"

namespace runner {
namespace {

using namespace bin_cuda;

/// A thread makes one element of the valid ones of its block.
template <class In>
__global__ void __launch_bounds__(threads, blocks_at_once)
    bin_valid_kernel(BinCall call, std::uint32_t strips, InvalidTest<In> is_invalid, double invalid,
                     const In* in, std::byte* out) {
    const std::uint32_t line = blockIdx.x / strips;
    const std::int64_t row = std::int64_t{line} * blockDim.y + threadIdx.y;
    const std::int64_t element =
        std::int64_t{blockIdx.x - line * strips} * blockDim.x + threadIdx.x;
    const std::int64_t pitch = call.out_columns * call.channels;
    if (row >= call.frames * call.out_layers * call.out_rows || element >= pitch) {
        return;
    }
    const BlockRows rows(call, row);
    const std::int64_t pixel = call.channels == 1 ? element : element / call.channels;
    const std::int64_t x = pixel * call.factor_x;
    const auto x_count = static_cast<int>(min(call.columns - x, call.factor_x));
    const std::int64_t in_pitch = call.columns * call.channels;
    double sum = 0;
    std::int64_t count = 0;
    for (int z = 0; z < rows.z_count; ++z) {
        const In* from = in + (rows.first + z * call.rows) * in_pitch + x * call.channels +
                         (element - pixel * call.channels);
        for (int y = 0; y < rows.y_count; ++y, from += in_pitch) {
#pragma unroll 4
            for (int i = 0; i < x_count; ++i) {
                const In value = from[i * call.channels];
                if (!is_invalid(value)) {
                    sum = __dadd_rn(sum, to_double(value));
                    ++count;
                }
            }
        }
    }
    if (count == 0) {
        store_number(call.out_type, invalid, out, row * pitch + element);
        return;
    }
    const double results[1] = {call.is_mean ? __ddiv_rn(sum, static_cast<double>(count)) : sum};
    store_as(call.out_type, results, 1, true, out, row * pitch + element);
}

} // namespace

void bin_valid(CudaQueue& queue, const Bin& bin, const BinCall& call, const std::byte* in,
               std::byte* out) {
    visit_element_type(bin.in_type, [&](auto zero) {
        using In = decltype(zero);
        launch_rows<In>(queue, call, call.out_columns * call.channels, bin_valid_kernel<In>,
                        invalid_test<In>(*bin.invalid), invalid_value(bin.out_type, *bin.invalid),
                        reinterpret_cast<const In*>(in), out);
    });
}

} // namespace runner
