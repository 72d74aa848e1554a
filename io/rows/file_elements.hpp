// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace runner {

/// Turns the bytes of each of `count` elements of `size` bytes (1, 2, 4 or 8) round.
void swap_bytes(std::byte* elements, std::int64_t count, std::int64_t size);

/// The bits of an IEEE number of 16 bits: a sign, five bits of exponent, ten of mantissa.
struct Half {
    std::uint16_t bits = 0;
};

/// Its value, which float32 holds; a NaN keeps its bits.
inline float half_value(Half half) {
    constexpr std::uint32_t infinite = 31;
    constexpr std::uint32_t bias_difference = 127 - 15;
    const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000U) << 16U;
    const std::uint32_t exponent = half.bits >> 10U & 31U;
    const std::uint32_t mantissa = half.bits & 1023U;
    if (exponent == 0) { // steps of 2^-24
        const float size = static_cast<float>(mantissa) * 0x1p-24F;
        return sign != 0 ? -size : size;
    }
    const std::uint32_t wide = exponent == infinite ? 255U : exponent + bias_difference;
    return std::bit_cast<float>(sign | wide << 23U | mantissa << 13U);
}

/// The texts of numbers of 16 bits as StoredType has them, which files hold as elements of two
/// bytes (ElementType::bytes2), in this machine's byte order and in the other.
inline constexpr const char* float16_text = "float16";
inline constexpr const char* swapped_float16_text = "big-endian float16";

/// Whether the elements are numbers of 16 bits, of either byte order.
bool is_float16(const ArrayInfo& array);

/// Whether the elements are h5py's bool: an enumeration of a byte each, which is 0 or 1.
bool is_truth(const ArrayInfo& array);

/// Rows of float32 where those of `rows` are float16; else `rows` itself. They are made in the
/// caller's memory.
std::unique_ptr<RowReader> open_widened_rows(std::unique_ptr<RowReader> rows);

} // namespace runner
