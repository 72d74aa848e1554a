// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/match/volume.hpp"
#include "kernels/match/match.hpp"

#include <algorithm>
#include <cstdint>

namespace runner {

/// Layers, and lines of these, of the volume whose references' lists are there at once.
struct ListBatch {
    std::int64_t layers = 0;
    std::int64_t lines = 0;
};

/// As many layers of references as a block of threads of the GPU takes at once, and whole boxes of
/// the CPU.
inline constexpr std::int64_t batch_layers = 12;

/// For references in so many layers: enough to keep a GPU, or some hundred cores, busy, and no more
/// than there are, so that small chunks take little memory.
ListBatch list_batch(const Match& match, Backend backend, std::int64_t layers);

/// Room for the lists of any batch.
MatchLists take_lists(Pieces& pieces, const Match& match, const ListBatch& batch);

/// Calls `add` with the MatchLayers of every batch of the references in layers [first, end).
template <class Add>
void for_each_batch(const Match& match, const ListBatch& batch, std::int64_t first,
                    std::int64_t end, const Add& add) {
    for (; first < end; first += batch.layers) {
        MatchLayers layers = match_layers(match, first, std::min(batch.layers, end - first));
        layers.lines = batch.lines;
        for (; layers.first_line < match.volume[1]; layers.first_line += batch.lines) {
            if (match_rows(match, layers) > 0) {
                add(layers);
            }
        }
    }
}

} // namespace runner
