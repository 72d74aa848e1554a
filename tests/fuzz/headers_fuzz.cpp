// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as the header of a .npy file (the first byte is 0 modulo 4), of an MRC file (2), or of
// a NIfTI-1 file (odd).
//
// What is accepted has extents of 1 or more whose bytes can be counted, and elements behind the
// header; a .npy header that is written for its numbers says the same. What is refused names a
// byte.
#include "io/formats/mrc_file.hpp"
#include "io/formats/nifti_file.hpp"
#include "io/formats/npy_file.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace {

using Bytes = std::span<const std::byte>;

void expect(bool condition) {
    if (!condition) {
        std::abort();
    }
}

void check_array(const runner::ArrayInfo& array) {
    expect(!array.shape.empty() && array.shape.size() <= 32);
    expect(std::ranges::all_of(array.shape, [](auto extent) { return extent >= 1; }));
    expect(runner::byte_count(array) >= runner::size_of(array.type));
}

/// What a header says of the axes has a text that says the same.
void check_axes(const runner::DenseLayout& layout) {
    const std::string text = runner::to_text(layout.axes);
    expect(runner::axes_of_text(text, layout.array.shape.size()) == layout.axes);
    expect(!layout.axes.known() || runner::moved_axes(layout.axes, {{0, 1, 2}}).each.size() == 1);
}

void fuzz_mrc(Bytes bytes) {
    std::array<std::byte, runner::mrc_header_bytes> head{};
    std::copy_n(bytes.begin(), std::min(bytes.size(), head.size()), head.begin());
    const runner::DenseLayout layout = runner::parse_mrc(head, "f");
    check_array(layout.array);
    expect(layout.array.shape.size() >= 2 && layout.array.shape.size() <= 4);
    expect(layout.offset >= 1024);
    check_axes(layout);
    if (layout.array.type != runner::ElementType::uint8) { // which is IMOD's, and not written
        expect(runner::mrc_place(layout.array).bytes == runner::byte_count(layout.array));
        runner::mrc_structure(layout.array, layout.axes, [&](std::int64_t offset, Bytes made) {
            expect(offset == 0 && made.size() == head.size());
            std::copy(made.begin(), made.end(), head.begin());
        });
        expect(runner::parse_mrc(head, "f").array == layout.array);
    }
}

void fuzz_npy(Bytes bytes) {
    const runner::DenseLayout layout = runner::parse_npy(bytes, "f");
    check_array(layout.array);
    expect(layout.offset >= 10 && layout.offset <= std::ssize(bytes) && !layout.scale);
    if (!runner::is_number(layout.array.type)) {
        return; // float16 is read, not written
    }
    const std::string header = runner::npy_header(layout.array);
    expect(header.size() % 64 == 0);
    const runner::DenseLayout again = runner::parse_npy(std::as_bytes(std::span(header)), "f");
    expect(again.array == layout.array && again.offset == std::ssize(header));
}

void fuzz_nifti(Bytes bytes) {
    std::array<std::byte, runner::nifti_header_bytes> head{};
    std::copy_n(bytes.begin(), std::min(bytes.size(), head.size()), head.begin());
    const runner::DenseLayout layout = runner::parse_nifti(head, "f");
    check_array(layout.array);
    expect(layout.array.shape.size() <= 7);
    expect(layout.offset >= 352);
    check_axes(layout);
    expect(!layout.scale ||
           (std::isfinite(layout.scale->slope) && std::isfinite(layout.scale->intercept)));
    expect(layout.notes.size() == (layout.scale ? 1U : 0U));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    try {
        const unsigned format = data[0] & 3U;
        (format == 0 ? fuzz_npy : format == 2 ? fuzz_mrc : fuzz_nifti)(bytes);
    } catch (const runner::Error& error) {
        expect(error.code() == runner::ExitCode::input);
        expect(error.text().where.starts_with("f"));
    }
    return 0;
}
