// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/unpacker.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/filters/codec.hpp"
#include "io/filters/shuffle.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <isa-l.h>

namespace runner {
namespace {

constexpr std::size_t checksum_bytes = 4;
constexpr std::size_t most_filters = 32; ///< HDF5 allows no more: a chunk's mask has so many bits

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input, {"cannot unpack a chunk", where, why,
                                  "Copy the file again; if that does not help, make it again"});
}

bool is_applied(std::size_t filter, std::uint32_t skipped) { return (skipped >> filter & 1U) == 0; }

/// Whether the filter's result has as many bytes as what it is given.
bool keeps_size(const Filter& filter) {
    constexpr std::size_t shuffle_packing_at = 4;
    return filter.id == filter_id::shuffle || filter.id == filter_id::differences ||
           filter.id == filter_id::float_differences || filter.id == filter_id::transpose ||
           (filter.id == filter_id::bitshuffle && (filter.parameters.size() <= shuffle_packing_at ||
                                                   filter.parameters[shuffle_packing_at] == 0));
}

bool is_checksum(int id) { return id == filter_id::fletcher32 || id == filter_id::crc32c; }

/// The bytes without their checksum at the end, of this filter; nothing where it is another one
/// than theirs.
std::optional<std::span<const std::byte>> without_checksum(int id,
                                                           std::span<const std::byte> packed) {
    if (packed.size() < checksum_bytes) {
        return std::nullopt;
    }
    const std::span<const std::byte> bytes = packed.first(packed.size() - checksum_bytes);
    std::uint32_t stored = 0;
    for (std::size_t i = checksum_bytes; i-- > 0;) {
        stored = stored << 8U | std::to_integer<std::uint32_t>(packed[bytes.size() + i]);
    }
    return (id == filter_id::crc32c ? crc32c(bytes) : fletcher32(bytes)) == stored
               ? std::optional(bytes)
               : std::nullopt;
}

} // namespace

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

std::uint32_t crc32c(std::span<const std::byte> bytes) {
    constexpr std::size_t most_at_once = std::size_t{1} << 30;
    constexpr std::uint32_t all_ones = ~std::uint32_t{0};
    std::uint32_t sum = all_ones;
    while (!bytes.empty()) {
        const auto part = bytes.first(std::min(bytes.size(), most_at_once));
        // ISA-L does not write through this pointer; its type is an old one.
        sum = crc32_iscsi(
            const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(part.data())),
            static_cast<int>(part.size()), sum);
        bytes = bytes.subspan(part.size());
    }
    return sum ^ all_ones;
}

std::vector<Filter> layout_filters(const OutputLayout& layout, std::int64_t element_bytes) {
    const auto element = static_cast<std::size_t>(element_bytes);
    const auto level = static_cast<unsigned>(layout.level);
    std::vector<Filter> filters;
    if (layout.shuffle && !is_blosc(layout.compression)) {
        filters.push_back({filter_id::shuffle, "", {static_cast<unsigned>(element_bytes)}});
    }
    switch (layout.compression) {
    case Compression::none: break;
    case Compression::deflate: filters.push_back({filter_id::deflate, "", {level}}); break;
    case Compression::zstd: filters.push_back({filter_id::zstd, "", {level}}); break;
    case Compression::lzw: filters.push_back({filter_id::lzw, "", {}}); break;
    case Compression::gzip: filters.push_back({filter_id::gzip, "", {level}}); break;
    case Compression::blosc_lz4:
    case Compression::blosc_zstd: filters.push_back({filter_id::whole_blosc, "", {}}); break;
    case Compression::lz4: filters.push_back({filter_id::lz4, "", {0}}); break;
    case Compression::bitshuffle_lz4:
        filters.push_back({filter_id::bitshuffle, "",
                           bitshuffle_parameters(BitshufflePacking::lz4, element, layout.level)});
        break;
    case Compression::bitshuffle_zstd:
        filters.push_back({filter_id::bitshuffle, "",
                           bitshuffle_parameters(BitshufflePacking::zstd, element, layout.level)});
        break;
    }
    return filters;
}

std::vector<Filter> layout_filters(const OutputLayout& layout, const ArrayInfo& array) {
    const PackedFormat* const packed = layout.is_hdf5() ? nullptr : layout.format->packed;
    if (packed != nullptr && packed->filter != nullptr) {
        return {packed->filter(array, layout)};
    }
    return layout_filters(layout, size_of(array.type));
}

std::int64_t most_packed_bytes(std::int64_t chunk_bytes) {
    constexpr std::int64_t overhead = 4096;
    return 2 * chunk_bytes + overhead;
}

bool is_known(const Filter& filter) {
    if (is_checksum(filter.id)) {
        return true;
    }
    const Codec* codec = codec_of(filter.id);
    return codec != nullptr && codec->accepts(filter.parameters);
}

bool Unpacker::knows(const std::vector<Filter>& filters) {
    return filters.size() <= most_filters && std::all_of(filters.begin(), filters.end(), is_known);
}

Unpacker::Unpacker(std::vector<Filter> filters, std::int64_t chunk_bytes)
    : filters_(std::move(filters)), chunk_bytes_(static_cast<std::size_t>(chunk_bytes)),
      least_(chunk_bytes_) {}

Unpacker::Size Unpacker::size_before(std::size_t filter, std::uint32_t skipped) const {
    std::size_t bytes = chunk_bytes_;
    for (std::size_t i = 0; i < filter; ++i) {
        if (!is_applied(i, skipped) || keeps_size(filters_[i])) {
            continue;
        }
        if (!is_checksum(filters_[i].id)) {
            return {static_cast<std::size_t>(
                        most_packed_bytes(static_cast<std::int64_t>(chunk_bytes_))),
                    false};
        }
        bytes += checksum_bytes;
    }
    return {bytes, true};
}

std::span<const std::byte> Unpacker::undo(std::size_t number, std::span<const std::byte> packed,
                                          std::uint32_t skipped, const std::string& where,
                                          std::span<std::byte> to) {
    const Filter& filter = filters_[number];
    if (is_checksum(filter.id)) {
        const auto bytes = without_checksum(filter.id, packed);
        if (!bytes) {
            refuse(where,
                   "its bytes do not fit their checksum (" + registered_name(filter.id) + ")");
        }
        return *bytes;
    }
    const Codec& codec = *codec_of(filter.id);
    const Size size = size_before(number, skipped);
    std::size_t room = size.bytes;
    if (!size.exact) {
        room = std::min(room, codec.claimed(filter.parameters, packed).value_or(room));
    }
    if (!size.exact || to.size() != room) {
        std::vector<std::byte>& buffer = buffers_[std::exchange(turn_, 1 - turn_)];
        if (buffer.size() < room) {
            buffer.resize(room);
        }
        to = std::span(buffer).first(room);
    }
    const std::optional<std::size_t> got = codec.unpack(filter.parameters, packed, to, memory_);
    // A cut chunk has that much less before each filter that keeps the size.
    const std::size_t needed = room - (chunk_bytes_ - least_);
    if (got && size.exact && *got < needed) {
        refuse(where, std::string("its bytes are damaged: they unpack (") + codec.name + ") to " +
                          std::to_string(*got) + " where a chunk has " + std::to_string(needed));
    }
    if (!got) {
        refuse(where, std::string("its bytes are damaged: they do not unpack (") + codec.name +
                          ") to the " + std::to_string(least_) +
                          " of a chunk, or do not fit their checksum");
    }
    return to.first(*got);
}

std::span<const std::byte> Unpacker::undo_all(std::span<const std::byte> packed,
                                              std::uint32_t skipped, const std::string& where,
                                              std::span<std::byte> to) {
    std::size_t first = 0; // of those that were applied
    while (first < filters_.size() && !is_applied(first, skipped)) {
        ++first;
    }
    for (std::size_t i = filters_.size(); i-- > first;) {
        if (is_applied(i, skipped)) {
            packed = undo(i, packed, skipped, where, i == first ? to : std::span<std::byte>());
        }
    }
    if (packed.size() < least_ || packed.size() > chunk_bytes_) {
        refuse(where, "its bytes are damaged: they are " + std::to_string(packed.size()) +
                          " where a chunk has " + std::to_string(least_));
    }
    return packed;
}

std::span<const std::byte> Unpacker::unpack(std::span<const std::byte> packed,
                                            std::uint32_t skipped, const std::string& where,
                                            std::optional<std::int64_t> least) {
    least_ = least ? static_cast<std::size_t>(*least) : chunk_bytes_;
    return undo_all(packed, skipped, where, {});
}

std::size_t Unpacker::unpack_to(std::span<const std::byte> packed, std::uint32_t skipped,
                                const std::string& where, std::span<std::byte> to,
                                std::optional<std::int64_t> least) {
    least_ = least ? static_cast<std::size_t>(*least) : chunk_bytes_;
    const auto elements = undo_all(packed, skipped, where, to);
    if (elements.data() != to.data()) {
        std::copy(elements.begin(), elements.end(), to.begin());
    }
    return elements.size();
}

} // namespace runner
