// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/slices.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "io/files/folder_tree.hpp"
#include "io/formats/slice_names.hpp"
#include "io/rows/chunk_grid.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t plain_strip_bytes = 1 << 18;
constexpr std::string_view partial_ending = ".partial";

/// How many axes count slices.
std::size_t leading_axes(const ArrayInfo& array, const OutputLayout& layout) {
    const std::size_t own = samples_of_pixel(array, layout) > 1 ? 3 : 2;
    return array.shape.size() > own ? array.shape.size() - own : 0;
}

/// Whether axes that count slices have names, which no slice states. One axis of slices alone is
/// taken for z.
bool has_names_to_count(const OutputDataset& output) {
    const std::size_t count = leading_axes(output.array, output.layout);
    const std::vector<Axis>& each = output.axes.each;
    return std::any_of(
        each.begin(), each.begin() + static_cast<std::ptrdiff_t>(std::min(count, each.size())),
        [&](const Axis& axis) {
            return !axis.name.empty() && axis.name != "frame" && (count > 1 || axis.name != "z");
        });
}

/// A slice without a file and axes.
OutputDataset bare_slice(const ArrayInfo& array, const OutputLayout& layout,
                         const WrittenFormat& one) {
    const auto leading = static_cast<std::ptrdiff_t>(leading_axes(array, layout));
    OutputDataset slice{"", "", array, layout};
    slice.array.shape.erase(slice.array.shape.begin(), slice.array.shape.begin() + leading);
    slice.layout.format = &one;
    slice.layout.channels = static_cast<int>(samples_of_pixel(array, layout));
    return slice;
}

/// The name that stands for the slices, of an output that is complete or under way.
std::string plain_file(const std::string& file) {
    return file.ends_with(partial_ending) ? file.substr(0, file.size() - partial_ending.size())
                                          : file;
}

std::string path_of(const OutputDataset& output, std::int64_t index) {
    const std::optional<SliceNames> names = SliceNames::of(plain_file(output.file));
    if (!names) {
        return "";
    }
    const std::string name = names->name(index, slice_count(output.array, output.layout));
    return (output.file.ends_with(partial_ending) ? output.file + "/" : names->folder()) + name;
}

} // namespace

std::int64_t slice_count(const ArrayInfo& array, const OutputLayout& layout) {
    return checked_product(std::span(array.shape).first(leading_axes(array, layout)));
}

OutputDataset slice_of(const OutputDataset& output, std::int64_t index, const WrittenFormat& one) {
    OutputDataset slice = bare_slice(output.array, output.layout, one);
    slice.file = path_of(output, index);
    slice.dataset = output.dataset;
    std::vector<AxisOrigin> kept;
    for (std::size_t axis = leading_axes(output.array, output.layout);
         axis < output.array.shape.size(); ++axis) {
        kept.push_back({static_cast<std::int64_t>(axis)});
    }
    slice.axes = moved_axes(output.axes, kept);
    return slice;
}

FileOfChunks slice_file(const OutputDataset& output, std::int64_t index) {
    const std::int64_t count =
        ChunkGrid(output.array, output.layout).count() / slice_count(output.array, output.layout);
    const std::string path = path_of(output, index);
    FileOfChunks file{path.substr(path.rfind('/') + 1),
                      std::vector<std::int64_t>(static_cast<std::size_t>(count))};
    std::iota(file.chunks.begin(), file.chunks.end(), index * count);
    return file;
}

std::vector<std::int64_t> slice_extents(const ArrayInfo& array, const OutputLayout& layout) {
    std::vector<std::int64_t> extents = array.shape;
    std::fill_n(extents.begin(), leading_axes(array, layout), 1);
    return extents;
}

std::vector<std::string> slices_there(const std::string& file) {
    const std::optional<SliceNames> names = SliceNames::of(file);
    return names ? names->there() : files_in(file);
}

bool is_slice_of(const std::string& file, const std::string& name) {
    const std::optional<SliceNames> names = SliceNames::of(plain_file(file));
    return names && names->has(name);
}

DataPlace place_slices(const OutputDataset& output, const WrittenFormat& one) {
    (void)one.place(bare_slice(output.array, output.layout, one));
    return {0, byte_count(output.array), 0};
}

std::vector<std::string> left_out_of_slices(const OutputDataset& output, const WrittenFormat& one) {
    OutputDataset first = output;
    first.layout.format = &one;
    first.layout.channels = bare_slice(output.array, output.layout, one).layout.channels;
    // With the axes that count slices, of one element each, as the warning numbers them.
    std::fill_n(first.array.shape.begin(), leading_axes(output.array, output.layout), 1);
    std::vector<std::string> texts;
    if (has_names_to_count(output)) {
        texts.push_back("the names of axes, " + output.axes.names());
    }
    if (one.left_out != nullptr) {
        for (std::string& each : one.left_out(first)) {
            if (texts.empty() || !each.starts_with("the names of axes, ")) {
                texts.push_back(std::move(each));
            }
        }
        return texts;
    }
    for (std::size_t axis = 0; axis < output.axes.each.size(); ++axis) {
        if (output.axes.each[axis].spacing) {
            texts.push_back(fmt::format("the spacing of axis {}", axis));
        }
    }
    if (output.axes.sform || output.axes.qform) {
        texts.emplace_back("the affine");
    }
    if (!output.axes.channels.empty()) {
        texts.emplace_back("the names of channels");
    }
    if (output.axes.has_wavelengths()) {
        texts.emplace_back("the wavelengths of channels");
    }
    return texts;
}

std::vector<std::int64_t> slices_chunk(const ArrayInfo& array, const OutputLayout& layout,
                                       const WrittenFormat& one) {
    const OutputDataset slice = bare_slice(array, layout, one);
    std::vector<std::int64_t> chunk = slice.array.shape;
    if (layout.compression != Compression::none) {
        chunk = one.packed->chunk(slice.array, slice.layout);
    } else { // pieces of the dense elements, of colour whole rows too
        (void)one.place(slice);
        const std::int64_t line = byte_count(slice.array) / chunk.front();
        chunk.front() = chunk.size() > 2
                            ? 1
                            : std::clamp<std::int64_t>(plain_strip_bytes / line, 1, chunk.front());
    }
    chunk.insert(chunk.begin(), leading_axes(array, layout), 1);
    return chunk;
}

Filter slices_filter(const ArrayInfo& array, const OutputLayout& layout, const WrittenFormat& one) {
    const OutputDataset slice = bare_slice(array, layout, one);
    return one.packed->filter(slice.array, slice.layout);
}

} // namespace runner
