// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/pipeline/step_chain.hpp"

#include "runner/plan/decomposition.hpp"
#include "tests/jobs/pipeline/step_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace runner {
namespace {

using Values = std::vector<std::uint64_t>;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15U)) * 0xbf58476d1ce4e5b9U;
    x ^= x >> 31U;
    return x * 0x94d049bb133111ebU;
}

/// A step whose every output row depends on all the rows that its shape names, by order, so that
/// one wrong, missing or double row shows.
struct Step {
    StreamShape shape;

    std::int64_t out_rows() const { return shape.frames * shape.made.before(shape.rows); }

    /// The row of the frame behind an extended one: `periodic` or reflected.
    std::int64_t inside(std::int64_t row) const {
        const std::int64_t rows = shape.rows;
        if (shape.border == RowBorder::periodic) {
            return ((row % rows) + rows) % rows;
        }
        const std::int64_t turn = ((row % (2 * rows)) + 2 * rows) % (2 * rows);
        return turn < rows ? turn : 2 * rows - 1 - turn;
    }

    /// As a job's run(): `in` holds the block's rows and no others may be touched.
    Values run(const RowBlock& block, const std::uint64_t* in, std::int64_t there) const {
        Values out;
        EXPECT_LE(block.frames * block.in_rows, there);
        for (std::int64_t frame = 0; frame < block.frames; ++frame) {
            const auto value = [&](std::int64_t row) {
                std::int64_t held = row - block.in_first;
                if (held < 0 || held >= block.in_rows) {
                    held = inside(row) - block.in_first;
                }
                EXPECT_TRUE(held >= 0 && held < block.in_rows) << "row " << row;
                return in[frame * block.in_rows +
                          std::clamp<std::int64_t>(held, 0, block.in_rows - 1)];
            };
            const OutputRows& made = shape.made;
            for (std::int64_t layer = block.out_first / made.layer;
                 layer * made.layer < block.out_first + block.out_rows; ++layer) {
                const std::int64_t first = layer * made.layer;
                const std::int64_t next = std::min(first + made.layer, shape.rows);
                const std::int64_t count = made.before(next) - made.before(first);
                for (std::int64_t i = 0; i < count; ++i) {
                    std::uint64_t sum = static_cast<std::uint64_t>(i);
                    for (std::int64_t row = first - shape.halo; row < next + shape.halo; ++row) {
                        sum = mixed(sum, value(row));
                    }
                    out.push_back(sum);
                }
            }
        }
        return out;
    }
};

Values whole(const std::vector<Step>& steps, Values values) {
    for (const Step& step : steps) {
        values = step.run({step.shape.frames, 0, step.shape.rows, 0, step.shape.rows},
                          values.data(), std::ssize(values));
    }
    return values;
}

/// How a pipeline is run.
struct Run {
    std::int64_t chunk_rows = 1;
    std::int64_t alignment = 1;
    int ranks = 1;
    std::size_t least = 0;
    Carries carries = Carries::no;
};

/// What the blocks of a rank leave behind, a value a step.
struct Left {
    std::vector<Values> own;
    std::vector<Values> carried;    ///< for the next block
    std::vector<std::int64_t> made; ///< rows, by the blocks that follow one another
};

/// What a pipeline makes of a block, as PipelineJob::run() does; held to the sizes that are
/// planned. Appends each step's own rows to `left`, of the first steps those that no later step
/// takes too.
Values block_of(const std::vector<Step>& steps, const StepChain& chain, const Chunk& chunk,
                Values values, const std::vector<StepSize>& sizes, const Run& how, Left& left) {
    const std::vector<StepWork> works = chain.work(chunk.block, how.least, chunk.run, how.carries);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(works[i].held, std::ssize(values)) << "step " << i;
        EXPECT_LE(works[i].held, sizes[i].held) << "step " << i;
        Values made;
        if (i + 1 < steps.size() && works[i + 1].carried > 0) {
            const Values& from = left.carried[i + 1];
            EXPECT_LE(works[i + 1].carried, std::ssize(from)) << "step " << i + 1;
            made.assign(from.end() - std::min(works[i + 1].carried, std::ssize(from)), from.end());
        }
        for (const StepCall& call : works[i].calls) {
            EXPECT_GE(call.in_row, 0);
            EXPECT_LE(call.block.frames * call.block.in_rows,
                      sizes[i].block.frames * sizes[i].block.in_rows)
                << "step " << i;
            EXPECT_LE(call.block.frames * call.block.out_rows,
                      sizes[i].block.frames * sizes[i].block.out_rows)
                << "step " << i;
            const Values part = steps[i].run(call.block, values.data() + call.in_row,
                                             std::ssize(values) - call.in_row);
            EXPECT_EQ(std::ssize(part), call.out_rows);
            EXPECT_EQ(std::ssize(made), call.out_row);
            made.insert(made.end(), part.begin(), part.end());
            EXPECT_LE(call.own.last, call.out_rows);
            left.made[i] += std::ssize(part);
            left.own[i].insert(left.own[i].end(), part.begin() + call.own.first,
                               part.begin() + call.own.last);
        }
        values = std::move(made);
        if (i + 1 < steps.size()) {
            const std::int64_t count = std::min(chain.most_carried(i + 1), std::ssize(values));
            left.carried[i + 1].assign(values.end() - count, values.end());
        }
    }
    return values;
}

/// The rows that each step makes if all blocks that end with this one are a single one.
std::vector<std::int64_t> made_at_once(const StepChain& chain, const Decomposition& d,
                                       std::int64_t first, std::int64_t last) {
    const RowRange in = d.window(first, last);
    std::vector<std::int64_t> made;
    for (const StepWork& work : chain.work({1, in.first, in.count(), first, last - first})) {
        made.push_back(0);
        for (const StepCall& call : work.calls) {
            made.back() += call.out_rows;
        }
    }
    return made;
}

/// Streams a pipeline over an input, chunk by chunk, and compares it with the steps one by one.
void expect_equal(const std::vector<Step>& steps, const Run& how) {
    std::vector<StreamShape> shapes;
    for (const Step& step : steps) {
        shapes.push_back(step.shape);
    }
    ASSERT_TRUE(StepChain::is_chain(shapes));
    const StepChain chain(shapes);
    const std::int64_t step = chain.made().layer > 1 ? chain.made().layer : how.alignment;
    const Decomposition d{chain.frames(), chain.rows(), chain.halo(),
                          chain.border(), step,         (how.chunk_rows + step - 1) / step * step,
                          how.ranks,      {},           chain.made()};
    const bool is_carried = how.carries == Carries::yes && how.least == 0 &&
                            chain.border() == RowBorder::inside && chain.halo() < chain.rows();
    const std::vector<StepSize> sizes = chain.sizes(d.largest_block());
    Values input(static_cast<std::size_t>(d.total_rows()));
    for (std::size_t i = 0; i < input.size(); ++i) {
        input[i] = i + 1;
    }
    const Values expected = whole(steps, input);
    Values made;
    std::vector<Values> own(steps.size());
    for (int rank = 0; rank < how.ranks; ++rank) {
        Left left{own, std::vector<Values>(steps.size()), {}};
        std::int64_t first = 0;
        ChunkCursor cursor(d, d.slab(rank));
        while (const std::optional<Chunk> chunk = cursor.next()) {
            if (!chunk->run.before) {
                left.made.assign(steps.size(), 0);
                first = chunk->block.out_first;
            }
            Values in;
            for (const RowSource& run :
                 chunk->block.frames > 1
                     ? std::vector<RowSource>{{0, chunk->frame * d.rows, chunk->in_rows()}}
                     : row_sources(
                           d, chunk->frame,
                           {chunk->block.in_first, chunk->block.in_first + chunk->block.in_rows})) {
                in.insert(in.end(), input.begin() + run.source,
                          input.begin() + run.source + run.count);
            }
            const Values part = block_of(steps, chain, *chunk, in, sizes, how, left);
            made.insert(made.end(), part.begin(), part.end());
            if (is_carried && chunk->block.frames == 1) {
                const std::int64_t last = chunk->block.out_first + chunk->block.out_rows;
                const std::vector<std::int64_t> most = made_at_once(chain, d, first, last);
                for (std::size_t i = 0; i < steps.size(); ++i) {
                    EXPECT_LE(left.made[i], most[i]) << "no row twice by step " << i;
                }
            }
        }
        own = left.own;
    }
    EXPECT_EQ(made, expected);
    for (std::size_t i = 0; i < how.least; ++i) {
        const std::vector<Step> first(steps.begin(), steps.begin() + std::ptrdiff_t(i) + 1);
        EXPECT_EQ(own[i], whole(first, input)) << "own rows of step " << i;
    }
}

TEST(StepChain, AddsHalos) {
    const std::vector<StreamShape> steps = {shape(3, 100, 2, RowBorder::inside),
                                            shape(3, 100, 5, RowBorder::inside)};
    const StepChain chain(steps);
    EXPECT_EQ(chain.frames(), 3);
    EXPECT_EQ(chain.halo(), 7);
    EXPECT_EQ(chain.border(), RowBorder::inside);
    const std::vector<StepWork> works = chain.work({1, 0, 27, 0, 20});
    EXPECT_EQ(works[0].calls.front().block, (RowBlock{1, 0, 27, 0, 25}));
    EXPECT_EQ(works[1].calls.front().block, (RowBlock{1, 0, 25, 0, 20}));
    EXPECT_EQ(works[1].held, 25);
}

TEST(StepChain, BringsRowsFromTheOtherEndThroughTheStepBefore) {
    // Rows -5 … -1 of the second step are rows 95 … 99, which the first reflects at row 99.
    const std::vector<StreamShape> steps = {shape(1, 100, 2, RowBorder::inside),
                                            shape(1, 100, 5, RowBorder::periodic)};
    const StepChain chain(steps);
    EXPECT_EQ(chain.halo(), 7);
    EXPECT_EQ(chain.border(), RowBorder::periodic);
    const std::vector<StepWork> works = chain.work({1, -7, 34, 0, 20});
    ASSERT_EQ(works[0].calls.size(), 2U);
    EXPECT_EQ(works[0].calls[0].block, (RowBlock{1, 93, 7, 95, 5}));
    EXPECT_EQ(works[0].calls[0].in_row, 0);
    EXPECT_EQ(works[0].calls[1].block, (RowBlock{1, 0, 27, 0, 25}));
    EXPECT_EQ(works[0].calls[1].in_row, 7);
    EXPECT_EQ(works[0].calls[1].out_row, 5);
}

TEST(StepChain, TakesWholeImagesWhereALaterStepTakesTheVolume) {
    // Images of 10 rows, then layers of 10 rows with a halo of one layer.
    const std::vector<StreamShape> steps = {shape(6, 10, 3, RowBorder::inside),
                                            shape(1, 60, 10, RowBorder::inside, {10, 10})};
    const StepChain chain(steps);
    EXPECT_EQ(chain.frames(), 1);
    EXPECT_EQ(chain.halo(), 10);
    EXPECT_EQ(chain.made().layer, 10);
    const std::vector<StepWork> works = chain.work({1, 10, 40, 20, 20});
    EXPECT_EQ(works[0].calls.front().block, (RowBlock{4, 0, 10, 0, 10}));
    EXPECT_EQ(works[1].calls.front().block, (RowBlock{1, 10, 40, 20, 20}));
}

TEST(StepChain, RefusesLayersThatDoNotMeet) {
    // Every second of three layers a layer: no chunk of the first step's can say it.
    EXPECT_FALSE(StepChain::is_chain(
        std::vector<StreamShape>{shape(1, 60, 0, RowBorder::inside, {1, 30}),
                                 shape(1, 1800, 0, RowBorder::inside, {10, 4, 2, 100})}));
}

/// Steps of random halos, borders, layers and frames over a volume of so many images.
std::vector<Step> random_steps(std::mt19937& random, std::int64_t images, std::int64_t rows) {
    const auto upto = [&](std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(0, most)(random);
    };
    std::vector<Step> steps;
    const std::int64_t count = 1 + upto(5);
    while (std::ssize(steps) < count) {
        const bool volume = upto(2) == 0;
        const RowBorder border = upto(2) == 0 ? RowBorder::periodic : RowBorder::inside;
        const std::int64_t halo = upto(5) == 0 ? upto(2 * rows) : upto(3);
        const std::int64_t layer = 1 + upto(3);
        const bool partial = upto(1) == 0;
        if (volume) {
            // So many images make one; the last may be fewer, and make one or none.
            const std::int64_t factor = std::min(images, 1 + upto(1));
            const std::int64_t made = partial ? (images + factor - 1) / factor : images / factor;
            steps.push_back({shape(1, images * rows, halo % 3 * factor * rows, border,
                                   {factor * rows, rows, 1, made - 1})});
            images = made;
        } else if (upto(2) == 0 && layer <= rows) {
            const std::int64_t made = partial ? (rows + layer - 1) / layer : rows / layer;
            steps.push_back(
                {shape(images, rows, halo / layer * layer, border, {layer, 1, 1, made - 1})});
            rows = made;
        } else {
            steps.push_back({shape(images, rows, halo, border)});
        }
    }
    return steps;
}

TEST(StepChain, EqualsTheStepsOneByOne) {
    const unsigned seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto from = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    for (int round = 0; round < 3000 && !testing::Test::HasFailure(); ++round) {
        const std::vector<Step> steps = random_steps(random, from(1, 6), from(1, 24));
        std::string text;
        for (const Step& step : steps) {
            text += " (" + std::to_string(step.shape.frames) + " x " +
                    std::to_string(step.shape.rows) + ", halo " + std::to_string(step.shape.halo) +
                    (step.shape.border == RowBorder::periodic ? " periodic" : "") + ", " +
                    std::to_string(step.shape.made.layer) + " -> " +
                    std::to_string(step.shape.made.each) + ")";
        }
        SCOPED_TRACE("round " + std::to_string(round) + ":" + text);
        expect_equal(steps, {from(1, 60), from(1, 3), static_cast<int>(from(1, 4)),
                             static_cast<std::size_t>(from(0, std::ssize(steps))),
                             from(0, 3) == 0 ? Carries::no : Carries::yes});
    }
}

} // namespace
} // namespace runner
