// SPDX-License-Identifier: BSD-3-Clause
#include "io/packings/png_picture.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <isa-l.h>

namespace runner {
namespace {

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        value = value << 8U | std::to_integer<std::uint32_t>(bytes[at + i]);
    }
    return value;
}

/// The data of the next IDAT chunk, taken from the front of `chunks`; nothing where that is none,
/// or damaged.
std::optional<std::span<const std::byte>> next_data(std::span<const std::byte>& chunks) {
    constexpr std::size_t head = 8; // length and name
    constexpr std::size_t checksum = 4;
    if (chunks.size() < head + checksum) {
        return std::nullopt;
    }
    const std::size_t length = number_at(chunks, 0);
    if (length > chunks.size() - head - checksum || std::memcmp(&chunks[4], "IDAT", 4) != 0) {
        return std::nullopt;
    }
    const auto* named = reinterpret_cast<const unsigned char*>(&chunks[4]);
    if (crc32_gzip_refl(0, named, length + 4) != number_at(chunks, head + length)) {
        return std::nullopt;
    }
    const std::span<const std::byte> data = chunks.subspan(head, length);
    chunks = chunks.subspan(head + length + checksum);
    return data;
}

/// Whether the chunks' data are one whole zlib stream of just as many bytes as `to` has.
bool inflate_chunks(std::span<const std::byte> chunks, std::span<std::byte> to) {
    inflate_state state{};
    isal_inflate_init(&state);
    state.crc_flag = ISAL_ZLIB;
    state.next_out = reinterpret_cast<std::uint8_t*>(to.data());
    state.avail_out = static_cast<std::uint32_t>(to.size());
    while (state.block_state != ISAL_BLOCK_FINISH) {
        const auto data = next_data(chunks);
        if (!data) {
            return false;
        }
        // ISA-L does not write through this pointer; its type is an old one.
        state.next_in =
            const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(data->data()));
        state.avail_in = static_cast<std::uint32_t>(data->size());
        // With its input used up it may still hold bytes that it has not put out.
        if (isal_inflate(&state) != ISAL_DECOMP_OK || state.avail_in > 0) {
            return state.block_state == ISAL_BLOCK_FINISH && state.total_out == to.size();
        }
    }
    return state.total_out == to.size();
}

std::uint8_t predicted(int left, int above, int above_left) {
    const int guess = left + above - above_left;
    const int to_left = std::abs(guess - left);
    const int to_above = std::abs(guess - above);
    const int to_above_left = std::abs(guess - above_left);
    if (to_left <= to_above && to_left <= to_above_left) {
        return static_cast<std::uint8_t>(left);
    }
    return static_cast<std::uint8_t>(to_above <= to_above_left ? above : above_left);
}

/// Undoes the filter of a line in place. `above`: the line before, or null. `step`: bytes from a
/// byte to that of the pixel before, to its left.
bool unfilter(unsigned filter, std::uint8_t* line, const std::uint8_t* above, std::size_t bytes,
              std::size_t step) {
    const auto left = [&](std::size_t i) { return i < step ? 0 : line[i - step]; };
    const auto up = [&](std::size_t i) { return above == nullptr ? 0 : above[i]; };
    const auto up_left = [&](std::size_t i) {
        return above == nullptr || i < step ? 0 : above[i - step];
    };
    const auto add = [&](std::size_t i, int value) {
        line[i] = static_cast<std::uint8_t>(line[i] + value);
    };
    switch (filter) {
    case 0: return true;
    case 1:
        for (std::size_t i = step; i < bytes; ++i) {
            add(i, line[i - step]);
        }
        return true;
    case 2:
        for (std::size_t i = 0; above != nullptr && i < bytes; ++i) {
            add(i, above[i]);
        }
        return true;
    case 3:
        for (std::size_t i = 0; i < bytes; ++i) {
            add(i, (left(i) + up(i)) / 2);
        }
        return true;
    case 4:
        for (std::size_t i = 0; i < bytes; ++i) {
            add(i, predicted(left(i), up(i), up_left(i)));
        }
        return true;
    default: return false;
    }
}

/// The samples of a line as elements.
void take_samples(const std::uint8_t* line, const PngPicture& picture, std::uint8_t* to) {
    switch (picture.bits) {
    case 8: std::copy_n(line, picture.samples, to); return;
    case 16:
        for (std::size_t i = 0; i < picture.samples; ++i) {
            to[2 * i] = line[2 * i + 1];
            to[2 * i + 1] = line[2 * i];
        }
        return;
    default:
        for (std::size_t i = 0; i < picture.samples; ++i) {
            const std::size_t bit = i * picture.bits;
            const unsigned right = 8U - picture.bits - static_cast<unsigned>(bit % 8);
            to[i] = static_cast<std::uint8_t>(line[bit / 8] >> right & ((1U << picture.bits) - 1));
        }
    }
}

/// Undoes the filters of all lines and takes their samples.
bool take_lines(const PngPicture& picture, std::span<std::byte> scratch, std::span<std::byte> to) {
    const std::size_t bytes = picture.packed_line();
    const std::size_t step =
        std::max<std::size_t>(1, std::size_t{picture.channels} * picture.bits / 8);
    auto* line = reinterpret_cast<std::uint8_t*>(scratch.data());
    auto* out = reinterpret_cast<std::uint8_t*>(to.data());
    const std::uint8_t* above = nullptr;
    for (std::size_t number = 0; number < picture.lines; ++number) {
        if (!unfilter(*line, line + 1, above, bytes, step)) {
            return false;
        }
        above = line + 1;
        take_samples(above, picture, out);
        out += picture.samples * picture.element_bytes();
        line += bytes + 1;
    }
    return true;
}

} // namespace

bool unpack_png(std::span<const std::byte> chunks, const PngPicture& picture,
                std::span<std::byte> scratch, std::span<std::byte> to) {
    return inflate_chunks(chunks, scratch.first(picture.scratch_bytes())) &&
           take_lines(picture, scratch, to);
}

std::optional<std::size_t> inflate_png_lines(std::span<const std::byte> chunk,
                                             const PngPicture& picture,
                                             std::span<std::byte> scratch) {
    const std::optional<std::span<const std::byte>> data = next_data(chunk);
    const std::size_t line = picture.packed_line() + 1;
    if (!data || !chunk.empty()) {
        return std::nullopt;
    }
    inflate_state state{};
    isal_inflate_init(&state);
    state.crc_flag = ISAL_DEFLATE;
    state.next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(data->data()));
    state.avail_in = static_cast<std::uint32_t>(data->size());
    state.next_out = reinterpret_cast<std::uint8_t*>(scratch.data());
    state.avail_out = static_cast<std::uint32_t>(picture.lines * line);
    const bool good = isal_inflate(&state) == ISAL_DECOMP_OK;
    return good && state.total_out % line == 0 ? std::optional<std::size_t>(state.total_out)
                                               : std::nullopt;
}

std::optional<std::size_t> unpack_png_lines(std::span<const std::byte> chunk,
                                            const PngPicture& picture, std::span<std::byte> scratch,
                                            std::span<std::byte> to) {
    const std::optional<std::size_t> bytes = inflate_png_lines(chunk, picture, scratch);
    if (!bytes) {
        return std::nullopt;
    }
    PngPicture lines = picture;
    lines.lines = *bytes / (picture.packed_line() + 1);
    return take_lines(lines, scratch, to) ? std::optional(lines.bytes()) : std::nullopt;
}

} // namespace runner
