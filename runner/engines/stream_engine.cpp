// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/stream_engine.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/writers/row_hashes.hpp"
#include "kernels/queue/profile_range.hpp"
#include "runner/engines/channel.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

constexpr std::int64_t launch_room_bytes = 64 * MiB;

/// Where a chunk's input rows are: shared with the next chunk, so apart from the lanes.
template <class Q> struct InputSlot {
    Buffer staging;
    Buffer device; ///< empty where the queue computes in the staging buffer
    typename Q::Event loaded;

    std::byte* data() const { return Q::shares_host_memory ? staging.data() : device.data(); }
};

/// The queue and the output side of one chunk in flight.
template <class Q> struct Lane {
    Queue queue;
    Buffer staging;
    Buffer device;
    Buffer scratch;
    typename Q::Event begun;
    typename Q::Event computed;
    typename Q::Event done;

    Q& own() { return std::get<Q>(queue); }
    std::byte* data() const { return Q::shares_host_memory ? staging.data() : device.data(); }
};

/// A chunk on its way.
struct Task {
    Chunk chunk;
    std::int64_t number = 0;
    RowRange window;               ///< extended rows of its input; of its first frame
    std::int64_t carried = 0;      ///< leading window rows that the chunk before holds too
    std::int64_t carried_from = 0; ///< their place in that chunk's buffer, rows
    double read_begin = 0;         ///< seconds since the stream began
    double compute_begin = 0;      ///< seconds since the stream began; host time, for the CPU
    double compute_end = 0;
};

/// A chunk that is back, and the checksum of its rows.
struct HashedTask {
    Task task;
    std::uint64_t hash = 0;
};

/// One run of the stream on queues of one type.
template <class Q> class Pipeline {
  public:
    /// Takes all memory. @throws OutOfMemory
    Pipeline(const Stream& stream, const Plan& plan, const QueueMaker& make_queue);

    RunTimes run();

  private:
    void read_stage();
    void compute_stage();
    void hash_stage();
    void write_stage();
    void fail(std::exception_ptr error);
    void cut();
    void tell_dropped() const;
    void drain();
    bool asked_to(StopLevel level) const {
        return stream_.stop != nullptr && stream_.stop->level() >= level;
    }
    template <class Body> std::thread stage_thread(Stage stage, Body body);

    Task next_task(const Chunk& chunk, const std::optional<Task>& before) const;
    void read(const Task& task);
    void submit(Task& task);
    void finish(const Task& task);
    void load(const Task& task, Lane<Q>& lane);
    void spend(Stage stage, const Task& task, double begin, double end, std::int64_t bytes);
    void begin_chunk(Stage stage, const Task& task);
    void wrote(const Task& task, std::uint64_t hash);
    std::exception_ptr with_place(Stage stage, const Error& error) const;

    double now() const { return seconds_between(begin_, Clock::now()); }
    Clock::time_point at(double seconds) const {
        return begin_ +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    std::size_t lane_of(std::int64_t number) const {
        return static_cast<std::size_t>(number) % lanes_.size();
    }
    InputSlot<Q>& slot_of(std::int64_t number) {
        return slots_[static_cast<std::size_t>(number) % slots_.size()];
    }
    /// Those of the input that it stands for, counted through all frames.
    RowRange rows(const Task& task) const {
        const std::int64_t first = task.chunk.frame * plan_.shape.rows + task.chunk.block.out_first;
        return {first, first + task.chunk.out_rows()};
    }
    RowRange out_rows(const Task& task) const { return plan_.decomposition.out_rows(rows(task)); }
    std::int64_t in_bytes(std::int64_t rows) const { return rows * plan_.shape.in_row_bytes; }
    std::int64_t out_bytes(const Task& task) const {
        return out_rows(task).count() * plan_.shape.out_row_bytes;
    }

    Stream stream_;
    const Plan plan_; ///< the stream's, or a smaller one
    std::deque<Lane<Q>> lanes_;
    std::deque<InputSlot<Q>> slots_;
    Channel<int> free_lanes_;
    Channel<Task> read_tasks_;
    Channel<Task> computed_tasks_;
    Channel<HashedTask> hashed_tasks_;
    RunTimes times_;
    std::array<Task, stage_count> current_{}; ///< of each stage, for its own thread
    std::array<double, stage_count> busy_until_{};
    Clock::time_point begin_;
    std::optional<typename Q::Event> origin_; ///< reached at begin_
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
};

template <class Q>
Pipeline<Q>::Pipeline(const Stream& stream, const Plan& plan, const QueueMaker& make_queue)
    : stream_(stream), plan_(plan) {
    const auto start = Clock::now();
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
        free_lanes_.push(i);
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
    origin_.emplace(first);
    if constexpr (!Q::shares_host_memory) {
        // CUDA takes memory for a kernel's code and stack at its first launch: see that it is left.
        (void)allocate_device(first, launch_room_bytes);
    }
    times_.chunk_rows = plan_.decomposition.chunk_rows;
    times_.lanes = plan_.lanes;
    times_.setup_seconds = seconds_between(start, Clock::now());
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

template <class Q> void Pipeline<Q>::begin_chunk(Stage stage, const Task& task) {
    current_[static_cast<std::size_t>(stage)] = task;
    stream_.progress.begun[static_cast<std::size_t>(stage)] = task.number + 1;
}

/// The error with the stage it happened in, its chunk and the chunk's rows.
template <class Q>
std::exception_ptr Pipeline<Q>::with_place(Stage stage, const Error& error) const {
    const Task& task = current_[static_cast<std::size_t>(stage)];
    const RowRange range = rows(task);
    ErrorText text = error.text();
    text.where += std::string(text.where.empty() ? "" : "; ") +
                  std::string(stage_names[static_cast<std::size_t>(stage)]) + " of chunk " +
                  std::to_string(task.number) + ", rows " + std::to_string(range.first) + " to " +
                  std::to_string(range.last - 1);
    return std::make_exception_ptr(Error(error.code(), std::move(text)));
}

template <class Q> RunTimes Pipeline<Q>::run() {
    origin_->record(lanes_.front().own());
    origin_->wait();
    begin_ = Clock::now();
    for (Lane<Q>& lane : lanes_) {
        stream_.progress.in_flight.watch(lane.own().meter());
    }
    stream_.progress.under_way = true;
    std::thread reading = stage_thread(Stage::read, &Pipeline::read_stage);
    std::thread computing = stage_thread(Stage::compute, &Pipeline::compute_stage);
    std::thread hashing = stage_thread(Stage::hash, &Pipeline::hash_stage);
    std::thread writing = stage_thread(Stage::write, &Pipeline::write_stage);
    reading.join();
    computing.join();
    hashing.join();
    writing.join();
    stream_.progress.under_way = false;
    times_.wall_seconds = now();
    if (failure_) {
        drain();
        std::rethrow_exception(failure_);
    }
    if (asked_to(StopLevel::drop_chunks)) {
        tell_dropped();
        drain();
    }
    return times_;
}

template <class Q> void Pipeline<Q>::tell_dropped() const {
    for (const ChunkInFlight& chunk : stream_.progress.in_flight.chunks(Clock::now())) {
        if (stream_.say && (chunk.computing || chunk.share == 1)) {
            stream_.say("rank " + std::to_string(stream_.rank) + ": dropped chunk " +
                        std::to_string(chunk.number) + " with " +
                        std::to_string(static_cast<int>(chunk.share * 100)) +
                        " % of its work done\n");
        }
    }
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

template <class Q>
Task Pipeline<Q>::next_task(const Chunk& chunk, const std::optional<Task>& before) const {
    Task task;
    task.chunk = chunk;
    task.number = before ? before->number + 1 : 0;
    task.window = {chunk.block.in_first, chunk.block.in_first + chunk.block.in_rows};
    if (before && chunk.block.frames == 1 && before->chunk.block.frames == 1 &&
        before->chunk.frame == chunk.frame && before->window.last > task.window.first) {
        task.carried = std::min(before->window.last, task.window.last) - task.window.first;
        task.carried_from = task.window.first - before->window.first;
    }
    return task;
}

template <class Q> void Pipeline<Q>::read_stage() {
    ChunkCursor cursor(plan_.decomposition, plan_.decomposition.slab(stream_.rank));
    std::optional<Task> before;
    while (const std::optional<Chunk> chunk = cursor.next()) {
        const double asked = now();
        if (!free_lanes_.pop()) {
            return;
        }
        if (asked_to(StopLevel::finish_chunks)) {
            break;
        }
        const double begin = now();
        times_[Stage::read].wait_seconds += begin - asked;
        Task task = next_task(*chunk, before);
        task.read_begin = begin;
        stream_.progress.in_flight.begin(task.number, task.chunk.out_rows());
        begin_chunk(Stage::read, task);
        stream_.progress[Stage::read].begin(Clock::now());
        read(task);
        const double end = now();
        spend(Stage::read, task, begin, end, in_bytes(task.chunk.in_rows() - task.carried));
        stream_.progress[Stage::read].end();
        before = task;
        read_tasks_.push(task);
    }
    read_tasks_.close();
}

template <class Q> void Pipeline<Q>::read(const Task& task) {
    const ProfileRange range("read");
    std::byte* to = slot_of(task.number).staging.data();
    if constexpr (Q::shares_host_memory) {
        const InputSlot<Q>& before = slot_of(task.number - 1 + plan_.input_slots());
        if (task.carried > 0) {
            copy_on_device(lanes_[lane_of(task.number)].own(), to,
                           before.staging.data() + in_bytes(task.carried_from),
                           in_bytes(task.carried));
        }
    }
    to += in_bytes(task.carried);
    const std::int64_t frame = task.chunk.frame * plan_.shape.rows;
    if (task.chunk.block.frames > 1) {
        stream_.border.read_rows({frame, frame + task.chunk.in_rows()}, stream_.reader, to);
    } else {
        stream_.border.read(task.chunk.frame, {task.window.first + task.carried, task.window.last},
                            stream_.reader, to);
    }
    stream_.job.check_rows(frame + task.window.first + task.carried,
                           task.chunk.in_rows() - task.carried, to);
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
        if (asked_to(StopLevel::finish_chunks)) {
            // Only read: what takes long has not begun.
            free_lanes_.cut();
            computed_tasks_.close();
            return;
        }
        begin_chunk(Stage::compute, *task);
        try {
            submit(*task);
        } catch (const WorkDropped&) {
            cut();
            return;
        }
        computed_tasks_.push(*task);
    }
}

template <class Q> void Pipeline<Q>::load(const Task& task, Lane<Q>& lane) {
    InputSlot<Q>& slot = slot_of(task.number);
    if constexpr (!Q::shares_host_memory) {
        // The chunk after the one that used this slot last may still be copying its halo from it.
        const std::int64_t next_user = task.number + 1 - plan_.input_slots();
        if (next_user > 0) {
            slot_of(next_user).loaded.hold(lane.own());
        }
        const std::int64_t carried = in_bytes(task.carried);
        upload(lane.own(), slot.device.data() + carried, slot.staging.data() + carried,
               in_bytes(task.chunk.in_rows() - task.carried));
        if (task.carried > 0) {
            const InputSlot<Q>& before = slot_of(task.number - 1);
            before.loaded.hold(lane.own());
            copy_on_device(lane.own(), slot.device.data(),
                           before.device.data() + in_bytes(task.carried_from), carried);
        }
    }
    slot.loaded.record(lane.own());
}

template <class Q> void Pipeline<Q>::submit(Task& task) {
    const ProfileRange range("compute");
    Lane<Q>& lane = lanes_[lane_of(task.number)];
    task.compute_begin = now();
    stream_.progress[Stage::compute].begin(Clock::now());
    stream_.progress.in_flight.compute(task.number, stream_.job.operations(task.chunk.block),
                                       lane.own().meter(), Clock::now());
    lane.begun.record(lane.own());
    load(task, lane);
    stream_.job.run(lane.queue, task.chunk.block, slot_of(task.number).data(), lane.data(),
                    lane.scratch.data());
    lane.computed.record(lane.own());
    if constexpr (!Q::shares_host_memory) {
        download(lane.own(), lane.staging.data(), lane.device.data(), out_bytes(task));
    }
    lane.done.record(lane.own());
    task.compute_end = now();
    if constexpr (Q::shares_host_memory) {
        spend(Stage::compute, task, task.compute_begin, task.compute_end,
              in_bytes(task.chunk.in_rows()));
        stream_.progress[Stage::compute].end();
    }
}

/// Beside the writing, which one thread does: a checksum takes a fifth of the time of a write.
template <class Q> void Pipeline<Q>::hash_stage() {
    for (;;) {
        const double asked = now();
        const std::optional<Task> task = computed_tasks_.pop();
        if (!task) {
            hashed_tasks_.close();
            return;
        }
        begin_chunk(Stage::hash, *task);
        Lane<Q>& lane = lanes_[lane_of(task->number)];
        lane.done.wait();
        lane.own().settle();
        stream_.progress.in_flight.computed(task->number);
        stream_.progress[Stage::hash].begin(Clock::now());
        const double begin = now();
        times_[Stage::hash].wait_seconds += begin - asked;
        finish(*task);
        const std::uint64_t hash =
            stream_.commits == nullptr ? 0 : hash_bytes(lane.staging.data(), out_bytes(*task));
        const double end = now();
        spend(Stage::hash, *task, begin, end, out_bytes(*task));
        stream_.progress[Stage::hash].end();
        hashed_tasks_.push({*task, hash});
    }
}

template <class Q> void Pipeline<Q>::write_stage() {
    for (;;) {
        const double asked = now();
        const std::optional<HashedTask> hashed = hashed_tasks_.pop();
        if (!hashed) {
            return;
        }
        if (asked_to(StopLevel::drop_chunks)) {
            cut();
            return;
        }
        const Task& task = hashed->task;
        begin_chunk(Stage::write, task);
        stream_.progress[Stage::write].begin(Clock::now());
        const double begin = now();
        times_[Stage::write].wait_seconds += begin - asked;
        if (const RowRange out = out_rows(task); !out.empty()) {
            const ProfileRange range("write");
            stream_.writer.write(out.first, out.count(),
                                 lanes_[lane_of(task.number)].staging.data());
        }
        wrote(task, hashed->hash);
        const double end = now();
        spend(Stage::write, task, begin, end, out_bytes(task));
        stream_.progress[Stage::write].end();
        free_lanes_.push(static_cast<int>(lane_of(task.number)));
    }
}

/// The writer has the chunk.
template <class Q> void Pipeline<Q>::wrote(const Task& task, std::uint64_t hash) {
    if (const RowRange out = out_rows(task); stream_.commits != nullptr && !out.empty()) {
        stream_.commits->add({out.first, out.count(), hash});
    }
    ++times_.chunks;
    RunProgress& progress = stream_.progress;
    progress.in_flight.end(task.number);
    progress.rows_done += task.chunk.out_rows();
    progress.slowest_chunk = std::max<double>(progress.slowest_chunk, now() - task.read_begin);
}

/// Takes down what the device did, once the chunk is back.
template <class Q> void Pipeline<Q>::finish(const Task& task) {
    if constexpr (!Q::shares_host_memory) {
        Lane<Q>& lane = lanes_[lane_of(task.number)];
        const double begun = lane.begun.seconds_since(*origin_);
        const double loaded = slot_of(task.number).loaded.seconds_since(*origin_);
        const double computed = lane.computed.seconds_since(*origin_);
        const double done = lane.done.seconds_since(*origin_);
        spend(Stage::upload, task, begun, loaded, in_bytes(task.chunk.in_rows() - task.carried));
        spend(Stage::compute, task, loaded, computed, in_bytes(task.chunk.in_rows()));
        spend(Stage::download, task, computed, done, out_bytes(task));
        stream_.progress[Stage::compute].end();
    }
}

/// Adds [begin, end) to the stage's busy time; what overlaps the chunk before counts once.
template <class Q>
void Pipeline<Q>::spend(Stage stage, const Task& task, double begin, double end,
                        std::int64_t bytes) {
    const auto index = static_cast<std::size_t>(stage);
    StageTimes& times = times_.stages[index];
    times.busy_seconds += std::max(0.0, end - std::max(begin, busy_until_[index]));
    times.bytes += bytes;
    busy_until_[index] = std::max(busy_until_[index], end);
    stream_.progress.busy[index].set(times.busy_seconds, at(busy_until_[index]));
    ++stream_.progress.steps;
    if (stream_.trace != nullptr) {
        stream_.trace->add({"chunk " + std::to_string(task.number),
                            static_cast<int>(lane_of(task.number)), stage, begin, end, bytes});
    }
}

} // namespace

RunTimes run_stream(const Stream& stream, const QueueMaker& make_queue) {
    const Queue probe = make_queue();
    return std::visit(
        [&]<class Q>(const Q&) {
            std::vector<Halving> halvings;
            const auto pipeline =
                take_fitting(stream.job, stream.plan, halvings, [&](const Plan& plan) {
                    return std::make_unique<Pipeline<Q>>(stream, plan, make_queue);
                });
            if (!halvings.empty() && stream.say) {
                stream.say(halving_text(stream.rank, halvings));
            }
            RunTimes times = pipeline->run();
            times.halvings = std::move(halvings);
            return times;
        },
        probe);
}

} // namespace runner
