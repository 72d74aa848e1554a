// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/checkpoints.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/files/hash.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace runner::output {
namespace {

namespace fs = std::filesystem;

/// Each is in a folder of its own, so that its records need no number to tell them from others.
constexpr std::int64_t record_attempt = 1;
constexpr std::string_view prefix = "checkpoint-";

std::string folder_of(const std::string& journal, std::uint64_t generation) {
    return fmt::format("{}/{}{}", journal, prefix, generation);
}

std::string state_path(const std::string& journal, std::uint64_t generation) {
    return folder_of(journal, generation) + "/state";
}

std::vector<std::uint64_t> generations_in(const std::string& journal) {
    std::vector<std::uint64_t> all;
    std::error_code failure;
    for (fs::directory_iterator entry(journal, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        std::uint64_t generation = 0;
        const char* const last = name.data() + name.size();
        if (name.starts_with(prefix) && name.size() > prefix.size()) {
            const auto [end_of_number, error] =
                std::from_chars(name.data() + prefix.size(), last, generation);
            if (error == std::errc() && end_of_number == last) {
                all.push_back(generation);
            }
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

bool is_right(const File& file, const RowHash& rows, std::int64_t row_bytes) {
    constexpr std::int64_t piece = 16 * MiB;
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(piece, rows.rows * row_bytes)));
    BytesHasher hasher;
    const std::int64_t end = (rows.first + rows.rows) * row_bytes;
    for (std::int64_t at = rows.first * row_bytes; at < end;) {
        const std::int64_t count = std::min<std::int64_t>(piece, end - at);
        file.read(at, count, bytes.data());
        hasher.add(bytes.data(), count);
        at += count;
    }
    return hasher.hash() == rows.hash;
}

bool is_whole(const std::string& journal, std::uint64_t generation, const StateSize& size) {
    try {
        const JournalRows listed =
            read_journal(folder_of(journal, generation), record_attempt, size.rows);
        std::int64_t next = 0;
        const File file = open_checkpoint(journal, generation);
        for (const RowHash& rows : listed.rows) {
            if (rows.first != next || !is_right(file, rows, size.row_bytes)) {
                return false;
            }
            next += rows.rows;
        }
        return next == size.rows;
    } catch (const Error&) { // torn by whatever ended the run: an older one is used
        return false;
    }
}

void remove(const std::string& folder) {
    std::error_code failure;
    fs::remove_all(folder, failure);
    if (failure) {
        throw Error(ExitCode::output,
                    {"cannot remove a checkpoint", folder, failure.message(), ""});
    }
}

} // namespace

bool has_checkpoint(const std::string& journal) { return !generations_in(journal).empty(); }

void begin_checkpoint(const std::string& journal, std::uint64_t generation) {
    const std::string folder = folder_of(journal, generation);
    remove(folder);
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure) {
        throw Error(ExitCode::output,
                    {"cannot make a checkpoint's folder", folder, failure.message(), ""});
    }
    sync_folder_of(folder);
    File(state_path(journal, generation), File::Mode::create).close();
    sync_folder_of(state_path(journal, generation));
}

CheckpointWriter::CheckpointWriter(const std::string& journal, std::uint64_t generation, int rank,
                                   std::int64_t row_bytes, RowWriter::Sync sync)
    : row_bytes_(row_bytes), sync_(sync),
      file_(state_path(journal, generation), File::Mode::update),
      journal_(folder_of(journal, generation), record_attempt, fmt::format("rank-{}", rank), sync) {
}

void CheckpointWriter::write(std::int64_t first, std::int64_t rows, const std::byte* from) {
    const std::int64_t bytes = rows * row_bytes_;
    file_.write(first * row_bytes_, bytes, from);
    written_.push_back({first, rows, hash_bytes(from, bytes)});
}

void CheckpointWriter::finish() {
    if (sync_ == RowWriter::Sync::yes) {
        file_.sync();
    }
    if (!written_.empty()) {
        journal_.append(written_);
    }
    file_.close();
}

void remove_other_checkpoints(const std::string& journal, std::uint64_t generation) {
    for (const std::uint64_t other : generations_in(journal)) {
        if (other != generation) {
            remove(folder_of(journal, other));
        }
    }
}

std::optional<std::uint64_t> latest_checkpoint(const std::string& journal, const StateSize& size,
                                               const std::function<bool(std::uint64_t)>& usable) {
    const std::vector<std::uint64_t> all = generations_in(journal);
    const auto found = std::find_if(all.rbegin(), all.rend(), [&](std::uint64_t generation) {
        return usable(generation) && is_whole(journal, generation, size);
    });
    return found == all.rend() ? std::nullopt : std::optional(*found);
}

File open_checkpoint(const std::string& journal, std::uint64_t generation) {
    return {state_path(journal, generation), File::Mode::read};
}

} // namespace runner::output
