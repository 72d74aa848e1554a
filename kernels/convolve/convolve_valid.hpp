// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/rounding.hpp"
#include "kernels/convolve/convolve.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace runner {

/// A convolution of elements of which some are invalid: `invalid` as kernels/elements/invalid.hpp
/// says.
struct ValidConvolution {
    Convolution convolution;
    double invalid = 0;
};

/// What the weights are for. Invalid elements count as 0.
enum class WeightUse {
    divide, ///< taps of one sign along each axis: the sum of values by that of weights
    refuse, ///< others: what a tap but 0 meets an invalid element for is invalid
};

WeightUse weight_use(const Convolution& convolution);

/// The convolution of the elements with 0 for the invalid ones, in the compute type.
Convolution of_values(const Convolution& convolution);
/// The convolution of the weights, which are uint8 or, to be computed in float64, int32: 1 for
/// valid elements and those beyond the border, by the same taps; or, to refuse, 1 for invalid ones,
/// by taps of 1 for those but 0.
Convolution of_weights(const Convolution& convolution);

/// values[i] = in[i], or 0 where it is invalid, and weights[i] as of_weights() says.
void split_valid(CpuQueue& queue, const ValidConvolution& valid, std::int64_t count,
                 const std::byte* in, std::byte* values, std::byte* weights);
void split_valid(CudaQueue& queue, const ValidConvolution& valid, std::int64_t count,
                 const std::byte* in, std::byte* values, std::byte* weights);

/// out[i] of the sums of values and of weights, both of the compute type: their quotient, invalid
/// where the sum of weights is 0; or, to refuse, the sum of values, invalid where that of weights
/// is not 0.
void join_valid(CpuQueue& queue, const ValidConvolution& valid, std::int64_t count,
                const std::byte* values, const std::byte* weights, std::byte* out);
void join_valid(CudaQueue& queue, const ValidConvolution& valid, std::int64_t count,
                const std::byte* values, const std::byte* weights, std::byte* out);

/// Where things are in the scratch of convolve_valid().
struct ValidScratch {
    std::int64_t values = 0; ///< bytes of each
    std::int64_t weights = 0;
    std::int64_t sums = 0; ///< of values, and as many of weights
    std::int64_t own = 0;  ///< of a convolution

    ValidScratch(Backend backend, const Convolution& convolution, const RowBlock& block) {
        constexpr std::int64_t line = 256;
        const std::int64_t in = block.frames * block.in_rows * convolution.columns;
        const std::int64_t out = block.frames * block.out_rows * convolution.columns;
        values = round_up(in * size_of(convolution.in_type), line);
        weights = round_up(in * size_of(of_weights(convolution).in_type), line);
        sums = round_up(out * size_of(convolution.compute_type()), line);
        own = std::max(convolve_scratch_bytes(backend, of_values(convolution), block),
                       convolve_scratch_bytes(backend, of_weights(convolution), block));
    }
    std::int64_t bytes() const { return values + weights + 2 * sums + own; }
};

/// As convolve(), without the elements that are invalid, which stay so; docs/convolve.md says how.
/// `scratch`, aligned to 256 bytes, has ValidScratch::bytes().
template <class Q>
void convolve_valid(Q& queue, const ValidConvolution& valid, const RowBlock& block,
                    const std::byte* in, std::byte* out, std::byte* scratch) {
    const Convolution& convolution = valid.convolution;
    constexpr Backend backend = Q::shares_host_memory ? Backend::cpu : Backend::cuda;
    const ValidScratch places(backend, convolution, block);
    std::byte* const values = scratch;
    std::byte* const weights = values + places.values;
    std::byte* const sums = weights + places.weights;
    std::byte* const weight_sums = sums + places.sums;
    std::byte* const own = weight_sums + places.sums;
    split_valid(queue, valid, block.frames * block.in_rows * convolution.columns, in, values,
                weights);
    convolve(queue, of_values(convolution), block, values, sums, own);
    convolve(queue, of_weights(convolution), block, weights, weight_sums, own);
    const std::int64_t count = block.frames * block.out_rows * convolution.columns;
    join_valid(queue, valid, count, sums, weight_sums, out);
    // Several frames are whole ones, of which the block holds no other rows.
    const std::int64_t first = (block.out_first - block.in_first) * convolution.columns;
    mark_invalid(queue,
                 {convolution.in_type, valid.invalid, convolution.out_type,
                  invalid_value(convolution.out_type, valid.invalid)},
                 count, in + first * size_of(convolution.in_type), out);
}

} // namespace runner
