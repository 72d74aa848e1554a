// SPDX-License-Identifier: BSD-3-Clause
// A stream on one rank, from memory to memory, whose reader and writer stall and fail.
#include "runner/engines/stream/stream_engine.hpp"

#include "base/format.hpp"
#include "runner/engines/stream/compute_rows.hpp"
#include "tests/support/copy_stream.hpp"
#include "tests/support/stepped_rows.hpp"

#include <future>
#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

namespace runner::stream {
namespace {

constexpr std::int64_t row_bytes = 5;

struct Shape {
    std::int64_t frames;
    std::int64_t rows;
    std::int64_t halo;
    std::int64_t chunk_rows;
    int lanes;
    RowBorder border = RowBorder::inside;

    std::string text() const {
        return fmt::format("{} x {} rows, halo {}, chunks of {}, {} lanes, border {}", frames, rows,
                           halo, chunk_rows, lanes, static_cast<int>(border));
    }
};

/// Copies, and what a test adds to them on the host.
class SteppedJob final : public CopyJob {
  public:
    explicit SteppedJob(const Shape& shape)
        : CopyJob(shape.frames, shape.rows, row_bytes, shape.halo, shape.border) {}

    void check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const override {
        if (check) {
            check(first, rows, in);
        }
    }
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override {
        if (before) {
            before(block.out_first);
        }
        CopyJob::run(queue, block, in, out, memory);
    }

    std::function<void(std::int64_t first, std::int64_t rows, const std::byte* in)> check;
    BeforeRow before;
};

/// One run of SteppedJob.
class StreamTrial : public SteppedRun {
  public:
    explicit StreamTrial(const Shape& shape, RowSet done = {})
        : SteppedRun(counted_bytes(shape.frames * shape.rows * row_bytes), row_bytes,
                     shape.frames * shape.rows, row_bytes),
          job(shape), plan_(plan(job, shape, std::move(done))) {}

    RunTimes run() {
        BorderRows border(plan_.decomposition, 0, row_bytes);
        return SteppedRun::run([&](output::Commits& commits) {
            return run_stream(
                {plan_, job, 0, reader, border, writer, progress, nullptr, &commits, &stop, say()},
                [] { return Queue(CpuQueue(1)); });
        });
    }
    bool is_right() const { return writer.is_right(job.expected(in())) && records_are_right(); }

    SteppedJob job;

  private:
    static StreamPlan plan(const StreamJob& job, const Shape& shape, RowSet done) {
        PlanRequest request;
        request.host_memory = std::int64_t{1} << 40;
        request.chunk_rows = shape.chunk_rows;
        request.lanes = shape.lanes;
        request.done = std::move(done);
        return make_plan(job, request);
    }

    StreamPlan plan_;
};

RowSet prefix(std::int64_t rows) { return rows == 0 ? RowSet{} : RowSet{{0, rows}}; }

/// Whether only whole chunks are there, from the first on, and none from `end` on.
bool is_prefix(const RowSet& rows, std::int64_t chunk_rows, std::int64_t end) {
    return rows.empty() || (rows.size() == 1 && rows[0].first == 0 && rows[0].last <= end &&
                            (rows[0].last % chunk_rows == 0 || rows[0].last == end));
}

TEST(StreamEngine, MakesThePlainReference) {
    for (const std::int64_t rows : {1, 2, 19}) {
        for (const std::int64_t chunk_rows : {1, 3, 7, 40}) {
            for (const std::int64_t halo : {0, 1, 5}) {
                for (const int lanes : {1, 9}) {
                    for (const RowBorder border : {RowBorder::inside, RowBorder::periodic}) {
                        for (const std::int64_t frames : {1, 3}) {
                            const Shape shape{frames, rows, halo, chunk_rows, lanes, border};
                            StreamTrial trial(shape);
                            const RunTimes times = trial.run();
                            const std::int64_t all = frames * rows;
                            EXPECT_TRUE(trial.is_right()) << shape.text();
                            EXPECT_EQ(trial.writer.written(), prefix(all)) << shape.text();
                            EXPECT_EQ(trial.progress.rows_done, all) << shape.text();
                            EXPECT_EQ(times[Stage::write].bytes, all * row_bytes) << shape.text();
                            EXPECT_EQ(trial.reader.rows_read.value(), all)
                                << "each row once: " << shape.text();
                        }
                    }
                }
            }
        }
    }
}

TEST(StreamEngine, LeavesOutFinishedRows) {
    for (const RowSet& done :
         {RowSet{{0, 5}}, RowSet{{11, 12}, {17, 29}}, RowSet{{30, 31}}, RowSet{{0, 31}}}) {
        for (const int lanes : {1, 4}) {
            StreamTrial trial({1, 31, 2, 7, lanes}, done);
            (void)trial.run();
            EXPECT_TRUE(trial.is_right());
            EXPECT_EQ(trial.writer.written(), subtract({{0, 31}}, done));
            EXPECT_EQ(trial.progress.rows_done, 31 - count_rows(done));
        }
    }
}

/// The chunks before have long left; the one that waits for its rows, and those after, have not.
TEST(StreamEngine, WritesWhatItHasWhileTheReaderStalls) {
    for (const std::int64_t halo : {0, 2}) {
        for (const int lanes : {1, 2, 9}) {
            StreamTrial trial({1, 31, halo, 7, lanes});
            Event arrived;
            Event released;
            trial.reader.before = [&](std::int64_t row) {
                if (row == 16 + halo) { // first read for chunk 2
                    arrived.happen();
                    released.wait();
                }
            };
            std::future<RunTimes> run = std::async(std::launch::async, [&] { return trial.run(); });
            arrived.wait();
            trial.writer.rows_written.wait_for(14);
            EXPECT_EQ(trial.writer.rows_written.value(), 14);
            released.happen();
            EXPECT_EQ(run.get().chunks, 5);
            EXPECT_TRUE(trial.is_right());
            EXPECT_EQ(trial.writer.written(), prefix(31));
        }
    }
}

/// The lanes bound what is read ahead.
TEST(StreamEngine, ReadsNoFurtherThanTheLanesWhileTheWriterStalls) {
    for (const int lanes : {1, 2, 3, 9}) {
        const std::int64_t held = std::min<std::int64_t>(31, 3 * lanes + 1);
        StreamTrial trial({1, 31, 1, 3, lanes});
        Event released;
        trial.writer.before = [&](std::int64_t row) {
            if (row == 0) {
                released.wait();
            }
        };
        std::future<RunTimes> run = std::async(std::launch::async, [&] { return trial.run(); });
        trial.reader.rows_read.wait_for(held);
        EXPECT_EQ(trial.reader.rows_read.value(), held);
        EXPECT_EQ(trial.writer.rows_written.value(), 0);
        released.happen();
        (void)run.get();
        EXPECT_TRUE(trial.is_right());
        EXPECT_EQ(trial.writer.written(), prefix(31));
    }
}

TEST(StreamEngine, FailsAsItsReaderDoesAtAnyRow) {
    for (const Shape& shape : {Shape{1, 31, 0, 7, 1}, Shape{1, 31, 3, 7, 1}, Shape{1, 31, 3, 7, 4},
                               Shape{1, 23, 1, 1, 9}, Shape{1, 1, 0, 1, 2}}) {
        for (std::int64_t row = 0; row < shape.rows; ++row) {
            SCOPED_TRACE(fmt::format("{}, row {}", shape.text(), row));
            StreamTrial trial(shape);
            trial.reader.before = fails_at(row, ExitCode::input, "cannot read");
            std::int64_t chunk = 0; // the first that needs the row
            while ((chunk + 1) * shape.chunk_rows + shape.halo <= row) {
                ++chunk;
            }
            const std::int64_t first = chunk * shape.chunk_rows;
            const std::optional<Error> error = error_of([&] { (void)trial.run(); });
            ASSERT_TRUE(error);
            EXPECT_EQ(error->code(), ExitCode::input);
            EXPECT_EQ(error->text().what, "cannot read");
            EXPECT_EQ(error->text().where,
                      fmt::format("row {}; read of chunk {}, rows {} to {}", row, chunk, first,
                                  std::min(first + shape.chunk_rows, shape.rows) - 1));
            EXPECT_TRUE(trial.is_right());
            EXPECT_TRUE(is_prefix(trial.recorded(), shape.chunk_rows, first));
            if (shape.lanes == 1) {
                EXPECT_EQ(trial.recorded(), prefix(first));
            }
            EXPECT_EQ(trial.said, "");
            EXPECT_FALSE(trial.progress.under_way);
        }
    }
}

/// A full disk: the rows before it lie in the file, but are not recorded.
TEST(StreamEngine, FailsAsItsWriterDoesAtAnyRow) {
    for (const Shape& shape : {Shape{1, 31, 0, 7, 1}, Shape{1, 31, 3, 7, 4}, Shape{1, 23, 1, 1, 9},
                               Shape{1, 1, 0, 1, 2}}) {
        for (std::int64_t row = 0; row < shape.rows; ++row) {
            SCOPED_TRACE(fmt::format("{}, row {}", shape.text(), row));
            StreamTrial trial(shape);
            trial.writer.before = fails_at(row, ExitCode::output, "no space left");
            const std::int64_t chunk = row / shape.chunk_rows;
            const std::int64_t first = chunk * shape.chunk_rows;
            const std::optional<Error> error = error_of([&] { (void)trial.run(); });
            ASSERT_TRUE(error);
            EXPECT_EQ(error->code(), ExitCode::output);
            EXPECT_EQ(error->text().what, "no space left");
            EXPECT_EQ(error->text().where,
                      fmt::format("row {}; write of chunk {}, rows {} to {}", row, chunk, first,
                                  std::min(first + shape.chunk_rows, shape.rows) - 1));
            EXPECT_FALSE(trial.writer.wrote_after_a_failure());
            EXPECT_TRUE(trial.is_right());
            EXPECT_EQ(trial.recorded(), prefix(first));
            EXPECT_LE(trial.reader.rows_read.value(),
                      first + shape.lanes * shape.chunk_rows + shape.halo);
        }
    }
}

/// Both fail at once; which is first is open, but the message is of one alone.
TEST(StreamEngine, TellsOneFailureOfTwo) {
    StreamTrial trial({1, 31, 0, 7, 4});
    Event reading;
    Event writing;
    trial.reader.before = [&](std::int64_t row) {
        if (row == 21) {
            reading.happen();
            writing.wait();
            throw Error(ExitCode::input, {"cannot read", "row 21", "", ""});
        }
    };
    trial.writer.before = [&](std::int64_t row) {
        if (row == 8) {
            writing.happen();
            reading.wait();
            throw Error(ExitCode::output, {"no space left", "row 8", "", ""});
        }
    };
    const std::optional<Error> error = error_of([&] { (void)trial.run(); });
    ASSERT_TRUE(error);
    const bool of_reader = error->code() == ExitCode::input;
    EXPECT_EQ(error->text().what, of_reader ? "cannot read" : "no space left");
    EXPECT_EQ(error->text().where, of_reader ? "row 21; read of chunk 3, rows 21 to 27"
                                             : "row 8; write of chunk 1, rows 7 to 13");
    EXPECT_TRUE(trial.is_right());
    EXPECT_EQ(trial.recorded(), prefix(7));
}

TEST(StreamEngine, ShowsTheJobEachRowOnceAndFailsAsItDoes) {
    for (const std::int64_t halo : {0, 3}) {
        StreamTrial trial({2, 31, halo, 7, 3});
        std::vector<int> seen(62);
        trial.job.check = [&](std::int64_t first, std::int64_t rows, const std::byte* in) {
            for (std::int64_t row = first; row < first + rows; ++row) {
                ++seen.at(static_cast<std::size_t>(row));
                EXPECT_EQ(std::memcmp(in + (row - first) * row_bytes,
                                      trial.in().data() + row * row_bytes, row_bytes),
                          0);
            }
        };
        (void)trial.run();
        EXPECT_EQ(seen, std::vector<int>(62, 1));
    }
    StreamTrial trial({1, 31, 0, 7, 1});
    trial.job.check = [](std::int64_t first, std::int64_t /*rows*/, const std::byte* /*in*/) {
        fails_at(14, ExitCode::input, "not a number")(first);
    };
    const std::optional<Error> error = error_of([&] { (void)trial.run(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->text().where, "row 14; read of chunk 2, rows 14 to 20");
    EXPECT_EQ(trial.recorded(), prefix(14));
}

TEST(StreamEngine, FailsAsTheJobsWorkDoes) {
    StreamTrial trial({1, 31, 2, 7, 1});
    trial.job.before = fails_at(21, ExitCode::gpu, "the device is lost");
    const std::optional<Error> error = error_of([&] { (void)trial.run(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::gpu);
    EXPECT_EQ(error->text().where, "row 21; compute of chunk 3, rows 21 to 27");
    EXPECT_TRUE(trial.is_right());
    EXPECT_EQ(trial.recorded(), prefix(21));

    StreamTrial without_memory({1, 31, 2, 7, 1});
    without_memory.job.before = [](std::int64_t row) {
        if (row == 7) {
            throw std::bad_alloc();
        }
    };
    const std::optional<Error> memory = error_of([&] { (void)without_memory.run(); });
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->text().what, out_of_host_memory().text().what);
    EXPECT_NE(memory->text().where.find("compute of chunk 1, rows 7 to 13"), std::string::npos);
    EXPECT_EQ(without_memory.recorded(), prefix(7));

    StreamTrial defect({1, 31, 2, 7, 2});
    defect.job.before = [](std::int64_t /*row*/) { throw std::logic_error("a defect"); };
    EXPECT_THROW((void)defect.run(), std::logic_error);
    EXPECT_TRUE(defect.writer.written().empty());
}

/// What is only read is not computed any more; what is computed is written and recorded.
TEST(StreamEngine, FinishesWhatIsInFlightWhenAskedToStop) {
    for (const int lanes : {1, 2, 9}) {
        StreamTrial reading({1, 31, 0, 7, lanes});
        reading.reader.before = [&](std::int64_t row) {
            if (row == 17) {
                reading.stop.ask("a test");
            }
        };
        (void)reading.run();
        EXPECT_TRUE(reading.is_right());
        EXPECT_TRUE(is_prefix(reading.recorded(), 7, 14));
        EXPECT_EQ(reading.progress.rows_done, count_rows(reading.recorded()));
        if (lanes == 1) {
            EXPECT_EQ(reading.recorded(), prefix(14));
        }

        StreamTrial writing({1, 31, 0, 3, lanes});
        writing.writer.before = [&](std::int64_t row) {
            if (row == 10) {
                writing.stop.ask("a test");
            }
        };
        (void)writing.run();
        EXPECT_TRUE(writing.is_right());
        EXPECT_GE(count_rows(writing.recorded()), 12);
        EXPECT_TRUE(is_prefix(writing.recorded(), 3, std::min<std::int64_t>(31, 9 + 3 * lanes)));
    }
}

TEST(StreamEngine, DropsWhatIsInFlightWhenAskedTo) {
    for (const int lanes : {1, 2, 9}) {
        StreamTrial trial({1, 31, 0, 3, lanes});
        trial.writer.before = [&](std::int64_t row) {
            if (row == 10) {
                trial.stop.ask_to_drop("a test");
            }
        };
        (void)trial.run();
        EXPECT_TRUE(trial.is_right());
        EXPECT_EQ(trial.recorded(), prefix(12)); // the chunk that is being written
        EXPECT_EQ(trial.progress.rows_done, 12);
    }
}

TEST(RowComputer, MakesAnyRowsOfThePlainReference) {
    for (const RowBorder border : {RowBorder::inside, RowBorder::periodic}) {
        const Shape shape{3, 13, 2, 1, 1, border};
        const SteppedJob job(shape);
        const std::vector<std::byte> in = counted_bytes(39 * row_bytes);
        const std::vector<std::byte> expected = job.expected(in);
        for (const std::int64_t piece_rows : {1, 5, 100}) {
            SteppedReader reader(in, row_bytes);
            RowComputer computer(job, reader, 1, 1, 2 * piece_rows * row_bytes);
            for (const RowRange& range :
                 {RowRange{0, 39}, RowRange{0, 1}, RowRange{12, 14}, RowRange{20, 38}}) {
                std::int64_t next = range.first;
                computer.compute(range, [&](RowRange rows, const std::byte* elements) {
                    EXPECT_EQ(rows.first, next);
                    EXPECT_EQ(std::memcmp(elements, expected.data() + rows.first * row_bytes,
                                          static_cast<std::size_t>(rows.count() * row_bytes)),
                              0);
                    next = rows.last;
                });
                EXPECT_EQ(next, range.last);
            }
            reader.before = fails_at(15, ExitCode::input, "cannot read");
            const auto compute = [&](RowRange range) {
                return error_of(
                    [&] { computer.compute(range, [](RowRange, const std::byte*) {}); });
            };
            EXPECT_FALSE(compute({26, 39})); // another frame
            const std::optional<Error> error = compute({17, 18});
            ASSERT_TRUE(error);
            EXPECT_EQ(error->text().where, "row 15");
        }
    }
}

} // namespace
} // namespace runner::stream
