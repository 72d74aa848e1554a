// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/rows/written_format.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// An output as a set of files, one a slice (docs/adr/0030). A slice is the last two axes, and the
/// samples of colour; the axes before are counted in C order. Each file is as a job of its slice
/// alone writes it in the format `one`.

std::int64_t slice_count(const ArrayInfo& array, const OutputLayout& layout);

/// Slice `index`, with the path of its file and its axes. Where the output's file has no name, the
/// slice's has none.
OutputDataset slice_of(const OutputDataset& output, std::int64_t index, const WrittenFormat& one);

/// FolderOfChunks::file, ::extents and ::list.
FileOfChunks slice_file(const OutputDataset& output, std::int64_t index);
std::vector<std::int64_t> slice_extents(const ArrayInfo& array, const OutputLayout& layout);
std::vector<std::string> slices_there(const std::string& file);
/// FolderOfChunks::owns.
bool is_slice_of(const std::string& file, const std::string& name);

/// WrittenFormat::place and ::left_out. @throws Error (usage), also for pixels of four samples.
DataPlace place_slices(const OutputDataset& output, const WrittenFormat& one);
std::vector<std::string> left_out_of_slices(const OutputDataset& output, const WrittenFormat& one);

/// PackedFormat's functions.
std::vector<std::int64_t> slices_chunk(const ArrayInfo& array, const OutputLayout& layout,
                                       const WrittenFormat& one);
Filter slices_filter(const ArrayInfo& array, const OutputLayout& layout, const WrittenFormat& one);

/// The slices of a format, each a file in the format `one`.
template <const WrittenFormat& one> struct SlicesOf {
    static constexpr FolderOfChunks folder = {
        [](const OutputDataset& output) { return slice_count(output.array, output.layout); },
        slice_file,
        nullptr,
        slice_extents,
        nullptr,
        [](const OutputDataset& /*output*/) {
            return std::vector<std::pair<std::string, std::string>>();
        },
        is_slice_of,
        slices_there,
        [](const OutputDataset& output, std::int64_t index) {
            return slice_of(output, index, one);
        }};
    static constexpr PackedFormat packed = {
        [](Compression compression) { return one.packed->takes(compression); },
        [](const ArrayInfo& array, const OutputLayout& layout) {
            return slices_chunk(array, layout, one);
        },
        nullptr,
        nullptr,
        one.packed->filter == nullptr
            ? nullptr
            : +[](const ArrayInfo& array,
                  const OutputLayout& layout) { return slices_filter(array, layout, one); },
        &folder};
    static constexpr WrittenFormat written = {
        WrittenFormat::Elements::numbers,
        WrittenFormat::Unknown::kept,
        [](const OutputDataset& output) { return place_slices(output, one); },
        nullptr,
        WrittenFormat::Placed::yes,
        [](const OutputDataset& output) { return left_out_of_slices(output, one); },
        nullptr,
        0,
        &packed,
        nullptr,
        nullptr,
        one.usual,
        nullptr,
        nullptr,
        one.colour};
};

} // namespace runner
