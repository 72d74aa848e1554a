// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as the metadata of a Zarr array, of version 2 or 3, or as what a group says of an
// image: the first byte chooses.
//
// What is accepted has extents of 1 or more whose bytes can be counted, chunks below 4 GiB, shards
// of whole chunks, filters that are unpacked here, and a fill value of an element's bytes. What is
// refused is the input's fault. An image whose rules hold has two to five axes.
#include "io/zarr/ome_rules.hpp"
#include "io/zarr/zarr_array.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "io/filters/unpacker.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace {

void expect(bool condition) {
    if (!condition) {
        std::abort();
    }
}

void check(const runner::ZarrArray& array) {
    const runner::ArrayInfo& info = array.info.array;
    const std::size_t axes = info.shape.size();
    expect(axes >= 1 && axes <= 32);
    expect(std::ranges::all_of(info.shape, [](auto extent) { return extent >= 1; }));
    expect(runner::byte_count(info) >= runner::size_of(info.type));
    expect(array.info.chunk.size() == axes && array.file_chunk.size() == axes);
    expect(runner::byte_count({info.type, array.info.chunk}) < std::int64_t{1} << 32);
    const std::vector<std::int64_t>* whole = &array.file_chunk;
    for (const runner::ZarrShard& shard : array.shards) {
        for (std::size_t axis = 0; axis < axes; ++axis) {
            expect((*whole)[axis] % shard.chunk[axis] == 0);
        }
        whole = &shard.chunk;
    }
    expect(*whole == array.info.chunk);
    expect(runner::Unpacker::knows(array.filters));
    expect(array.info.filters.size() == array.filters.size());
    expect(std::ssize(array.fill) == runner::size_of(info.type));
    expect(array.separator == '.' || array.separator == '/');
}

void check_image(std::string_view text) {
    try {
        const auto axes = runner::check_first_image(runner::Json::parse(text));
        expect(axes.value_or(2) >= 2 && axes.value_or(2) <= 5);
    } catch (const runner::JsonError&) {
        return; // is refused
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] % 4 > 1) {
        check_image(text);
        return 0;
    }
    try {
        check(data[0] % 4 == 0 ? runner::parse_zarray(text, "here")
                               : runner::parse_zarr_json(text, "here"));
    } catch (const runner::Error& error) {
        expect(error.code() == runner::ExitCode::input && error.text().where == "here");
    }
    return 0;
}
