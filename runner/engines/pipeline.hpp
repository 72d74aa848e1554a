// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "base/format.hpp"
#include "kernels/queue/devices.hpp"
#include "kernels/queue/queue.hpp"
#include "kernels/queue/work_meter.hpp"
#include "runner/engines/channel.hpp"
#include "runner/engines/stage_recorder.hpp"
#include "runner/engines/stage_threads.hpp"
#include "runner/watch/stop.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace runner {

/// What a piece of work and its results are known by.
struct PieceName {
    std::int64_t number = 0; ///< no other piece of the run has it
    std::size_t lane = 0;
    double read_begin = 0; ///< seconds of the recorder

    std::uint64_t trace_number() const { return static_cast<std::uint64_t>(number); }
};

/// A piece of work on its way: a chunk, a box. An engine adds what it must know of it.
struct PipelinePiece : PieceName {
    double compute_begin = 0; ///< host time, of a queue that computes at once
    double compute_end = 0;
};

/// Some of a piece's results, in host memory: all of them, or as many as fit into one buffer. An
/// engine adds where they are.
struct PipelinePortion : PieceName {
    bool last = true; ///< of its piece
};

/// What write() has handed to the output.
struct Written {
    std::int64_t rows = 0; ///< of progress
    std::int64_t bytes = 0;
};

/// What a pipeline reports to and obeys; everything outlives it.
struct PipelineRun {
    int rank;
    RunTimes& times;
    RunProgress& progress; ///< its `unit` names a piece
    StageRecorder& recorder;
    const Stop* stop; ///< null: nothing stops it early
    const std::function<void(const std::string& line)>& say;
};

/// Passes pieces of work through four threads, over a fixed number of lanes:
///
///     free lane ─▶ read ─▶ compute ─▶ hash ─▶ write ─▶ free lane
///
/// A piece goes through the first two stages whole. Its results leave in portions, so that what is
/// on the device may be larger than what is page-locked.
///
/// Engine does the work. It has the types Q, a queue, Piece, derived from PipelinePiece, Portion,
/// derived from PipelinePortion, and Place, a small value that says which rows these are, and
///
///     Q& queue(std::size_t lane);
///     std::optional<Piece> next();         // `lane` is set by the pipeline
///     std::int64_t read(const Piece&);     // bytes read
///     double operations(const Piece&);     // that its queue counts while it computes; 0: none
///     void compute(const Piece&);          // queues the work; done at once where Q does so
///     void wait(const Piece&);             // until it is computed
///     void record_device(const Piece&);    // what the device did, in the recorder
///     std::optional<Portion> fetch(const Piece&); // waits for the next; nothing once cut
///     std::int64_t hash(Portion&);         // bytes hashed
///     Written write(const Portion&);       // hands the rows to the output and its journal
///     std::int64_t rows(const Piece&);     // done with it; 0: not before it is written
///     Place place(const Piece&);           // of a portion, too
///     std::string text(const Place&);      // "chunk 7, rows 0 to 63"
///     void cut();                          // fetch() waits no longer; from any thread
///     void drain();                        // until no queue works any more
///
/// Each of them but cut() is called by one thread at a time.
template <class Engine> class Pipeline {
  public:
    using Q = typename Engine::Q;
    using Piece = typename Engine::Piece;
    using Portion = typename Engine::Portion;

    Pipeline(Engine& engine, std::size_t lanes, const PipelineRun& run)
        : engine_(engine), lanes_(lanes), run_(run),
          threads_([this] { cut(); }, [this](Stage stage) { return place_text(stage); }) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            free_lanes_.push(lane);
        }
    }

    /// Returns when all pieces are written, or when the run was asked to stop and the lanes' work
    /// has ended. The first failure of a stage ends all stages and is thrown.
    void run();

  private:
    static std::size_t index_of(Stage stage) { return static_cast<std::size_t>(stage); }
    bool asked_to(StopLevel level) const {
        return run_.stop != nullptr && run_.stop->level() >= level;
    }
    double now() const { return run_.recorder.now(); }

    void read_stage();
    void compute_stage();
    void hash_stage();
    void write_stage();

    template <class T> void take(Stage stage, const T& piece);
    void end_compute(const Piece& piece);
    void hash_portions(const Piece& piece);
    void wrote(const Portion& portion, const Written& written, double begin);
    void cut();
    void drain();
    void report_dropped() const;
    std::string place_text(Stage stage) const;

    Engine& engine_;
    std::size_t lanes_;
    PipelineRun run_;
    Channel<std::size_t> free_lanes_;
    Channel<Piece> read_;
    Channel<Piece> computed_;
    Channel<Portion> hashed_;
    std::array<typename Engine::Place, stage_count> places_{}; ///< each for its stage's thread
    StageThreads threads_;
};

template <class Engine> void Pipeline<Engine>::run() {
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
        run_.progress.in_flight.watch(engine_.queue(lane).meter());
    }
    run_.progress.under_way = true;
    threads_.start(Stage::read, [this] { read_stage(); });
    threads_.start(Stage::compute, [this] { compute_stage(); });
    threads_.start(Stage::hash, [this] { hash_stage(); });
    threads_.start(Stage::write, [this] { write_stage(); });
    threads_.join();
    run_.progress.under_way = false;
    run_.times.wall_seconds = now();
    if (threads_.failed()) {
        drain();
        threads_.rethrow_failure();
    }
    if (asked_to(StopLevel::drop_chunks)) {
        report_dropped();
        drain();
    }
}

/// Ends all stages, whatever they wait for.
template <class Engine> void Pipeline<Engine>::cut() {
    free_lanes_.cut();
    read_.cut();
    computed_.cut();
    hashed_.cut();
    engine_.cut();
}

/// Lets the queues' work end before its memory goes. What fails now is not why the run ends.
template <class Engine> void Pipeline<Engine>::drain() {
    try {
        engine_.drain();
    } catch (const Error&) {
        return;
    }
}

template <class Engine> void Pipeline<Engine>::report_dropped() const {
    for (const ChunkInFlight& piece : run_.progress.in_flight.chunks(StageRecorder::Clock::now())) {
        if (run_.say && (piece.computing || piece.share == 1)) {
            run_.say(fmt::format("rank {}: dropped {} {} with {} % of its work done\n", run_.rank,
                                 run_.progress.unit, piece.number,
                                 static_cast<int>(piece.share * 100)));
        }
    }
}

template <class Engine> std::string Pipeline<Engine>::place_text(Stage stage) const {
    return std::string(stage_names[index_of(stage)]) + " of " +
           engine_.text(places_[index_of(stage)]);
}

template <class Engine>
template <class T>
void Pipeline<Engine>::take(Stage stage, const T& piece) {
    places_[index_of(stage)] = engine_.place(piece);
    run_.recorder.take(stage, piece.number);
}

template <class Engine> void Pipeline<Engine>::read_stage() {
    while (std::optional<Piece> piece = engine_.next()) {
        const double asked = now();
        const std::optional<std::size_t> lane = free_lanes_.pop();
        if (!lane) {
            return;
        }
        if (asked_to(StopLevel::finish_chunks)) {
            break;
        }
        piece->lane = *lane;
        piece->read_begin = now();
        run_.recorder.add_wait(Stage::read, piece->read_begin - asked);
        run_.progress.in_flight.begin(piece->number, engine_.rows(*piece));
        take(Stage::read, *piece);
        run_.recorder.begin(Stage::read);
        const ProfileRange range("read");
        const std::int64_t bytes = engine_.read(*piece);
        run_.recorder.add(Stage::read, piece->trace_number(), *lane, piece->read_begin, now(),
                          bytes);
        run_.recorder.end(Stage::read);
        read_.push(std::move(*piece));
    }
    read_.close();
}

template <class Engine> void Pipeline<Engine>::compute_stage() {
    for (;;) {
        const double asked = now();
        std::optional<Piece> piece = read_.pop();
        if (!piece) {
            return computed_.close();
        }
        run_.recorder.add_wait(Stage::compute, now() - asked);
        if (asked_to(StopLevel::finish_chunks)) {
            // The piece is only read: what takes long has not begun.
            free_lanes_.cut();
            return computed_.close();
        }
        take(Stage::compute, *piece);
        const ProfileRange range("compute");
        piece->compute_begin = now();
        run_.recorder.begin(Stage::compute);
        run_.progress.in_flight.compute(piece->number, engine_.operations(*piece),
                                        engine_.queue(piece->lane).meter(),
                                        StageRecorder::Clock::now());
        try {
            engine_.compute(*piece);
        } catch (const WorkDropped&) {
            return cut();
        }
        piece->compute_end = now();
        if constexpr (Q::shares_host_memory) {
            end_compute(*piece);
        }
        computed_.push(std::move(*piece));
    }
}

template <class Engine> void Pipeline<Engine>::end_compute(const Piece& piece) {
    engine_.record_device(piece);
    run_.recorder.end(Stage::compute);
}

template <class Engine> void Pipeline<Engine>::hash_stage() {
    for (;;) {
        const double asked = now();
        const std::optional<Piece> piece = computed_.pop();
        if (!piece) {
            return hashed_.close();
        }
        take(Stage::hash, *piece);
        engine_.wait(*piece);
        engine_.queue(piece->lane).settle();
        run_.progress.in_flight.computed(piece->number);
        run_.recorder.add_wait(Stage::hash, now() - asked);
        if constexpr (!Q::shares_host_memory) {
            end_compute(*piece);
        }
        hash_portions(*piece);
    }
}

/// Beside the writing, which one thread does: a checksum takes a fifth of the time of a write.
/// Its lane is another piece's as soon as the last portion is handed on.
template <class Engine> void Pipeline<Engine>::hash_portions(const Piece& piece) {
    for (bool last = false; !last;) {
        const double asked = now();
        std::optional<Portion> portion = engine_.fetch(piece);
        if (!portion) {
            return;
        }
        last = portion->last;
        run_.recorder.begin(Stage::hash);
        const double begin = now();
        run_.recorder.add_wait(Stage::hash, begin - asked);
        const std::int64_t bytes = engine_.hash(*portion);
        run_.recorder.add(Stage::hash, piece.trace_number(), piece.lane, begin, now(), bytes);
        run_.recorder.end(Stage::hash);
        hashed_.push(std::move(*portion));
    }
}

template <class Engine> void Pipeline<Engine>::write_stage() {
    for (;;) {
        const double asked = now();
        const std::optional<Portion> portion = hashed_.pop();
        if (!portion) {
            return;
        }
        if (asked_to(StopLevel::drop_chunks)) {
            return cut();
        }
        take(Stage::write, *portion);
        run_.recorder.begin(Stage::write);
        const double begin = now();
        run_.recorder.add_wait(Stage::write, begin - asked);
        const ProfileRange range("write");
        wrote(*portion, engine_.write(*portion), begin);
        run_.recorder.end(Stage::write);
        if (portion->last) {
            free_lanes_.push(portion->lane);
        }
    }
}

/// The output has the portion.
template <class Engine>
void Pipeline<Engine>::wrote(const Portion& portion, const Written& written, double begin) {
    RunProgress& progress = run_.progress;
    progress.in_flight.wrote(portion.number, written.rows);
    progress.rows_done += written.rows;
    const double end = now();
    if (portion.last) {
        ++run_.times.chunks;
        progress.in_flight.end(portion.number);
        progress.slowest_chunk = std::max<double>(progress.slowest_chunk, end - portion.read_begin);
    }
    run_.recorder.add(Stage::write, portion.trace_number(), portion.lane, begin, end,
                      written.bytes);
}

} // namespace runner
