// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/check_index.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/filters/codec.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <hdf5.h>

namespace runner {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input, {"cannot read the dataset", where, why,
                                  "The file is damaged: copy it again, or make it again"});
}

/// Chunks of the largest extents; nothing where they are without end.
std::optional<std::uint64_t> most_chunks(const DatasetHandle& dataset, const DatasetInfo& info) {
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    std::array<hsize_t, H5S_MAX_RANK> largest{};
    (void)H5Sget_simple_extent_dims(space.get(), extents.data(), largest.data());
    std::uint64_t count = 1;
    for (std::size_t axis = 0; axis < info.chunk.size(); ++axis) {
        const auto chunk = static_cast<hsize_t>(info.chunk[axis]);
        const hsize_t along = largest[axis] / chunk + (largest[axis] % chunk == 0 ? 0 : 1);
        if (largest[axis] == H5S_UNLIMITED || __builtin_mul_overflow(count, along, &count)) {
            return std::nullopt;
        }
    }
    return count;
}

/// How many chunks a fixed array has room for: behind its signature, version, client, size of an
/// entry and bits of a page.
std::uint64_t room_of(const DatasetHandle& dataset, const File& file, std::uint64_t at,
                      const std::string& where) {
    constexpr std::string_view signature = "FAHD";
    constexpr std::size_t number_at = 8;
    const FileHandle handle(hdf5_must(H5Iget_file_id(dataset.get()), "H5Iget_file_id"));
    const PropertyHandle creation(
        hdf5_must(H5Fget_create_plist(handle.get()), "H5Fget_create_plist"));
    std::size_t address_bytes = 0;
    std::size_t number_bytes = 0;
    hdf5_must(H5Pget_sizes(creation.get(), &address_bytes, &number_bytes), "H5Pget_sizes");
    std::array<std::byte, number_at + sizeof(std::uint64_t)> header{};
    const auto end = static_cast<std::uint64_t>(file.size());
    if (at > end || header.size() > end - at || number_bytes > sizeof(std::uint64_t)) {
        refuse(where, "its index of chunks is not in the file");
    }
    file.read(static_cast<std::int64_t>(at), std::ssize(header), header.data());
    const bool is_one = std::equal(
        signature.begin(), signature.end(), header.begin(),
        [](char wanted, std::byte found) { return static_cast<std::byte>(wanted) == found; });
    if (!is_one) {
        refuse(where, "its index of chunks is none");
    }
    std::uint64_t number = 0;
    for (std::size_t i = number_at + number_bytes; i-- > number_at;) {
        number = number << 8U | std::to_integer<std::uint64_t>(header[i]);
    }
    return number;
}

/// A fixed array numbers the chunks of the largest extents, and HDF5 removes what lies outside of
/// smaller ones: one that was made for other extents has chunks elsewhere, or ends before.
void check_fixed_array(const DatasetHandle& dataset, const ChunkList& list, const DatasetInfo& info,
                       const File& file, std::uint64_t base, const std::string& where) {
    for (std::size_t i = 0; i < list.chunks.size(); ++i) {
        const auto start = list.start_of(i);
        for (std::size_t axis = 0; axis < start.size(); ++axis) {
            if (start[axis] < 0 || start[axis] >= info.array.shape[axis]) {
                refuse(where + ", chunk from " + shape_text(start),
                       "it lies outside of the dataset's " + shape_text(info.array.shape));
            }
        }
    }
    if (list.chunks.empty()) {
        return; // there may be no index yet
    }
    const std::optional<std::uint64_t> wanted = most_chunks(dataset, info);
    const std::uint64_t room = room_of(dataset, file, base + list.index, where);
    if (wanted != room) {
        refuse(where, fmt::format("its index has room for {} chunks and its extents have {}", room,
                                  wanted ? std::to_string(*wanted) : "no end"));
    }
}

constexpr std::uint64_t byte_bits = 8;
constexpr std::uint64_t fletcher32_bytes = 4;

std::uint64_t bytes_of(std::uint64_t bits) { return (bits + byte_bits - 1) / byte_bits; }

/// Reads the n-bit filter's description of a type, number by number.
class NbitType {
  public:
    explicit NbitType(std::span<const unsigned> numbers) : numbers_(numbers) {}

    /// Bits that an element takes; nothing where the description is damaged.
    std::optional<std::uint64_t> bits(int depth = 0) {
        enum Kind : unsigned { atomic = 1, array, compound, whole };
        constexpr int deepest_tree = 8;
        const unsigned kind = next();
        const std::uint64_t size = next();
        if (ended_ || depth > deepest_tree) {
            return std::nullopt;
        }
        switch (kind) {
        case atomic: return atomic_bits();
        case array: return array_bits(size, depth);
        case compound: return compound_bits(depth);
        case whole: return size * byte_bits;
        default: return std::nullopt;
        }
    }

  private:
    /// The next number; 0 behind the last.
    unsigned next() {
        ended_ = ended_ || at_ >= numbers_.size();
        return ended_ ? 0 : numbers_[at_++];
    }

    std::optional<std::uint64_t> atomic_bits() {
        (void)next(); // order of the bytes
        const std::uint64_t precision = next();
        (void)next(); // offset in bits
        return ended_ ? std::nullopt : std::optional(precision);
    }

    std::optional<std::uint64_t> array_bits(std::uint64_t size, int depth) {
        const std::uint64_t of_base = at_ + 1 < numbers_.size() ? numbers_[at_ + 1] : 0;
        const std::optional<std::uint64_t> each = bits(depth + 1);
        return each && of_base > 0 ? std::optional(size / of_base * *each) : std::nullopt;
    }

    std::optional<std::uint64_t> compound_bits(int depth) {
        std::uint64_t sum = 0;
        for (std::uint64_t left = next(); left > 0; --left) {
            (void)next(); // place in the compound
            const std::optional<std::uint64_t> member = bits(depth + 1);
            if (!member) {
                return std::nullopt;
            }
            sum += *member;
        }
        return ended_ ? std::nullopt : std::optional(sum);
    }

    std::span<const unsigned> numbers_;
    std::size_t at_ = 0;
    bool ended_ = false;
};

/// What the n-bit filter makes of a chunk. 0 where its parameters do not tell.
std::uint64_t nbit_bytes(const Filter& filter, std::uint64_t given) {
    constexpr std::size_t unchanged_at = 1;
    constexpr std::size_t elements_at = 2;
    constexpr std::size_t type_at = 3;
    const std::span<const unsigned> numbers(filter.parameters);
    if (numbers.size() <= type_at) {
        return 0;
    }
    if (numbers[unchanged_at] != 0) {
        return given;
    }
    return bytes_of(NbitType(numbers.subspan(type_at)).bits().value_or(0) * numbers[elements_at]);
}

/// What the scale-offset filter makes of a chunk. `head`: of its result, where that is known.
std::uint64_t scale_offset_bytes(const Filter& filter, std::uint64_t given,
                                 const std::function<ChunkHead()>& head) {
    constexpr unsigned integers = 2; // a way to scale
    constexpr std::size_t elements_at = 2;
    constexpr std::size_t size_at = 4;
    constexpr std::uint64_t header = 21; // bits an element, the least value and its size
    const std::vector<unsigned>& numbers = filter.parameters;
    if (numbers.size() <= size_at) {
        return 0;
    }
    if (numbers[0] == integers && numbers[1] == byte_bits * numbers[size_at]) {
        return given;
    }
    std::uint64_t bits = 0;
    if (head) {
        const ChunkHead first = head();
        for (std::size_t i = first.size(); i-- > 0;) {
            bits = bits << byte_bits | std::to_integer<std::uint64_t>(first[i]);
        }
    }
    return header + bytes_of(bits * numbers[elements_at]);
}

} // namespace

void check_index(const DatasetHandle& dataset, const ChunkList& list, const DatasetInfo& info,
                 const File& file, std::uint64_t base, const std::string& where) {
    H5D_chunk_index_t index = H5D_CHUNK_IDX_BTREE;
    hdf5_must(H5Dget_chunk_index_type(dataset.get(), &index), "H5Dget_chunk_index_type");
    if (index == H5D_CHUNK_IDX_FARRAY) {
        check_fixed_array(dataset, list, info, file, base, where);
    }
    for (std::size_t axis = 0; index == H5D_CHUNK_IDX_SINGLE && axis < info.chunk.size(); ++axis) {
        if (info.chunk[axis] < info.array.shape[axis]) {
            refuse(where, "its only chunk is " + shape_text(info.chunk) + " and its shape is " +
                              shape_text(info.array.shape));
        }
    }
}

std::uint64_t least_stored_bytes(const std::vector<Filter>& filters, std::uint32_t skipped,
                                 std::uint64_t chunk_bytes,
                                 const std::function<ChunkHead()>& head) {
    constexpr std::size_t mask_bits = 32;
    std::vector<const Filter*> applied;
    for (std::size_t i = 0; i < filters.size(); ++i) {
        if (i >= mask_bits || (skipped >> i & 1U) == 0) {
            applied.push_back(&filters[i]);
        }
    }
    std::uint64_t bytes = chunk_bytes;
    for (std::size_t i = 0; i < applied.size(); ++i) {
        const bool begins_the_chunk =
            std::all_of(applied.begin() + static_cast<std::ptrdiff_t>(i) + 1, applied.end(),
                        [](const Filter* each) { return each->id == filter_id::fletcher32; });
        switch (applied[i]->id) {
        case filter_id::shuffle: break;
        case filter_id::fletcher32: bytes += fletcher32_bytes; break;
        case H5Z_FILTER_NBIT: bytes = nbit_bytes(*applied[i], bytes); break;
        case H5Z_FILTER_SCALEOFFSET:
            bytes = scale_offset_bytes(*applied[i], bytes,
                                       begins_the_chunk ? head : std::function<ChunkHead()>());
            break;
        default: bytes = 1; // as well as it can pack
        }
    }
    return bytes;
}

} // namespace runner
