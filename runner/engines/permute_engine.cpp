// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/permute_engine.hpp"

#include "base/error.hpp"
#include "io/writers/row_hashes.hpp"
#include "kernels/queue/profile_range.hpp"
#include "runner/engines/channel.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

/// The queue and all the memory of one box in flight.
template <class Q> struct Lane {
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

/// Rows of a box that are to be written, and where they are in it.
struct RowPiece {
    RowRange rows;
    std::int64_t offset = 0; ///< rows from the beginning of the box
    std::uint64_t hash = 0;
};

/// A box on its way.
struct Task {
    std::int64_t index = 0; ///< of the grid
    PermuteBox box;
    std::size_t lane = 0;
    double read_begin = 0; ///< seconds since the boxes began
    double compute_begin = 0;
    double compute_end = 0;
    std::vector<RowPiece> pieces;
};

/// One run on queues of one type.
template <class Q> class Pipeline {
  public:
    /// Takes all memory. @throws OutOfMemory
    Pipeline(const Permutation& permutation, const QueueMaker& make_queue);

    RunTimes run();

  private:
    void read_stage();
    void compute_stage();
    void hash_stage();
    void write_stage();
    template <class Body> std::thread stage_thread(Stage stage, Body body);
    void fail(std::exception_ptr error);
    void cut();
    void drain();
    std::exception_ptr with_place(Stage stage, const Error& error) const;
    void submit(Task& task);
    void time_device(const Task& task);
    std::vector<RowPiece> pieces_of(const PermuteBox& box) const;
    void begin_box(Stage stage, const Task& task);
    void spend(Stage stage, const Task& task, double begin, double end, std::int64_t bytes);
    bool asked_to(StopLevel level) const { return run_.stop.level() >= level; }
    double now() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
    Clock::time_point at(double seconds) const {
        return begin_ +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    std::int64_t row_bytes() const { return plan_.grid.output()[2] * plan_.shape.element_bytes; }
    std::int64_t box_bytes(const PermuteBox& box) const {
        return box.first.count() * box.second.count() * row_bytes();
    }

    const Permutation& run_;
    const PermutePlan& plan_;
    std::deque<Lane<Q>> lanes_;
    Channel<std::size_t> free_lanes_;
    Channel<Task> read_tasks_;
    Channel<Task> computed_tasks_;
    Channel<Task> hashed_tasks_;
    RunTimes times_;
    std::array<PermuteBox, stage_count> current_{}; ///< of each stage, for its own thread
    std::array<double, stage_count> busy_until_{};
    Clock::time_point begin_;
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
};

template <class Q>
Pipeline<Q>::Pipeline(const Permutation& permutation, const QueueMaker& make_queue)
    : run_(permutation), plan_(permutation.plan) {
    const auto start = Clock::now();
    const std::int64_t bytes = plan_.grid.most_bytes();
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
        free_lanes_.push(static_cast<std::size_t>(i));
    }
    times_.lanes = plan_.lanes;
    times_.chunk_rows = plan_.grid.first * plan_.grid.second;
    times_.setup_seconds = std::chrono::duration<double>(Clock::now() - start).count();
}

template <class Q> void Pipeline<Q>::fail(std::exception_ptr error) {
    {
        const std::lock_guard lock(failure_mutex_);
        if (!failure_) {
            failure_ = std::move(error);
        }
    }
    cut();
}

/// Ends all stages, whatever they wait for.
template <class Q> void Pipeline<Q>::cut() {
    free_lanes_.cut();
    read_tasks_.cut();
    computed_tasks_.cut();
    hashed_tasks_.cut();
}

template <class Q>
template <class Body>
std::thread Pipeline<Q>::stage_thread(Stage stage, Body body) {
    return std::thread([this, stage, body] {
        try {
            (this->*body)();
        } catch (const Error& error) {
            fail(with_place(stage, error));
        } catch (const std::bad_alloc&) {
            fail(with_place(stage, out_of_host_memory()));
        } catch (...) {
            fail(std::current_exception());
        }
    });
}

template <class Q>
std::exception_ptr Pipeline<Q>::with_place(Stage stage, const Error& error) const {
    const PermuteBox& box = current_[static_cast<std::size_t>(stage)];
    ErrorText text = error.text();
    const auto range = [](const RowRange& indices) {
        return std::to_string(indices.first) + " to " + std::to_string(indices.last - 1);
    };
    text.where += std::string(text.where.empty() ? "" : "; ") +
                  std::string(stage_names[static_cast<std::size_t>(stage)]) +
                  " of the output's indices " + range(box.first) + " of axis 0 and " +
                  range(box.second) + " of axis 1";
    return std::make_exception_ptr(Error(error.code(), std::move(text)));
}

template <class Q> void Pipeline<Q>::begin_box(Stage stage, const Task& task) {
    const auto index = static_cast<std::size_t>(stage);
    current_[index] = task.box;
    run_.progress.begun[index] = task.index + 1;
}

/// What overlaps the box before counts once.
template <class Q>
void Pipeline<Q>::spend(Stage stage, const Task& task, double begin, double end,
                        std::int64_t bytes) {
    const auto index = static_cast<std::size_t>(stage);
    StageTimes& times = times_.stages[index];
    times.busy_seconds += std::max(0.0, end - std::max(begin, busy_until_[index]));
    times.bytes += bytes;
    busy_until_[index] = std::max(busy_until_[index], end);
    run_.progress.busy[index].set(times.busy_seconds, at(busy_until_[index]));
    ++run_.progress.steps;
    if (run_.trace != nullptr) {
        run_.trace->add({"box " + std::to_string(task.index), static_cast<int>(task.lane), stage,
                         begin, end, bytes});
    }
}

template <class Q> RunTimes Pipeline<Q>::run() {
    begin_ = Clock::now();
    run_.progress.unit = "box";
    run_.progress.under_way = true;
    std::array threads = {stage_thread(Stage::read, &Pipeline::read_stage),
                          stage_thread(Stage::compute, &Pipeline::compute_stage),
                          stage_thread(Stage::hash, &Pipeline::hash_stage),
                          stage_thread(Stage::write, &Pipeline::write_stage)};
    for (std::thread& thread : threads) {
        thread.join();
    }
    run_.progress.under_way = false;
    times_.wall_seconds = now();
    if (failure_) {
        drain();
        std::rethrow_exception(failure_);
    }
    if (asked_to(StopLevel::drop_chunks)) {
        drain();
    }
    return times_;
}

/// Lets the lanes' work end before their memory goes; what else fails now is not the reason.
template <class Q> void Pipeline<Q>::drain() {
    for (Lane<Q>& lane : lanes_) {
        try {
            lane.own().synchronize();
        } catch (const Error&) {
            return;
        }
    }
}

template <class Q> void Pipeline<Q>::read_stage() {
    for (const std::int64_t index : plan_.boxes(run_.rank)) {
        const double asked = now();
        const std::optional<std::size_t> lane = free_lanes_.pop();
        if (!lane) {
            return;
        }
        if (asked_to(StopLevel::finish_chunks)) {
            break;
        }
        Task task;
        task.index = index;
        task.box = plan_.grid.box(index);
        task.lane = *lane;
        task.read_begin = now();
        times_[Stage::read].wait_seconds += task.read_begin - asked;
        run_.progress.in_flight.begin(index, 0);
        begin_box(Stage::read, task);
        run_.progress[Stage::read].begin(Clock::now());
        {
            const ProfileRange range("read");
            run_.reader.read_runs(input_runs(plan_.grid, task.box), lanes_[*lane].in.data());
        }
        spend(Stage::read, task, task.read_begin, now(), box_bytes(task.box));
        run_.progress[Stage::read].end();
        read_tasks_.push(std::move(task));
    }
    read_tasks_.close();
}

template <class Q> void Pipeline<Q>::compute_stage() {
    for (;;) {
        const double asked = now();
        std::optional<Task> task = read_tasks_.pop();
        if (!task) {
            computed_tasks_.close();
            return;
        }
        times_[Stage::compute].wait_seconds += now() - asked;
        begin_box(Stage::compute, *task);
        submit(*task);
        computed_tasks_.push(std::move(*task));
    }
}

template <class Q> void Pipeline<Q>::submit(Task& task) {
    const ProfileRange range("compute");
    Lane<Q>& lane = lanes_[task.lane];
    const Extents extents = plan_.grid.in_extents(task.box);
    const std::int64_t bytes = box_bytes(task.box);
    task.compute_begin = now();
    if constexpr (Q::shares_host_memory) {
        run_.job.run(lane.queue, extents, lane.in.data(), lane.out.data());
    } else {
        lane.begun.record(lane.own());
        upload(lane.own(), lane.device_in.data(), lane.in.data(), bytes);
        lane.loaded.record(lane.own());
        run_.job.run(lane.queue, extents, lane.device_in.data(), lane.device_out.data());
        lane.computed.record(lane.own());
        download(lane.own(), lane.out.data(), lane.device_out.data(), bytes);
    }
    lane.done.record(lane.own());
    task.compute_end = now();
}

/// The device's times, placed by the box's way back: its clock and the host's are not compared.
template <class Q> void Pipeline<Q>::time_device(const Task& task) {
    Lane<Q>& lane = lanes_[task.lane];
    const std::int64_t bytes = box_bytes(task.box);
    if constexpr (Q::shares_host_memory) {
        spend(Stage::compute, task, task.compute_begin, task.compute_end, bytes);
    } else {
        const double back = now();
        const double loaded = back - lane.done.seconds_since(lane.loaded);
        const double computed = back - lane.done.seconds_since(lane.computed);
        spend(Stage::upload, task, back - lane.done.seconds_since(lane.begun), loaded, bytes);
        spend(Stage::compute, task, loaded, computed, bytes);
        spend(Stage::download, task, computed, back, bytes);
    }
}

/// The rows of the box that no earlier run has written.
template <class Q> std::vector<RowPiece> Pipeline<Q>::pieces_of(const PermuteBox& box) const {
    std::vector<RowPiece> pieces;
    std::int64_t offset = 0;
    for (const RowRange& run : plan_.grid.rows(box)) {
        for (const RowRange& rows : subtract({run}, plan_.done)) {
            pieces.push_back({rows, offset + rows.first - run.first, 0});
        }
        offset += run.count();
    }
    return pieces;
}

template <class Q> void Pipeline<Q>::hash_stage() {
    for (;;) {
        const double asked = now();
        std::optional<Task> task = computed_tasks_.pop();
        if (!task) {
            hashed_tasks_.close();
            return;
        }
        begin_box(Stage::hash, *task);
        Lane<Q>& lane = lanes_[task->lane];
        lane.done.wait();
        const double begin = now();
        run_.progress[Stage::hash].begin(Clock::now());
        times_[Stage::hash].wait_seconds += begin - asked;
        time_device(*task);
        task->pieces = pieces_of(task->box);
        for (RowPiece& piece : task->pieces) {
            piece.hash = hash_bytes(lane.out.data() + piece.offset * row_bytes(),
                                    piece.rows.count() * row_bytes());
        }
        spend(Stage::hash, *task, begin, now(), box_bytes(task->box));
        run_.progress[Stage::hash].end();
        hashed_tasks_.push(std::move(*task));
    }
}

template <class Q> void Pipeline<Q>::write_stage() {
    for (;;) {
        const double asked = now();
        const std::optional<Task> task = hashed_tasks_.pop();
        if (!task) {
            return;
        }
        if (asked_to(StopLevel::drop_chunks)) {
            return cut();
        }
        begin_box(Stage::write, *task);
        run_.progress[Stage::write].begin(Clock::now());
        const double begin = now();
        times_[Stage::write].wait_seconds += begin - asked;
        const std::byte* const rows = lanes_[task->lane].out.data();
        std::int64_t written = 0;
        for (const RowPiece& piece : task->pieces) {
            const ProfileRange range("write");
            run_.writer.write(piece.rows.first, piece.rows.count(),
                              rows + piece.offset * row_bytes());
            run_.commits.add({piece.rows.first, piece.rows.count(), piece.hash});
            written += piece.rows.count();
        }
        ++times_.chunks;
        run_.progress.rows_done += written;
        run_.progress.slowest_chunk =
            std::max<double>(run_.progress.slowest_chunk, now() - task->read_begin);
        spend(Stage::write, *task, begin, now(), written * row_bytes());
        run_.progress[Stage::write].end();
        run_.progress.in_flight.end(task->index);
        free_lanes_.push(task->lane);
    }
}

} // namespace

RowRuns input_runs(const BoxGrid& grid, const PermuteBox& box) {
    const Extents extents = grid.in_extents(box);
    const Extents start = grid.in_start(box);
    const std::int64_t rows = grid.shape.input[1]; // of one index of the first axis
    RowRuns runs{start[0] * rows + start[1], extents[1], extents[0], rows, start[2], extents[2]};
    if (extents[1] == rows) {
        runs.rows *= runs.runs;
        runs.runs = 1;
    }
    return runs;
}

RunTimes run_permutation(const Permutation& permutation, const QueueMaker& make_queue) {
    const Queue probe = make_queue();
    return std::visit([&]<class Q>(const Q&) { return Pipeline<Q>(permutation, make_queue).run(); },
                      probe);
}

} // namespace runner
