// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/dataset_layout.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/outside_files.hpp"
#include "io/filters/unpacker.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/chunk_cache.hpp"
#include "io/rows/dataset_name.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace runner {
namespace {

[[noreturn]] void refuse(const DatasetLayout& layout, const std::string& why) {
    throw Error(ExitCode::input,
                {"the input file is damaged or malicious",
                 file_and_dataset(layout.file, layout.dataset),
                 "what the process that read its structure reports cannot be: " + why,
                 "Get it again from where it was made; do not open it elsewhere"});
}

void check_numbers(const DatasetLayout& layout) {
    const std::vector<std::int64_t>& shape = layout.info.array.shape;
    const bool positive = std::all_of(shape.begin(), shape.end(), [](auto n) { return n > 0; });
    if (shape.empty() || !positive) {
        refuse(layout, "a shape of " + shape_text(shape));
    }
    std::int64_t bytes = size_of(layout.info.array.type);
    for (const std::int64_t extent : shape) {
        if (__builtin_mul_overflow(bytes, extent, &bytes)) {
            refuse(layout, "a shape of " + shape_text(shape));
        }
    }
}

void check_range(const DatasetLayout& layout, std::int64_t offset, std::int64_t bytes,
                 std::int64_t holder_bytes) {
    if (offset < 0 || bytes < 0 || offset > holder_bytes || bytes > holder_bytes - offset) {
        refuse(layout, std::to_string(bytes) + " bytes from byte " + std::to_string(offset) +
                           " of a file of " + std::to_string(holder_bytes));
    }
}

void check_chunk_shape(const DatasetLayout& layout) {
    const DatasetInfo& info = layout.info;
    constexpr std::int64_t largest = (std::int64_t{1} << 32) - 1; // HDF5 counts in 32 bits
    std::int64_t bytes = size_of(info.array.type);
    bool good = info.chunk.size() == info.array.shape.size();
    for (std::size_t axis = 0; good && axis < info.chunk.size(); ++axis) {
        good = info.chunk[axis] > 0 && info.chunk[axis] <= largest / bytes;
        bytes *= good ? info.chunk[axis] : 1;
    }
    if (!good || !fits_cache(info)) {
        refuse(layout, "chunks of " + shape_text(info.chunk) + " in a shape of " +
                           shape_text(info.array.shape));
    }
}

void check_chunks(const DatasetLayout& layout, std::int64_t holder_bytes) {
    check_chunk_shape(layout);
    if (!Unpacker::knows(layout.filters)) {
        refuse(layout, "filters that only HDF5 knows");
    }
    if (std::ssize(layout.fill) != size_of(layout.info.array.type)) {
        refuse(layout, "a fill value of " + std::to_string(layout.fill.size()) + " bytes");
    }
    const std::vector<std::int64_t> counts = chunk_counts(layout.info);
    const std::int64_t grid = checked_product(counts);
    const std::int64_t most =
        most_packed_bytes(byte_count({layout.info.array.type, layout.info.chunk}));
    std::int64_t next = 0;
    for (const ChunkPlace& chunk : layout.chunks) {
        if (chunk.index < next || chunk.index >= grid) {
            refuse(layout, "a chunk " + std::to_string(chunk.index) + " of " +
                               std::to_string(grid) + " behind chunk " + std::to_string(next - 1));
        }
        next = chunk.index + 1;
        check_range(layout, chunk.offset, chunk.bytes, holder_bytes);
        if (chunk.bytes > most) {
            refuse(layout, "a chunk of " + std::to_string(chunk.bytes) + " bytes");
        }
    }
}

} // namespace

std::vector<std::int64_t> chunk_counts(const DatasetInfo& info) {
    std::vector<std::int64_t> counts;
    for (std::size_t axis = 0; axis < info.chunk.size(); ++axis) {
        counts.push_back((info.array.shape[axis] - 1) / info.chunk[axis] + 1);
    }
    return counts;
}

void check_layout_values(const DatasetLayout& layout, std::int64_t holder_bytes) {
    check_numbers(layout);
    switch (layout.way) {
    case DatasetLayout::Way::positions:
        if (!layout.info.offset) {
            refuse(layout, "elements without a place");
        }
        check_range(layout, *layout.info.offset, byte_count(layout.info.array), holder_bytes);
        return;
    case DatasetLayout::Way::chunks: check_chunks(layout, holder_bytes); return;
    case DatasetLayout::Way::format:
        if (rows_format_of(layout.file) == nullptr) {
            refuse(layout, "a format that its name does not say");
        }
        return;
    case DatasetLayout::Way::hdf5: return;
    }
}

void check_layout(const DatasetLayout& layout, const InputRules& rules) {
    if (layout.way == DatasetLayout::Way::hdf5) { // it is opened in no other process
        check_layout_values(layout, 0);
        return;
    }
    std::error_code failure;
    if (layout.holder != layout.file &&
        !std::filesystem::equivalent(layout.holder, layout.file, failure)) {
        const std::string where = file_and_dataset(layout.file, layout.dataset);
        const auto allowed =
            OutsideFiles(layout.file, rules)
                .allowed(std::filesystem::absolute(layout.holder).string(),
                         std::filesystem::absolute(layout.file).parent_path(), where);
        if (allowed.empty()) {
            refuse(layout, "a link into " + layout.holder + ", which is not there");
        }
    }
    check_layout_values(layout, File(layout.holder, File::Mode::read).size());
}

} // namespace runner
