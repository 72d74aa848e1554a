// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/unpacker.hpp"

#include "base/error.hpp"
#include "io/hdf5/zstd_filter.hpp"

#include <algorithm>
#include <optional>

#include <hdf5.h>
#include <isa-l.h>
#include <zstd.h>

namespace runner {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input,
                {"cannot unpack a chunk", where, why,
                 "Copy the file again; h5ls and h5dump tell what else is damaged"});
}

bool compresses(const Filter& filter) {
    return filter.id == H5Z_FILTER_DEFLATE || filter.id == zstd_filter_id;
}

/// The bytes without their checksum at the end; nothing where it is another one than theirs.
std::optional<std::span<const std::byte>> without_checksum(std::span<const std::byte> packed) {
    constexpr std::size_t size = 4;
    if (packed.size() < size) {
        return std::nullopt;
    }
    const std::span<const std::byte> bytes = packed.first(packed.size() - size);
    std::uint32_t stored = 0;
    for (std::size_t i = size; i-- > 0;) {
        stored = stored << 8U | std::to_integer<std::uint32_t>(packed[bytes.size() + i]);
    }
    return fletcher32(bytes) == stored ? std::optional(bytes) : std::nullopt;
}

/// Whether exactly `to` came out.
bool inflate(std::span<const std::byte> packed, std::span<std::byte> to) {
    inflate_state state{};
    isal_inflate_init(&state);
    state.crc_flag = ISAL_ZLIB;
    // ISA-L does not write through this pointer; its type is an old one.
    state.next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(packed.data()));
    state.avail_in = static_cast<std::uint32_t>(packed.size());
    state.next_out = reinterpret_cast<std::uint8_t*>(to.data());
    state.avail_out = static_cast<std::uint32_t>(to.size());
    return isal_inflate(&state) == ISAL_DECOMP_OK && state.block_state == ISAL_BLOCK_FINISH &&
           state.total_out == to.size();
}

template <std::int64_t Size>
void unshuffle_sized(const std::byte* from, std::int64_t count, std::byte* to) {
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t b = 0; b < Size; ++b) {
            to[i * Size + b] = from[b * count + i];
        }
    }
}

} // namespace

void unshuffle_bytes(std::span<const std::byte> from, std::int64_t size, std::byte* to) {
    const std::int64_t count = static_cast<std::int64_t>(from.size()) / size;
    switch (size) {
    case 2: return unshuffle_sized<2>(from.data(), count, to);
    case 4: return unshuffle_sized<4>(from.data(), count, to);
    case 8: return unshuffle_sized<8>(from.data(), count, to);
    case 16: return unshuffle_sized<16>(from.data(), count, to);
    default: std::copy(from.begin(), from.end(), to);
    }
}

std::uint32_t fletcher32(std::span<const std::byte> bytes) {
    constexpr std::size_t words_at_once = 360; // as many as cannot overflow the sums
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t end = std::min(bytes.size(), at + 2 * words_at_once);
        for (; at < end; at += 2) {
            const auto high = std::to_integer<std::uint32_t>(bytes[at]);
            const auto low = at + 1 < bytes.size() ? std::to_integer<std::uint32_t>(bytes[at + 1])
                                                   : std::uint32_t{0};
            first += high << 8U | low;
            second += first;
        }
        first = (first & 0xffffU) + (first >> 16U);
        second = (second & 0xffffU) + (second >> 16U);
    }
    first = (first & 0xffffU) + (first >> 16U);
    second = (second & 0xffffU) + (second >> 16U);
    return second << 16U | first;
}

std::vector<Filter> layout_filters(const OutputLayout& layout, std::int64_t element_bytes) {
    std::vector<Filter> filters;
    if (layout.shuffle) {
        filters.push_back({H5Z_FILTER_SHUFFLE, "", {static_cast<unsigned>(element_bytes)}});
    }
    filters.push_back(
        {layout.compression == Compression::zstd ? zstd_filter_id : H5Z_FILTER_DEFLATE, "", {}});
    return filters;
}

bool Unpacker::knows(const std::vector<Filter>& filters) {
    std::size_t at = 0;
    if (at < filters.size() && filters[at].id == H5Z_FILTER_SHUFFLE) {
        if (filters[at].parameters.size() != 1) {
            return false;
        }
        const unsigned size = filters[at].parameters.front();
        if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) {
            return false;
        }
        ++at;
    }
    if (at < filters.size() && compresses(filters[at])) {
        ++at;
    }
    if (at < filters.size() && filters[at].id == H5Z_FILTER_FLETCHER32) {
        ++at;
    }
    return at == filters.size();
}

Unpacker::Unpacker(std::vector<Filter> filters, std::int64_t chunk_bytes)
    : filters_(std::move(filters)), chunk_bytes_(static_cast<std::size_t>(chunk_bytes)) {}

std::span<const std::byte> Unpacker::unpack(std::span<const std::byte> packed,
                                            std::uint32_t skipped, const std::string& where) {
    bool good = true;
    for (std::size_t i = filters_.size(); i-- > 0 && good;) {
        if ((skipped >> i & 1U) != 0) {
            continue;
        }
        if (filters_[i].id == H5Z_FILTER_FLETCHER32) {
            const auto bytes = without_checksum(packed);
            if (!bytes) {
                refuse(where, "its bytes do not fit their checksum (fletcher32)");
            }
            packed = *bytes;
            continue;
        }
        std::vector<std::byte>& out = compresses(filters_[i]) ? inflated_ : sorted_;
        out.resize(chunk_bytes_);
        if (filters_[i].id == H5Z_FILTER_DEFLATE) {
            good = inflate(packed, out);
        } else if (filters_[i].id == zstd_filter_id) {
            good = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) ==
                   chunk_bytes_;
        } else {
            good = packed.size() == chunk_bytes_;
            if (good) {
                unshuffle_bytes(packed, filters_[i].parameters.front(), out.data());
            }
        }
        packed = out;
    }
    if (!good || packed.size() != chunk_bytes_) {
        refuse(where, "its bytes are damaged: they do not unpack to the " +
                          std::to_string(chunk_bytes_) + " of a chunk");
    }
    return packed;
}

} // namespace runner
