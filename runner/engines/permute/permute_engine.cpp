// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/permute/permute_engine.hpp"

#include "base/format.hpp"
#include "io/writers/row_hashes.hpp"
#include "runner/engines/pipeline.hpp"
#include "runner/engines/take_memory.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace runner::permute {
namespace {

/// The queue and all the memory of one box in flight.
template <class Q> struct PermuteLane {
    Queue queue;
    Buffer in;
    Buffer out;
    Buffer device_in; ///< empty where the queue computes in host memory
    Buffer device_out;
    typename Q::Event begun;
    typename Q::Event loaded;
    typename Q::Event computed;
    typename Q::Event done;

    Q& own() { return std::get<Q>(queue); }
};

/// A box on its way, or a piece of one.
struct BoxPiece : PipelinePiece {
    PermuteBox box;
};

/// Its results: all of them.
struct BoxPortion : PipelinePortion {
    PermuteBox box;
    std::vector<RowsInMemory> rows;
    std::vector<RowHash> hashes = {};
};

/// The work of a permutation on queues of one type: what Pipeline asks of an engine.
template <class Queue_> class PermuteEngine {
  public:
    using Q = Queue_;
    using Piece = BoxPiece;
    using Portion = BoxPortion;
    using Place = PermuteBox;

    /// Takes all memory. @throws OutOfMemory
    PermuteEngine(const Permutation& permutation, const PermutePlan& plan,
                  const QueueMaker& make_queue);

    RunTimes run();

    Q& queue(std::size_t lane) { return lanes_[lane].own(); }
    std::optional<Piece> next();
    std::int64_t read(const Piece& piece);
    double operations(const Piece& /*piece*/) const { return 0; }
    void compute(const Piece& piece);
    void wait(const Piece& piece) { lanes_[piece.lane].done.wait(); }
    void record_device(const Piece& piece);
    std::optional<Portion> fetch(const Piece& piece);
    std::int64_t hash(Portion& portion);
    Written write(const Portion& portion);
    /// Which of a box's rows an earlier run has written is known when it is hashed.
    std::int64_t rows(const Piece& /*piece*/) const { return 0; }
    Place place(const Piece& piece) const { return piece.box; }
    Place place(const Portion& portion) const { return portion.box; }
    std::string text(const Place& box) const;
    void cut() {} // fetch() never waits
    void drain();

  private:
    std::vector<RowsInMemory> rows_to_write(const PermuteBox& box, const std::byte* data) const;
    std::int64_t row_bytes() const {
        return plan_.grid.output().back() * plan_.shape.element_bytes;
    }
    std::int64_t bytes_of(const PermuteBox& box) const { return rows_of(box) * row_bytes(); }

    const Permutation& run_;
    const PermutePlan plan_; ///< the run's, or one with smaller pieces
    RunTimes times_;
    StageRecorder recorder_;
    std::deque<PermuteLane<Q>> lanes_;
    RowHasher hasher_;
    std::vector<std::int64_t> boxes_;
    std::int64_t next_ = 0; ///< piece, counted through all boxes
};

template <class Q>
PermuteEngine<Q>::PermuteEngine(const Permutation& permutation, const PermutePlan& plan,
                                const QueueMaker& make_queue)
    : run_(permutation), plan_(plan), recorder_(times_, run_.progress, run_.trace),
      hasher_(plan_.io_threads, plan_.alignment), boxes_(plan_.boxes(run_.rank)) {
    const std::int64_t bytes = plan_.piece_bytes();
    for (int i = 0; i < plan_.lanes; ++i) {
        Queue queue = make_queue();
        Q& own = std::get<Q>(queue);
        Buffer in = allocate_staging(own, bytes);
        Buffer out = allocate_staging(own, bytes);
        Buffer device_in;
        Buffer device_out;
        if constexpr (!Q::shares_host_memory) {
            device_in = allocate_device(own, bytes);
            device_out = allocate_device(own, bytes);
        }
        times_.device_bytes += device_in.size() + device_out.size();
        typename Q::Event begun(own);
        typename Q::Event loaded(own);
        typename Q::Event computed(own);
        typename Q::Event done(own);
        lanes_.push_back({std::move(queue), std::move(in), std::move(out), std::move(device_in),
                          std::move(device_out), std::move(begun), std::move(loaded),
                          std::move(computed), std::move(done)});
    }
    check_launch_room(lanes_.front().own());
    times_.lanes = plan_.lanes;
    times_.chunk_rows = plan_.chunk_rows();
    times_.setup_seconds = recorder_.now();
}

template <class Q> RunTimes PermuteEngine<Q>::run() {
    recorder_.restart();
    run_.progress.unit = "box";
    Pipeline<PermuteEngine>(*this, lanes_.size(),
                            {run_.rank, times_, run_.progress, recorder_, run_.stop, run_.say})
        .run();
    return times_;
}

template <class Q> std::string PermuteEngine<Q>::text(const Place& box) const {
    std::string text = "the output's indices ";
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
        const std::string_view before = axis == 0 ? "" : axis + 1 == box.size() ? " and " : ", ";
        text +=
            fmt::format("{}{} to {} of axis {}", before, box[axis].first, box[axis].last - 1, axis);
    }
    return text;
}

template <class Q> std::optional<BoxPiece> PermuteEngine<Q>::next() {
    const std::int64_t pieces = plan_.pieces();
    while (next_ < std::ssize(boxes_) * pieces) {
        const std::int64_t box = boxes_[static_cast<std::size_t>(next_ / pieces)];
        const std::int64_t index = next_++ % pieces;
        Piece piece;
        piece.number = box * pieces + index;
        piece.box = plan_.piece(box, index);
        if (rows_of(piece.box) > 0) {
            return piece;
        }
    }
    return std::nullopt;
}

template <class Q> std::int64_t PermuteEngine<Q>::read(const Piece& piece) {
    read_box(run_.reader, plan_.grid, piece.box, lanes_[piece.lane].in.data());
    return bytes_of(piece.box);
}

template <class Q> void PermuteEngine<Q>::compute(const Piece& piece) {
    PermuteLane<Q>& lane = lanes_[piece.lane];
    const Extents extents = plan_.grid.in_extents(piece.box);
    if constexpr (Q::shares_host_memory) {
        run_.job.run(lane.queue, extents, lane.in.data(), lane.out.data());
    } else {
        const std::int64_t bytes = bytes_of(piece.box);
        lane.begun.record(lane.own());
        upload(lane.own(), lane.device_in.data(), lane.in.data(), bytes);
        lane.loaded.record(lane.own());
        run_.job.run(lane.queue, extents, lane.device_in.data(), lane.device_out.data());
        lane.computed.record(lane.own());
        download(lane.own(), lane.out.data(), lane.device_out.data(), bytes);
    }
    lane.done.record(lane.own());
}

/// Places the device's times by the moment the box came back: the clocks of device and host are
/// not compared.
template <class Q> void PermuteEngine<Q>::record_device(const Piece& piece) {
    const std::int64_t bytes = bytes_of(piece.box);
    const auto add = [&](Stage stage, double begin, double end) {
        recorder_.add(stage, piece.trace_number(), piece.lane, begin, end, bytes);
    };
    if constexpr (Q::shares_host_memory) {
        add(Stage::compute, piece.compute_begin, piece.compute_end);
    } else {
        const PermuteLane<Q>& lane = lanes_[piece.lane];
        const double back = recorder_.now();
        const double loaded = back - lane.done.seconds_since(lane.loaded);
        const double computed = back - lane.done.seconds_since(lane.computed);
        add(Stage::upload, back - lane.done.seconds_since(lane.begun), loaded);
        add(Stage::compute, loaded, computed);
        add(Stage::download, computed, back);
    }
}

/// The rows of the box at `data` that no earlier run has written.
template <class Q>
std::vector<RowsInMemory> PermuteEngine<Q>::rows_to_write(const PermuteBox& box,
                                                          const std::byte* data) const {
    std::vector<RowsInMemory> runs;
    for (const RowRange& run : plan_.grid.rows(box)) {
        for (const RowRange& rows : subtract({run}, plan_.done)) {
            runs.push_back(
                {rows.first, rows.count(), data + (rows.first - run.first) * row_bytes()});
        }
        data += run.count() * row_bytes();
    }
    return runs;
}

template <class Q> std::optional<BoxPortion> PermuteEngine<Q>::fetch(const Piece& piece) {
    return Portion{{piece}, piece.box, rows_to_write(piece.box, lanes_[piece.lane].out.data())};
}

template <class Q> std::int64_t PermuteEngine<Q>::hash(Portion& portion) {
    if (run_.commits == nullptr) {
        return 0;
    }
    portion.hashes = hasher_.hash(portion.rows, row_bytes());
    return bytes_of(portion.box);
}

template <class Q> Written PermuteEngine<Q>::write(const Portion& portion) {
    run_.writer.write_runs(portion.rows);
    if (run_.commits != nullptr) {
        run_.commits->add(portion.hashes);
    }
    std::int64_t written = 0;
    for (const RowsInMemory& run : portion.rows) {
        written += run.rows;
    }
    return {written, written * row_bytes()};
}

template <class Q> void PermuteEngine<Q>::drain() {
    for (PermuteLane<Q>& lane : lanes_) {
        lane.own().synchronize();
    }
}

} // namespace

std::vector<RowRuns> input_runs(const BoxGrid& grid, const PermuteBox& box) {
    if (rows_of(box) == 0) {
        return {};
    }
    const Extents& shape = grid.shape.input;
    const Extents extents = grid.in_extents(box);
    const Extents start = grid.in_start(box);
    const std::size_t columns = shape.size() - 1;
    Extents strides(columns, 1); // in rows
    for (std::size_t axis = columns - 1; axis-- > 0;) {
        strides[axis] = strides[axis + 1] * shape[axis + 1];
    }
    RowRuns runs{0, 1, 1, strides[columns - 2], start[columns], extents[columns]};
    // Neighbouring axes that are whole but for the slowest are rows side by side; the next ones are
    // runs that lie evenly apart.
    std::size_t outside = columns;
    do {
        runs.rows *= extents[--outside];
    } while (outside > 0 && extents[outside] == shape[outside]);
    if (outside > 0) {
        do {
            runs.runs *= extents[--outside];
            runs.stride = runs.runs == extents[outside] ? strides[outside] : runs.stride;
        } while (outside > 0 && (extents[outside] == shape[outside] || runs.runs == 1));
    }
    std::vector<RowRuns> all = {runs};
    for (std::size_t axis = 0; axis < columns; ++axis) {
        std::vector<RowRuns> within;
        for (RowRuns one : all) {
            one.first += start[axis] * strides[axis];
            for (std::int64_t i = 0; i < (axis < outside ? extents[axis] : 1); ++i) {
                within.push_back(one);
                one.first += strides[axis];
            }
        }
        all = std::move(within);
    }
    return all;
}

void read_box(RowReader& input, const BoxGrid& grid, const PermuteBox& box, std::byte* to) {
    for (const RowRuns& runs : input_runs(grid, box)) {
        input.read_runs(runs, to);
        to += runs.runs * runs.rows * runs.columns * grid.shape.element_bytes;
    }
}

RunTimes run_permutation(const Permutation& permutation, const QueueMaker& make_queue) {
    const auto smaller = [](const PermutePlan& plan) { return halved(plan); };
    return run_fitting<PermuteEngine>(permutation, smaller, make_queue);
}

} // namespace runner::permute
