// SPDX-License-Identifier: BSD-3-Clause
// Blocks of bm4d, each of which takes what the one before has left, make what one block makes.
#include "jobs/denoise/denoise_job.hpp"
#include "jobs/stream_job.hpp"
#include "tests/support/table_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace runner {
namespace {

constexpr std::int64_t lines = 9;
constexpr std::int64_t columns = 8;

std::vector<std::byte> room(std::int64_t bytes) {
    return std::vector<std::byte>(static_cast<std::size_t>(bytes));
}

/// A job on a volume of so many layers, and its input.
struct Denoised {
    std::int64_t layers;
    std::unique_ptr<Job> job;
    std::vector<std::uint16_t> in;

    Denoised(std::int64_t count, const TableEntries& entries) : layers(count) {
        const ArrayInfo volume = {ElementType::uint16, {layers, lines, columns}};
        job = parsed("denoise", parse_denoise, entries)->make({volume, {"scan.h5", "/v"}}, {});
        std::mt19937 random(5);
        for (std::int64_t i = 0; i < layers * lines * columns; ++i) {
            in.push_back(static_cast<std::uint16_t>(1000 + random() % 64));
        }
    }

    const StreamJob& stream() const { return dynamic_cast<const StreamJob&>(*job); }

    /// Layers [first, last), with the layers of the halo.
    RowBlock block(std::int64_t first, std::int64_t last) const {
        const std::int64_t halo = stream().shape().halo / lines;
        const std::int64_t from = std::max<std::int64_t>(0, first - halo);
        const std::int64_t to = std::min(layers, last + halo);
        return {1, from * lines, (to - from) * lines, first * lines, (last - first) * lines};
    }

    /// Their result.
    std::vector<float> run(Queue& queue, const RowBlock& block, RunMemory memory) const {
        std::vector<std::byte> scratch = room(stream().scratch_bytes(Backend::cpu, block));
        memory.scratch = scratch.data();
        std::vector<float> out(static_cast<std::size_t>(block.out_rows * columns));
        stream().run(queue, block,
                     reinterpret_cast<const std::byte*>(in.data() + block.in_first * columns),
                     reinterpret_cast<std::byte*>(out.data()), memory);
        return out;
    }
};

/// The result of layers [first, last) in blocks of `count`; adds up their operations.
std::vector<float> in_blocks(const Denoised& denoised, std::int64_t first, std::int64_t last,
                             std::int64_t count, double& operations) {
    const StreamJob& job = denoised.stream();
    Queue queue(CpuQueue(2));
    std::vector<std::byte> carried = room(job.carried_bytes(denoised.block(0, 1)));
    RunMemory memory;
    memory.carried = carried.data();
    memory.blocks.last = last * lines;
    std::vector<float> made;
    for (std::int64_t begin = first; begin < last; begin += count) {
        const RowBlock block = denoised.block(begin, std::min(begin + count, last));
        operations += job.operations_in(block, memory.blocks);
        const std::vector<float> part = denoised.run(queue, block, memory);
        made.insert(made.end(), part.begin(), part.end());
        memory.blocks.before = block;
    }
    return made;
}

TEST(CarriedLayers, MakeWhatOneBlockMakes) {
    const TableEntry method = {"method", of(std::string("bm4d"))};
    const TableEntry sigma = {"sigma", of(9.0)};
    const std::vector<TableEntries> keys = {
        {method,
         sigma,
         {"patch", integers({2, 3, 3})},
         {"window", integers({5, 5, 5})},
         {"step", of(std::int64_t{2})}},
        {method, sigma, {"patch", integers({4, 4, 4})}, {"window", integers({3, 3, 3})}},
        {method,
         sigma,
         {"patch", integers({1, 2, 2})},
         {"window", integers({7, 3, 3})},
         {"step", of(std::int64_t{1})}}};
    for (const TableEntries& entries : keys) {
        for (const std::int64_t layers : {4, 17, 31}) {
            const Denoised denoised(layers, entries);
            Queue queue(CpuQueue(2));
            const RowBlock all = denoised.block(0, layers);
            const std::vector<float> whole = denoised.run(queue, all, {});
            for (const std::int64_t count : {1, 2, 3, 7, 16}) {
                SCOPED_TRACE(testing::Message() << layers << " layers in blocks of " << count);
                double operations = 0;
                EXPECT_EQ(in_blocks(denoised, 0, layers, count, operations), whole);
                if (count < layers) {
                    EXPECT_DOUBLE_EQ(operations, denoised.stream().operations(all))
                        << "no reference twice";
                }
            }
        }
    }
}

TEST(CarriedLayers, AreThoseOfARankAlone) {
    const Denoised denoised(29, {{"method", of(std::string("bm4d"))},
                                 {"sigma", of(9.0)},
                                 {"patch", integers({2, 3, 3})},
                                 {"window", integers({5, 5, 5})},
                                 {"step", of(std::int64_t{2})}});
    Queue queue(CpuQueue(2));
    const std::vector<float> whole = denoised.run(queue, denoised.block(0, 29), {});
    double operations = 0;
    std::vector<float> made = in_blocks(denoised, 0, 11, 4, operations);
    const std::vector<float> rest = in_blocks(denoised, 11, 29, 5, operations);
    made.insert(made.end(), rest.begin(), rest.end());
    EXPECT_EQ(made, whole);
    EXPECT_GT(operations, denoised.stream().operations(denoised.block(0, 29)));
}

TEST(CarriedLayers, TakeNoMemoryInOneBlock) {
    const Denoised denoised(7, {{"method", of(std::string("bm4d"))}, {"sigma", of(9.0)}});
    EXPECT_EQ(denoised.stream().carried_bytes(denoised.block(0, 7)), 0);
    EXPECT_GT(denoised.stream().carried_bytes(denoised.block(0, 6)), 0);
}

} // namespace
} // namespace runner
