// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose_choice.hpp"

#include "base/sizes.hpp"
#include "kernels/queue/devices.hpp"
#include "tests/support/transpose_cases.hpp"

#include <atomic>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

using TransposeCuda = QueueTest<CudaQueue>;

std::byte byte_at(std::int64_t index) {
    return static_cast<std::byte>(static_cast<std::uint64_t>(index) * 0x9E3779B97F4A7C15U >> 56U);
}

/// More bytes than 31 bits count, made, moved and checked a part at a time.
class LargeArray {
  public:
    LargeArray(CudaQueue& queue, std::int64_t bytes)
        : queue_(queue), bytes_(bytes), staging_(allocate_staging(queue, part)),
          in_(allocate_device(queue, bytes)), out_(allocate_device(queue, bytes)) {
        for (std::int64_t begin = 0; begin < bytes_; begin += part) {
            for_each(begin, [&](std::int64_t i) { staging_.data()[i - begin] = byte_at(i); });
            upload(queue_, in_.data() + begin, staging_.data(), std::min(part, bytes_ - begin));
            queue_.synchronize();
        }
    }

    /// How many bytes of the transposed array are wrong.
    std::int64_t wrong_after(const Transposition& t) {
        transpose(queue_, t, in_.data(), out_.data());
        const auto shape = out_shape(t);
        std::array<std::int64_t, 3> strides{};
        for (std::size_t j = 0; j < 3; ++j) {
            strides[j] = t.in_strides[static_cast<std::size_t>(t.permutation[j])];
        }
        std::atomic<std::int64_t> wrong = 0;
        for (std::int64_t begin = 0; begin < bytes_; begin += part) {
            download(queue_, staging_.data(), out_.data() + begin, std::min(part, bytes_ - begin));
            queue_.synchronize();
            for_each(begin, [&](std::int64_t i) {
                const std::int64_t from = i % shape[2] * strides[2] +
                                          i / shape[2] % shape[1] * strides[1] +
                                          i / shape[2] / shape[1] * strides[0];
                if (staging_.data()[i - begin] != byte_at(from)) {
                    ++wrong;
                }
            });
        }
        return wrong;
    }

  private:
    static constexpr std::int64_t part = 256 * MiB;

    template <class Action> void for_each(std::int64_t begin, const Action& action) const {
        using Range = tbb::blocked_range<std::int64_t>;
        tbb::parallel_for(Range(begin, std::min(begin + part, bytes_), 1 << 16),
                          [&](const Range& range) {
                              for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                                  action(i);
                              }
                          });
    }

    CudaQueue& queue_;
    std::int64_t bytes_;
    Buffer staging_;
    Buffer in_;
    Buffer out_;
};

TEST_F(TransposeCuda, MoreElementsThan31BitsCount) {
    const std::array<std::pair<std::array<std::int64_t, 3>, std::array<int, 3>>, 4> large = {
        {{{2, 32768, 32800}, {0, 2, 1}},
         {{3, 26755, 26757}, {2, 1, 0}},
         {{2, 32771, 32779}, {1, 2, 0}},
         {{32771, 2, 32779}, {1, 0, 2}}}};
    if (free_device_memory(0) < 5 * GiB) {
        GTEST_SKIP() << "takes 5 GiB of GPU memory, free are " << size_text(free_device_memory(0));
    }
    for (const auto& [shape, permutation] : large) {
        const Transposition t = dense_transposition(shape, permutation, 1);
        const std::int64_t bytes = shape[0] * shape[1] * shape[2];
        ASSERT_GT(bytes, std::int64_t{1} << 31);
        EXPECT_EQ(0, LargeArray(queue(), bytes).wrong_after(t)) << describe(t);
    }
}

TEST_F(TransposeCuda, EveryWayThatFitsGivesTheSame) {
    TransposeCases cases(21);
    for (int i = 0; i < 60; ++i) {
        const Transposition t = cases.any(40000);
        const std::int64_t in_offset = cases.number(0, 2);
        const std::int64_t out_offset = cases.number(0, 2);
        TransposeBuffers<CudaQueue> buffers(queue(), cases, t, in_offset, out_offset);
        const TransposeAxes axes = reduce_axes(t, buffers.in(), buffers.out());
        if (axes.count == 0) {
            continue;
        }
        for (const TransposeChoice& choice :
             all_transpose_choices(axes, buffers.in(), buffers.out())) {
            TransposeBuffers<CudaQueue> own(queue(), cases, t, in_offset, out_offset);
            transpose_as(queue(), choice, axes, own.in(), own.out());
            EXPECT_EQ("", own.wrong()) << choice_text(choice);
        }
    }
}

TEST_F(TransposeCuda, EveryWayMovesRowsThatBeginWithinWords) {
    TransposeCases cases(23);
    for (const std::int64_t length : {255, 301, 511}) {
        const Transposition t = dense_transposition({3, 9, length}, {1, 0, 2}, 1);
        const TransposeBuffers<CudaQueue> places(queue(), cases, t, 0, 0);
        const TransposeAxes axes = reduce_axes(t, places.in(), places.out());
        for (const TransposeChoice& choice :
             all_transpose_choices(axes, places.in(), places.out())) {
            TransposeBuffers<CudaQueue> own(queue(), cases, t, 0, 0);
            transpose_as(queue(), choice, axes, own.in(), own.out());
            EXPECT_EQ("", own.wrong()) << choice_text(choice);
        }
    }
}

TEST_F(TransposeCuda, InterleavingGivesTheSame) {
    TransposeCases cases(24);
    for (const std::int64_t few : {2, 3, 8, 12}) {
        for (const int element_bytes : {1, 2, 4, 8}) {
            // Runs and interleaved rows that go the same way, that cross, and points that stay
            // whole.
            for (const auto& t : {dense_transposition({few, 1, 1605}, {1, 2, 0}, element_bytes),
                                  dense_transposition({2, 801, few}, {0, 2, 1}, element_bytes),
                                  dense_transposition({few, 99, 131}, {2, 1, 0}, element_bytes),
                                  dense_transposition({99, 131, few}, {2, 1, 0}, element_bytes),
                                  dense_transposition({99, 131, few}, {1, 0, 2}, element_bytes)}) {
                TransposeBuffers<CudaQueue> buffers(queue(), cases, t, 1, 3);
                const TransposeAxes axes = reduce_axes(t, buffers.in(), buffers.out());
                const auto plan = plan_interleave(axes);
                ASSERT_TRUE(plan) << describe(t);
                transpose_interleaved(queue(), *plan, buffers.in(), buffers.out());
                EXPECT_EQ("", buffers.wrong());
            }
        }
    }
}

TEST_F(TransposeCuda, ScatteringGivesTheSame) {
    TransposeCases cases(25);
    // One tile and several, a batch, rows that begin at words and elsewhere, words beyond the
    // array's ends, and rows less than a vector.
    const std::pair<std::array<std::int64_t, 3>, std::array<int, 3>> shapes[] = {
        {{257, 40, 51}, {1, 2, 0}}, {{257, 44, 1000}, {1, 2, 0}}, {{3, 201, 801}, {0, 2, 1}},
        {{3, 201, 800}, {0, 2, 1}}, {{5, 1, 7}, {2, 1, 0}},       {{3, 1, 20001}, {2, 1, 0}},
        {{311, 7, 130}, {2, 0, 1}}, {{131, 5, 64}, {1, 2, 0}},    {{2, 319, 77}, {0, 2, 1}}};
    int planned = 0;
    for (const auto& [shape, permutation] : shapes) {
        for (const int element_bytes : {1, 2}) {
            for (const int offset : {0, 1, 2, 4}) {
                const Transposition t = dense_transposition(shape, permutation, element_bytes);
                TransposeBuffers<CudaQueue> buffers(queue(), cases, t, offset, offset / 2);
                const TransposeAxes axes = reduce_axes(t, buffers.in(), buffers.out());
                if (const auto plan = plan_scatter(axes, buffers.in())) {
                    ++planned;
                    transpose_scattered(queue(), *plan, buffers.in(), buffers.out());
                    EXPECT_EQ("", buffers.wrong()) << choice_text(MoveScattered{*plan});
                }
            }
        }
    }
    EXPECT_GT(planned, 60);
}

TEST_F(TransposeCuda, GatheringGivesTheSame) {
    TransposeCases cases(26);
    // One tile and several of both sides, their ends, also those that go beyond the last tile, the
    // fold, points, arrays less than a vector, clusters that are not full, and pitches by which
    // threads would meet in a bank unless turned (odd squares).
    const std::pair<std::array<std::int64_t, 3>, std::array<int, 3>> shapes[] = {
        {{257, 4, 51}, {1, 2, 0}},  {{3, 801, 301}, {0, 2, 1}}, {{2, 257, 257}, {0, 2, 1}},
        {{2, 271, 271}, {0, 2, 1}}, {{3, 512, 300}, {0, 2, 1}}, {{67, 9, 131}, {2, 1, 0}},
        {{255, 3, 260}, {2, 1, 0}}, {{257, 8, 255}, {2, 1, 0}}, {{33, 5, 77}, {2, 0, 1}},
        {{399, 148, 3}, {1, 0, 2}}, {{67, 131, 5}, {1, 0, 2}},  {{300, 33, 7}, {1, 0, 2}},
        {{40, 30, 13}, {1, 0, 2}},  {{5, 1, 7}, {2, 1, 0}},     {{5, 3, 7}, {2, 1, 0}},
        {{2, 250, 300}, {0, 2, 1}}, {{3, 509, 263}, {0, 2, 1}}};
    int planned = 0;
    for (const auto& [shape, permutation] : shapes) {
        for (const int e : {1, 2, 4}) {
            for (const TileFold fold : {TileFold::none, TileFold::along}) {
                for (const GatherSize& size : gather_sizes(e, permutation[2] == 2)) {
                    const Transposition t = dense_transposition(shape, permutation, e);
                    TransposeBuffers<CudaQueue> buffers(queue(), cases, t, size.vectors / 16,
                                                        size.threads / 256);
                    const TransposeAxes axes = reduce_axes(t, buffers.in(), buffers.out());
                    auto plan = plan_gather(axes, fold, size);
                    if (!plan || plan->element_bytes != e) {
                        continue;
                    }
                    plan->group = 2;
                    plan->cluster = ++planned % 2 == 0 ? 8 : 1;
                    transpose_gathered(queue(), *plan, buffers.in(), buffers.out());
                    EXPECT_EQ("", buffers.wrong()) << choice_text(MoveGathered{*plan});
                }
            }
        }
    }
    EXPECT_GT(planned, 90);
}

TEST_F(TransposeCuda, RowsThatAreARunGiveTheSame) {
    TransposeCases cases(28);
    // Many rows in a part of the run, parts of long rows, and an array of few rows.
    int runs = 0;
    for (const auto& shape : {std::array<std::int64_t, 3>{131, 77, 65},
                              {13, 7, 2041},
                              {257, 3, 255},
                              {3, 5, 8191},
                              {4, 41, 100},
                              {300, 299, 33},
                              {1, 3, 71}}) {
        for (const int e : {1, 2, 4}) {
            for (const int offset : {0, 1, 5}) {
                const Transposition t = dense_transposition(shape, {1, 0, 2}, e);
                TransposeBuffers<CudaQueue> buffers(queue(), cases, t, offset, 3 * offset);
                const TransposeAxes axes = reduce_axes(t, buffers.in(), buffers.out());
                if (rows_are_run(axes)) {
                    ++runs;
                    transpose_by_rows(queue(), axes, buffers.in(), buffers.out());
                    EXPECT_EQ("", buffers.wrong());
                }
            }
        }
    }
    EXPECT_GT(runs, 40);
}

TEST_F(TransposeCuda, EveryTileFormGivesTheSame) {
    TransposeCases cases(22);
    const auto check = [&](const TileChoice& tiles, const Transposition& t) {
        TransposeBuffers<CudaQueue> buffers(queue(), cases, t, 0, 0);
        const TransposeAxes axes = reduce_axes(t, buffers.in(), buffers.out());
        ASSERT_TRUE(tiles_fit(tiles, axes, buffers.in(), buffers.out()));
        transpose_by_tiles(queue(), tiles, axes, buffers.in(), buffers.out());
        EXPECT_EQ("", buffers.wrong()) << choice_text(MoveTiles{tiles}) << " " << describe(t);
    };
    for (const TransposeTileForm& form : transpose_tile_forms()) {
        for (const std::int64_t b : {160, 336}) {
            check({form, TileFold::none, 2},
                  dense_transposition({2, b, 272}, {0, 2, 1}, form.element_bytes));
        }
        for (const TileFold fold : {TileFold::across, TileFold::along}) {
            check({form, fold, 2},
                  dense_transposition({48, 16, 80}, {2, 1, 0}, form.element_bytes));
            if (form.start == RowStart::anywhere) {
                check({form, fold, 3},
                      dense_transposition({5, 131, 67}, {2, 1, 0}, form.element_bytes));
                check({form, fold, 3},
                      dense_transposition({67, 131, 3}, {2, 1, 0}, form.element_bytes));
            }
        }
    }
}

} // namespace
} // namespace runner
