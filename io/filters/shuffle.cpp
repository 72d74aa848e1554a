// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/shuffle.hpp"

#include "io/filters/filter_ids.hpp"
#include "kernels/bits/planes.hpp"
#include <algorithm>

namespace runner {
namespace {

bool shuffle_accepts(Parameters parameters) { return parameters.size() == 1 && parameters[0] > 0; }

std::optional<std::size_t> shuffle_claimed(Parameters /*parameters*/, Bytes packed) {
    return packed.size();
}

std::optional<std::size_t> shuffle_unpack(Parameters parameters, Bytes packed,
                                          std::span<std::byte> to, CodecMemory& /*memory*/) {
    if (packed.size() > to.size()) {
        return std::nullopt;
    }
    const std::size_t size = parameters[0];
    const std::size_t count = packed.size() / size;
    join_bytes(packed.data(), static_cast<std::int64_t>(count), static_cast<std::int64_t>(size),
               to.data());
    const Bytes rest = packed.subspan(count * size);
    std::copy(rest.begin(), rest.end(), to.begin() + static_cast<std::ptrdiff_t>(count * size));
    return packed.size();
}

} // namespace

Codec shuffle_codec() {
    return {filter_id::shuffle, "shuffle", shuffle_accepts, shuffle_claimed, shuffle_unpack};
}

void shuffle(Bytes from, std::size_t element_bytes, std::byte* to) {
    const std::size_t count = from.size() / element_bytes;
    split_bytes(from.data(), static_cast<std::int64_t>(count),
                static_cast<std::int64_t>(element_bytes), to);
    const Bytes rest = from.subspan(count * element_bytes);
    std::copy(rest.begin(), rest.end(), to + count * element_bytes);
}

} // namespace runner
