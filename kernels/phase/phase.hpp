// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/queue/queue.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

/// The filter of projections, to the byte as docs/phase.md says. A frame is a projection; the
/// output is float32.
struct PaganinFilter {
    enum class Method {
        paganin, ///< 1 / (1 + strength · ω²)
        pixel,   ///< ω² replaced by 2 (1 − cos ω): the second difference of pixels
    };

    ElementType in_type = ElementType::float32;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    /// Extents of the transforms, as is_fourier_length() allows; not below those of the frame.
    std::int64_t padded_rows = 1;
    std::int64_t padded_columns = 1;
    Method method = Method::paganin;
    double strength = 0; ///< δ/β · λ · z / (4π · pixel²), ≥ 0; ω in radians a pixel
    bool takes_log = false;
    float floor = 1e-6F; ///< above 0; smaller values are raised to it before the logarithm
};

/// What all calls for a filter need, 256-byte aligned parts in one piece of memory: factors of the
/// transforms and terms of the filter. The same bytes on every machine.
std::vector<std::byte> phase_tables(const PaganinFilter& phase);

/// Bytes of scratch memory for so many frames.
std::int64_t phase_scratch_bytes(const PaganinFilter& phase, std::int64_t frames);

/// Operations of so many frames, about as float32 operations (see StreamJob::operations).
double phase_operations(const PaganinFilter& phase, std::int64_t frames);

/// What is counted of the output.
struct PhaseCounts {
    std::uint64_t raised = 0; ///< values that were raised to `floor`
    std::uint64_t nans = 0;   ///< values that are NaN
};

/// Filters so many frames. `in`, `out`, `tables`, which is a copy of phase_tables(), and `scratch`,
/// of phase_scratch_bytes(), are in the queue's device memory, dense, and do not overlap; elements
/// are aligned, tables and scratch to 256 bytes. Adds to `counts`, in device memory. The same bytes
/// and counts on every queue. The CUDA form returns before the work is done.
/// @throws Error (gpu) where the transforms do not fit the shared memory of the GPU.
void retrieve_phase(CpuQueue& queue, const PaganinFilter& phase, std::int64_t frames,
                    const std::byte* in, float* out, const std::byte* tables, std::byte* scratch,
                    PhaseCounts* counts);
void retrieve_phase(CudaQueue& queue, const PaganinFilter& phase, std::int64_t frames,
                    const std::byte* in, float* out, const std::byte* tables, std::byte* scratch,
                    PhaseCounts* counts);

} // namespace runner
