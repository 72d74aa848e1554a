// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve.hpp"

#include "base/rounding.hpp"
#include "kernels/convolve/convolve_cuda_scratch.hpp"
#include "kernels/convolve/convolve_depth.hpp"
#include "kernels/convolve/convolve_tile.hpp"

#include <algorithm>
#include <utility>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// How the output of a call is cut into tiles: bands of rows, each cut into strips of columns.
struct Cut {
    std::int64_t band_rows;
    std::int64_t bands;
    std::int64_t strips;
};

/// Every band repeats the row pass of 2R rows, so bands are long, yet enough to keep all threads
/// busy to the end.
Cut cut_output(const ConvolveCall& call, int threads) {
    const std::int64_t strips = ceil_divide(call.columns, call.tile_columns);
    const std::int64_t out_rows = call.block.out_rows;
    const std::int64_t wanted = ceil_divide(8 * std::int64_t{threads}, call.block.frames * strips);
    const std::int64_t halo = 2 * call.column_radius();
    const std::int64_t shortest = std::max(call.step_rows, halo);
    const std::int64_t longest = std::max<std::int64_t>(512, 16 * halo);
    const std::int64_t rows =
        std::min(out_rows, std::clamp(ceil_divide(out_rows, wanted), shortest, longest));
    const std::int64_t bands = ceil_divide(out_rows, rows);
    return {ceil_divide(out_rows, bands), bands, strips};
}

ConvolveTile tile_at(const ConvolveCall& call, const Cut& cut, std::int64_t index) {
    const std::int64_t strip = index % cut.strips;
    const std::int64_t band = index / cut.strips % cut.bands;
    ConvolveTile tile;
    tile.frame = index / cut.strips / cut.bands;
    tile.first_row = call.block.out_first + band * cut.band_rows;
    tile.rows =
        std::min(cut.band_rows, call.block.out_first + call.block.out_rows - tile.first_row);
    tile.first_column = strip * call.tile_columns;
    tile.columns = std::min(call.tile_columns, call.columns - tile.first_column);
    return tile;
}

void make_tiles(CpuQueue& queue, ConvolveCall call) {
    call.count = [&queue](double operations) { queue.count(operations); };
    const Cut cut = cut_output(call, queue.threads());
    tbb::enumerable_thread_specific<ConvolveSpace> spaces(
        [&] { return ConvolveSpace(call, queue); });
    queue.run([&] {
        using Range = tbb::blocked_range<std::int64_t>;
        const Range all(0, call.block.frames * cut.bands * cut.strips);
        tbb::parallel_for(all, [&](const Range& tiles) {
            ConvolveSpace& space = spaces.local();
            for (std::int64_t i = tiles.begin(); i < tiles.end(); ++i) {
                convolve_tile(call, tile_at(call, cut, i), space);
            }
        });
    });
}

} // namespace

ElementType Convolution::compute_type() const {
    return size_of(in_type) >= 4 && in_type != ElementType::float32 ? ElementType::float64
                                                                    : ElementType::float32;
}

double convolve_operations(const Convolution& convolution, const RowBlock& block) {
    if (!convolution.has_depth()) {
        return convolution.is_wide() ? image_operations(convolution, block) : 0;
    }
    const ConvolveOperations operations =
        depth_operations(convolution, layer_block(convolution, block));
    return operations.images + operations.depth;
}

std::int64_t convolve_scratch_bytes(Backend backend, const Convolution& convolution,
                                    const RowBlock& block) {
    if (backend == Backend::cuda) {
        return convolve_cuda_scratch_bytes(convolution, block);
    }
    const RowBlock layers = layer_block(convolution, block);
    return convolution.has_depth() ? layers.frames * layers.in_rows * depth_pitch(convolution) *
                                         size_of(convolution.compute_type())
                                   : 0;
}

std::int64_t convolve_thread_bytes(const Convolution& convolution, const RowBlock& block) {
    if (!convolution.is_wide()) {
        return 0;
    }
    const bool has_depth = convolution.has_depth();
    const RowBlock images =
        has_depth ? image_block(convolution, layer_block(convolution, block)) : block;
    const Convolution& passes = has_depth ? image_passes(convolution) : convolution;
    const auto bytes = [&](const RowBlock& of) {
        return ConvolveSpace::bytes_of(make_convolve_call(passes, of, nullptr, nullptr));
    };
    // A tile of a single row is so wide that the rows beside the ring take as much as the ring.
    return std::max(bytes(images), bytes({1, images.in_first, 1, images.out_first, 1}));
}

void convolve(CpuQueue& queue, const Convolution& convolution, const RowBlock& block,
              const std::byte* in, std::byte* out, std::byte* scratch) {
    if (block.frames == 0 || block.out_rows == 0) {
        return;
    }
    if (!convolution.has_depth()) {
        ConvolveCall call = make_convolve_call(convolution, block, in, out);
        call.operations = convolve_operations(convolution, block) /
                          static_cast<double>(block.frames * block.out_rows * call.columns);
        make_tiles(queue, std::move(call));
        return;
    }
    const RowBlock layers = layer_block(convolution, block);
    const RowBlock images = image_block(convolution, layers);
    ConvolveCall call = make_convolve_call(image_passes(convolution), images, in, scratch);
    call.out_frame = depth_pitch(convolution);
    call.operations = depth_operations(convolution, layers).images /
                      static_cast<double>(images.frames * images.out_rows * call.columns);
    make_tiles(queue, std::move(call));
    convolve_depth(queue, convolution, layers, scratch, out);
}

} // namespace runner
