// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/placed_chunks.hpp"

#include "base/error.hpp"
#include "io/files/folder_tree.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

namespace runner {
namespace {

/// How many files of a folder are open at once: shards that are short along the last axes all grow
/// together, and a process may have 1024 files open.
constexpr std::size_t most_growing = 64;

constexpr std::size_t as_index(std::int64_t number) { return static_cast<std::size_t>(number); }

/// A new file, in a folder of its own where it has one.
File make_file(const std::string& path) {
    std::error_code failure; // File says why there is no folder
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failure);
    return {path, File::Mode::create};
}

bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

} // namespace

bool places_chunks(const OutputLayout& layout) {
    const FolderOfChunks* const folder = folder_of(layout);
    return folder != nullptr && folder->place != nullptr;
}

std::string growing_name(const OutputDataset& output, const std::string& name) {
    return output.file + "/" + name + ".partial";
}

File open_growing(const OutputDataset& output, const std::string& name) {
    const std::string complete = output.file + "/" + name;
    const std::string growing = growing_name(output, name);
    if (exists(growing) || exists(complete)) {
        return {exists(growing) ? growing : complete, File::Mode::update};
    }
    return make_file(growing);
}

void complete_growing(const OutputDataset& output, const std::string& name) {
    const std::string growing = growing_name(output, name);
    if (std::rename(growing.c_str(), (output.file + "/" + name).c_str()) != 0 && errno != ENOENT) {
        const int number = errno;
        throw Error(ExitCode::output,
                    {"cannot complete a file of chunks", growing,
                     std::generic_category().message(number), errno_remedy(number)});
    }
}

GrowingFiles::Handle GrowingFiles::open(std::int64_t index) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(open_.begin(), open_.end(),
                                    [&](const auto& entry) { return entry.first == index; });
    if (found != open_.end()) {
        std::rotate(open_.begin(), found, found + 1);
        return open_.front().second;
    }
    const std::string& name = name_of(index);
    // Another rank may complete it meanwhile.
    for (const std::string& path : {growing_name(output_, name), output_.file + "/" + name}) {
        try {
            return keep(index, File(path, File::Mode::update));
        } catch (const Error&) {
            if (exists(path)) {
                throw;
            }
        }
    }
    return nullptr;
}

GrowingFiles::Handle GrowingFiles::create(std::int64_t index, const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_[index] = name;
    return keep(index, make_file(growing_name(output_, name)));
}

const std::string& GrowingFiles::name_of(std::int64_t index) {
    const auto known = names_.find(index);
    return known != names_.end()
               ? known->second
               : names_.emplace(index, folder_of(output_.layout)->file(output_, index).name)
                     .first->second;
}

/// A file that is not among the last ones used is closed by its last user.
GrowingFiles::Handle GrowingFiles::keep(std::int64_t index, File file) {
    Handle opened(std::make_unique<File>(std::move(file)).release(),
                  [this](File* unused) { close_unused(unused); });
    open_.emplace_front(index, opened);
    if (open_.size() > most_growing) {
        open_.pop_back();
    }
    return opened;
}

void GrowingFiles::close_unused(File* file) noexcept {
    const std::unique_ptr<File> owned(file);
    try {
        owned->close();
    } catch (...) {
        const std::lock_guard lock(failure_mutex_);
        failure_ = failure_ ? failure_ : std::current_exception();
    }
}

void GrowingFiles::report_closed() {
    const std::lock_guard lock(failure_mutex_);
    if (failure_) {
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

void GrowingFiles::start_sync() {
    std::vector<Handle> files; // which may wait for the disk
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [index, file] : open_) {
            files.push_back(file);
        }
    }
    for (const Handle& file : files) {
        file->start_sync();
    }
}

void GrowingFiles::close() {
    {
        const std::lock_guard lock(mutex_);
        open_.clear();
    }
    report_closed();
}

PlacedChunks::PlacedChunks(const OutputDataset& output, const ChunkGrid& grid)
    : output_(output), grid_(grid), folder_(*folder_of(output.layout)),
      is_packed_(output.layout.compression != Compression::none), files_(output) {}

std::optional<PlacedChunks::Growing> PlacedChunks::begin(std::int64_t index) {
    Growing file;
    file.made = folder_.file(output_, index);
    const std::string& name = file.made.name;
    if (exists(growing_name(output_, name)) || exists(output_.file + "/" + name)) {
        return std::nullopt;
    }
    std::int64_t chunks = 0;
    for (const std::int64_t chunk : file.made.chunks) {
        file.before.push_back(chunks);
        if (chunk < 0) {
            continue;
        }
        ++chunks;
        for (std::int64_t layer = 0; layer < (is_packed_ ? 1 : grid_.layers()); ++layer) {
            file.pieces += grid_.part_in({chunk, layer}) ? 1 : 0;
        }
    }
    files_.create(index, name);
    return file;
}

std::optional<PlacedChunks::Place> PlacedChunks::take(std::int64_t piece, std::int64_t bytes) {
    const ChunkGrid::Place place = grid_.place_of(piece);
    if (is_packed_ && piece != grid_.piece_of(place.chunk)) {
        return std::nullopt;
    }
    const PlaceInFile at = folder_.place(output_, place.chunk);
    auto found = growing_.find(at.file);
    if (found == growing_.end()) {
        std::optional<Growing> begun;
        if (at.index == 0 && place.layer == 0) {
            begun = begin(at.file);
        }
        if (!begun) {
            return std::nullopt;
        }
        found = growing_.emplace(at.file, std::move(*begun)).first;
    }
    Growing& file = found->second;
    const std::vector<std::int64_t>& chunks = file.made.chunks;
    std::int64_t offset =
        file.before[as_index(at.index)] * grid_.chunk_bytes() + place.layer * grid_.part_bytes();
    if (is_packed_) {
        if (at.index != file.next) {
            growing_.erase(found);
            return std::nullopt;
        }
        offset = std::exchange(file.end, file.end + bytes);
        do {
            ++file.next;
        } while (file.next < std::ssize(chunks) && chunks[as_index(file.next)] < 0);
    }
    if (--file.pieces == 0) {
        growing_.erase(found);
    }
    return Place{at.file, offset};
}

bool PlacedChunks::write(const Place& place, std::span<const std::byte> bytes) {
    const GrowingFiles::Handle file = files_.open(place.file);
    if (file == nullptr) {
        return false;
    }
    file->write(place.offset, std::ssize(bytes), bytes.data());
    const std::lock_guard lock(mutex_);
    unsynced_.insert(place.file);
    return true;
}

void PlacedChunks::sync() {
    std::set<std::int64_t> files;
    {
        const std::lock_guard lock(mutex_);
        files.swap(unsynced_);
    }
    files_.report_closed();
    if (std::ssize(files) > synced_singly) {
        sync_file_system(output_.file);
        return;
    }
    std::set<std::filesystem::path> entries; // the files, and the folders that they are in
    for (const std::int64_t index : files) {
        if (const GrowingFiles::Handle file = files_.open(index)) { // unless somebody removed it
            file->sync();
            for (std::filesystem::path path = file->path(); path != output_.file;
                 path = path.parent_path()) {
                entries.insert(path);
            }
        }
    }
    std::set<std::filesystem::path> folders;
    for (const std::filesystem::path& entry : entries) {
        if (folders.insert(entry.parent_path()).second) {
            sync_folder_of(entry);
        }
    }
}

} // namespace runner
