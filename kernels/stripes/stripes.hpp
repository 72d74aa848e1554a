// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/queue/queue.hpp"

#include <cstddef>
#include <cstdint>

namespace runner {

/// Removes the stripes of sinograms, which a reconstruction would make rings of, to the byte as
/// docs/stripes.md says. A frame is a sinogram: a row has all columns of the detector at one angle.
/// Output and input have one type.
struct Stripes {
    enum class Method {
        sort,  ///< sorted columns are smoothed: small stripes
        large, ///< columns with another mean than their neighbours are replaced by smoothed ones
        dead,  ///< columns that hardly change, or too much, are interpolated; then `large`
        all,   ///< `dead`, then `sort`
    };
    static constexpr int most_size = 255;
    static constexpr std::int64_t most_rows = 65536;

    ElementType type = ElementType::float32;
    std::int64_t rows = 1; ///< angles, up to most_rows
    std::int64_t columns = 1;
    Method method = Method::sort;
    /// Columns of the medians, up to most_size; of an even number one more is to the left.
    int size = 21;
    int small = 21;   ///< those of the last step of Method::all
    double snr = 3.0; ///< how far a column must be from others to be a stripe, except for `sort`
};

/// Bytes of scratch memory for so many frames.
std::int64_t stripes_scratch_bytes(const Stripes& stripes, std::int64_t frames);

/// Operations of so many frames, about as float32 operations (see StreamJob::operations).
double stripes_operations(const Stripes& stripes, std::int64_t frames);

/// Makes so many frames. `in`, `out` and `scratch`, of stripes_scratch_bytes(), are in
/// the queue's device memory, dense, and do not overlap; the elements are aligned, the scratch to
/// 256 bytes. The same bytes on every queue. The CUDA form returns before the work is done.
void remove_stripes(CpuQueue& queue, const Stripes& stripes, std::int64_t frames,
                    const std::byte* in, std::byte* out, std::byte* scratch);
void remove_stripes(CudaQueue& queue, const Stripes& stripes, std::int64_t frames,
                    const std::byte* in, std::byte* out, std::byte* scratch);

} // namespace runner
