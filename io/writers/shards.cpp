// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/shards.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/file.hpp"
#include "io/files/hash.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/chunk_grid.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

namespace runner {
namespace {

constexpr const char* mark = ".shard-";

/// File systems let one thread at a time write to a file: several files take what several threads
/// pack. Of more, a run of many ranks would have too many open.
constexpr std::int64_t most_shards = 4;

[[noreturn]] void fail(const std::string& what, const std::string& where,
                       const std::error_code& failure) {
    throw Error(ExitCode::output, {what, where, failure.message(), errno_remedy(failure.value())});
}

constexpr std::size_t index_of(std::int64_t number) { return static_cast<std::size_t>(number); }

/// Calls `work` for each number below `count` on a few threads: a file system frees the pages of
/// one file by one thread, some 150 ms for each GiB of tmpfs.
template <class Work> void each_at_once(std::int64_t count, const Work& work) {
    constexpr std::int64_t most_threads = 8;
    IoThreads pool(static_cast<int>(std::clamp<std::int64_t>(count, 1, most_threads)));
    pool.run(count, [&](std::int64_t item, int /*thread*/) { work(item); });
}

/// Whether it is "ATTEMPT-RANK" or "ATTEMPT-RANK-NUMBER", as every shard's name ends.
bool has_numbers_of_shard(std::string_view text) {
    int numbers = 0;
    for (; !text.empty(); ++numbers) {
        const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
        if (digits == 0 || digits + 1 == text.size() ||
            (digits < text.size() && text[digits] != '-')) {
            return false;
        }
        text.remove_prefix(std::min(digits + 1, text.size()));
    }
    return numbers == 2 || numbers == 3;
}

} // namespace

std::uint64_t check_of(const ShardRecord& record) {
    // Counts the ways in which parts were packed (shard_layout()): a run does not resume with
    // parts that it would unpack wrongly.
    constexpr std::uint64_t version = 3;
    return version ^
           hash_bytes(reinterpret_cast<const std::byte*>(&record), offsetof(ShardRecord, check));
}

ShardRecord record_of(std::int64_t piece, std::span<const std::byte> packed, std::int64_t offset) {
    ShardRecord record{piece, std::ssize(packed), hash_bytes(packed.data(), std::ssize(packed)),
                       offset, 0};
    record.check = check_of(record);
    return record;
}

void append(std::vector<std::byte>& bytes, const ShardRecord& record) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&record);
    bytes.insert(bytes.end(), begin, begin + sizeof(record));
}

void ShardFile::append(std::span<const std::byte> bytes) {
    if (!bytes.empty()) {
        file_.write(end_.fetch_add(std::ssize(bytes)), std::ssize(bytes), bytes.data());
    }
}

void ShardFile::append(const ShardRecord& record, std::span<const std::byte> packed) {
    constexpr std::int64_t head = sizeof(record);
    const std::int64_t at = end_.fetch_add(head + std::ssize(packed));
    file_.write(at, head, reinterpret_cast<const std::byte*>(&record));
    file_.write(at + head, std::ssize(packed), packed.data());
}

ShardFiles::ShardFiles(const OutputDataset& output, int rank, int threads, std::int64_t attempt) {
    const std::int64_t parts = ChunkGrid(output.array, output.layout).parts();
    const std::int64_t files =
        std::max<std::int64_t>(std::min<std::int64_t>({most_shards, threads, parts}), 1);
    for (std::int64_t number = 0; number < files; ++number) {
        files_.emplace_back(shard_path(output, rank, attempt, number));
    }
}

void ShardFiles::start_sync() noexcept {
    for (ShardFile& shard : files_) {
        shard.file().start_sync();
    }
}

void ShardFiles::sync() {
    for (ShardFile& shard : files_) {
        shard.file().sync();
    }
}

void ShardFiles::close() {
    for (ShardFile& shard : files_) {
        shard.file().close();
    }
}

std::string shard_path(const OutputDataset& output, int rank, std::int64_t attempt,
                       std::int64_t number) {
    const std::string first = fmt::format("{}{}{}-{}", output.file, mark, attempt, rank);
    return number == 0 ? first : fmt::format("{}-{}", first, number);
}

std::vector<std::string> shard_paths(const OutputDataset& output) {
    const std::filesystem::path file(output.file);
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
    const std::string start = file.filename().string() + mark;
    std::vector<std::string> paths;
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with(start) &&
            has_numbers_of_shard(std::string_view(name).substr(start.size()))) {
            paths.push_back(entry->path().string());
        }
    }
    if (failure == std::errc::no_such_file_or_directory) {
        throw Error(ExitCode::output,
                    {"cannot write into the output's folder", folder.string(), failure.message(),
                     "Make it: mkdir -p " + shell_word(folder.string())});
    }
    if (failure) {
        fail("cannot list the folder of the output", folder.string(), failure);
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

void remove_shards(const OutputDataset& output) {
    const std::vector<std::string> paths = shard_paths(output);
    each_at_once(std::ssize(paths), [&](std::int64_t i) {
        std::error_code failure;
        std::filesystem::remove(paths[index_of(i)], failure);
        if (failure) {
            fail("cannot remove a file of compressed chunks", paths[index_of(i)], failure);
        }
    });
}

OutputLayout shard_layout(const OutputDataset& output) {
    OutputLayout layout = output.layout;
    const bool repacked = ChunkGrid(output.array, layout).layers() > 1;
    if (repacked && layout.compression != Compression::none) {
        layout.compression = Compression::lz4;
    }
    return layout;
}

PackedPieces::PackedPieces(const OutputDataset& output)
    : output_(output), grid_(output.array, output.layout), places_(index_of(grid_.pieces())) {
    if (places_chunks(output.layout)) {
        files_ = std::make_unique<GrowingFiles>(output_);
    }
    std::set<std::string> runs;
    for (const std::string& path : shard_paths(output)) {
        shards_.emplace_back(path, File::Mode::update);
        const std::string numbers = path.substr(path.rfind(mark) + std::strlen(mark));
        runs.insert(numbers.substr(0, numbers.find('-')));
    }
    has_several_runs_ = runs.size() > 1;
    std::vector<std::vector<Listed>> lists(shards_.size());
    each_at_once(std::ssize(shards_),
                 [&](std::int64_t shard) { lists[index_of(shard)] = list(index_of(shard)); });
    for (const std::vector<Listed>& listed : lists) {
        for (const auto& [piece, place] : listed) {
            places_[index_of(piece)].push_back(place);
        }
    }
}

/// Up to the first bytes that are no record: there a killed run was cut short, after all that its
/// journal knows of.
std::vector<PackedPieces::Listed> PackedPieces::list(std::size_t shard) const {
    std::vector<Listed> listed;
    const File& file = shards_[shard];
    const std::int64_t size = file.size();
    constexpr std::int64_t head = sizeof(ShardRecord);
    for (std::int64_t at = 0; size - at >= head;) {
        ShardRecord record;
        file.read(at, head, reinterpret_cast<std::byte*>(&record));
        at += head;
        const bool follows = record.offset == ShardRecord::follows;
        if (record.check != check_of(record) || record.piece < 0 ||
            record.piece >= std::ssize(places_) || record.bytes < 0 || record.offset < -1 ||
            (follows ? record.bytes > size - at : files_ == nullptr)) {
            break;
        }
        listed.emplace_back(record.piece, Place{record.bytes, follows ? at : record.offset,
                                                record.hash, shard, !follows});
        at += follows ? record.bytes : 0;
    }
    return listed;
}

bool PackedPieces::read(std::int64_t piece, std::vector<std::byte>& bytes) const {
    const std::vector<Place>& places = places_.at(index_of(piece));
    return std::any_of(places.begin(), places.end(),
                       [&](const Place& place) { return read(piece, place, bytes); });
}

bool PackedPieces::read(std::int64_t piece, const Place& place,
                        std::vector<std::byte>& bytes) const {
    const auto fill = [&](const File& file) {
        bytes.resize(static_cast<std::size_t>(place.bytes));
        file.read(place.offset, place.bytes, bytes.data());
        return hash_bytes(bytes.data(), place.bytes) == place.hash;
    };
    if (!place.is_in_file) {
        return fill(shards_[place.shard]);
    }
    const std::int64_t chunk = grid_.place_of(piece).chunk;
    const GrowingFiles::Handle file =
        files_->open(folder_of(output_.layout)->place(output_, chunk).file);
    return file != nullptr && place.bytes <= file->size() - place.offset && fill(*file);
}

std::optional<std::int64_t> PackedPieces::bytes_at(std::int64_t piece, std::int64_t offset,
                                                   std::int64_t size) const {
    std::vector<std::byte> bytes;
    for (const Place& place : places_.at(index_of(piece))) {
        if (place.is_in_file && place.offset == offset && offset + place.bytes <= size &&
            (!has_several_runs_ || read(piece, place, bytes))) {
            return place.bytes;
        }
    }
    return std::nullopt;
}

std::optional<std::int64_t> PackedPieces::chunk_at(std::int64_t chunk, std::int64_t offset,
                                                   std::int64_t size) const {
    if (output_.layout.compression != Compression::none) {
        return bytes_at(grid_.piece_of(chunk), offset, size);
    }
    for (std::int64_t layer = 0; layer < grid_.layers(); ++layer) {
        const std::optional<std::int64_t> part = grid_.part_in({chunk, layer});
        if (part && !bytes_at(*part, offset + layer * grid_.part_bytes(), size)) {
            return std::nullopt;
        }
    }
    return grid_.chunk_bytes();
}

std::vector<std::int64_t> PackedPieces::in_place(const FileOfChunks& file) const {
    std::vector<std::int64_t> sizes;
    if (files_ == nullptr) {
        return sizes;
    }
    const GrowingFiles::Handle there =
        files_->open(folder_of(output_.layout)->place(output_, file.chunks.front()).file);
    const std::int64_t size = there ? there->size() : 0; // somebody may have removed or cut it
    std::int64_t end = 0;
    for (const std::int64_t chunk : file.chunks) {
        const std::optional<std::int64_t> bytes = chunk < 0 ? 0 : chunk_at(chunk, end, size);
        if (!bytes) {
            break;
        }
        sizes.push_back(*bytes);
        end += *bytes;
    }
    return sizes;
}

void PackedPieces::take(std::int64_t piece, std::vector<std::byte>& bytes) const {
    if (read(piece, bytes)) {
        return;
    }
    const std::int64_t chunk = grid_.place_of(piece).chunk;
    const bool was_there = has(piece) || has(grid_.piece_of(chunk));
    throw Error(ExitCode::output,
                {"cannot put the compressed chunks together",
                 fmt::format("{}, chunk {}", output_.file, chunk),
                 was_there ? "its bytes have changed on the disk" : "no rank wrote it",
                 was_there ? "Run the same command again: it computes the chunk once more"
                           : "Set run.resume = \"never\" to restart the job"});
}

} // namespace runner
