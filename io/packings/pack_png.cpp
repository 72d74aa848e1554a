// SPDX-License-Identifier: BSD-3-Clause
#include "io/packings/png_picture.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <isa-l.h>

namespace runner {
namespace {

constexpr std::uint8_t no_filter = 0;
constexpr std::uint8_t sub_filter = 1; ///< the difference to the pixel before
constexpr std::uint8_t up_filter = 2;  ///< the difference to the line before

/// A line of samples as a PNG has it: the high byte first.
void put_samples(const std::uint8_t* from, const PngPicture& picture, std::uint8_t* to) {
    const std::size_t bytes = picture.packed_line();
    if (picture.bits == 8) {
        std::copy_n(from, bytes, to);
        return;
    }
    for (std::size_t i = 0; i < bytes; i += 2) {
        to[i] = from[i + 1];
        to[i + 1] = from[i];
    }
}

std::uint64_t magnitude(int difference) {
    return static_cast<std::uint64_t>(std::abs(int{static_cast<std::int8_t>(difference)}));
}

/// The sum of the differences of bytes to others, or to 0 where there are none.
std::uint64_t differences(const std::uint8_t* line, const std::uint8_t* others, std::size_t bytes) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
        sum += magnitude(line[i] - (others == nullptr ? 0 : others[i]));
    }
    return sum;
}

/// The filter whose differences are the smallest, as libpng chooses it.
std::uint8_t best_filter(const std::uint8_t* line, const std::uint8_t* above, std::size_t bytes,
                         std::size_t step) {
    const std::uint64_t plain = differences(line, nullptr, bytes);
    const std::uint64_t sub =
        differences(line, nullptr, step) + differences(line + step, line, bytes - step);
    const std::uint64_t up = above == nullptr ? plain : differences(line, above, bytes);
    if (std::min(sub, up) >= plain) {
        return no_filter;
    }
    return up < sub ? up_filter : sub_filter;
}

void subtract(std::uint8_t* line, const std::uint8_t* others, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;) { // others may be of this line, before these
        line[i] = static_cast<std::uint8_t>(line[i] - others[i]);
    }
}

void put_number(std::uint32_t value, std::byte* to) {
    for (unsigned i = 0; i < 4; ++i) {
        to[i] = static_cast<std::byte>(value >> (24U - 8U * i));
    }
}

} // namespace

std::size_t filter_png_lines(std::span<const std::byte> samples, const PngPicture& picture,
                             std::span<std::byte> to) {
    const std::size_t bytes = picture.packed_line();
    const std::size_t step = std::size_t{picture.channels} * picture.bits / 8;
    const auto* const from = reinterpret_cast<const std::uint8_t*>(samples.data());
    auto* const out = reinterpret_cast<std::uint8_t*>(to.data());
    const std::size_t lines = samples.size() / bytes;
    for (std::size_t line = 0; line < lines; ++line) {
        put_samples(from + line * bytes, picture, out + line * (bytes + 1) + 1);
    }
    // From the last line on, since each refers to the samples of the line before.
    for (std::size_t line = lines; line-- > 0;) {
        std::uint8_t* const own = out + line * (bytes + 1);
        const std::uint8_t* const above = line == 0 ? nullptr : own - bytes;
        own[0] = best_filter(own + 1, above, bytes, step);
        if (own[0] == sub_filter) {
            subtract(own + 1 + step, own + 1, bytes - step);
        } else if (own[0] == up_filter) {
            subtract(own + 1, above, bytes);
        }
    }
    return lines * (bytes + 1);
}

std::size_t finish_png_lines(std::size_t bytes, std::span<std::byte> chunk) {
    constexpr std::size_t length_bytes = 4;
    constexpr std::byte name[] = {std::byte{'I'}, std::byte{'D'}, std::byte{'A'}, std::byte{'T'}};
    put_number(static_cast<std::uint32_t>(bytes), chunk.data());
    std::copy(std::begin(name), std::end(name), chunk.begin() + length_bytes);
    const std::size_t end = std::size_t{png_lines_head} + bytes;
    put_number(png_checksum(chunk.first(end).subspan(length_bytes)), chunk.data() + end);
    return end + length_bytes;
}

std::uint32_t adler32(std::uint32_t before, std::span<const std::byte> bytes) {
    return isal_adler32(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::uint32_t png_checksum(std::span<const std::byte> bytes) {
    return crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

} // namespace runner
