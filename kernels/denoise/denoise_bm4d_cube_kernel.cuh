// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/denoise_bm4d_cube.cuh"

#include <cstdint>

namespace runner::bm4d_cuda {

/// Those rows of the lists that have a group of this size.
template <int group, Pass pass>
__global__ void __launch_bounds__(32 * Cube<group>::warps, pass == Pass::wiener ? 64 / group : 0)
    cube_kernel(Bm4dCall call, std::int64_t first_block, Groups groups) {
    using C = Cube<group>;
    __shared__ __align__(16) float shared[C::warps][C::floats];
    const auto warp = static_cast<int>(threadIdx.x) / 32;
    const auto lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t row = (first_block + blockIdx.x) * C::warps + warp;
    if (row >= call.match.rows() || groups.lists.count[row] < group) {
        return;
    }
    const std::uint64_t* index = groups.lists.index + row * call.match.count;
    std::int64_t corner = lane < group ? static_cast<std::int64_t>(index[lane]) : 0;
    const float most = pass == Pass::wiener ? call.alike_first : call.alike_noisy;
    const float distance =
        lane < group ? groups.lists.distance[row * call.match.count + lane] : 0.0F;
    const unsigned alike = __ballot_sync(match_cuda::whole_warp, distance <= most);
    if (__shfl_sync(match_cuda::whole_warp, distance, group - 1) == 0) {
        const std::int64_t reference = call.reference(row);
        const bool there = lane < group && corner == reference;
        if (!__any_sync(match_cuda::whole_warp, there) && lane == group - 1) {
            corner = reference;
        }
    }
    float x[C::half][4];
    float spectrum[C::own][4][4];
    float weight = 0;
    Basis basis{};
    if constexpr (pass == Pass::wiener) {
        float factors[C::own][4][4];
        C::gather(call, groups.volumes.first, corner, x);
        weight = wiener_weight(
            C::change_sparser(call, x, shared[warp], basis, factors, C::find_factors));
        C::gather(call, groups.volumes.noisy, corner, x);
        if (basis == Basis::cosine) {
            C::template transform<Basis::cosine>(call, x, shared[warp], spectrum);
        } else {
            C::template transform<Basis::wavelet>(call, x, shared[warp], spectrum);
        }
        C::multiply(factors, spectrum);
    } else {
        C::gather(call, groups.volumes.noisy, corner, x);
        weight = __fdiv_rn(1, static_cast<float>(C::change_sparser(call, x, shared[warp], basis,
                                                                   spectrum, C::keep_large)));
    }
    if (basis == Basis::cosine) {
        C::template restore<Basis::cosine>(call, shared[warp], spectrum, x);
    } else {
        C::template restore<Basis::wavelet>(call, shared[warp], spectrum, x);
    }
    C::join_group(lane / 16, x);
    C::put(call, weight, alike, corner, groups.sums, x);
}

} // namespace runner::bm4d_cuda
