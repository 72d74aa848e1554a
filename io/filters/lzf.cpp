// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/lzf.hpp"

#include "io/filters/filter_ids.hpp"
#include <algorithm>

namespace runner {
namespace {

bool lzf_accepts(Parameters /*parameters*/) { return true; }

/// h5py stores the size of a chunk as the third parameter. It is not the size of these bytes where
/// a filter before this one has changed it.
std::optional<std::size_t> lzf_claimed(Parameters /*parameters*/, Bytes /*packed*/) {
    return std::nullopt;
}

/// Copies what lies `distance` back, of which the copy may be a part.
void repeat(std::byte* to, std::size_t distance, std::size_t length) {
    if (distance >= length) {
        std::copy_n(to - distance, length, to);
        return;
    }
    const std::byte* from = to - distance;
    for (std::size_t i = 0; i < length; ++i) {
        to[i] = from[i];
    }
}

std::optional<std::size_t> lzf_unpack(Parameters /*parameters*/, Bytes packed,
                                      std::span<std::byte> to, CodecMemory& /*memory*/) {
    constexpr std::size_t first_reference = 32;
    constexpr std::size_t long_length = 7;
    const auto at = [&](std::size_t i) { return std::to_integer<std::size_t>(packed[i]); };
    std::size_t in = 0;
    std::size_t out = 0;
    while (in < packed.size()) {
        const std::size_t control = at(in++);
        if (control < first_reference) {
            const std::size_t length = control + 1;
            if (length > packed.size() - in || length > to.size() - out) {
                return std::nullopt;
            }
            std::copy_n(packed.data() + in, length, to.data() + out);
            in += length;
            out += length;
            continue;
        }
        std::size_t length = control >> 5U;
        if (length == long_length) {
            if (in == packed.size()) {
                return std::nullopt;
            }
            length += at(in++);
        }
        length += 2;
        if (in == packed.size()) {
            return std::nullopt;
        }
        const std::size_t distance = ((control & 31U) << 8U | at(in++)) + 1;
        if (distance > out || length > to.size() - out) {
            return std::nullopt;
        }
        repeat(to.data() + out, distance, length);
        out += length;
    }
    return out;
}

} // namespace

Codec lzf_codec() { return {filter_id::lzf, "lzf", lzf_accepts, lzf_claimed, lzf_unpack}; }

} // namespace runner
