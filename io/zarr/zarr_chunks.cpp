// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zarr_chunks.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/filters/unpacker.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace runner {
namespace {

using Coordinates = std::vector<std::int64_t>;
using BadChunks = InputRules::BadChunks;

/// More are not listed, as of files.
constexpr std::size_t most_chunks = std::size_t{1} << 23;

constexpr const char* copy_again = "The file is damaged: copy it again, or make it again";

/// A number as a chunk's key has it.
std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool plain = text == "0" || (!text.empty() && text.front() >= '1' && text.front() <= '9');
    return plain && failure == std::errc{} && end == text.data() + text.size()
               ? std::optional(number)
               : std::nullopt;
}

Coordinates counts_of(const Coordinates& shape, const Coordinates& chunk) {
    Coordinates counts;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        counts.push_back((shape[axis] - 1) / chunk[axis] + 1);
    }
    return counts;
}

/// Steps through the box of `counts`, the last axis fastest; false behind the last one.
bool advance(Coordinates& at, const Coordinates& counts) {
    for (std::size_t axis = at.size(); axis-- > 0;) {
        if (++at[axis] < counts[axis]) {
            return true;
        }
        at[axis] = 0;
    }
    return false;
}

/// The bytes of a file that a shard, or a chunk, is.
struct Extent {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};

class ChunkLister {
  public:
    ChunkLister(ZarrStore& store, const ZarrArray& array, const std::string& where,
                BadChunks bad_chunks)
        : store_(store), array_(array), where_(where), bad_chunks_(bad_chunks),
          shape_(array.info.array.shape),
          chunk_bytes_(byte_count({array.info.array.type, array.info.chunk})),
          file_counts_(counts_of(shape_, array.file_chunk)),
          counts_(counts_of(shape_, array.info.chunk)) {}

    ZarrChunks list(const std::string& name) {
        const std::string folder = name.empty() ? "." : name;
        if (array_.separator == '/') {
            visit_folders(array_.key_prefix.empty() ? folder : folder + "/" + array_.key_prefix,
                          {});
        } else {
            visit_names(folder);
        }
        std::sort(made_.places.begin(), made_.places.end(),
                  [](const ChunkPlace& a, const ChunkPlace& b) { return a.index < b.index; });
        std::sort(
            made_.members.begin(), made_.members.end(),
            [](const ArchiveMember& a, const ArchiveMember& b) { return a.offset < b.offset; });
        return std::move(made_);
    }

  private:
    /// Folders within folders, one an axis, and the files in the last.
    void visit_folders(const std::string& folder, const Coordinates& begin) {
        for (const std::string& name : store_.names(folder)) {
            const std::optional<std::int64_t> number = number_in(name);
            if (!number || *number >= file_counts_[begin.size()]) {
                continue;
            }
            Coordinates at = begin;
            at.push_back(*number);
            if (at.size() == shape_.size()) {
                add_file(fmt::format("{}/{}", folder, name), at);
            } else {
                visit_folders(fmt::format("{}/{}", folder, name), at);
            }
        }
    }

    /// Files with all numbers in their names.
    void visit_names(const std::string& folder) {
        const std::string prefix = array_.key_prefix.empty() ? "" : array_.key_prefix + ".";
        for (const std::string& name : store_.names(folder)) {
            if (name.starts_with(prefix)) {
                if (const auto at = key_of(std::string_view(name).substr(prefix.size()))) {
                    add_file(fmt::format("{}/{}", folder, name), *at);
                }
            }
        }
    }

    std::optional<Coordinates> key_of(std::string_view key) const {
        Coordinates at;
        while (at.size() < shape_.size()) {
            const std::size_t end = std::min(key.find('.'), key.size());
            const std::optional<std::int64_t> number = number_in(key.substr(0, end));
            const bool is_last = at.size() + 1 == shape_.size();
            if (!number || *number >= file_counts_[at.size()] || (end == key.size()) != is_last) {
                return std::nullopt;
            }
            at.push_back(*number);
            key.remove_prefix(is_last ? end : end + 1);
        }
        return at;
    }

    void add_file(const std::string& name, const Coordinates& at) {
        const std::optional<StoreFile> found = store_.file(name);
        if (!found) {
            return; // it has just gone
        }
        if (std::ssize(made_.files) == most_chunk_files) {
            refuse_zarr(where_, fmt::format("it has more than {} chunk files", most_chunk_files),
                        "Store it again in shards, or in larger chunks");
        }
        Coordinates start = at;
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
            start[axis] *= array_.file_chunk[axis];
        }
        if (made_.files.empty() || made_.files.back() != found->path) {
            made_.files.push_back(found->path); // an archive once
        }
        const Extent extent{found->offset, found->bytes};
        if (found->checksum) {
            made_.members.push_back({name.starts_with("./") ? name.substr(2) : name, extent.offset,
                                     extent.bytes, *found->checksum});
        }
        made_.marks.emplace(found->path, found->mark);
        made_.stored_bytes += extent.bytes;
        std::optional<File> file;
        if (!array_.shards.empty()) {
            file.emplace(made_.files.back(), File::Mode::read);
        }
        const std::size_t before = made_.places.size();
        try {
            if (file) {
                add_shard(*file, 0, start, extent);
            } else {
                add_chunk(start, extent);
            }
        } catch (const Error&) {
            if (bad_chunks_ == BadChunks::refuse) {
                throw;
            }
            made_.places.resize(before);
            mark_chunks(start);
        }
    }

    /// Adds all chunks of the last file as ones that cannot be read.
    void mark_chunks(const Coordinates& start) {
        const Coordinates counts = counts_of(array_.file_chunk, array_.info.chunk);
        Coordinates at(counts.size(), 0);
        do {
            Coordinates begin = start;
            bool is_within = true;
            for (std::size_t axis = 0; axis < at.size(); ++axis) {
                begin[axis] += at[axis] * array_.info.chunk[axis];
                is_within = is_within && begin[axis] < shape_[axis];
            }
            if (is_within) {
                add_place(begin, {0, 0});
            }
        } while (advance(at, counts));
    }

    std::string chunk_text(const Coordinates& start) const {
        return where_ + ", chunk from " + shape_text(start) + ", in " + made_.files.back();
    }

    [[noreturn]] void refuse(const Coordinates& start, const std::string& why) const {
        refuse_zarr(chunk_text(start), why, copy_again);
    }

    void add_chunk(const Coordinates& start, const Extent& extent) {
        if (extent.bytes == 0 || (array_.filters.empty() && extent.bytes < chunk_bytes_)) {
            refuse(start, fmt::format("{} bytes of it are stored, and a chunk has {}", extent.bytes,
                                      chunk_bytes_));
        }
        if (extent.bytes > most_packed_bytes(chunk_bytes_)) {
            refuse(start, fmt::format("{} bytes of it are stored, which cannot be its {}",
                                      extent.bytes, chunk_bytes_));
        }
        add_place(start, extent);
    }

    void add_place(const Coordinates& start, const Extent& extent) {
        if (made_.places.size() == most_chunks) {
            refuse_zarr(where_, fmt::format("more than {} chunks of it are stored", most_chunks),
                        "Store it again in larger chunks");
        }
        ChunkPlace place;
        for (std::size_t axis = 0; axis < start.size(); ++axis) {
            place.index = place.index * counts_[axis] + start[axis] / array_.info.chunk[axis];
        }
        place.offset = extent.offset;
        place.bytes = extent.bytes;
        place.file = static_cast<std::uint32_t>(made_.files.size() - 1);
        made_.places.push_back(place);
    }

    /// What a shard has of one of its chunks: bytes from an offset on.
    struct Part {
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        Coordinates begin;
        bool is_within = true; ///< the array; another one is never read
    };

    /// Adds the chunks of a shard, or of shards within it. `level`: of shards, 0 the outermost.
    void add_shard(const File& file, std::size_t level, const Coordinates& start,
                   const Extent& extent) {
        const ZarrShard& shard = array_.shards[level];
        const Coordinates& whole = level == 0 ? array_.file_chunk : array_.shards[level - 1].chunk;
        Coordinates counts;
        for (std::size_t axis = 0; axis < whole.size(); ++axis) {
            counts.push_back(whole[axis] / shard.chunk[axis]);
        }
        std::vector<Part> parts = listed_parts(file, shard, counts, start, extent);
        check_overlaps(parts, shard, index_bytes(shard, counts), extent);
        for (const Part& part : parts) {
            if (!part.is_within) {
                continue;
            }
            const Extent place{extent.offset + static_cast<std::int64_t>(part.offset),
                               static_cast<std::int64_t>(part.bytes)};
            if (level + 1 < array_.shards.size()) {
                add_shard(file, level + 1, part.begin, place);
            } else {
                add_chunk(part.begin, place);
            }
        }
    }

    /// The chunks that the index of a shard says to be stored.
    std::vector<Part> listed_parts(const File& file, const ZarrShard& shard,
                                   const Coordinates& counts, const Coordinates& start,
                                   const Extent& extent) const {
        const std::vector<std::uint64_t> index = read_index(file, shard, counts, start, extent);
        const auto room = static_cast<std::uint64_t>(extent.bytes);
        std::vector<Part> parts;
        Coordinates at(counts.size(), 0);
        std::size_t next = 0;
        do {
            Part part{index[next], index[next + 1], start};
            next += 2;
            for (std::size_t axis = 0; axis < at.size(); ++axis) {
                part.begin[axis] += at[axis] * shard.chunk[axis];
                part.is_within = part.is_within && part.begin[axis] < shape_[axis];
            }
            if (part.offset == absent && part.bytes == absent) {
                continue;
            }
            if (part.offset > room || part.bytes > room - part.offset) {
                refuse(part.begin, fmt::format("the index of its shard says {} bytes from byte {}, "
                                               "and the shard has {}",
                                               part.bytes, part.offset, room));
            }
            parts.push_back(std::move(part));
        } while (advance(at, counts));
        return parts;
    }

    /// Refuses chunks that lie over one another or over the index. Sorts them by their places.
    void check_overlaps(std::vector<Part>& parts, const ZarrShard& shard, std::int64_t index,
                        const Extent& extent) const {
        const bool is_first = shard.index == ZarrShard::Index::first;
        const auto index_bytes = static_cast<std::uint64_t>(index);
        const std::uint64_t begin = is_first ? index_bytes : 0;
        const std::uint64_t end =
            static_cast<std::uint64_t>(extent.bytes) - (is_first ? 0 : index_bytes);
        std::stable_sort(parts.begin(), parts.end(),
                         [](const Part& a, const Part& b) { return a.offset < b.offset; });
        std::uint64_t used = begin; // up to this byte
        const Part* before = nullptr;
        for (const Part& part : parts) {
            const bool is_over_index = part.offset < begin || part.offset + part.bytes > end;
            if (part.bytes > 0 && (is_over_index || part.offset < used)) {
                refuse(part.begin,
                       fmt::format("the index of its shard is damaged: it says {} bytes from byte "
                                   "{}, which lie over {}",
                                   part.bytes, part.offset,
                                   is_over_index ? "the index itself"
                                                 : "the chunk from " + shape_text(before->begin)));
            }
            if (part.bytes > 0) {
                used = part.offset + part.bytes;
                before = &part;
            }
        }
    }

    /// Bytes of the index of a shard, with its checksum.
    static std::int64_t index_bytes(const ZarrShard& shard, const Coordinates& counts) {
        std::int64_t bytes = 2 * sizeof(std::uint64_t);
        for (const std::int64_t count : counts) {
            if (__builtin_mul_overflow(bytes, count, &bytes)) {
                bytes = std::numeric_limits<std::int64_t>::max() - checksum;
                break;
            }
        }
        return bytes + (shard.has_checksum ? checksum : 0);
    }

    /// The index of a shard: of each chunk the offset, then the bytes.
    std::vector<std::uint64_t> read_index(const File& file, const ZarrShard& shard,
                                          const Coordinates& counts, const Coordinates& start,
                                          const Extent& extent) const {
        const std::int64_t bytes = index_bytes(shard, counts);
        if (bytes > extent.bytes) {
            refuse(start, fmt::format("the shard has {} bytes, and its index alone has {}",
                                      extent.bytes, bytes));
        }
        std::vector<std::byte> text(static_cast<std::size_t>(bytes));
        file.read(shard.index == ZarrShard::Index::first ? extent.offset
                                                         : extent.offset + extent.bytes - bytes,
                  bytes, text.data());
        std::span<const std::byte> numbers = text;
        if (shard.has_checksum) {
            numbers = numbers.first(text.size() - checksum);
            const std::span<const std::byte> stored = std::span(text).last(checksum);
            if (number_of(stored, false) != crc32c(numbers)) {
                refuse(start, "the index of its shard does not fit its checksum (crc32c)");
            }
        }
        std::vector<std::uint64_t> index;
        for (std::size_t at = 0; at < numbers.size(); at += sizeof(std::uint64_t)) {
            index.push_back(
                number_of(numbers.subspan(at, sizeof(std::uint64_t)), shard.big_endian));
        }
        return index;
    }

    static std::uint64_t number_of(std::span<const std::byte> bytes, bool big_endian) {
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const std::byte byte = bytes[big_endian ? i : bytes.size() - 1 - i];
            number = number << 8U | std::to_integer<std::uint64_t>(byte);
        }
        return number;
    }

    static constexpr std::int64_t checksum = 4; ///< bytes behind an index
    static constexpr std::uint64_t absent = std::numeric_limits<std::uint64_t>::max();

    ZarrStore& store_;
    const ZarrArray& array_;
    const std::string& where_;
    BadChunks bad_chunks_;
    const Coordinates& shape_;
    std::int64_t chunk_bytes_;
    Coordinates file_counts_; ///< chunk files along each axis
    Coordinates counts_;      ///< chunks along each axis
    ZarrChunks made_;
};

} // namespace

ZarrChunks list_zarr_chunks(ZarrStore& store, const std::string& name, const ZarrArray& array,
                            const std::string& where, InputRules::BadChunks bad_chunks) {
    return ChunkLister(store, array, where, bad_chunks).list(name);
}

} // namespace runner
