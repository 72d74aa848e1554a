// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/nifti_gz.hpp"

#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/formats/nifti_file.hpp"
#include "io/packings/png_picture.hpp"
#include "io/rows/chunk_grid.hpp"

#include <algorithm>
#include <cstddef>

namespace runner {
namespace {

/// A gzip member's head, with or without fields behind it; and its end, a checksum and a length.
constexpr std::int64_t head_bytes = 10;
constexpr std::int64_t end_bytes = 8;
/// The head of deflate's block of bytes as they are.
constexpr std::int64_t stored_head = 5;
/// An empty last block of deflate's.
constexpr std::int64_t empty_block = 2;
/// The length of a member's fields, and the name and length of the one of them.
constexpr std::int64_t field_head = 6;
constexpr std::int64_t size_bytes = 8;
/// Sizes of strips in one field, which has fewer than 2^16 bytes.
constexpr std::int64_t most_sizes = 8000;
constexpr std::int64_t before_sizes = head_bytes + field_head;
constexpr std::int64_t behind_sizes = empty_block + end_bytes;

/// Little-endian numbers, one after the other.
class GzipBytes {
  public:
    void add(std::uint64_t value, unsigned bytes) {
        for (unsigned i = 0; i < bytes; ++i) {
            bytes_.push_back(static_cast<std::byte>(value >> (8U * i)));
        }
    }
    /// Without a time, so that the same output has the same bytes.
    void add_head(unsigned flags) {
        add(0x8b1f, 2); // gzip's mark
        add(8, 1);      // deflate
        add(flags, 1);
        add(0, 5);
        add(255, 1); // of no system
    }
    void add_bytes(std::span<const std::byte> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    std::span<const std::byte> get() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

/// A member that has a few bytes as they are.
GzipBytes stored(std::span<const std::byte> bytes) {
    GzipBytes member;
    member.add_head(0);
    member.add(1, 1); // the last block
    member.add(bytes.size(), 2);
    member.add(~bytes.size(), 2);
    member.add_bytes(bytes);
    member.add(png_checksum(bytes), 4); // gzip's is the same
    member.add(bytes.size(), 4);
    return member;
}

/// The empty members behind the strips.
GzipBytes tail_of(std::span<const std::int64_t> sizes) {
    constexpr unsigned has_fields = 4;
    GzipBytes tail;
    for (std::size_t first = 0; first < sizes.size(); first += most_sizes) {
        const auto part = sizes.subspan(
            first, std::min(sizes.size() - first, static_cast<std::size_t>(most_sizes)));
        const std::size_t bytes = part.size_bytes();
        tail.add_head(has_fields);
        tail.add(bytes + 4, 2);
        tail.add('R', 1);
        tail.add('S', 1);
        tail.add(bytes, 2);
        for (const std::int64_t size : part) {
            tail.add(static_cast<std::uint64_t>(size), size_bytes);
        }
        tail.add(3, empty_block);
        tail.add(0, end_bytes);
    }
    return tail;
}

std::int64_t tail_bytes(std::int64_t strips) {
    const std::int64_t members = (strips + most_sizes - 1) / most_sizes;
    return strips * size_bytes + members * (before_sizes + behind_sizes);
}

std::int64_t strips_of(const OutputDataset& output) {
    return ChunkGrid(output.array, output.layout).count();
}

std::int64_t data_begin(const ArrayInfo& array) {
    return head_bytes + stored_head + nifti_place(array).begin + end_bytes;
}

std::int64_t number_at(std::span<const std::byte> bytes, std::int64_t at) {
    std::uint64_t value = 0;
    for (std::int64_t i = size_bytes; i-- > 0;) {
        value =
            value << 8U | std::to_integer<std::uint64_t>(bytes[static_cast<std::size_t>(at + i)]);
    }
    return static_cast<std::int64_t>(value);
}

} // namespace

DataPlace place_nifti_gz(const OutputDataset& output) {
    refuse_colour_in_volume(output);
    const std::int64_t bytes = nifti_place(output.array).bytes;
    const std::int64_t begin = data_begin(output.array);
    return {begin, bytes, begin + bytes + tail_bytes(strips_of(output))};
}

std::vector<std::int64_t> nifti_gz_chunk(const ArrayInfo& array, const OutputLayout& /*layout*/) {
    constexpr std::int64_t strip_bytes = 256 * KiB;
    std::vector<std::int64_t> chunk(array.shape.size(), 1);
    const bool has_lines = array.shape.size() > 1;
    const std::size_t rows = array.shape.size() - (has_lines ? 2 : 1);
    const std::int64_t line = (has_lines ? array.shape.back() : 1) * size_of(array.type);
    chunk.back() = array.shape.back();
    chunk[rows] = std::clamp<std::int64_t>(strip_bytes / line, 1, array.shape[rows]);
    return chunk;
}

void make_nifti_gz_structure(const OutputDataset& output, std::span<const std::int64_t> sizes,
                             const StructurePiece& piece) {
    nifti_structure(output.array, output.axes,
                    [&](std::int64_t /*offset*/, std::span<const std::byte> header) {
                        piece(0, stored(header).get());
                    });
    std::int64_t end = data_begin(output.array);
    for (const std::int64_t bytes : sizes) {
        end += bytes;
    }
    piece(end, tail_of(sizes).get());
}

std::vector<std::int64_t> nifti_gz_sizes(const OutputDataset& output) {
    const std::int64_t begin = data_begin(output.array);
    const std::int64_t strips = strips_of(output);
    const File file(output.file, File::Mode::read);
    const std::int64_t end = file.size() - tail_bytes(strips);
    if (end < begin) {
        refuse_structure_byte(file.path(), file.size());
    }
    std::vector<std::byte> tail(static_cast<std::size_t>(tail_bytes(strips)));
    file.read(end, std::ssize(tail), tail.data());
    std::vector<std::int64_t> sizes;
    std::int64_t left = end - begin;
    for (std::int64_t strip = 0; strip < strips; ++strip) {
        const std::int64_t at =
            strip * size_bytes + before_sizes + strip / most_sizes * (before_sizes + behind_sizes);
        const std::int64_t bytes = number_at(tail, at);
        if (bytes <= 0 || bytes > left) {
            refuse_structure_byte(file.path(), end + at);
        }
        sizes.push_back(bytes);
        left -= bytes;
    }
    if (left != 0) {
        refuse_structure_byte(file.path(), end + before_sizes);
    }
    return sizes;
}

} // namespace runner
