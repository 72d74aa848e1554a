// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/list_batch.hpp"

#include "base/sizes.hpp"
#include "jobs/stream_job.hpp"

namespace runner {
namespace {

constexpr std::int64_t box_lines = 16; ///< of the CPU

/// Lists of this size keep a GPU, or some hundred cores, busy.
constexpr std::int64_t list_bytes(Backend backend) {
    return backend == Backend::cuda ? 1 * GiB : 128 * MiB;
}

std::int64_t round_down(std::int64_t value, std::int64_t step) {
    return std::max(value / step * step, step);
}

} // namespace

ListBatch list_batch(const Match& match, Backend backend, std::int64_t layers) {
    const auto grid = match_grid(match);
    const std::int64_t line = grid[2] * (12 * std::int64_t{match.count} + 4);
    const std::int64_t tiles = round_down(list_bytes(backend) / (line * grid[1]), batch_layers);
    ListBatch batch{std::min(tiles * match.step, layers), match.volume[1]};
    if (backend == Backend::cpu) {
        const std::int64_t fitting = list_bytes(backend) / (line * std::min(tiles, batch.layers));
        batch.lines = std::min(round_down(fitting, box_lines) * match.step, match.volume[1]);
    }
    return batch;
}

MatchLists take_lists(Pieces& pieces, const Match& match, const ListBatch& batch) {
    const OutputRows along_z{1, 1, match.step, match.volume[0] - match.patch[0]};
    const OutputRows along_y{1, 1, match.step, match.volume[1] - match.patch[1]};
    const std::int64_t rows =
        along_z.most(batch.layers) * along_y.most(batch.lines) * match_grid(match)[2];
    MatchLists lists;
    lists.index = pieces.take<std::uint64_t>(rows * match.count);
    lists.distance = pieces.take<float>(rows * match.count);
    lists.count = pieces.take<std::int32_t>(rows);
    return lists;
}

} // namespace runner
