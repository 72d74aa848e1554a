// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/source_rows.hpp"

#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/input/layout_readers.hpp"
#include "io/input/open_rows.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/row_pieces.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// Readers that are kept between two calls.
constexpr std::int64_t most_open_sources = 16;

/// Files that are read at positions, of which the last used ones stay open.
class OpenFiles {
  public:
    std::shared_ptr<const File> get(const std::string& name) {
        if (auto known = find(name)) {
            return known;
        }
        // Opened and closed without the lock: on a network each takes a millisecond.
        auto opened = std::make_shared<const File>(name, File::Mode::read);
        std::shared_ptr<const File> oldest;
        const std::lock_guard lock(mutex_);
        const Entry& entry = files_.try_emplace(name, Entry{opened, ++time_}).first->second;
        std::shared_ptr<const File> file = entry.file; // another thread may have been faster
        if (files_.size() > most_open) {
            const auto last =
                std::min_element(files_.begin(), files_.end(), [](const auto& a, const auto& b) {
                    return a.second.used < b.second.used;
                });
            oldest = std::move(last->second.file);
            files_.erase(last);
        }
        return file;
    }

  private:
    static constexpr std::size_t most_open = 64;

    struct Entry {
        std::shared_ptr<const File> file;
        std::int64_t used = 0;
    };

    std::shared_ptr<const File> find(const std::string& name) {
        const std::lock_guard lock(mutex_);
        const auto known = files_.find(name);
        if (known == files_.end()) {
            return nullptr;
        }
        known->second.used = ++time_;
        return known->second.file;
    }

    std::mutex mutex_;
    std::map<std::string, Entry> files_;
    std::int64_t time_ = 0;
};

/// Plain sources are read at positions by any number of threads, each of the others by one.
class SourceReader final : public RowReader {
  public:
    SourceReader(const DatasetLayout& layout, int threads, OpenSource open)
        : info_(layout.info), pieces_(layout.pieces), layouts_(layout.sources),
          open_(std::move(open)), threads_(threads) {
        info_.offset.reset();
        info_.chunk.clear();
        for (const DatasetLayout& source : layouts_) {
            extents_.push_back(source.way == DatasetLayout::Way::positions
                                   ? plain_extents(source)
                                   : std::vector<RowExtent>());
        }
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const std::vector<Task> tasks = tasks_of(first, rows);
        threads_.run(std::ssize(tasks), [&](std::int64_t index, int /*thread*/) {
            const Task& task = tasks[static_cast<std::size_t>(index)];
            for (const Block& block : task) {
                read_block(block, to);
            }
            if (task.back().rows > 0) {
                close_readers(task.back());
            }
        });
        ++calls_;
    }

    void read_scattered(std::span<const ScatteredRows> all) override {
        const std::int64_t row = row_bytes(info_.array);
        std::vector<ScatteredRun> runs;
        for (const ScatteredRows& rows : all) {
            check_rows(info_.array, rows.first, rows.rows);
            for (const auto& [begin, count, source, source_first] :
                 pieces_within(pieces_, rows.first, rows.rows)) {
                const auto& extents = extents_[static_cast<std::size_t>(source)];
                if (extents.empty()) { // not plain: by rows that lie together
                    return RowReader::read_scattered(all);
                }
                std::byte* const to = rows.to + (begin - rows.first) * rows.pitch;
                append_scattered(runs, source, extents, {source_first, count, to, rows.pitch}, row);
            }
        }
        for_runs(threads_, runs, row, [&](const ScatteredRun& run) {
            const DatasetLayout& source = layouts_[static_cast<std::size_t>(run.source)];
            read_run(*files_.get(source.holder), run, source.info);
        });
    }

  private:
    /// Rows of a source that a reader gives, or bytes of it where the source is plain.
    struct Block {
        std::int64_t source = 0;
        std::int64_t first = 0;
        std::int64_t rows = 0; ///< 0: it is plain
        PlainRun run = {};     ///< its `to` is that of either
    };
    using Task = std::vector<Block>; ///< of one thread

    struct Opened {
        std::unique_ptr<RowReader> reader;
        std::int64_t used = 0; ///< the call of read() that used it last
    };

    std::vector<Task> tasks_of(std::int64_t first, std::int64_t rows) const {
        const std::int64_t row = row_bytes(info_.array);
        const std::int64_t most = block_for(rows * row, threads_.threads());
        std::vector<Task> tasks;
        std::map<std::int64_t, Task> by_source;
        std::int64_t held = most; // bytes of the last task: small files are read several at a time
        for (const auto& [begin, count, source, source_first] :
             pieces_within(pieces_, first, rows)) {
            const auto& extents = extents_[static_cast<std::size_t>(source)];
            const std::int64_t at = (begin - first) * row;
            if (extents.empty()) {
                by_source[source].push_back({source, source_first, count, {0, 0, at}});
                continue;
            }
            for (PlainRun run : cut_runs(plain_runs(extents, source_first, count, row), most)) {
                run.to += at;
                if (held + run.bytes > most) {
                    tasks.emplace_back();
                    held = 0;
                }
                held += run.bytes;
                tasks.back().push_back({source, 0, 0, run});
            }
        }
        for (auto& [source, task] : by_source) {
            tasks.push_back(std::move(task));
        }
        return tasks;
    }

    void read_block(const Block& block, std::byte* to) {
        const DatasetLayout& source = layouts_[static_cast<std::size_t>(block.source)];
        std::byte* const here = to + block.run.to;
        if (block.rows > 0) {
            return reader_of(block.source).read(block.first, block.rows, here);
        }
        files_.get(source.holder)->read(block.run.offset, block.run.bytes, here);
        if (source.info.big_endian) {
            const std::int64_t size = size_of(info_.array.type);
            swap_bytes(here, block.run.bytes / size, size);
        }
    }

    /// Used by the calling thread alone until the end of read().
    RowReader& reader_of(std::int64_t source) {
        Opened* opened = nullptr;
        {
            const std::lock_guard lock(mutex_);
            opened = &readers_[source];
            opened->used = calls_;
        }
        if (!opened->reader) {
            opened->reader = open_(layouts_[static_cast<std::size_t>(source)]);
        }
        return *opened->reader;
    }

    /// Closes the reader that gave this block where no more rows of it follow. Of others a few stay
    /// open: each has a file open, and may keep a chunk for the rows that follow.
    void close_readers(const Block& last) {
        const ArrayInfo& array = layouts_[static_cast<std::size_t>(last.source)].info.array;
        const std::lock_guard lock(mutex_);
        if (last.first + last.rows == row_count(array)) {
            readers_.erase(last.source);
        }
        while (std::ssize(readers_) > most_open_sources) {
            const auto oldest = std::min_element(
                readers_.begin(), readers_.end(),
                [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
            if (oldest->second.used == calls_) { // others are at work with theirs
                readers_.erase(last.source);
                return;
            }
            readers_.erase(oldest);
        }
    }

    DatasetInfo info_;
    std::vector<RowPiece> pieces_;
    std::vector<DatasetLayout> layouts_;
    std::vector<std::vector<RowExtent>> extents_; ///< of each plain source
    OpenSource open_;
    OpenFiles files_;
    std::mutex mutex_; ///< of readers_
    std::map<std::int64_t, Opened> readers_;
    std::int64_t calls_ = 0;
    IoThreads threads_;
};

} // namespace

std::int64_t source_reader_bytes(const DatasetLayout& layout, int threads) {
    std::int64_t largest = 0;
    for (const DatasetLayout& source : layout.sources) {
        largest = std::max(largest, reader_bytes(source.info, 1));
    }
    // One after the other, or rows of many by turns.
    const bool in_turn = layout.pieces.size() <= layout.sources.size();
    const std::int64_t open = threads + (in_turn ? 1 : most_open_sources);
    return std::min(open, std::ssize(layout.sources)) * largest;
}

std::unique_ptr<RowReader> open_source_reader(const DatasetLayout& layout, int threads,
                                              OpenSource open) {
    return std::make_unique<SourceReader>(layout, threads, std::move(open));
}

} // namespace runner
