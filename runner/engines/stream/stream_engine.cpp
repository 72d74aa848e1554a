// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/stream/stream_engine.hpp"

#include "base/format.hpp"
#include "io/writers/row_hashes.hpp"
#include "runner/engines/pipeline.hpp"
#include "runner/engines/take_memory.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace runner {
namespace {

/// Where a chunk's input rows are: shared with the next chunk, so apart from the lanes.
template <class Q> struct InputSlot {
    Buffer staging;
    Buffer device; ///< empty where the queue computes in the staging buffer
    typename Q::Event loaded;

    std::byte* data() const { return Q::shares_host_memory ? staging.data() : device.data(); }
};

/// The queue and the output side of one chunk in flight.
template <class Q> struct StreamLane {
    Queue queue;
    Buffer staging;
    Buffer device;
    Buffer scratch;
    typename Q::Event begun;
    typename Q::Event computed;
    typename Q::Event done;
    std::vector<typename Q::Event> step_ends = {}; ///< of a job of several steps
    std::vector<std::int64_t> step_bytes = {};     ///< of those that the chunk has had

    Q& own() { return std::get<Q>(queue); }
    std::byte* data() const { return Q::shares_host_memory ? staging.data() : device.data(); }
};

/// Records the end of each step on the lane's queue.
template <class Q> class LaneMarks final : public StepMarks {
  public:
    explicit LaneMarks(StreamLane<Q>& lane) : lane_(lane) { lane_.step_bytes.clear(); }

    void mark(std::int64_t bytes) override {
        lane_.step_ends[lane_.step_bytes.size()].record(lane_.own());
        lane_.step_bytes.push_back(bytes);
    }

  private:
    StreamLane<Q>& lane_;
};

/// A chunk on its way.
struct StreamPiece : PipelinePiece {
    Chunk chunk;
    RowRange window;               ///< extended rows of its input; of its first frame
    std::int64_t carried = 0;      ///< leading window rows that the chunk before holds too
    std::int64_t carried_from = 0; ///< their place in that chunk's buffer, rows
    std::vector<RowHash> hashes;   ///< of its output rows, once they are back
};

/// For messages.
struct StreamPlace {
    std::int64_t number = 0;
    RowRange rows; ///< of the input
};

/// The work of a stream on queues of one type: what Pipeline asks of an engine.
template <class Queue_> class StreamEngine {
  public:
    using Q = Queue_;
    using Piece = StreamPiece;
    using Place = StreamPlace;

    /// Takes all memory. @throws OutOfMemory
    StreamEngine(const Stream& stream, const StreamPlan& plan, const QueueMaker& make_queue);

    RunTimes run();

    Q& queue(std::size_t lane) { return lanes_[lane].own(); }
    std::optional<Piece> next();
    std::int64_t read(const Piece& piece);
    double operations(const Piece& piece) const {
        return stream_.job.operations(piece.chunk.block);
    }
    void compute(const Piece& piece);
    void wait(const Piece& piece) { lanes_[piece.lane].done.wait(); }
    void record_device(const Piece& piece);
    std::int64_t hash(Piece& piece);
    Written write(const Piece& piece);
    std::int64_t rows(const Piece& piece) const { return piece.chunk.out_rows(); }
    Place place(const Piece& piece) const { return {piece.number, in_rows(piece)}; }
    std::string text(const Place& place) const;

  private:
    void load(const Piece& piece);
    void add_steps(const Piece& piece);

    InputSlot<Q>& slot_of(std::int64_t number) {
        return slots_[static_cast<std::size_t>(number) % slots_.size()];
    }
    /// The rows of the input that it stands for, counted through all frames.
    RowRange in_rows(const Piece& piece) const {
        const std::int64_t first =
            piece.chunk.frame * plan_.shape.rows + piece.chunk.block.out_first;
        return {first, first + piece.chunk.out_rows()};
    }
    RowRange out_rows(const Piece& piece) const {
        return plan_.decomposition.out_rows(in_rows(piece));
    }
    std::int64_t in_bytes(std::int64_t rows) const { return rows * plan_.shape.in_row_bytes; }
    std::int64_t out_bytes(const Piece& piece) const {
        return out_rows(piece).count() * plan_.shape.out_row_bytes;
    }

    const Stream stream_;
    const StreamPlan plan_; ///< the stream's, or a smaller one
    Buffer kept_;           ///< the job's, for all lanes
    RunTimes times_;
    StageRecorder recorder_;
    std::deque<StreamLane<Q>> lanes_;
    std::deque<InputSlot<Q>> slots_;
    RowHasher hasher_;
    std::optional<typename Q::Event> origin_; ///< reached when the recorder's time starts
    ChunkCursor cursor_;
    std::optional<Piece> before_; ///< what next() returned last
};

template <class Q>
StreamEngine<Q>::StreamEngine(const Stream& stream, const StreamPlan& plan,
                              const QueueMaker& make_queue)
    : stream_(stream), plan_(plan), recorder_(times_, stream.progress, stream.trace),
      hasher_(plan_.io_threads, std::max(plan_.decomposition.alignment, plan_.shape.made.each)),
      cursor_(plan_.decomposition, plan_.decomposition.slab(stream.rank)) {
    for (int i = 0; i < plan_.lanes; ++i) {
        Queue queue = make_queue();
        Q& own = std::get<Q>(queue);
        Buffer staging = allocate_staging(own, plan_.out_bytes());
        Buffer device;
        if constexpr (!Q::shares_host_memory) {
            device = allocate_device(own, plan_.out_bytes());
        }
        Buffer scratch = allocate_device(own, plan_.scratch_bytes);
        typename Q::Event begun(own);
        typename Q::Event computed(own);
        typename Q::Event done(own);
        times_.device_bytes += device.size() + scratch.size();
        lanes_.push_back({std::move(queue), std::move(staging), std::move(device),
                          std::move(scratch), std::move(begun), std::move(computed),
                          std::move(done)});
        for (std::size_t step = 0; step < stream.job.steps(); ++step) {
            lanes_.back().step_ends.emplace_back(lanes_.back().own());
        }
        lanes_.back().step_bytes.reserve(stream.job.steps());
    }
    Q& first = lanes_.front().own();
    for (int i = 0; i < plan_.input_slots(); ++i) {
        Buffer staging = allocate_staging(first, plan_.in_bytes());
        Buffer device;
        if constexpr (!Q::shares_host_memory) {
            device = allocate_device(first, plan_.in_bytes());
        }
        times_.device_bytes += device.size();
        slots_.push_back({std::move(staging), std::move(device), typename Q::Event(first)});
    }
    if (const std::int64_t kept = stream.job.kept_bytes(plan_.backend); kept > 0) {
        // An allocation of no bytes would still take a page of the device.
        kept_ = allocate_device(first, kept);
        times_.device_bytes += kept_.size();
    }
    origin_.emplace(first);
    check_launch_room(first);
    times_.chunk_rows = plan_.chunk_rows();
    times_.lanes = plan_.lanes;
    times_.steps.resize(stream.job.steps());
    times_.setup_seconds = recorder_.now();
}

template <class Q> RunTimes StreamEngine<Q>::run() {
    StreamLane<Q>& first = lanes_.front();
    stream_.job.prepare(first.queue, kept_.data());
    first.own().synchronize();
    origin_->record(first.own());
    origin_->wait();
    recorder_.restart();
    Pipeline<StreamEngine>(
        *this, lanes_.size(),
        {stream_.rank, times_, stream_.progress, recorder_, stream_.stop, stream_.say})
        .run();
    if (stream_.stop == nullptr || stream_.stop->level() < StopLevel::drop_chunks) {
        times_.counts = stream_.job.counts(first.queue, kept_.data());
    }
    return times_;
}

template <class Q> std::string StreamEngine<Q>::text(const Place& place) const {
    return fmt::format("chunk {}, rows {} to {}", place.number, place.rows.first,
                       place.rows.last - 1);
}

template <class Q> std::optional<StreamPiece> StreamEngine<Q>::next() {
    const std::optional<Chunk> chunk = cursor_.next();
    if (!chunk) {
        return std::nullopt;
    }
    Piece piece;
    piece.chunk = *chunk;
    piece.number = before_ ? before_->number + 1 : 0;
    piece.window = {chunk->block.in_first, chunk->block.in_first + chunk->block.in_rows};
    if (before_ && chunk->block.frames == 1 && before_->chunk.block.frames == 1 &&
        before_->chunk.frame == chunk->frame && before_->window.last > piece.window.first) {
        piece.carried = std::min(before_->window.last, piece.window.last) - piece.window.first;
        piece.carried_from = piece.window.first - before_->window.first;
    }
    before_ = piece;
    return piece;
}

template <class Q> std::int64_t StreamEngine<Q>::read(const Piece& piece) {
    std::byte* to = slot_of(piece.number).staging.data();
    if constexpr (Q::shares_host_memory) {
        if (piece.carried > 0) {
            const InputSlot<Q>& before = slot_of(piece.number - 1 + plan_.input_slots());
            copy_on_device(queue(piece.lane), to,
                           before.staging.data() + in_bytes(piece.carried_from),
                           in_bytes(piece.carried));
        }
    }
    to += in_bytes(piece.carried);
    const std::int64_t frame = piece.chunk.frame * plan_.shape.rows;
    const std::int64_t count = piece.chunk.in_rows() - piece.carried;
    if (piece.chunk.block.frames > 1) {
        stream_.border.read_rows({frame, frame + piece.chunk.in_rows()}, stream_.reader, to);
    } else {
        stream_.border.read(piece.chunk.frame,
                            {piece.window.first + piece.carried, piece.window.last}, stream_.reader,
                            to);
    }
    stream_.job.check_rows(frame + piece.window.first + piece.carried, count, to);
    return in_bytes(count);
}

template <class Q> void StreamEngine<Q>::load(const Piece& piece) {
    InputSlot<Q>& slot = slot_of(piece.number);
    Q& own = queue(piece.lane);
    if constexpr (!Q::shares_host_memory) {
        // The chunk after the one that used this slot last may still be copying its halo from it.
        const std::int64_t next_user = piece.number + 1 - plan_.input_slots();
        if (next_user > 0) {
            slot_of(next_user).loaded.hold(own);
        }
        const std::int64_t carried = in_bytes(piece.carried);
        upload(own, slot.device.data() + carried, slot.staging.data() + carried,
               in_bytes(piece.chunk.in_rows() - piece.carried));
        if (piece.carried > 0) {
            const InputSlot<Q>& before = slot_of(piece.number - 1);
            before.loaded.hold(own);
            copy_on_device(own, slot.device.data(),
                           before.device.data() + in_bytes(piece.carried_from), carried);
        }
    }
    slot.loaded.record(own);
}

template <class Q> void StreamEngine<Q>::compute(const Piece& piece) {
    StreamLane<Q>& lane = lanes_[piece.lane];
    lane.begun.record(lane.own());
    load(piece);
    LaneMarks<Q> marks(lane);
    stream_.job.run(lane.queue, piece.chunk.block, slot_of(piece.number).data(), lane.data(),
                    {.scratch = lane.scratch.data(), .kept = kept_.data(), .marks = &marks});
    lane.computed.record(lane.own());
    if constexpr (!Q::shares_host_memory) {
        download(lane.own(), lane.staging.data(), lane.device.data(), out_bytes(piece));
    }
    lane.done.record(lane.own());
}

template <class Q> void StreamEngine<Q>::record_device(const Piece& piece) {
    const std::int64_t rows = piece.chunk.in_rows();
    const auto add = [&](Stage stage, double begin, double end, std::int64_t bytes) {
        recorder_.add(stage, piece.trace_number(), piece.lane, begin, end, bytes);
    };
    add_steps(piece);
    if constexpr (Q::shares_host_memory) {
        add(Stage::compute, piece.compute_begin, piece.compute_end, in_bytes(rows));
    } else {
        const StreamLane<Q>& lane = lanes_[piece.lane];
        const double begun = lane.begun.seconds_since(*origin_);
        const double loaded = slot_of(piece.number).loaded.seconds_since(*origin_);
        const double computed = lane.computed.seconds_since(*origin_);
        const double done = lane.done.seconds_since(*origin_);
        add(Stage::upload, begun, loaded, in_bytes(rows - piece.carried));
        add(Stage::compute, loaded, computed, in_bytes(rows));
        add(Stage::download, computed, done, out_bytes(piece));
    }
}

/// Adds what the job's steps took for a chunk that is computed.
template <class Q> void StreamEngine<Q>::add_steps(const Piece& piece) {
    const StreamLane<Q>& lane = lanes_[piece.lane];
    const typename Q::Event* before = &slot_of(piece.number).loaded;
    for (std::size_t i = 0; i < lane.step_bytes.size(); ++i) {
        times_.steps[i].seconds += lane.step_ends[i].seconds_since(*before);
        times_.steps[i].bytes += lane.step_bytes[i];
        before = &lane.step_ends[i];
    }
}

template <class Q> std::int64_t StreamEngine<Q>::hash(Piece& piece) {
    if (stream_.commits != nullptr) {
        const RowRange out = out_rows(piece);
        piece.hashes = hasher_.hash(out.first, out.count(), plan_.shape.out_row_bytes,
                                    lanes_[piece.lane].staging.data());
    }
    return out_bytes(piece);
}

template <class Q> Written StreamEngine<Q>::write(const Piece& piece) {
    if (const RowRange out = out_rows(piece); !out.empty()) {
        stream_.writer.write(out.first, out.count(), lanes_[piece.lane].staging.data());
        if (stream_.commits != nullptr) {
            stream_.commits->add(piece.hashes);
        }
    }
    return {piece.chunk.out_rows(), out_bytes(piece)};
}

} // namespace

RunTimes run_stream(const Stream& stream, const QueueMaker& make_queue) {
    const auto smaller = [&](const StreamPlan& plan) { return halved(stream.job, plan); };
    return run_fitting<StreamEngine>(stream, smaller, make_queue);
}

} // namespace runner
