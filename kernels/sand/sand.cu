// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/sand/sand.hpp"

#include "kernels/queue/launch.cuh"
#include "kernels/sand/sand_step.cuh"

#include <algorithm>
#include <limits>

namespace runner {
namespace {

constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// How the tiles of a launch are cut.
struct SandTiles {
    int thirties;  ///< row pairs of a tile, in units of 32
    int log_words; ///< of the groups it keeps
    int threads;
    std::int64_t strips;
    std::int64_t count;
};

struct DeviceLimits {
    int multiprocessors = 0;
    int shared_bytes = 0; ///< of a multiprocessor
    int block_bytes = 0;  ///< of a block of threads
};

DeviceLimits limits_of(CudaQueue& queue) {
    DeviceLimits limits;
    const auto ask = [&](int& value, cudaDeviceAttr attribute) {
        cuda_call([&] { return cudaDeviceGetAttribute(&value, attribute, queue.device()); });
    };
    ask(limits.multiprocessors, cudaDevAttrMultiProcessorCount);
    ask(limits.shared_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    ask(limits.block_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    return limits;
}

/// The tiles that keep the device busy with the least work in all: large ones throw little away,
/// small ones are many.
SandTiles choose_tiles(const DeviceLimits& limits, std::int64_t rows, std::int64_t groups,
                       std::int64_t margin) {
    SandTiles best{};
    double least = std::numeric_limits<double>::infinity();
    for (const int thirties : {2, 1}) {
        for (const int log_words : {4, 3, 2}) {
            const std::int64_t words = std::int64_t{1} << log_words;
            const std::int64_t bytes = sand_cuda::SandTileMemory::bytes(words, 32 * thirties);
            if (bytes > limits.block_bytes) {
                continue;
            }
            const auto items = static_cast<int>(words + 1) * thirties;
            const int threads = std::min(sand_cuda::most_threads, 32 * items);
            const std::int64_t at_once = std::clamp<std::int64_t>(
                std::min<std::int64_t>(limits.shared_bytes / (bytes + 1024),
                                       sand_cuda::blocks_at_once * sand_cuda::most_threads /
                                           threads),
                1, 8);
            const std::int64_t strips = ceil_divide(groups, words);
            const std::int64_t count = strips * ceil_divide(rows + 1, 64 * thirties - 2 * margin);
            const std::int64_t slots = at_once * limits.multiprocessors;
            const double waves = static_cast<double>(count) / static_cast<double>(slots);
            // The last wave is rarely full; with many waves that evens out.
            const double rounds =
                waves < 4 ? static_cast<double>(ceil_divide(count, slots)) : waves + 0.5;
            const double cost = rounds * static_cast<double>(items * at_once);
            if (cost < least) {
                least = cost;
                best = {thirties, log_words, threads, strips, count};
            }
        }
    }
    return best;
}

sand_cuda::SandLaunch describe_launch(const Sand& sand, const SandBand& band,
                                      const std::byte* tables) {
    sand_cuda::SandLaunch launch{};
    launch.tables = reinterpret_cast<const uint4*>(tables);
    launch.groups = sand_row_bytes(sand.columns) / 16;
    launch.rows = sand.rows;
    launch.columns = sand.columns;
    launch.seed = sand.seed;
    launch.held_first = band.first_row;
    launch.held_rows = band.rows;
    const SandThresholds& t = sand.thresholds;
    const std::uint32_t values[5] = {t.sand_slide, t.sand_fall, t.water_fall, t.water_diagonal,
                                     t.water_spread};
    for (int chance = 0; chance < 5; ++chance) {
        launch.threshold[chance].value = values[chance];
        for (int i = 0; i < 16; ++i) {
            launch.threshold[chance].words[i] = 0U - ((values[chance] >> i) & 1U);
        }
    }
    return launch;
}

template <sand_cuda::Chances chances> auto choose_kernel(const SandTiles& tiles) {
    return tiles.thirties == 2 ? sand_cuda::sand_kernel<2, chances>
                               : sand_cuda::sand_kernel<1, chances>;
}

void launch_tiles(CudaQueue& queue, const SandTiles& tiles, sand_cuda::Chances chances,
                  sand_cuda::SandLaunch arguments) {
    const auto kernel = chances == sand_cuda::Chances::any
                            ? choose_kernel<sand_cuda::Chances::any>(tiles)
                            : choose_kernel<sand_cuda::Chances::published>(tiles);
    // Three tiles fit a multiprocessor only where all that can be is shared memory.
    queue.make_current();
    cuda_call([&] {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared);
    });
    const KernelWork work{2.0 * static_cast<double>(arguments.held_rows * arguments.groups) *
                          sizeof(uint4)};
    arguments.log_words = tiles.log_words;
    arguments.strips = tiles.strips;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (arguments.first_tile = 0; arguments.first_tile < tiles.count;
         arguments.first_tile += most) {
        const auto count = std::min(most, tiles.count - arguments.first_tile);
        const double part = static_cast<double>(count) / static_cast<double>(tiles.count);
        launch(queue,
               {dim3(static_cast<unsigned>(count)), dim3(static_cast<unsigned>(tiles.threads)),
                static_cast<std::size_t>(sand_cuda::SandTileMemory::bytes(
                    std::int64_t{1} << tiles.log_words, 32 * tiles.thirties)),
                work.share(part)},
               kernel, arguments);
    }
}

__global__ void table_kernel(std::int64_t groups, std::uint32_t* tables) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= 2 * groups * 16) {
        return;
    }
    const auto plane = static_cast<unsigned>(i % 16);
    const std::int64_t group = i / 16 % groups;
    const std::int64_t offset = i / 16 / groups;
    std::uint32_t word = 0;
    for (std::int64_t bit = 0; bit < 32; ++bit) {
        const std::uint32_t part =
            sand_x_part(static_cast<std::uint32_t>(64 * group + 2 * bit + offset));
        word |= ((part >> plane) & 1U) << bit;
    }
    tables[i] = word;
}

} // namespace

void make_sand_tables(CudaQueue& queue, const Sand& sand, std::byte* tables) {
    const std::int64_t groups = sand_row_bytes(sand.columns) / 16;
    launch(queue, {dim3(static_cast<unsigned>(ceil_divide(2 * groups * 16, 128))), dim3(128)},
           table_kernel, groups, reinterpret_cast<std::uint32_t*>(tables));
}

void advance_sand(CudaQueue& queue, const Sand& sand, const SandBand& band,
                  std::uint64_t generation, std::int64_t generations, std::byte* from,
                  std::byte* to, const std::byte* tables) {
    if (generations == 0 || band.rows == 0) {
        copy_on_device(queue, to, from, band.rows * sand_row_bytes(sand.columns));
        return;
    }
    // Launches swap the two buffers, so that an odd number of them ends in the second.
    std::int64_t launches = ceil_divide(generations, sand_cuda::most_generations);
    launches += launches % 2 == 0 ? 1 : 0;
    const std::int64_t deepest = ceil_divide(generations, launches);
    const std::int64_t margin = (deepest + 1) / 2 * 2;
    sand_cuda::SandLaunch arguments = describe_launch(sand, band, tables);
    const SandTiles tiles = choose_tiles(limits_of(queue), band.rows, arguments.groups, margin);
    arguments.margin = static_cast<int>(margin);
    const auto chances = sand.thresholds == SandThresholds{} ? sand_cuda::Chances::published
                                                             : sand_cuda::Chances::any;
    for (std::int64_t i = 0; i < launches; ++i) {
        const std::int64_t first = generations * i / launches;
        arguments.generation = generation + static_cast<std::uint64_t>(first);
        arguments.generations = static_cast<int>(generations * (i + 1) / launches - first);
        arguments.from = reinterpret_cast<const uint4*>(i % 2 == 0 ? from : to);
        arguments.to = reinterpret_cast<uint4*>(i % 2 == 0 ? to : from);
        launch_tiles(queue, tiles, chances, arguments);
    }
}

} // namespace runner
