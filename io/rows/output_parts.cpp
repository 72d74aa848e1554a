// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/output_parts.hpp"

#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <span>
#include <sstream>
#include <string_view>

namespace runner {
namespace {

constexpr std::int64_t part_block_bytes = 1 * MiB;
/// HDF5 lists those that are at no equal distances when it opens the dataset: 0.3 s for these.
constexpr std::int64_t most_blocks = 8192;
constexpr std::string_view file_ending = ".h5";
constexpr std::string_view restored_ending = ".layout";

std::int64_t product(std::span<const std::int64_t> extents) {
    std::int64_t all = 1;
    for (const std::int64_t extent : extents) {
        all *= extent;
    }
    return all;
}

/// An array as blocks see it: `outer` times the extent of the axis, times rows of each step.
struct Cut {
    std::int64_t outer = 1;
    std::int64_t extent = 1;
    std::int64_t rows_a_step = 1;

    Cut(const ArrayInfo& array, std::size_t axis)
        : outer(product(std::span(array.shape).first(axis))), extent(array.shape[axis]),
          rows_a_step(row_count(array) / outer / extent) {}

    std::int64_t blocks(std::int64_t block) const { return (extent - 1) / block + 1; }
};

std::int64_t chunk_extent(const ArrayInfo& array, const OutputLayout& layout, std::size_t axis) {
    return layout.chunk.empty() ? 1 : std::min(layout.chunk[axis], array.shape[axis]);
}

/// The first axis along which blocks can be as small and as many as wanted; rows and chunks stay
/// whole.
std::size_t axis_to_cut(const ArrayInfo& array, const OutputLayout& layout, std::int64_t bytes,
                        std::int64_t blocks) {
    std::size_t axis = 0;
    for (; axis + 1 < row_axes(array.shape); ++axis) {
        const std::int64_t step = chunk_extent(array, layout, axis);
        const Cut cut(array, axis);
        const Cut next(array, axis + 1);
        const bool ends_with_chunk =
            next.outer == 1 || next.extent % chunk_extent(array, layout, axis + 1) == 0;
        const bool is_fine = step * cut.rows_a_step * row_bytes(array) <= bytes &&
                             cut.outer * cut.blocks(step) >= blocks;
        if (is_fine || step != 1 || !ends_with_chunk) {
            break;
        }
    }
    return axis;
}

/// The extent of a block, all of about one size, where a frame has so many blocks or some more: so
/// many that a rank's `parts` are a multiple of them. A part then has the same rows of every frame
/// that it has rows of, and HDF5 stores its selection in a few numbers.
std::int64_t block_of(const Cut& cut, std::int64_t step, std::int64_t blocks, std::int64_t parts) {
    const std::int64_t steps = (cut.extent - 1) / step + 1;
    const auto extent = [&](std::int64_t count) { return ((steps - 1) / count + 1) * step; };
    for (std::int64_t count = blocks; cut.outer > 1 && count <= std::min(parts, steps); ++count) {
        if (parts % count == 0 && cut.blocks(extent(count)) == count) {
            return extent(count);
        }
    }
    return extent(blocks);
}

std::int64_t parts_a_rank(const PartLayout& parts) { return (parts.parts - 1) / parts.ranks + 1; }

/// Whether every part has rows.
bool is_each_used(const ArrayInfo& array, const PartLayout& parts) {
    std::set<std::int64_t> used;
    for (const RowPiece& piece : deal_rows(array, parts)) {
        used.insert(piece.source);
    }
    return std::ssize(used) == parts.parts;
}

} // namespace

std::string parts_folder(const std::string& file) {
    return (file.ends_with(file_ending) ? file.substr(0, file.size() - file_ending.size()) : file) +
           ".parts";
}

std::string part_name(std::int64_t part, int set) {
    std::array<char, 32> name{};
    (void)std::snprintf(name.data(), name.size(), "%04lld%s.h5", static_cast<long long>(part),
                        set == 0 ? "" : "b");
    return name.data();
}

std::optional<int> set_of_part_name(const std::string& name) {
    const std::string file = name.ends_with(restored_ending)
                                 ? name.substr(0, name.size() - restored_ending.size())
                                 : name;
    constexpr std::size_t digits = 4;
    const bool numbered = file.size() > digits &&
                          std::all_of(file.begin(), file.begin() + digits,
                                      [](char digit) { return digit >= '0' && digit <= '9'; });
    if (!numbered) {
        return std::nullopt;
    }
    const std::string rest = file.substr(digits);
    return rest == file_ending ? std::optional(0)
                               : (rest == "b.h5" ? std::optional(1) : std::nullopt);
}

PartLayout choose_part_layout(const ArrayInfo& array, const OutputLayout& layout,
                              std::int64_t wanted, std::int64_t ranks) {
    PartLayout parts;
    if (wanted <= 1) {
        return parts;
    }
    const std::int64_t bytes = std::max(part_block_bytes, byte_count(array) / most_blocks);
    parts.axis = axis_to_cut(array, layout, bytes, std::max(wanted, ranks));
    const Cut cut(array, parts.axis);
    const std::int64_t step = chunk_extent(array, layout, parts.axis);
    const std::int64_t steps = (cut.extent - 1) / step + 1;
    const std::int64_t step_bytes = step * cut.rows_a_step * row_bytes(array);
    // Small enough that each part gets a block.
    const std::int64_t least_blocks = (std::max(wanted, ranks) - 1) / cut.outer + 1;
    const std::int64_t most_steps = std::max<std::int64_t>(1, steps / least_blocks);
    const std::int64_t fit = std::clamp<std::int64_t>(bytes / step_bytes, 1, most_steps);
    const std::int64_t blocks = (steps - 1) / fit + 1;
    parts.block = block_of(cut, step, blocks, wanted % ranks == 0 ? wanted / ranks : 1);
    const std::int64_t all = cut.outer * cut.blocks(parts.block);
    parts.parts = std::min(wanted, all);
    parts.ranks = std::min(ranks, all);
    while (parts.several() && !is_each_used(array, parts)) {
        --parts.parts;
    }
    return parts.several() ? parts : PartLayout{};
}

bool fits(const ArrayInfo& array, const PartLayout& parts) {
    if (parts.axis >= row_axes(array.shape) || parts.block < 1 || parts.ranks < 1) {
        return false;
    }
    const Cut cut(array, parts.axis);
    const std::int64_t all = cut.outer * cut.blocks(parts.block);
    return parts.parts <= all && parts.ranks <= all && is_each_used(array, parts);
}

std::vector<RowPiece> deal_rows(const ArrayInfo& array, const PartLayout& parts) {
    const Cut cut(array, parts.axis);
    const std::int64_t a_frame = cut.blocks(parts.block);
    const std::int64_t all = cut.outer * a_frame;
    std::vector<std::int64_t> filled(static_cast<std::size_t>(parts.parts), 0);
    std::vector<RowPiece> pieces;
    for (std::int64_t rank = 0; rank < parts.ranks; ++rank) {
        const std::int64_t begin = rank * all / parts.ranks;
        const std::int64_t end = (rank + 1) * all / parts.ranks;
        const std::int64_t first_part = rank * parts.parts / parts.ranks;
        const std::int64_t own =
            std::max(first_part + 1, (rank + 1) * parts.parts / parts.ranks) - first_part;
        for (std::int64_t block = begin; block < end; ++block) {
            const std::int64_t start = block % a_frame * parts.block;
            const std::int64_t extent = std::min(parts.block, cut.extent - start);
            const std::int64_t part = first_part + (block - begin) % own;
            std::int64_t& next = filled[static_cast<std::size_t>(part)];
            const std::int64_t rows = extent * cut.rows_a_step;
            append_piece(pieces, {(block / a_frame * cut.extent + start) * cut.rows_a_step, rows,
                                  part, next});
            next += rows;
        }
    }
    return pieces;
}

OutputDataset part_dataset(const OutputDataset& output, const std::vector<RowPiece>& pieces,
                           std::int64_t part) {
    const PartLayout& parts = output.parts;
    std::int64_t rows = 0;
    for (const RowPiece& piece : pieces) {
        rows += piece.source == part ? piece.rows : 0;
    }
    OutputDataset one;
    one.file = parts.folder + "/" + part_name(part, parts.set);
    one.dataset = part_dataset_name;
    one.array = output.array;
    const auto axis = static_cast<std::ptrdiff_t>(parts.axis);
    one.array.shape.erase(one.array.shape.begin(), one.array.shape.begin() + axis);
    one.array.shape.front() = rows / Cut(output.array, parts.axis).rows_a_step;
    one.layout = output.layout;
    if (!one.layout.chunk.empty()) {
        one.layout.chunk.erase(one.layout.chunk.begin(), one.layout.chunk.begin() + axis);
    }
    one.mark = part_mark(parts, part);
    return one;
}

std::vector<OutputDataset> part_datasets(const OutputDataset& output) {
    const std::vector<RowPiece> pieces = deal_rows(output.array, output.parts);
    std::vector<OutputDataset> all;
    for (std::int64_t part = 0; part < output.parts.parts; ++part) {
        all.push_back(part_dataset(output, pieces, part));
    }
    return all;
}

std::int64_t rows_for_all_parts(const ArrayInfo& array, const PartLayout& parts) {
    return parts.several() ? parts_a_rank(parts) * parts.block * Cut(array, parts.axis).rows_a_step
                           : 1;
}

int part_threads(const PartLayout& parts, int threads) {
    return std::min(std::max(static_cast<int>(parts_a_rank(parts)), threads),
                    static_cast<int>(parts.parts));
}

std::string part_mark(const PartLayout& parts, std::int64_t part) {
    return fmt::format("{} part {} of {}", parts.owner, part, parts.parts);
}

std::string to_text(const PartLayout& parts) {
    return fmt::format("{} files of {} ranks, axis {} in blocks of {}, set {}, owner {}",
                       parts.parts, parts.ranks, parts.axis, parts.block, parts.set, parts.owner);
}

std::optional<PartLayout> part_layout_from_text(const std::string& text) {
    PartLayout parts;
    std::array<char, 33> owner{};
    long long count = 0;
    long long ranks = 0;
    unsigned long long axis = 0;
    long long block = 0;
    if (std::sscanf(text.c_str(),
                    "%lld files of %lld ranks, axis %llu in blocks of %lld, set %d, owner %32s",
                    &count, &ranks, &axis, &block, &parts.set, owner.data()) != 6) {
        return std::nullopt;
    }
    parts.parts = count;
    parts.ranks = ranks;
    parts.axis = axis;
    parts.block = block;
    parts.owner = owner.data();
    const bool good = parts.parts > 1 && parts.parts <= most_parts && parts.ranks >= 1 &&
                      parts.block >= 1 && (parts.set == 0 || parts.set == 1) &&
                      to_text(parts) == text;
    return good ? std::optional(parts) : std::nullopt;
}

std::string parts_line(const PartLayout& parts) { return "parts = " + to_text(parts) + "\n"; }

std::optional<PartLayout> parts_of_identity(const std::string& identity) {
    constexpr std::string_view key = "\nparts = ";
    const std::size_t layout = identity.rfind("\nlayout = ");
    const std::size_t at = layout == std::string::npos ? layout : identity.find(key, layout);
    if (at == std::string::npos) {
        return std::nullopt;
    }
    const std::size_t begin = at + key.size();
    return part_layout_from_text(identity.substr(begin, identity.find('\n', begin) - begin));
}

std::string to_text(const PartsRecord& record) {
    std::string text = to_text(record.layout) + "\n";
    for (const std::int64_t bytes : record.bytes) {
        text += fmt::format("{}\n", bytes);
    }
    return text;
}

std::optional<PartsRecord> parts_record_from_text(const std::string& text) {
    std::istringstream lines(text);
    std::string first;
    std::getline(lines, first);
    const std::optional<PartLayout> layout = part_layout_from_text(first);
    if (!layout) {
        return std::nullopt;
    }
    PartsRecord record{*layout, {}};
    for (std::int64_t bytes = 0; lines >> bytes;) {
        record.bytes.push_back(bytes);
    }
    return std::ssize(record.bytes) == layout->parts ? std::optional(record) : std::nullopt;
}

} // namespace runner
