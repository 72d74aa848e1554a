// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/deflate.hpp"

#include "io/filters/filter_ids.hpp"
#include <isa-l.h>

namespace runner {
namespace {

bool deflate_accepts(Parameters parameters) {
    constexpr unsigned highest_level = 9;
    return parameters.empty() || (parameters.size() == 1 && parameters[0] <= highest_level);
}

std::optional<std::size_t> deflate_claimed(Parameters /*parameters*/, Bytes /*packed*/) {
    return std::nullopt;
}

std::optional<std::size_t> deflate_unpack(Parameters /*parameters*/, Bytes packed,
                                          std::span<std::byte> to, CodecMemory& /*memory*/) {
    inflate_state state{};
    isal_inflate_init(&state);
    state.crc_flag = ISAL_ZLIB;
    // ISA-L does not write through this pointer; its type is an old one.
    state.next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(packed.data()));
    state.avail_in = static_cast<std::uint32_t>(packed.size());
    state.next_out = reinterpret_cast<std::uint8_t*>(to.data());
    state.avail_out = static_cast<std::uint32_t>(to.size());
    const bool whole =
        isal_inflate(&state) == ISAL_DECOMP_OK && state.block_state == ISAL_BLOCK_FINISH;
    return whole ? std::optional<std::size_t>(state.total_out) : std::nullopt;
}

} // namespace

Codec deflate_codec() {
    return {filter_id::deflate, "deflate", deflate_accepts, deflate_claimed, deflate_unpack};
}

} // namespace runner
