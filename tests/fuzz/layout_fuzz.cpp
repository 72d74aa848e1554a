// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as what a process that a damaged file has led astray hands over about a dataset (the
// first byte is 0), a file's attributes (1), its content (2), or a dataset's
// attributes and coordinates (3).
//
// What is decoded is encoded as it came, but for texts for people; of a layout that is then
// accepted every chunk lies within the file, and no reader takes more memory than a chunk's
// elements and the file's bytes account for.
#include "base/error.hpp"
#include "io/input/layout_message.hpp"
#include "io/input/layout_readers.hpp"
#include "io/input/open_rows.hpp"
#include "io/metadata/carry_metadata.hpp"
#include "io/metadata/content_message.hpp"
#include "io/metadata/metadata.hpp"
#include "io/rows/row_geometry.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr std::int64_t file_bytes = 1 << 16;

void expect(bool condition) {
    if (!condition) {
        std::abort();
    }
}

void fuzz_layout(std::string_view bytes) {
    runner::DatasetLayout layout = runner::decode_layout(bytes);
    const std::string again = runner::encode_layout(layout);
    const runner::DatasetLayout back = runner::decode_layout(again);
    expect(back.chunks == layout.chunks && back.fill == layout.fill);
    expect(back.extents == layout.extents && back.edges == layout.edges);
    expect(back.roles == layout.roles);
    expect(back.filters == layout.filters && back.info.array == layout.info.array);
    layout.file = "a.h5";
    layout.dataset = "/x";
    runner::check_layout_values(layout, file_bytes);
    expect(runner::byte_count(layout.info.array) > 0);
    if (layout.way == runner::DatasetLayout::Way::positions) {
        for (const runner::RowExtent& extent : runner::plain_extents(layout)) {
            const std::int64_t extent_bytes = extent.rows * runner::row_bytes(layout.info.array);
            expect(extent.offset >= 0 && extent_bytes <= file_bytes - extent.offset);
        }
    }
    if (layout.way == runner::DatasetLayout::Way::chunks) {
        for (const runner::ChunkPlace& chunk : layout.chunks) {
            expect(chunk.offset >= 0 && chunk.bytes <= file_bytes - chunk.offset);
        }
        expect(runner::reader_bytes(layout.info, 1) > 0);
    }
}

/// What is decoded is what was encoded, and a part of it and blocks of it can be made.
void fuzz_metadata(std::string_view bytes) {
    const runner::Metadata metadata = runner::decode_metadata(bytes);
    expect(runner::decode_metadata(runner::encode_metadata(metadata)) == metadata);
    runner::Likeness like = runner::Likeness::in_place(runner::Likeness::Values::same, {});
    for (std::size_t axis = metadata.shape.size(); axis-- > 0;) {
        like.axes.push_back({static_cast<std::int64_t>(axis), 3});
        like.shape.push_back(metadata.shape[axis] / 3 + (metadata.shape[axis] % 3 != 0 ? 1 : 0));
    }
    const runner::Metadata made = runner::carried_metadata(metadata, like);
    expect(runner::decode_metadata(runner::encode_metadata(made)).shape == like.shape);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    try {
        if (data[0] == 0) {
            fuzz_layout(bytes);
        } else if (data[0] == 1) {
            const std::string all = runner::encode_attributes(runner::decode_attributes(bytes));
            expect(all == bytes);
        } else if (data[0] == 3) {
            fuzz_metadata(bytes);
        } else {
            const runner::FileContent content = runner::decode_content(bytes);
            expect(content.datasets.size() <= bytes.size());
        }
    } catch (const runner::BadMessage&) {
        return 0;
    } catch (const runner::Error& error) {
        expect(error.code() == runner::ExitCode::input);
    }
    return 0;
}
