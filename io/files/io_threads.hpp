// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace runner {

/// How much one read or write call moves at most; larger runs are cut for the threads.
inline constexpr std::int64_t io_block_bytes = 8 << 20;

/// How to cut `bytes` so that all `threads` have something to do: a block is at least 512 KiB,
/// where a call's cost no longer shows, and at most io_block_bytes; a multiple of 4 KiB.
constexpr std::int64_t block_for(std::int64_t bytes, int threads) {
    constexpr std::int64_t least = 512 << 10;
    const std::int64_t even = (bytes / threads + 4095) / 4096 * 4096;
    return even < least ? least : (even > io_block_bytes ? io_block_bytes : even);
}

/// A few threads that wait for storage, apart from TBB's, which are there to compute.
class IoThreads {
  public:
    /// Work on item `index` by thread `thread`, 0 ≤ thread < threads().
    using Work = std::function<void(std::int64_t index, int thread)>;

    /// `threads` ≥ 1, the caller of run() counted in. @throws Error (launch).
    explicit IoThreads(int threads);

    int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

    /// Calls `work` for every index in [0, count), each once, and returns when all are done. After
    /// a failure no further item is begun, and of the failures the one with the lowest index is
    /// thrown. One call at a time.
    void run(std::int64_t count, const Work& work);

    /// Calls `move(begin, count)` for blocks that together are [0, bytes), see block_for.
    template <class Move> void run_blocks(std::int64_t bytes, const Move& move) {
        const std::int64_t block = block_for(bytes, threads());
        run((bytes + block - 1) / block, [&](std::int64_t index, int /*thread*/) {
            const std::int64_t begin = index * block;
            move(begin, bytes - begin < block ? bytes - begin : block);
        });
    }

  private:
    void serve(const std::stop_token& stop, int thread);
    void take_items(int thread);

    std::mutex mutex_;
    std::condition_variable_any begin_;
    std::condition_variable end_;
    const Work* work_ = nullptr;
    std::int64_t count_ = 0;
    std::int64_t next_ = 0;
    std::int64_t round_ = 0;
    int busy_ = 0;
    std::exception_ptr failure_;
    std::int64_t failed_index_ = 0;
    std::vector<std::jthread> workers_; // last: they stop before what they use goes
};

} // namespace runner
