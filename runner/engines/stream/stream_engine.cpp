// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/stream/stream_engine.hpp"

#include "base/format.hpp"
#include "io/writers/row_hashes.hpp"
#include "runner/engines/pipeline.hpp"
#include "runner/engines/stream/chunk_input.hpp"
#include "runner/engines/stream/chunk_output.hpp"
#include "runner/engines/take_memory.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace runner::stream {
namespace {

/// The queue and the output side of one chunk in flight.
template <class Q> struct StreamLane {
    /// @throws OutOfMemory
    StreamLane(const StreamPlan& plan, const QueueMaker& make_queue, std::size_t steps)
        : queue(make_queue()), output(plan, own()),
          scratch(allocate_device(own(), plan.scratch_bytes)), begun(own()), computed(own()) {
        for (std::size_t step = 0; step < steps; ++step) {
            step_ends.emplace_back(own());
        }
        step_bytes.reserve(steps);
    }

    Queue queue;
    ChunkOutput<Q> output;
    Buffer scratch;
    typename Q::Event begun;
    typename Q::Event computed;
    std::vector<typename Q::Event> step_ends; ///< of a job of several steps
    std::vector<std::int64_t> step_bytes;     ///< of those that the chunk has had

    Q& own() { return std::get<Q>(queue); }
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
};

/// A run of its output rows.
template <class Q> struct StreamPortion : PipelinePortion {
    typename ChunkOutput<Q>::Run run;
    std::vector<RowHash> hashes;
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
    using Portion = StreamPortion<Queue_>;
    using Place = StreamPlace;

    /// Takes all memory. @throws OutOfMemory
    StreamEngine(const Stream& stream, const StreamPlan& plan, const QueueMaker& make_queue);

    RunTimes run();

    Q& queue(std::size_t lane) { return lanes_[lane].own(); }
    std::optional<Piece> next();
    std::int64_t read(const Piece& piece);
    double operations(const Piece& piece) const {
        const BlockRun run = plan_.carried_bytes > 0 ? piece.chunk.run : BlockRun{};
        return stream_.job.operations_in(piece.chunk.block, run);
    }
    void compute(const Piece& piece);
    void wait(const Piece& piece) { lanes_[piece.lane].computed.wait(); }
    void record_device(const Piece& piece);
    std::optional<Portion> fetch(const Piece& piece);
    std::int64_t hash(Portion& portion);
    Written write(const Portion& portion);
    std::int64_t rows(const Piece& piece) const { return piece.chunk.out_rows(); }
    Place place(const Piece& piece) const { return {piece.number, in_rows(piece)}; }
    Place place(const Portion& portion) const { return {portion.number, portion.run.in}; }
    std::string text(const Place& place) const;
    void cut();
    void drain();

  private:
    void add_steps(const Piece& piece);

    /// The rows of the input that it stands for, counted through all frames.
    RowRange in_rows(const Piece& piece) const {
        const std::int64_t first =
            piece.chunk.frame * plan_.shape.rows + piece.chunk.block.out_first;
        return {first, first + piece.chunk.out_rows()};
    }
    std::int64_t in_bytes(std::int64_t rows) const { return rows * plan_.shape.in_row_bytes; }
    std::int64_t out_bytes(const Portion& portion) const {
        return portion.run.out.count() * plan_.shape.out_row_bytes;
    }

    const Stream stream_;
    const StreamPlan plan_; ///< the stream's, or a smaller one
    Buffer kept_;           ///< the job's, for all lanes
    Buffer carried_;        ///< what a chunk leaves for the next one
    RunTimes times_;
    StageRecorder recorder_;
    std::deque<StreamLane<Q>> lanes_;
    Queue uploads_; ///< apart from the lanes' queues
    ChunkInput<Q> input_;
    RowHasher hasher_;
    std::optional<typename Q::Event> origin_; ///< reached when the recorder's time starts
    ChunkCursor cursor_;
    std::optional<Piece> before_;          ///< what next() returned last
    StreamLane<Q>* lane_before_ = nullptr; ///< of the chunk that was computed last
};

template <class Q>
StreamEngine<Q>::StreamEngine(const Stream& stream, const StreamPlan& plan,
                              const QueueMaker& make_queue)
    : stream_(stream), plan_(plan), recorder_(times_, stream.progress, stream.trace),
      uploads_(make_queue()), input_(plan_, std::get<Q>(uploads_)),
      hasher_(plan_.io_threads, plan_.stored_rows),
      cursor_(plan_.decomposition, plan_.decomposition.slab(stream.rank)) {
    for (int i = 0; i < plan_.lanes; ++i) {
        lanes_.emplace_back(plan_, make_queue, stream.job.steps());
        times_.device_bytes += lanes_.back().output.device_bytes() + lanes_.back().scratch.size();
    }
    Q& first = lanes_.front().own();
    times_.device_bytes += input_.device_bytes();
    // An allocation of no bytes would still take a page of the device.
    if (const std::int64_t kept = stream.job.kept_bytes(plan_.backend); kept > 0) {
        kept_ = allocate_device(first, kept);
        times_.device_bytes += kept_.size();
    }
    if (plan_.carried_bytes > 0) {
        carried_ = allocate_device(first, plan_.carried_bytes);
        times_.device_bytes += carried_.size();
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
    input_.record_to(recorder_, *origin_);
    Pipeline<StreamEngine>(
        *this, lanes_.size(),
        {stream_.rank, times_, stream_.progress, recorder_, stream_.stop, stream_.say})
        .run();
    input_.record_uploads();
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
    const std::int64_t frame = piece.chunk.frame * plan_.shape.rows;
    const auto fill = [&](std::int64_t row, std::int64_t rows, std::byte* to) {
        const std::int64_t first = piece.window.first + row;
        if (piece.chunk.block.frames > 1) {
            stream_.border.read_rows({frame + first, frame + first + rows}, stream_.reader, to);
        } else {
            stream_.border.read(piece.chunk.frame, {first, first + rows}, stream_.reader, to);
        }
        stream_.job.check_rows(frame + first, rows, to);
    };
    const std::int64_t rows = piece.chunk.in_rows();
    input_.load({piece.number, piece.lane, rows, piece.carried, piece.carried_from}, fill);
    return in_bytes(rows - piece.carried);
}

template <class Q> void StreamEngine<Q>::compute(const Piece& piece) {
    StreamLane<Q>& lane = lanes_[piece.lane];
    input_.loaded(piece.number).hold(lane.own());
    lane.begun.record(lane.own());
    LaneMarks<Q> marks(lane);
    RunMemory memory{.scratch = lane.scratch.data(),
                     .kept = kept_.data(),
                     .marks = &marks,
                     .blocks = piece.chunk.run};
    if (plan_.carried_bytes > 0) {
        if (lane_before_ != nullptr) { // which works on the same memory
            lane_before_->computed.hold(lane.own());
        }
        memory.carried = carried_.data();
        lane_before_ = &lane;
    }
    stream_.job.run(lane.queue, piece.chunk.block, input_.data(piece.number), lane.output.data(),
                    memory);
    lane.computed.record(lane.own());
    lane.output.start(in_rows(piece), lane.own());
}

template <class Q> void StreamEngine<Q>::record_device(const Piece& piece) {
    const StreamLane<Q>& lane = lanes_[piece.lane];
    double begin = piece.compute_begin;
    double end = piece.compute_end;
    if constexpr (!Q::shares_host_memory) {
        begin = lane.begun.seconds_since(*origin_);
        end = lane.computed.seconds_since(*origin_);
    }
    add_steps(piece);
    recorder_.add(Stage::compute, piece.trace_number(), piece.lane, begin, end,
                  in_bytes(piece.chunk.in_rows()));
}

/// Adds what the job's steps took for a chunk that is computed.
template <class Q> void StreamEngine<Q>::add_steps(const Piece& piece) {
    const StreamLane<Q>& lane = lanes_[piece.lane];
    const typename Q::Event* before = &lane.begun;
    for (std::size_t i = 0; i < lane.step_bytes.size(); ++i) {
        times_.steps[i].seconds += lane.step_ends[i].seconds_since(*before);
        times_.steps[i].bytes += lane.step_bytes[i];
        before = &lane.step_ends[i];
    }
}

template <class Q> std::optional<StreamPortion<Q>> StreamEngine<Q>::fetch(const Piece& piece) {
    ChunkOutput<Q>& output = lanes_[piece.lane].output;
    const auto run = output.fetch();
    if (!run) {
        return std::nullopt;
    }
    Portion portion{{piece, run->last}, *run, {}};
    if constexpr (!Q::shares_host_memory) {
        recorder_.add(Stage::download, piece.trace_number(), piece.lane,
                      output.begun(portion.run).seconds_since(*origin_),
                      output.done(portion.run).seconds_since(*origin_), out_bytes(portion));
    }
    return portion;
}

template <class Q> std::int64_t StreamEngine<Q>::hash(Portion& portion) {
    if (stream_.commits != nullptr) {
        const RowRange& out = portion.run.out;
        portion.hashes =
            hasher_.hash(out.first, out.count(), plan_.shape.out_row_bytes, portion.run.data);
    }
    return out_bytes(portion);
}

template <class Q> Written StreamEngine<Q>::write(const Portion& portion) {
    if (const RowRange& out = portion.run.out; !out.empty()) {
        stream_.writer.write(out.first, out.count(), portion.run.data);
        if (stream_.commits != nullptr) {
            stream_.commits->add(portion.hashes);
        }
    }
    lanes_[portion.lane].output.written(portion.run, queue(portion.lane));
    return {portion.run.in.count(), out_bytes(portion)};
}

template <class Q> void StreamEngine<Q>::cut() {
    for (StreamLane<Q>& lane : lanes_) {
        lane.output.cut();
    }
}

template <class Q> void StreamEngine<Q>::drain() {
    std::get<Q>(uploads_).synchronize();
    for (StreamLane<Q>& lane : lanes_) {
        lane.own().synchronize();
    }
}

} // namespace

RunTimes run_stream(const Stream& stream, const QueueMaker& make_queue) {
    const auto smaller = [&](const StreamPlan& plan) { return halved(stream.job, plan); };
    return run_fitting<StreamEngine>(stream, smaller, make_queue);
}

} // namespace runner::stream
