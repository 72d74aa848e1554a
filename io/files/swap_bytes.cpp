// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/swap_bytes.hpp"

#include <cstring>

namespace runner {
namespace {

template <class Word, class Swap>
void swap_words(std::byte* elements, std::int64_t count, const Swap& swap) {
    for (std::int64_t i = 0; i < count; ++i) {
        Word value{};
        std::memcpy(&value, elements + i * std::int64_t{sizeof(Word)}, sizeof(Word));
        value = swap(value);
        std::memcpy(elements + i * std::int64_t{sizeof(Word)}, &value, sizeof(Word));
    }
}

} // namespace

void swap_bytes(std::byte* elements, std::int64_t count, std::int64_t size) {
    switch (size) {
    case 2:
        return swap_words<std::uint16_t>(
            elements, count, [](std::uint16_t value) { return __builtin_bswap16(value); });
    case 4:
        return swap_words<std::uint32_t>(
            elements, count, [](std::uint32_t value) { return __builtin_bswap32(value); });
    case 8:
        return swap_words<std::uint64_t>(
            elements, count, [](std::uint64_t value) { return __builtin_bswap64(value); });
    default: return;
    }
}

} // namespace runner
