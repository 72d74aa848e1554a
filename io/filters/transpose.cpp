// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/transpose.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace runner {
namespace {

constexpr std::size_t widest_element = 16;
constexpr std::size_t most_axes = 64;
constexpr std::size_t tile = 32; ///< elements: a tile of each width stays in the nearest cache

/// The parameters as they are meant.
struct Order {
    std::size_t element;
    Parameters axes;  ///< of the chunk, in the order in which they are stored
    Parameters shape; ///< of the chunk

    explicit Order(Parameters parameters)
        : element(parameters[0]), axes(parameters.subspan(1, (parameters.size() - 1) / 2)),
          shape(parameters.subspan(1 + axes.size())) {}

    /// Bytes of the chunk; nothing where they pass 64 bits.
    std::optional<std::size_t> bytes() const {
        std::size_t all = element;
        for (const unsigned extent : shape) {
            if (__builtin_mul_overflow(all, std::size_t{extent}, &all)) {
                return std::nullopt;
            }
        }
        return all;
    }
};

bool transpose_accepts(Parameters parameters) {
    if (parameters.size() < 3 || parameters.size() % 2 == 0 ||
        parameters.size() > 1 + 2 * most_axes) {
        return false;
    }
    const Order order(parameters);
    std::array<bool, most_axes> seen{};
    for (const unsigned axis : order.axes) {
        if (axis >= order.axes.size() || seen.at(axis)) {
            return false;
        }
        seen.at(axis) = true;
    }
    const bool whole = order.element != 0 && order.element <= widest_element &&
                       (order.element & (order.element - 1)) == 0;
    return whole && std::find(order.shape.begin(), order.shape.end(), 0U) == order.shape.end() &&
           order.bytes().has_value();
}

std::optional<std::size_t> transpose_claimed(Parameters parameters, Bytes /*packed*/) {
    return Order(parameters).bytes();
}

/// One axis of the chunk.
struct ChunkAxis {
    std::size_t extent = 1;
    std::size_t from = 0; ///< elements from one to the next as they are stored
    std::size_t to = 0;   ///< and in the chunk
};

/// Copies elements of `Element` bytes along two axes, in tiles.
template <std::size_t Element>
void copy_plane(const ChunkAxis& slow, const ChunkAxis& fast, const std::byte* from,
                std::byte* to) {
    for (std::size_t slow_tile = 0; slow_tile < slow.extent; slow_tile += tile) {
        const std::size_t slow_end = std::min(slow_tile + tile, slow.extent);
        for (std::size_t fast_tile = 0; fast_tile < fast.extent; fast_tile += tile) {
            const std::size_t fast_end = std::min(fast_tile + tile, fast.extent);
            for (std::size_t i = slow_tile; i < slow_end; ++i) {
                for (std::size_t j = fast_tile; j < fast_end; ++j) {
                    std::memcpy(to + (i * slow.to + j * fast.to) * Element,
                                from + (i * slow.from + j * fast.from) * Element, Element);
                }
            }
        }
    }
}

void copy_plane(std::size_t element, const ChunkAxis& slow, const ChunkAxis& fast,
                const std::byte* from, std::byte* to) {
    switch (element) {
    case 1: return copy_plane<1>(slow, fast, from, to);
    case 2: return copy_plane<2>(slow, fast, from, to);
    case 4: return copy_plane<4>(slow, fast, from, to);
    case 8: return copy_plane<8>(slow, fast, from, to);
    default: return copy_plane<widest_element>(slow, fast, from, to);
    }
}

std::vector<ChunkAxis> axes_of(const Order& order) {
    std::vector<ChunkAxis> axes(order.shape.size());
    std::size_t below = 1;
    for (std::size_t axis = axes.size(); axis-- > 0;) {
        axes[axis].extent = order.shape[axis];
        axes[axis].to = below;
        below *= axes[axis].extent;
    }
    below = 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
        ChunkAxis& axis = axes[order.axes[i]];
        axis.from = below;
        below *= axis.extent;
    }
    return axes;
}

std::optional<std::size_t> transpose_unpack(Parameters parameters, Bytes packed,
                                            std::span<std::byte> to, CodecMemory& /*memory*/) {
    const Order order(parameters);
    const std::size_t bytes = *order.bytes();
    if (packed.size() != bytes || to.size() < bytes) {
        return std::nullopt;
    }
    std::vector<ChunkAxis> axes = axes_of(order);
    // The plane of the axes that run fastest here and there; the others pass one by one.
    const ChunkAxis fast = axes.back();
    axes.pop_back();
    ChunkAxis slow;
    if (order.axes.back() < axes.size()) {
        const auto place = axes.begin() + order.axes.back();
        slow = *place;
        axes.erase(place);
    }
    std::vector<std::size_t> at(axes.size(), 0);
    const std::byte* source = packed.data();
    std::byte* target = to.data();
    for (;;) {
        copy_plane(order.element, slow, fast, source, target);
        std::size_t axis = axes.size();
        for (; axis > 0; --axis) {
            const ChunkAxis& next = axes[axis - 1];
            source += next.from * order.element;
            target += next.to * order.element;
            if (++at[axis - 1] < next.extent) {
                break;
            }
            at[axis - 1] = 0;
            source -= next.extent * next.from * order.element;
            target -= next.extent * next.to * order.element;
        }
        if (axis == 0) {
            return bytes;
        }
    }
}

} // namespace

Codec transpose_codec() {
    return {filter_id::transpose, "transpose", transpose_accepts, transpose_claimed,
            transpose_unpack};
}

std::vector<unsigned> transpose_parameters(std::int64_t element_bytes,
                                           std::span<const std::int64_t> order,
                                           std::span<const std::int64_t> shape) {
    std::vector<unsigned> parameters = {static_cast<unsigned>(element_bytes)};
    for (const auto& each : {order, shape}) {
        for (const std::int64_t value : each) {
            parameters.push_back(static_cast<unsigned>(value));
        }
    }
    return parameters;
}

} // namespace runner
