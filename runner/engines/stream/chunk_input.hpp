// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/queue.hpp"
#include "runner/engines/stage_recorder.hpp"
#include "runner/plan/stream_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

namespace runner::stream {

/// Rows of a chunk's input, counted from its first.
struct ChunkRows {
    std::int64_t number = 0; ///< of the chunk
    std::size_t lane = 0;
    std::int64_t rows = 0;
    std::int64_t carried = 0;      ///< leading rows that the chunk before holds too
    std::int64_t carried_from = 0; ///< their place in that chunk
};

/// Where chunks' input rows are while they are read and computed with: a slot a chunk, used in
/// turn. On a device of its own memory, rows pass through page-locked portions on a queue of their
/// own. One thread fills slots; another uses them.
template <class Q> class ChunkInput {
  public:
    /// Reads the chunk's rows [first, first + rows) to host memory.
    using Fill = std::function<void(std::int64_t first, std::int64_t rows, std::byte* to)>;

    /// Takes all memory. `uploads` outlives this; on a device of its own memory nothing else is in
    /// that queue. @throws OutOfMemory
    ChunkInput(const StreamPlan& plan, Q& uploads);

    /// Bytes on the device.
    std::int64_t device_bytes() const;

    /// Fills the chunk's slot by `fill` and from the slot before; on a device, the rows arrive
    /// behind loaded(). Chunks come in the order of their numbers, and no chunk before the last
    /// input_slots() is still computed with.
    void load(const ChunkRows& chunk, const Fill& fill);

    /// The chunk's rows, where its queue computes.
    std::byte* data(std::int64_t number) { return memory_of(slot_of(number)).data(); }
    const typename Q::Event& loaded(std::int64_t number) { return slot_of(number).loaded; }

    /// Waits for all uploads and records them.
    void record_uploads();
    /// Uploads are recorded there from now on, in seconds since `origin`. Both outlive this.
    void record_to(StageRecorder& recorder, const typename Q::Event& origin) {
        recorder_ = &recorder;
        origin_ = &origin;
    }

  private:
    struct Slot {
        Buffer host;   ///< empty where the device has memory of its own
        Buffer device; ///< empty where it has none
        typename Q::Event loaded;
    };
    /// What a portion was last used for.
    struct Upload {
        std::int64_t number = 0;
        std::size_t lane = 0;
        std::int64_t bytes = 0;
    };
    struct Portion {
        Buffer memory;
        typename Q::Event begun;
        typename Q::Event done;
        std::optional<Upload> upload = {};
    };

    Slot& slot_of(std::int64_t number) {
        return slots_[static_cast<std::size_t>(number) % slots_.size()];
    }
    static Buffer& memory_of(Slot& slot) { return Q::shares_host_memory ? slot.host : slot.device; }
    std::int64_t bytes(std::int64_t rows) const { return rows * row_bytes_; }
    Portion& next_portion();
    void record(Portion& portion);
    void upload_rows(const ChunkRows& chunk, const Fill& fill);

    std::int64_t row_bytes_;
    std::int64_t portion_rows_;
    std::deque<Slot> slots_;
    Q& uploads_; ///< in the order of the chunks
    std::deque<Portion> portions_;
    std::size_t next_ = 0; ///< portion
    StageRecorder* recorder_ = nullptr;
    const typename Q::Event* origin_ = nullptr;
};

template <class Q>
ChunkInput<Q>::ChunkInput(const StreamPlan& plan, Q& uploads)
    : row_bytes_(plan.shape.in_row_bytes),
      portion_rows_(std::max<std::int64_t>(1, plan.most_in_portion() /
                                                  std::max<std::int64_t>(1, row_bytes_))),
      uploads_(uploads) {
    for (int i = 0; i < plan.input_slots(); ++i) {
        Buffer host;
        Buffer device;
        if constexpr (Q::shares_host_memory) {
            host = allocate_staging(uploads, plan.in_bytes());
        } else {
            device = allocate_device(uploads, plan.in_bytes());
            Buffer memory = allocate_staging(uploads, plan.most_in_portion());
            typename Q::Event begun(uploads);
            typename Q::Event done(uploads);
            portions_.push_back({std::move(memory), std::move(begun), std::move(done)});
        }
        slots_.push_back({std::move(host), std::move(device), typename Q::Event(uploads)});
    }
}

template <class Q> std::int64_t ChunkInput<Q>::device_bytes() const {
    std::int64_t all = 0;
    for (const Slot& slot : slots_) {
        all += slot.device.size();
    }
    return all;
}

template <class Q> void ChunkInput<Q>::load(const ChunkRows& chunk, const Fill& fill) {
    Slot& slot = slot_of(chunk.number);
    if (chunk.carried > 0) {
        copy_on_device(uploads_, memory_of(slot).data(),
                       data(chunk.number - 1 + std::ssize(slots_)) + bytes(chunk.carried_from),
                       bytes(chunk.carried));
    }
    if constexpr (Q::shares_host_memory) {
        fill(chunk.carried, chunk.rows - chunk.carried, slot.host.data() + bytes(chunk.carried));
    } else {
        upload_rows(chunk, fill);
    }
    slot.loaded.record(uploads_);
}

template <class Q> void ChunkInput<Q>::upload_rows(const ChunkRows& chunk, const Fill& fill) {
    std::byte* const to = slot_of(chunk.number).device.data();
    for (std::int64_t row = chunk.carried; row < chunk.rows; row += portion_rows_) {
        const std::int64_t rows = std::min(portion_rows_, chunk.rows - row);
        Portion& portion = next_portion();
        fill(row, rows, portion.memory.data());
        portion.begun.record(uploads_);
        upload(uploads_, to + bytes(row), portion.memory.data(), bytes(rows));
        portion.done.record(uploads_);
        portion.upload = {chunk.number, chunk.lane, bytes(rows)};
    }
}

/// The portion that was used longest ago, free again.
template <class Q> typename ChunkInput<Q>::Portion& ChunkInput<Q>::next_portion() {
    Portion& portion = portions_[next_++ % portions_.size()];
    record(portion);
    return portion;
}

template <class Q> void ChunkInput<Q>::record(Portion& portion) {
    if (!portion.upload) {
        return;
    }
    portion.done.wait();
    recorder_->add(Stage::upload, static_cast<std::uint64_t>(portion.upload->number),
                   portion.upload->lane, portion.begun.seconds_since(*origin_),
                   portion.done.seconds_since(*origin_), portion.upload->bytes);
    portion.upload.reset();
}

template <class Q> void ChunkInput<Q>::record_uploads() {
    for (std::size_t i = 0; i < portions_.size(); ++i) {
        (void)next_portion();
    }
}

} // namespace runner::stream
