// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/convolve/boundary.hpp"
#include "kernels/convolve/convolve.hpp"
#include "kernels/queue/buffer.hpp"
#include "kernels/queue/cpu_queue.hpp"
#include "kernels/queue/row_block.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace runner {

/// How results are written: as usual, or past the caches, which spares the memory a read of what is
/// overwritten but leaves nothing near for the next to read.
enum class OutStores { cached, past_caches };

/// What the tiles of one call have in common: the convolution made ready, the block, its memory and
/// how it is cut.
struct ConvolveCall {
    ElementType in_type = ElementType::float32;
    ElementType out_type = ElementType::float32;
    ElementType compute_type = ElementType::float32;
    std::int64_t frame_rows = 0;
    std::int64_t columns = 0; ///< samples, as Convolution's
    int channels = 1;
    Boundary boundary = Boundary::reflect;
    /// Taps in the order of use (the last tap first), rounded to the compute type.
    std::vector<double> row_weights;
    std::vector<double> column_weights;
    double fill = 0; ///< rounded to the compute type
    RowBlock block;
    const std::byte* in = nullptr;
    std::byte* out = nullptr;
    std::int64_t out_frame = 0; ///< samples from one frame of the output to the next
    double operations = 0;      ///< that are counted for a sample; 0: nothing is
    std::function<void(double)>
        count; ///< takes the operations of each step, where they are counted

    std::int64_t tile_columns = 0; ///< the most columns of a tile
    std::int64_t step_rows = 0;    ///< output rows made from one filling of the ring
    std::int64_t ring_rows = 0;    ///< rows of the row pass that a tile keeps
    OutStores out_stores = OutStores::cached;

    std::int64_t row_radius() const { return static_cast<std::int64_t>(row_weights.size() / 2); }
    /// Samples that the row pass needs on either side.
    std::int64_t row_reach() const { return row_radius() * channels; }
    std::int64_t column_radius() const {
        return static_cast<std::int64_t>(column_weights.size() / 2);
    }
};

/// The call for a block, with the tile's measures chosen so that the ring stays in the L2 cache.
ConvolveCall make_convolve_call(const Convolution& convolution, const RowBlock& block,
                                const std::byte* in, std::byte* out);

/// Output rows [first_row, first_row + rows) and columns of one frame.
struct ConvolveTile {
    std::int64_t frame = 0;
    std::int64_t first_row = 0;
    std::int64_t rows = 0;
    std::int64_t first_column = 0;
    std::int64_t columns = 0;
};

/// One thread's memory for a call, used for one tile after another.
class ConvolveSpace {
  public:
    ConvolveSpace(const ConvolveCall& call, CpuQueue& queue);

    /// The memory of one, with what a tile of the call takes beside it for its taps.
    static std::int64_t bytes_of(const ConvolveCall& call);

    /// Rows of the row pass, `pitch()` elements of the compute type apart, 64-byte aligned.
    std::byte* ring() { return bytes_.data(); }
    /// One such row that holds the fill value.
    std::byte* fill_row() { return bytes_.data() + fill_offset_; }
    /// A row of the input with what the row pass needs on either side.
    std::byte* line() { return bytes_.data() + line_offset_; }
    std::int64_t pitch() const { return pitch_; }

    /// For each slot of the ring, the extended row whose row pass it holds.
    std::vector<std::int64_t>& held() { return held_; }
    /// For each extended row of a step, where its row pass lies.
    std::vector<const std::byte*>& rows() { return rows_; }
    /// For each extended sample left and right of the image, the sample it stands for, or −1.
    std::vector<std::int64_t>& beyond() { return beyond_; }

  private:
    std::int64_t pitch_;
    std::int64_t fill_offset_;
    std::int64_t line_offset_;
    Buffer bytes_;
    std::vector<std::int64_t> held_;
    std::vector<const std::byte*> rows_;
    std::vector<std::int64_t> beyond_;
};

/// Makes one tile of the output with the widest vectors this machine has.
void convolve_tile(const ConvolveCall& call, const ConvolveTile& tile, ConvolveSpace& space);

} // namespace runner
