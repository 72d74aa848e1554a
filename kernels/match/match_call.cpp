// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match_call.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace runner {
namespace {

std::int64_t last_corner(const Match& match, std::size_t axis) {
    return match.volume[axis] - match.patch[axis];
}

std::int64_t references(std::int64_t last, std::int64_t step) {
    return last / step + 1 + (last % step != 0 ? 1 : 0);
}

/// How many references along an axis lie before a place.
std::int64_t grid_before(const Match& match, std::size_t axis, std::int64_t at) {
    const std::int64_t last = last_corner(match, axis);
    if (at <= 0) {
        return 0;
    }
    return at > last ? references(last, match.step) : (at - 1) / match.step + 1;
}

} // namespace

std::array<std::int64_t, 3> match_grid(const Match& match) {
    std::array<std::int64_t, 3> grid{};
    for (std::size_t i = 0; i < 3; ++i) {
        grid[i] = references(last_corner(match, i), match.step);
    }
    return grid;
}

std::int64_t match_grid_before(const Match& match, std::int64_t layer) {
    return grid_before(match, 0, layer);
}

MatchLayers match_layers(const Match& match, std::int64_t first, std::int64_t layers) {
    const std::int64_t begin = match_grid_before(match, first);
    const std::int64_t end = match_grid_before(match, first + layers);
    if (begin >= end) {
        return {0, 0, first, layers};
    }
    const std::int64_t last = last_corner(match, 0);
    const std::int64_t half = match.window[0] / 2;
    const std::int64_t low = std::min(begin * match.step, last);
    const std::int64_t high = std::min((end - 1) * match.step, last);
    const std::int64_t in_first = std::max<std::int64_t>(0, low - half);
    const std::int64_t in_end = std::min(last, high + half) + match.patch[0];
    return {in_first, in_end - in_first, first, layers};
}

std::int64_t Match::candidates() const { return make_match_call(*this, {}).candidates(); }

std::int64_t match_rows(const Match& match, const MatchLayers& layers) {
    return make_match_call(match, layers).rows();
}

double MatchCall::operations(MatchSelection selection) const {
    const double voxels = static_cast<double>(patch_voxels);
    double each = 2 * voxels + 20;
    if (selection != MatchSelection::fast) {
        each += 30.0 * count; // choosing, which is most of it
    } else if (step == 1) {
        each = 2.0 * patch[0] + patch[1] + patch[2] + 8;
    }
    return each * static_cast<double>(candidates());
}

double match_operations(const Match& match, const MatchLayers& layers) {
    const MatchCall call = make_match_call(match, layers);
    return static_cast<double>(call.rows()) * call.operations(match.selection);
}

float match_most(float threshold, float voxels) {
    // Bits of floats ≥ 0 order as the floats, and division keeps the order.
    auto low = std::uint32_t{0};
    auto high = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
    while (low < high) {
        const std::uint32_t middle = low + (high - low + 1) / 2;
        if (std::bit_cast<float>(middle) / voxels <= threshold) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return std::bit_cast<float>(low);
}

void put_match_row(const MatchCall& call, const std::int64_t* list, std::int64_t row,
                   std::int64_t z, std::int64_t y, std::int64_t x, const MatchLists& lists) {
    std::uint64_t* index = lists.index + row * call.count;
    float* distance = lists.distance + row * call.count;
    const std::int64_t* end = std::find(list, list + call.count, no_match);
    const auto found = static_cast<int>(end - list);
    for (int i = 0; i < call.count; ++i) {
        if (i >= found) {
            index[i] = ~std::uint64_t{0};
            distance[i] = std::numeric_limits<float>::infinity();
            continue;
        }
        const std::int64_t key = list[call.order == MatchOrder::nearest_first ? i : found - 1 - i];
        const std::int64_t number = key & 0xFFFFFFFF;
        const std::int64_t dx = number % call.window(2) - call.half[2];
        const std::int64_t dy = number / call.window(2) % call.window(1) - call.half[1];
        const std::int64_t dz = number / call.window(2) / call.window(1) - call.half[0];
        index[i] = static_cast<std::uint64_t>(call.index(z + dz, y + dy, x + dx));
        distance[i] =
            std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32)) / call.patch_voxels;
    }
    lists.count[row] = found;
}

MatchCall make_match_call(const Match& match, const MatchLayers& layers) {
    MatchCall call{};
    const auto grid = match_grid(match);
    for (std::size_t i = 0; i < 3; ++i) {
        call.volume[i] = match.volume[i];
        call.corner[i] = last_corner(match, i);
        call.half[i] = std::min(match.window[i] / 2, call.corner[i]);
        call.grid[i] = grid[i];
        call.patch[i] = match.patch[i];
    }
    call.first = grid_before(match, 0, layers.out_first);
    call.grid[0] = grid_before(match, 0, layers.out_first + layers.out_layers) - call.first;
    call.grid[0] = std::max<std::int64_t>(0, call.grid[0]);
    call.first_line = grid_before(match, 1, layers.first_line);
    call.grid[1] = grid_before(match, 1, layers.first_line + layers.lines) - call.first_line;
    call.grid[1] = std::max<std::int64_t>(0, call.grid[1]);
    call.step = match.step;
    call.in_first = layers.in_first;
    call.in_layers = layers.in_layers;
    call.count = match.count;
    call.patch_voxels = static_cast<float>(match.patch_voxels());
    call.most = match_most(match.threshold, call.patch_voxels);
    call.order = match.order;
    return call;
}

} // namespace runner
