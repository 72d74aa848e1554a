// SPDX-License-Identifier: BSD-3-Clause
#include "io/packings/predictor.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace runner {
namespace {

template <class T> T swapped(T value) {
    if constexpr (sizeof(T) == 1) {
        return value;
    } else if constexpr (sizeof(T) == 2) {
        return __builtin_bswap16(value);
    } else if constexpr (sizeof(T) == 4) {
        return __builtin_bswap32(value);
    } else {
        return __builtin_bswap64(value);
    }
}

template <class T, bool big_endian>
void add_in_line(std::byte* line, std::size_t elements, std::size_t samples) {
    const auto load = [&](std::size_t i) {
        T value;
        std::memcpy(&value, line + i * sizeof(T), sizeof(T));
        return big_endian ? swapped(value) : value;
    };
    const auto store = [&](std::size_t i, T value) {
        value = big_endian ? swapped(value) : value;
        std::memcpy(line + i * sizeof(T), &value, sizeof(T));
    };
    for (std::size_t sample = 0; sample < samples && sample < elements; ++sample) {
        T sum = load(sample);
        for (std::size_t i = sample + samples; i < elements; i += samples) {
            sum = static_cast<T>(sum + load(i));
            store(i, sum);
        }
    }
}

template <class T> void add_in_lines(std::span<std::byte> bytes, const PredictedLines& lines) {
    for (std::size_t at = 0; at + lines.bytes() <= bytes.size(); at += lines.bytes()) {
        if (lines.big_endian) {
            add_in_line<T, true>(bytes.data() + at, lines.elements, lines.samples);
        } else {
            add_in_line<T, false>(bytes.data() + at, lines.elements, lines.samples);
        }
    }
}

} // namespace

void add_differences(std::span<std::byte> bytes, const PredictedLines& lines) {
    switch (lines.size) {
    case 1: return add_in_lines<std::uint8_t>(bytes, lines);
    case 2: return add_in_lines<std::uint16_t>(bytes, lines);
    case 4: return add_in_lines<std::uint32_t>(bytes, lines);
    default: return add_in_lines<std::uint64_t>(bytes, lines);
    }
}

void join_float_bytes(std::span<const std::byte> packed, const PredictedLines& lines,
                      std::span<std::byte> to) {
    std::vector<std::byte> sums(lines.bytes());
    for (std::size_t at = 0; at + lines.bytes() <= packed.size(); at += lines.bytes()) {
        std::memcpy(sums.data(), packed.data() + at, lines.bytes());
        add_in_line<std::uint8_t, false>(sums.data(), lines.bytes(), lines.samples);
        for (std::size_t byte = 0; byte < lines.size; ++byte) {
            const std::byte* from = sums.data() + byte * lines.elements;
            std::byte* out = to.data() + at + (lines.big_endian ? byte : lines.size - 1 - byte);
            for (std::size_t i = 0; i < lines.elements; ++i) {
                out[i * lines.size] = from[i];
            }
        }
    }
}

} // namespace runner
