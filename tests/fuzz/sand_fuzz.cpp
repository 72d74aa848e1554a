// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a .sand file. The first byte says:
//
//   bit 0     the file's length is not that of the bytes behind but a number of eight bytes before
//             them, so that sizes beyond any memory come up
//   bits 1-7  how the bytes are cut into runs, where they are the whole file
//
// What is accepted has its length and can be counted, and every cell is unpacked once, as it is
// packed again.
#include "io/formats/sand_file.hpp"

#include "base/error.hpp"
#include "io/formats/sand_rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

namespace {

using Bytes = std::span<const std::byte>;
constexpr std::int64_t header_bytes = 16;
constexpr std::byte untouched{0xEE};

void expect(bool condition) {
    if (!condition) {
        std::abort();
    }
}

std::int64_t number_at(Bytes bytes, std::size_t at) {
    std::int64_t number = 0;
    std::int64_t weight = 1;
    for (std::size_t i = 0; i < 4; ++i, weight *= 256) {
        number += weight * std::to_integer<std::int64_t>(bytes[at + i]);
    }
    return number >= std::int64_t{1} << 31 ? number - (std::int64_t{1} << 32) : number;
}

void check_accepted(Bytes head, std::int64_t bytes, const runner::SandContent& content) {
    const runner::SandShape& shape = content.shape;
    expect(head.size() == header_bytes && std::memcmp(head.data(), "SAND", 4) == 0);
    expect(shape.width == number_at(head, 4) && shape.width >= 1);
    expect(shape.height == number_at(head, 8) && shape.height >= 1);
    expect(shape.frames >= 1);
    __extension__ using Wide = __int128;
    const Wide cells = Wide{shape.width} * shape.height;
    expect((cells + 3) / 4 * shape.frames + header_bytes == bytes);
    expect(cells * shape.frames <= std::numeric_limits<std::int64_t>::max());
    const bool agrees = shape.frames == number_at(head, 12);
    expect(content.notes.size() == (agrees ? 0U : 1U));
    if (agrees) {
        expect(std::ranges::equal(runner::sand_header(shape), head));
    }
}

/// Unpacks the cells in runs of so many bytes and packs them again.
void check_cells(Bytes data, const runner::SandShape& shape, std::int64_t step) {
    const std::int64_t all = shape.frames * shape.frame_cells();
    std::vector<std::byte> cells(static_cast<std::size_t>(all), untouched);
    const runner::SandRun whole = runner::bytes_of_rows(shape, 0, shape.frames * shape.height);
    expect(whole.begin == 0 && whole.end == std::ssize(data));
    for (std::int64_t begin = 0; begin < whole.end; begin += step) {
        runner::for_each_frame(
            shape, {begin, std::min(begin + step, whole.end)}, [&](const runner::SandCells& here) {
                expect(here.first >= 0 && here.cells >= 1 && here.first + here.cells <= all);
                expect(here.byte >= begin && here.byte + (here.cells + 3) / 4 <= whole.end);
                std::byte* to = cells.data() + here.first;
                expect(*to == untouched);
                const std::int64_t skip = std::min<std::int64_t>(step % 4, here.cells - 1);
                runner::unpack_cells(data.data() + here.byte, 0, skip, to);
                runner::unpack_cells(data.data() + here.byte, skip, here.cells - skip, to + skip);
            });
    }
    std::vector<std::byte> packed(static_cast<std::size_t>(shape.frame_bytes()));
    for (std::int64_t frame = 0; frame < shape.frames; ++frame) {
        const std::byte* first = cells.data() + frame * shape.frame_cells();
        const std::byte* stored = data.data() + frame * shape.frame_bytes();
        for (std::int64_t i = 0; i < shape.frame_cells(); ++i) {
            expect(first[i] == (stored[i / 4] >> (2 * (i % 4)) & std::byte{3}));
        }
        runner::pack_cells(first, shape.frame_cells(), packed.data());
        expect(std::equal(packed.begin(), packed.end() - 1, stored));
        const auto used = static_cast<unsigned>((shape.frame_cells() - 1) % 4 + 1);
        const auto mask = static_cast<std::byte>((1U << (2 * used)) - 1);
        expect(packed.back() == (stored[packed.size() - 1] & mask));
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const unsigned control = data[0];
    Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    std::int64_t length = std::ssize(bytes);
    const bool whole = (control & 1U) == 0;
    if (!whole && bytes.size() >= sizeof(length)) {
        std::memcpy(&length, bytes.data(), sizeof(length));
        bytes = bytes.subspan(sizeof(length));
        length &= std::numeric_limits<std::int64_t>::max();
        length = std::max(length, std::min(std::ssize(bytes), header_bytes));
    }
    const Bytes head = bytes.first(std::min<std::size_t>(
        bytes.size(), static_cast<std::size_t>(std::min(length, header_bytes))));
    if (std::ssize(head) < std::min(length, header_bytes)) {
        return 0; // a length that the bytes at hand contradict
    }
    try {
        const runner::SandContent content = runner::parse_sand(head, length, "f");
        check_accepted(head, length, content);
        if (whole && content.shape.frames * content.shape.frame_cells() <= 1 << 20) {
            check_cells(bytes.subspan(header_bytes), content.shape,
                        1 + static_cast<std::int64_t>(control >> 1U));
        }
    } catch (const runner::Error& error) {
        expect(error.code() == runner::ExitCode::input);
        expect(error.text().where.starts_with("f, byte "));
    }
    return 0;
}
