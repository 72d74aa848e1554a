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
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace runner {
namespace {

constexpr const char* mark = ".shard-";

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
    constexpr std::uint64_t version = 2;
    return version ^
           hash_bytes(reinterpret_cast<const std::byte*>(&record), offsetof(ShardRecord, check));
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

PackedParts::PackedParts(const OutputDataset& output)
    : places_(index_of(ChunkGrid(output.array, output.layout).parts())) {
    for (const std::string& path : shard_paths(output)) {
        shards_.emplace_back(path, File::Mode::update);
    }
    std::vector<std::vector<Listed>> lists(shards_.size());
    each_at_once(std::ssize(shards_),
                 [&](std::int64_t shard) { lists[index_of(shard)] = list(index_of(shard)); });
    for (const std::vector<Listed>& listed : lists) {
        for (const auto& [part, place] : listed) {
            places_[index_of(part)].push_back(place);
        }
    }
}

/// Up to the first bytes that are no record: there a killed run was cut short, after all that its
/// journal knows of.
std::vector<PackedParts::Listed> PackedParts::list(std::size_t shard) const {
    std::vector<Listed> listed;
    const File& file = shards_[shard];
    const std::int64_t size = file.size();
    constexpr std::int64_t head = sizeof(ShardRecord);
    for (std::int64_t at = 0; size - at >= head;) {
        ShardRecord record;
        file.read(at, head, reinterpret_cast<std::byte*>(&record));
        at += head;
        if (record.check != check_of(record) || record.part < 0 ||
            record.part >= std::ssize(places_) || record.bytes < 0 || record.bytes > size - at) {
            break;
        }
        listed.emplace_back(record.part, Place{record.bytes, at, record.hash, shard});
        at += record.bytes;
    }
    return listed;
}

bool PackedParts::read(std::int64_t part, std::vector<std::byte>& bytes) const {
    const std::vector<Place>& places = places_.at(index_of(part));
    return std::any_of(places.begin(), places.end(), [&](const Place& place) {
        bytes.resize(static_cast<std::size_t>(place.bytes));
        shards_[place.shard].read(place.offset, place.bytes, bytes.data());
        return hash_bytes(bytes.data(), place.bytes) == place.hash;
    });
}

void PackedParts::take(std::int64_t part, std::int64_t chunk, std::vector<std::byte>& bytes) const {
    if (!read(part, bytes)) {
        throw Error(ExitCode::output,
                    {"cannot put the compressed chunks together", fmt::format("chunk {}", chunk),
                     has(part) ? "its bytes have changed on the disk" : "no rank wrote it",
                     "Set run.resume = \"never\" to restart the job"});
    }
}

} // namespace runner
