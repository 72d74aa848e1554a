// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/chunk_list.hpp"

#include "base/array_info.hpp"
#include "base/format.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace runner {
namespace {

using Text = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void fail(const std::string& call) {
    throw Error(ExitCode::launch, {"cannot list the dataset's chunks", call, errno_text(errno),
                                   "Try again; see 'ulimit -a'"});
}

/// What `print` writes to standard output, from its beginning.
Text printed_by(const std::function<void()>& print) {
    Text text(::fdopen(::memfd_create("chunks", MFD_CLOEXEC), "r+"), std::fclose);
    if (text == nullptr) {
        fail("memfd_create");
    }
    (void)std::fflush(stdout);
    const int saved = ::dup(STDOUT_FILENO);
    if (saved < 0 || ::dup2(::fileno(text.get()), STDOUT_FILENO) < 0) {
        fail("dup");
    }
    print();
    const bool whole = std::fflush(stdout) == 0;
    const bool restored = ::dup2(saved, STDOUT_FILENO) >= 0;
    (void)::close(saved);
    if (!whole || !restored || std::fseek(text.get(), 0, SEEK_SET) != 0) {
        fail("the list of chunks");
    }
    return text;
}

/// Reads a line as "0x00000000 1234 5678 [0, 64, 0]"; the last number belongs to no axis.
bool read_line(const char* at, std::size_t axes, ChunkList& list) {
    char* end = nullptr;
    StoredChunk chunk;
    chunk.skipped = static_cast<std::uint32_t>(std::strtoul(at, &end, 16));
    chunk.bytes = std::strtoull(end, &end, 10);
    at = end;
    chunk.address = std::strtoull(at, &end, 10);
    if (end == at) { // UNDEF
        chunk.address = ~std::uint64_t{0};
    }
    end += std::string_view(end).find_first_of("[\n");
    if (*end != '[') {
        return false;
    }
    for (std::size_t axis = 0; axis < axes; ++axis) {
        at = end + 1; // behind the bracket or the comma
        list.starts.push_back(static_cast<std::int64_t>(std::strtoull(at, &end, 10)));
        if (end == at || *end != ',') {
            return false;
        }
    }
    list.chunks.push_back(chunk);
    return true;
}

} // namespace

ChunkList list_chunks(const DatasetHandle& dataset, std::size_t axes, const std::string& where) {
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    hsize_t count = 0;
    if (H5Dget_num_chunks(dataset.get(), space.get(), &count) < 0) {
        throw_hdf5(ExitCode::input, "cannot read the dataset's index of chunks", where,
                   "The file is damaged: copy it again");
    }
    ChunkList list;
    if (count == 0) {
        return list; // H5Ddebug crashes where there is no index yet
    }
    const Text text = printed_by([&] { (void)H5Ddebug(dataset.get()); });
    list.chunks.reserve(count);
    list.starts.reserve(count * axes);
    constexpr std::string_view index_mark = "    Address: ";
    char* line = nullptr;
    std::size_t room = 0;
    bool good = true;
    while (good && ::getline(&line, &room, text.get()) >= 0) {
        const std::string_view content(line);
        const std::size_t begin = content.find("0x");
        if (const std::size_t at = content.find(index_mark); at != std::string_view::npos) {
            list.index = std::strtoull(line + at + index_mark.size(), nullptr, 10);
        }
        good = begin == std::string_view::npos || read_line(line + begin, axes, list);
    }
    std::free(line);
    if (!good || list.chunks.size() != count) {
        throw Error(ExitCode::input,
                    {"cannot read the dataset's index of chunks", where,
                     fmt::format("it announces {} chunks and holds {}", count, list.chunks.size()),
                     "The file is damaged: copy it again"});
    }
    return list;
}

void store_packed_chunks(const std::string& file, const std::string& dataset,
                         const std::vector<PackedChunk>& chunks) {
    FileHandle handle = update_hdf5(file);
    DatasetHandle opened = open_dataset(handle, file, dataset);
    for (const PackedChunk& chunk : chunks) {
        const std::vector<hsize_t> offset(chunk.start.begin(), chunk.start.end());
        if (H5Dwrite_chunk(opened.get(), H5P_DEFAULT, 0, offset.data(), chunk.bytes.size(),
                           chunk.bytes.data()) < 0) {
            throw_hdf5(ExitCode::output, "cannot store a compressed chunk",
                       file_and_dataset(file, dataset) + ", from element " +
                           shape_text(chunk.start),
                       "Free space on that file system and start again");
        }
    }
    if (!opened.close()) {
        throw_hdf5(ExitCode::output, "cannot store the dataset", file);
    }
    close_hdf5(std::move(handle), file);
}

} // namespace runner
