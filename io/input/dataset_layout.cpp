// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/dataset_layout.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/input_rules.hpp"
#include "io/filters/unpacker.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/layout_readers.hpp"
#include "io/input/open_rows.hpp"
#include "io/input/source_rows.hpp"
#include "io/input/stack.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/rows.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace runner {
namespace {

[[noreturn]] void refuse(const DatasetLayout& layout, const std::string& why) {
    throw Error(ExitCode::input,
                {"the file is damaged or malicious", file_and_dataset(layout.file, layout.dataset),
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
        refuse(layout,
               fmt::format("{} bytes from byte {} of a file of {}", bytes, offset, holder_bytes));
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
    if (!good) {
        refuse(layout, "chunks of " + shape_text(info.chunk) + " in a shape of " +
                           shape_text(info.array.shape));
    }
}

/// The bytes of the file that each chunk lies in, by their numbers.
std::vector<std::int64_t> file_bytes(const DatasetLayout& layout, std::int64_t holder_bytes) {
    if (layout.chunk_files.empty()) {
        return {holder_bytes};
    }
    std::vector<std::int64_t> bytes;
    for (const std::string& file : layout.chunk_files) {
        if (!layout.files.contains(file)) {
            refuse(layout, "a chunk in " + file + ", which it has not looked at");
        }
        bytes.push_back(mark_of(file).bytes);
    }
    return bytes;
}

void check_chunks(const DatasetLayout& layout, std::int64_t holder_bytes) {
    check_chunk_shape(layout);
    if (!Unpacker::knows(layout.filters)) {
        refuse(layout, "filters that only HDF5 knows");
    }
    if (std::ssize(layout.fill) != size_of(layout.info.array.type)) {
        refuse(layout, fmt::format("a fill value of {} bytes", layout.fill.size()));
    }
    const std::vector<std::int64_t> counts = chunk_counts(layout.info);
    const std::int64_t grid = checked_product(counts);
    const std::int64_t most =
        most_packed_bytes(byte_count({layout.info.array.type, layout.info.chunk}));
    const std::vector<std::int64_t> bytes = file_bytes(layout, holder_bytes);
    std::int64_t next = 0;
    for (const ChunkPlace& chunk : layout.chunks) {
        if (chunk.index < next || chunk.index >= grid) {
            refuse(layout,
                   fmt::format("a chunk {} of {} behind chunk {}", chunk.index, grid, next - 1));
        }
        next = chunk.index + 1;
        if (chunk.file >= bytes.size()) {
            refuse(layout, fmt::format("a chunk in file {} of {}", chunk.file, bytes.size()));
        }
        check_range(layout, chunk.offset, chunk.bytes, bytes[chunk.file]);
        if (chunk.bytes > most) {
            refuse(layout, fmt::format("a chunk of {} bytes", chunk.bytes));
        }
    }
}

/// The extents are, one after the other, all rows of the dataset.
void check_extents(const DatasetLayout& layout, std::int64_t holder_bytes) {
    const ArrayInfo& array = layout.info.array;
    std::int64_t next = 0;
    for (const RowExtent& extent : layout.extents) {
        if (extent.first != next || extent.rows < 1 || extent.rows > row_count(array) - next) {
            refuse(layout, std::to_string(extent.rows) + " rows from row " +
                               std::to_string(extent.first) + " behind row " +
                               std::to_string(next - 1));
        }
        check_range(layout, extent.offset, extent.rows * row_bytes(array), holder_bytes);
        next += extent.rows;
    }
    if (next != row_count(array)) {
        refuse(layout, "places of " + std::to_string(next) + " rows");
    }
}

/// The pieces are rows of the sources and, one after the other, all rows of the dataset.
void check_pieces(const DatasetLayout& layout) {
    const ArrayInfo& array = layout.info.array;
    std::int64_t next = 0;
    for (const RowPiece& piece : layout.pieces) {
        const bool is_there = piece.source >= 0 && piece.source < std::ssize(layout.sources);
        const std::int64_t rows =
            is_there ? row_count(layout.sources[static_cast<std::size_t>(piece.source)].info.array)
                     : 0;
        if (piece.first != next || piece.rows < 1 || piece.source_first < 0 || piece.rows > rows ||
            piece.source_first > rows - piece.rows || piece.rows > row_count(array) - next) {
            refuse(layout, fmt::format("{} rows from row {} in source {}", piece.rows, piece.first,
                                       piece.source));
        }
        next += piece.rows;
    }
    if (next != row_count(array)) {
        refuse(layout, fmt::format("sources of {} rows", next));
    }
}

void check_format(const DatasetLayout& layout) {
    const RowsFormat* const format = rows_format_of(layout.holder);
    if (format == nullptr || format->parser != RowsFormat::Parser::own) {
        refuse(layout, "a format that its name does not say, or that a library reads");
    }
}

void check_sources(const DatasetLayout& layout) {
    const ArrayInfo& array = layout.info.array;
    for (const DatasetLayout& source : layout.sources) {
        check_numbers(source);
        if (source.way == DatasetLayout::Way::library ||
            source.way == DatasetLayout::Way::sources || source.info.array.type != array.type ||
            row_elements(source.info.array) != row_elements(array)) {
            refuse(layout, "a source " + source.holder + " of other rows");
        }
    }
    check_pieces(layout);
}

/// @throws Error where the rules of the input do not allow to read the file that holds the bytes.
void check_holder(const DatasetLayout& layout, const std::string& holder,
                  const OutsideFiles& outside) {
    std::error_code failure;
    if (holder == layout.file || std::filesystem::equivalent(holder, layout.file, failure)) {
        return;
    }
    const auto allowed = outside.allowed(std::filesystem::absolute(holder).string(), layout.file,
                                         file_and_dataset(layout.file, layout.dataset));
    if (!allowed) {
        refuse(layout, "a link into " + holder + ", which is not there");
    }
}

/// @throws Error where elements would come from another file than those of the stack.
void check_stack_files(const DatasetLayout& layout) {
    FileMarks others = layout.files;
    for (const std::string& file : stack_files(layout.file)) {
        others.erase(own_path(file));
    }
    if (!others.empty()) {
        refuse(layout, "a frame in " + others.begin()->first);
    }
}

/// @throws Error where the elements would come from a file that the rules do not allow to read.
void check_files(const DatasetLayout& layout, const OutsideFiles& outside) {
    for (const auto& [file, mark] : layout.files) {
        if (mark.bytes >= 0 && !is_listed_folder(file)) { // nothing is read of others
            check_holder(layout, file, outside);
        }
    }
}

/// The sources are the files of the stack, one after the other.
void check_stack(const DatasetLayout& layout) {
    const std::vector<std::string> files = stack_files(layout.file);
    if (layout.way != DatasetLayout::Way::sources || files.size() != layout.sources.size()) {
        refuse(layout, "a stack of " + std::to_string(layout.sources.size()) + " files, where " +
                           std::to_string(files.size()) + " match the name");
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (layout.sources[i].holder != files[i]) {
            refuse(layout, "a frame in " + layout.sources[i].holder);
        }
        const std::int64_t bytes = mark_of(files[i]).bytes; // that it opens, its reader finds
        check_layout_values(layout.sources[i], std::max<std::int64_t>(bytes, 0));
    }
    check_layout_values(layout, 0);
}

} // namespace

void take_truth_as_numbers(DatasetLayout& layout) {
    if (!is_truth(layout.info.array) || layout.way == DatasetLayout::Way::library) {
        return;
    }
    layout.info.array = {ElementType::uint8, layout.info.array.shape};
    for (DatasetLayout& source : layout.sources) {
        source.info.array = {ElementType::uint8, source.info.array.shape};
    }
}

std::int64_t layout_reader_bytes(const DatasetLayout& layout, int threads) {
    return layout.sources.empty() ? reader_bytes(layout.info, threads)
                                  : source_reader_bytes(layout, threads);
}

std::int64_t stored_elements(const DatasetLayout& layout) {
    const DatasetInfo& info = layout.info;
    if (holds_cells(info)) { // four to a byte
        return byte_count(info.array);
    }
    return layout.way == DatasetLayout::Way::chunks
               ? std::min(byte_count(info.array),
                          std::ssize(layout.chunks) * byte_count({info.array.type, info.chunk}))
               : info.stored_bytes;
}

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
        if (!layout.extents.empty()) {
            return check_extents(layout, holder_bytes);
        }
        if (!layout.info.offset) {
            refuse(layout, "elements without a place");
        }
        check_range(layout, *layout.info.offset, byte_count(layout.info.array), holder_bytes);
        return;
    case DatasetLayout::Way::chunks: check_chunks(layout, holder_bytes); return;
    case DatasetLayout::Way::format: check_format(layout); return;
    case DatasetLayout::Way::library: return;
    case DatasetLayout::Way::sources: check_sources(layout); return;
    }
}

void check_layout(const DatasetLayout& layout, const InputRules& rules) {
    if (is_stack(layout.file)) {
        check_stack_files(layout);
    } else {
        check_files(layout, OutsideFiles(layout.file, rules));
    }
    if (layout.way == DatasetLayout::Way::library) { // it is opened in no other process
        check_layout_values(layout, 0);
        return;
    }
    if (is_stack(layout.file)) {
        return check_stack(layout);
    }
    const OutsideFiles outside(layout.file, rules);
    check_holder(layout, layout.holder, outside);
    for (const DatasetLayout& source : layout.sources) {
        check_holder(layout, source.holder, outside);
        check_layout_values(source, File(source.holder, File::Mode::read).size());
    }
    std::error_code failure;
    const bool folder = std::filesystem::is_directory(layout.holder, failure);
    check_layout_values(layout, folder ? 0 : File(layout.holder, File::Mode::read).size());
}

std::unique_ptr<RowReader> open_layout_rows(const DatasetLayout& layout, int threads) {
    switch (layout.way) {
    case DatasetLayout::Way::positions: return open_positional_reader(layout, threads);
    case DatasetLayout::Way::chunks: return open_chunk_reader(layout, threads);
    case DatasetLayout::Way::format:
        return rows_format_of(layout.holder)->open(layout.holder, threads);
    case DatasetLayout::Way::library: return nullptr;
    case DatasetLayout::Way::sources:
        return open_source_reader(layout, threads, [](const DatasetLayout& source) {
            return open_layout_rows(source, 1);
        });
    }
    return nullptr;
}

} // namespace runner
