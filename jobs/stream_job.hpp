// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "kernels/queue.hpp"
#include "kernels/row_block.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace runner {

/// What lies beyond a frame's first and last row.
enum class RowBorder {
    inside,   ///< nothing, or rows near the border: a block's own rows say it all
    periodic, ///< the frame's other end (`wrap`): those rows must be brought to the block
};

/// What the planner and the stream engine know of a job: rows of bytes in, rows of bytes out.
struct StreamShape {
    ArrayInfo output;        ///< type and extents of the dataset to write
    std::int64_t frames = 1; ///< independent frames of `rows` rows each
    std::int64_t rows = 0;   ///< of one frame; the output has as many
    std::int64_t in_row_bytes = 0;
    std::int64_t out_row_bytes = 0;
    std::int64_t halo = 0; ///< rows of input an output row needs on either side
    RowBorder border = RowBorder::inside;
};

/// A job whose output chunk is a function of the same rows of the input and a halo.
/// Pure: same bytes in, same bytes out; no files, no MPI, no memory between calls.
class StreamJob {
  public:
    virtual ~StreamJob() = default;

    virtual StreamShape shape() const = 0;

    /// What the output depends on beside the input and KindParameters::canonical(), for the job's
    /// identity: the version of the computation, which changes whenever its bytes may, and a
    /// checksum of what was read from other files or made by functions of the system's library.
    virtual std::string computation() const = 0;

    /// Device memory that `run` needs beside input and output, for this block or a smaller one.
    virtual std::int64_t scratch_bytes(Backend backend, const RowBlock& block) const = 0;

    /// Computes the block's output rows from its input rows (see RowBlock) on `queue`.
    virtual void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                     std::byte* scratch) const = 0;
};

} // namespace runner
