// SPDX-License-Identifier: BSD-3-Clause
// A state that evolves on one rank, from memory to memory, whose reader and writer stall and fail.
#include "runner/engines/evolve/evolve_engine.hpp"

#include "base/format.hpp"
#include "jobs/sand/sand_job.hpp"
#include "runner/output/checkpoints.hpp"
#include "tests/reference/sand_reference.hpp"
#include "tests/support/copy_stream.hpp"
#include "tests/support/stepped_rows.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <future>
#include <optional>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

namespace runner::evolve {
namespace {

using sand_reference::Cells;

struct Shape {
    std::int64_t rows;
    std::int64_t width;
    Snapshots snapshots;
    std::int64_t chunk_rows;
    int lanes;
    StateHome home = StateHome::device;

    std::string text() const {
        return fmt::format("{} x {} cells, generations {} to {} every {}, chunks of {}, {} lanes",
                           rows, width, snapshots.first, snapshots.last(), snapshots.every,
                           chunk_rows, lanes);
    }
};

/// Its tables take until their work is dropped, or for a minute.
class EndlessTables : public SandJob {
  public:
    using SandJob::SandJob;

    void make_tables(Queue& queue, std::byte* /*tables*/) const override {
        begun.happen();
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (std::chrono::steady_clock::now() < end) {
            std::get<CpuQueue>(queue).count(0);
        }
        ADD_FAILURE() << "nothing has dropped the tables' work";
    }

    mutable Event begun;
};

constexpr std::array homes = {StateHome::device, StateHome::host, StateHome::disk};

std::vector<std::byte> some_cells(std::int64_t count) {
    std::vector<std::byte> cells = counted_bytes(count);
    for (std::byte& cell : cells) {
        cell &= std::byte{3};
    }
    return cells;
}

/// One run of a SandJob, or several, each from the checkpoint of the one before.
class EvolveTrial : public SteppedRun {
  public:
    explicit EvolveTrial(const Shape& shape)
        : SteppedRun(some_cells(shape.rows * shape.width), shape.width,
                     shape.snapshots.count() * shape.rows, shape.width),
          job({shape.rows, shape.width}, 5, usual_sand_chances, shape.snapshots, 0), shape_(shape) {
        PlanRequest request;
        request.host_memory = std::int64_t{1} << 40;
        request.chunk_rows = shape.chunk_rows;
        request.lanes = shape.lanes;
        plan = make_evolve_plan(job, request);
        while (plan.home != shape.home) { // @throws where it fits nowhere
            request.host_memory = std::min(request.host_memory, plan.need.host()) * 19 / 20;
            plan = make_evolve_plan(job, request);
        }
    }

    RunTimes run(const Stop& until, std::optional<std::uint64_t> checkpoint = {}) {
        return run(until, checkpoint, job);
    }
    RunTimes run(const Stop& until, std::optional<std::uint64_t> checkpoint,
                 const EvolveJob& what) {
        const Ranks ranks(Ranks::Alone{});
        return SteppedRun::run([&](output::Commits& commits) {
            return run_evolution({plan, what, ranks, reader, writer, &commits, progress, nullptr,
                                  until, HaloChoice{}, journal(), checkpoint, 3600,
                                  RowWriter::Sync::no, say()},
                                 [] { return Queue(CpuQueue(1)); });
        });
    }
    RunTimes run() { return run(stop); }

    bool is_right() const { return writer.is_right(expected()) && records_are_right(); }
    RowSet rows_of(std::int64_t snapshots) const {
        return snapshots == 0 ? RowSet{} : RowSet{{0, snapshots * shape_.rows}};
    }
    RowSet all_rows() const { return rows_of(shape_.snapshots.count()); }
    std::optional<std::uint64_t> kept() const {
        return output::latest_checkpoint(journal(), {shape_.rows, plan.shape.state_row_bytes},
                                         [](std::uint64_t) { return true; });
    }

    SandJob job;
    EvolvePlan plan;

  private:
    /// The snapshots of the automaton as its rules are written.
    std::vector<std::byte> expected() const {
        Cells state(in().size());
        std::memcpy(state.data(), in().data(), in().size());
        std::vector<std::byte> all;
        std::uint64_t generation = shape_.snapshots.first;
        for (std::int64_t i = 0; i < shape_.snapshots.count(); ++i) {
            for (; generation < shape_.snapshots.generation(i); ++generation) {
                state = sand_reference::step(job.sand(), generation, state);
            }
            const auto* const cells = reinterpret_cast<const std::byte*>(state.data());
            all.insert(all.end(), cells, cells + state.size());
        }
        return all;
    }

    Shape shape_;
};

TEST(EvolveEngine, MakesThePlainReference) {
    for (const auto& [rows, width] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {2, 3}, {31, 67}}) {
        for (const Snapshots& snapshots :
             {Snapshots{4, 0, 0}, Snapshots{0, 1, 0}, Snapshots{3, 20, 7}, Snapshots{0, 16, 1}}) {
            for (const std::int64_t chunk_rows : {1, 7, 200}) {
                for (const int lanes : {1, 5}) {
                    const Shape shape{rows, width, snapshots, chunk_rows, lanes};
                    SCOPED_TRACE(shape.text());
                    EvolveTrial trial(shape);
                    const RunTimes times = trial.run();
                    EXPECT_TRUE(trial.is_right());
                    EXPECT_EQ(trial.writer.written(), trial.all_rows());
                    EXPECT_EQ(trial.reader.rows_read.value(), rows);
                    EXPECT_EQ(times.generations, snapshots.generations);
                    EXPECT_EQ(trial.progress.rows_done, snapshots.generations);
                    EXPECT_EQ(times.chunks,
                              snapshots.count() * ((rows + chunk_rows - 1) / chunk_rows));
                    EXPECT_EQ(trial.said, "");
                }
            }
        }
    }
}

TEST(EvolveEngine, MakesTheSameWhereverTheStateIsKept) {
    for (const auto& [home, name] :
         {std::pair{StateHome::host, "host"}, std::pair{StateHome::disk, "disk"}}) {
        for (const std::int64_t chunk_rows : {1, 7}) {
            for (const int lanes : {1, 3}) {
                EvolveTrial trial({251, 67, {3, 20, 7}, chunk_rows, lanes, home});
                EXPECT_EQ(trial.run().state_home, name);
                EXPECT_TRUE(trial.is_right());
                EXPECT_EQ(trial.writer.written(), trial.all_rows());
            }
        }
    }
}

TEST(EvolveEngine, WaitsForAReaderThatStalls) {
    EvolveTrial trial({31, 67, {0, 20, 7}, 7, 2});
    Event arrived;
    Event released;
    trial.reader.before = [&](std::int64_t row) {
        if (row == 23) {
            arrived.happen();
            released.wait();
        }
    };
    std::future<RunTimes> run = std::async(std::launch::async, [&] { return trial.run(); });
    arrived.wait();
    EXPECT_EQ(trial.writer.rows_written.value(), 0);
    EXPECT_TRUE(trial.progress.under_way);
    released.happen();
    (void)run.get();
    EXPECT_TRUE(trial.is_right());
    EXPECT_EQ(trial.writer.written(), trial.all_rows());
}

TEST(EvolveEngine, GoesOnOnceTheWriterDoes) {
    for (const int lanes : {1, 4, 9}) {
        EvolveTrial trial({31, 67, {0, 50, 1}, 7, lanes});
        Event arrived;
        Event released;
        trial.writer.before = [&](std::int64_t row) {
            if (row == 2 * 31 + 9) {
                arrived.happen();
                released.wait();
            }
        };
        std::future<RunTimes> run = std::async(std::launch::async, [&] { return trial.run(); });
        arrived.wait();
        EXPECT_EQ(trial.writer.rows_written.value(), 2 * 31 + 7);
        released.happen();
        (void)run.get();
        EXPECT_TRUE(trial.is_right());
        EXPECT_EQ(trial.writer.written(), trial.all_rows());
    }
}

TEST(EvolveEngine, FailsAsItsReaderDoesAtAnyRow) {
    for (const StateHome home : homes) {
        for (std::int64_t row = 0; row < 251; row += 41) {
            EvolveTrial trial({251, 67, {0, 20, 7}, 7, 3, home});
            trial.reader.before = fails_at(row, ExitCode::input, "cannot read");
            const std::optional<Error> error = error_of([&] { (void)trial.run(); });
            ASSERT_TRUE(error);
            EXPECT_EQ(error->code(), ExitCode::input);
            EXPECT_EQ(error->text().what, "cannot read");
            EXPECT_EQ(error->text().where, fmt::format("row {}", row));
            EXPECT_TRUE(trial.writer.written().empty());
            EXPECT_TRUE(trial.recorded().empty());
            EXPECT_EQ(trial.kept(), std::nullopt);
        }
    }
}

TEST(EvolveEngine, NamesAByteThatStandsForNothing) {
    for (const StateHome home : homes) {
        for (const std::int64_t row : {0, 6, 7, 250}) {
            for (const int lanes : {1, 3}) {
                EvolveTrial trial({251, 67, {0, 20, 7}, 7, lanes, home});
                std::vector<std::byte> wrong = trial.in();
                wrong.at(static_cast<std::size_t>(row * 67 + 5)) = std::byte{77};
                SteppedReader reader(wrong, 67);
                const Ranks ranks(Ranks::Alone{});
                const auto run = [&] {
                    (void)run_evolution({trial.plan, trial.job, ranks, reader, trial.writer,
                                         nullptr, trial.progress, nullptr, trial.stop, HaloChoice{},
                                         trial.journal(), std::nullopt, 3600, RowWriter::Sync::no},
                                        [] { return Queue(CpuQueue(1)); });
                };
                const std::optional<Error> error = error_of(run);
                ASSERT_TRUE(error);
                EXPECT_EQ(error->code(), ExitCode::input);
                EXPECT_NE(std::string(error->what()).find(fmt::format("row {}, column 5", row)),
                          std::string::npos)
                    << error->what();
                EXPECT_TRUE(trial.writer.written().empty());
            }
        }
    }
}

TEST(EvolveEngine, FailsAsItsWriterDoesAtAnyRow) {
    constexpr std::int64_t rows = 7;
    for (const auto& [chunk_rows, lanes] : {std::pair{3, 1}, std::pair{3, 5}, std::pair{40, 2}}) {
        for (std::int64_t row = 0; row < 3 * rows; ++row) {
            EvolveTrial trial({rows, 67, {4, 20, 8}, chunk_rows, lanes});
            SCOPED_TRACE(fmt::format("chunks of {}, {} lanes, row {}", chunk_rows, lanes, row));
            trial.writer.before = fails_at(row, ExitCode::output, "no space left");
            const std::optional<Error> error = error_of([&] { (void)trial.run(); });
            ASSERT_TRUE(error);
            EXPECT_EQ(error->code(), ExitCode::output);
            EXPECT_EQ(error->text().what, "no space left");
            const std::int64_t first = row % rows / chunk_rows * chunk_rows; // of its chunk
            const std::array generations = {8, 16, 24};
            EXPECT_EQ(error->text().where,
                      fmt::format("row {}; snapshot of generation {}, rows {} to {}", row,
                                  generations.at(static_cast<std::size_t>(row / rows)), first,
                                  std::min(first + chunk_rows, rows) - 1));
            EXPECT_FALSE(trial.writer.wrote_after_a_failure());
            EXPECT_TRUE(trial.is_right());
            const std::int64_t before = row / rows * rows + first;
            EXPECT_EQ(trial.recorded(), before == 0 ? RowSet{} : (RowSet{{0, before}}));
        }
    }
}

/// All meet for the first time after 16 generations.
TEST(EvolveEngine, StopsWithACheckpointAndGoesOnFromIt) {
    for (const StateHome home : homes) {
        EvolveTrial trial({251, 67, {1, 50, 8}, 7, 3, home});
        trial.reader.before = [&](std::int64_t /*row*/) { trial.stop.ask("a test"); };
        const RunTimes times = trial.run();
        EXPECT_EQ(times.checkpoints, 1);
        const std::uint64_t generation = trial.kept().value_or(0);
        EXPECT_GE(generation, 17U);
        EXPECT_LE(generation, 25U);
        EXPECT_EQ(times.generations, static_cast<std::int64_t>(generation) - 1);
        EXPECT_EQ(trial.progress.rows_done, times.generations);
        EXPECT_TRUE(trial.is_right());
        const Snapshots snapshots{1, 50, 8};
        EXPECT_EQ(trial.recorded(), trial.rows_of(snapshots.count_until(generation)));

        Stop none({});
        EXPECT_EQ(trial.run(none, generation).generations,
                  51 - static_cast<std::int64_t>(generation));
        EXPECT_TRUE(trial.is_right());
        EXPECT_EQ(trial.recorded(), trial.all_rows());
        EXPECT_EQ(trial.reader.rows_read.value(), 251) << "the input is read once";
    }
}

TEST(EvolveEngine, DoesNotBeginOnceItIsAskedToStop) {
    EvolveTrial trial({31, 67, {0, 50, 8}, 7, 3});
    trial.stop.ask("a test");
    const RunTimes times = trial.run();
    EXPECT_EQ(times.checkpoints, 0);
    EXPECT_EQ(times.generations, 0);
    EXPECT_EQ(trial.reader.rows_read.value(), 0);
    EXPECT_EQ(trial.recorded(), RowSet{});
}

TEST(EvolveEngine, DropsItsTablesOnceItIsAskedToStop) {
    for (const StateHome home : homes) {
        const Shape shape{251, 67, {3, 20, 7}, 7, 3, home};
        EvolveTrial trial(shape);
        const EndlessTables job({shape.rows, shape.width}, 5, usual_sand_chances, shape.snapshots,
                                0);
        const auto asked = std::async(std::launch::async, [&] {
            job.begun.wait();
            trial.stop.ask("a test");
        });
        const RunTimes times = trial.run(trial.stop, {}, job);
        EXPECT_EQ(times.generations, 0) << shape.text();
        EXPECT_EQ(times.checkpoints, 0) << shape.text();
        EXPECT_EQ(trial.recorded(), RowSet{}) << shape.text();
    }
}

TEST(EvolveEngine, DropsWithoutACheckpoint) {
    EvolveTrial trial({31, 67, {0, 50, 8}, 7, 3});
    trial.reader.before = [&](std::int64_t /*row*/) { trial.stop.ask_to_drop("a test"); };
    EXPECT_EQ(trial.run().checkpoints, 0);
    EXPECT_EQ(trial.kept(), std::nullopt);
    EXPECT_EQ(trial.progress.rows_done, 16);
    EXPECT_TRUE(trial.is_right());
    EXPECT_EQ(trial.recorded(), trial.rows_of(2));
}

} // namespace
} // namespace runner::evolve
