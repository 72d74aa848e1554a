// SPDX-License-Identifier: BSD-3-Clause
#include "io/packings/packbits.hpp"

#include <algorithm>

namespace runner {

std::optional<std::size_t> unpack_packbits(std::span<const std::byte> packed, std::size_t line,
                                           std::span<std::byte> to) {
    constexpr std::size_t nothing = 128;
    std::size_t in = 0;
    std::size_t out = 0;
    while (in < packed.size() && out < to.size()) {
        const auto head = std::to_integer<std::size_t>(packed[in++]);
        if (head == nothing) {
            continue;
        }
        const std::size_t count = head < nothing ? head + 1 : 257 - head;
        const std::size_t stored = head < nothing ? count : 1;
        const std::size_t room = line == 0 ? to.size() - out : line - out % line;
        if (stored > packed.size() - in || (line != 0 && count > room)) {
            return std::nullopt;
        }
        const std::size_t here = std::min({count, room, to.size() - out});
        if (head < nothing) {
            std::copy_n(packed.data() + in, here, to.data() + out);
        } else {
            std::fill_n(to.data() + out, here, packed[in]);
        }
        in += stored;
        out += here;
    }
    return out;
}

} // namespace runner
