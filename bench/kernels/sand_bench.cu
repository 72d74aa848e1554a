// SPDX-License-Identifier: BSD-3-Clause
// Times the sand automaton on the GPU, in one run with the ladder of published kernels.
//   sand_bench [--runs N] [--side N] [--no-ladder]
// Scenes: sample-3 repeated over side × side cells, generations 0–3000; noise of side × side from
// generation 0; sample-4 × 3000 against one core of the host.
#include "bench/kernels/baselines/sand_bytes.hpp"
#include "bench/kernels/baselines/sand_ladder.hpp"
#include "kernels/patterns/patterns.hpp"
#include "kernels/queue/launch.cuh"
#include "kernels/sand/sand.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace runner {
namespace {

struct Options {
    std::int64_t side = 16384;
    int runs = 5;
    bool ladder = true;
};

struct Times {
    std::vector<double> sorted;
    double median() const { return sorted[sorted.size() / 2]; }
    double spread() const { return (sorted.back() - sorted.front()) / median(); }
};

__global__ void difference_kernel(const uint4* a, const uint4* b, std::int64_t count,
                                  unsigned long long* differing) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        if (a[i].x != b[i].x || a[i].y != b[i].y || a[i].z != b[i].z || a[i].w != b[i].w) {
            atomicAdd(differing, 1ULL);
        }
    }
}

const char* name_of(SandBaseline baseline) {
    switch (baseline) {
    case SandBaseline::naive: return "naive, copies both ways";
    case SandBaseline::optimised: return "optimised";
    case SandBaseline::block_branchless: return "block-branchless, stateful";
    case SandBaseline::cell_branchless: return "cell-branchless, shared tile";
    }
    return "";
}

/// A scene in the GPU's memory, as bytes and as a packed state.
class Scene {
  public:
    Scene(CudaQueue& queue, const Sand& sand, Buffer host)
        : queue_(queue), sand_(sand),
          host_(std::move(host)), bytes_{allocate_device(queue, cells()),
                                         allocate_device(queue, cells())},
          start_(allocate_device(queue, state_bytes())),
          from_(allocate_device(queue, state_bytes())), to_(allocate_device(queue, state_bytes())),
          tables_(allocate_device(queue, sand_table_bytes(Backend::cuda, sand))),
          count_(allocate_device(queue, 8)) {
        make_sand_tables(queue_, sand_, tables_.data());
        upload(queue_, bytes_[0].data(), host_.data(), cells());
        pack(bytes_[0].data(), start_.data());
        queue_.synchronize();
    }

    std::int64_t cells() const { return sand_.rows * sand_.columns; }
    std::int64_t state_bytes() const { return sand_.rows * sand_row_bytes(sand_.columns); }
    const Sand& sand() const { return sand_; }
    const std::byte* host() const { return host_.data(); }

    /// Seconds of generations [0, generations).
    Times time(std::int64_t generations, int runs) {
        run(std::min<std::int64_t>(generations, 16));
        Times times;
        CudaQueue::Event begin(queue_);
        CudaQueue::Event end(queue_);
        for (int i = 0; i < runs; ++i) {
            copy_on_device(queue_, from_.data(), start_.data(), state_bytes());
            begin.record(queue_);
            advance(0, generations);
            end.record(queue_);
            end.wait();
            times.sorted.push_back(end.seconds_since(begin));
        }
        std::sort(times.sorted.begin(), times.sorted.end());
        return times;
    }

    /// Seconds of each of the parts of [0, total), `steps` apart, in one run.
    void profile(std::int64_t total, std::int64_t steps) {
        copy_on_device(queue_, from_.data(), start_.data(), state_bytes());
        CudaQueue::Event begin(queue_);
        CudaQueue::Event end(queue_);
        std::printf("    by generation (10^12 cell updates a second):");
        for (std::int64_t g = 0; g < total; g += steps) {
            begin.record(queue_);
            advance(static_cast<std::uint64_t>(g), steps);
            end.record(queue_);
            end.wait();
            std::printf(" %lld: %.2f", static_cast<long long>(g),
                        static_cast<double>(cells() * steps) / end.seconds_since(begin) * 1e-12);
            std::swap(from_, to_);
        }
        std::printf("\n");
    }

    /// The state after some generations; the rest of the pair of buffers is anything.
    const std::byte* run(std::int64_t generations) {
        copy_on_device(queue_, from_.data(), start_.data(), state_bytes());
        advance(0, generations);
        return to_.data();
    }

    Times time_baseline(SandBaseline baseline, std::int64_t generations, int runs) {
        Times times;
        Buffer pinned;
        if (baseline == SandBaseline::naive) {
            pinned = allocate_staging(queue_, cells());
        }
        for (int i = 0; i <= runs; ++i) {
            upload(queue_, bytes_[0].data(), host_.data(), cells());
            queue_.synchronize();
            const auto begin = std::chrono::steady_clock::now();
            result_ =
                advance_sand_baseline(queue_, baseline, sand_, 0, generations, bytes(0), bytes(1),
                                      reinterpret_cast<std::uint8_t*>(pinned.data()));
            queue_.synchronize();
            const auto end = std::chrono::steady_clock::now();
            if (i > 0) {
                times.sorted.push_back(std::chrono::duration<double>(end - begin).count());
            }
        }
        std::sort(times.sorted.begin(), times.sorted.end());
        return times;
    }

    /// Groups of cells in which the last baseline's result is not ours.
    unsigned long long differing(std::int64_t generations) {
        pack(reinterpret_cast<const std::byte*>(result_), from_.data());
        Buffer theirs = allocate_device(queue_, state_bytes());
        copy_on_device(queue_, theirs.data(), from_.data(), state_bytes());
        return differing(theirs.data(), run(generations));
    }

    /// The same for a grid on the host.
    unsigned long long differing(const std::uint8_t* grid, std::int64_t generations) {
        Buffer staged = allocate_staging(queue_, cells());
        std::memcpy(staged.data(), grid, static_cast<std::size_t>(cells()));
        upload(queue_, bytes_[0].data(), staged.data(), cells());
        Buffer theirs = allocate_device(queue_, state_bytes());
        pack(bytes_[0].data(), theirs.data());
        queue_.synchronize();
        return differing(theirs.data(), run(generations));
    }

  private:
    std::uint8_t* bytes(int i) { return reinterpret_cast<std::uint8_t*>(bytes_[i].data()); }

    void pack(const std::byte* from, std::byte* to) {
        pack_sand(queue_, sand_.rows, sand_.columns, from, to,
                  reinterpret_cast<std::int64_t*>(count_.data()));
    }

    void advance(std::uint64_t generation, std::int64_t generations) {
        advance_sand(queue_, sand_, {0, sand_.rows}, generation, generations, from_.data(),
                     to_.data(), tables_.data());
    }

    unsigned long long differing(const std::byte* a, const std::byte* b) {
        cuda_call([&] { return cudaMemsetAsync(count_.data(), 0, 8, queue_.stream()); });
        launch(queue_, {dim3(1024), dim3(256)}, difference_kernel,
               reinterpret_cast<const uint4*>(a), reinterpret_cast<const uint4*>(b),
               state_bytes() / 16, reinterpret_cast<unsigned long long*>(count_.data()));
        unsigned long long value = 0;
        cuda_call([&] {
            return cudaMemcpyAsync(&value, count_.data(), 8, cudaMemcpyDeviceToHost,
                                   queue_.stream());
        });
        queue_.synchronize();
        return value;
    }

    CudaQueue& queue_;
    Sand sand_;
    Buffer host_;
    Buffer bytes_[2];
    Buffer start_;
    Buffer from_;
    Buffer to_;
    Buffer tables_;
    Buffer count_;
    std::uint8_t* result_ = nullptr;
};

struct Bench {
    Options options;
    CudaQueue queue{0};
    CpuQueue host{static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))};

    Scene scene(Pattern pattern, std::int64_t rows, std::int64_t columns) {
        Buffer cells = allocate_staging(queue, rows * columns);
        fill_pattern(host, pattern, ElementType::uint8, std::vector<std::int64_t>{rows, columns}, 1,
                     0, rows * columns, cells.data());
        if (pattern == Pattern::noise) {
            for (std::int64_t i = 0; i < rows * columns; ++i) {
                cells.data()[i] &= std::byte{3};
            }
        }
        return {queue, {rows, columns}, std::move(cells)};
    }

    double report(const char* name, const Scene& scene, const Times& times,
                  std::int64_t generations, double base) {
        const double rate =
            static_cast<double>(scene.cells()) * static_cast<double>(generations) / times.median();
        std::printf("  %-32s %6lld gen. %10.3f ms  %9.4f Tcell/s  spread %4.1f %%", name,
                    static_cast<long long>(generations), times.median() * 1e3, rate * 1e-12,
                    times.spread() * 100);
        if (base > 0) {
            std::printf("  ours is %8.1f x", base / rate);
        }
        std::printf("\n");
        std::fflush(stdout);
        return rate;
    }

    void ladder(Scene& scene, double ours, std::int64_t generations) {
        if (!options.ladder) {
            return;
        }
        for (const SandBaseline baseline :
             {SandBaseline::block_branchless, SandBaseline::cell_branchless,
              SandBaseline::optimised, SandBaseline::naive}) {
            const std::int64_t count = baseline == SandBaseline::naive ? 8 : generations;
            const Times times = scene.time_baseline(baseline, count, 3);
            report(name_of(baseline), scene, times, count, ours);
            const unsigned long long differing = scene.differing(count);
            if (differing != 0) {
                std::printf("  DIFFERS in %llu groups of 64 cells\n", differing);
            }
        }
    }

    void run() {
        const long long side = options.side;
        {
            std::printf("sample-3 repeated over %lld x %lld\n", side, side);
            Scene tiled = scene(Pattern::sample_3, side, side);
            const double ours =
                report("bit planes", tiled, tiled.time(3000, options.runs), 3000, 0);
            tiled.profile(3000, 300);
            ladder(tiled, ours, 300);
        }
        {
            std::printf("noise %lld x %lld\n", side, side);
            Scene dense = scene(Pattern::noise, side, side);
            const double few = report("bit planes", dense, dense.time(16, options.runs), 16, 0);
            ladder(dense, few, 16);
            report("bit planes", dense, dense.time(1000, options.runs), 1000, 0);
            dense.profile(1000, 100);
        }
        sample_4();
    }

    void sample_4() {
        std::printf("sample-4\n");
        Scene small = scene(Pattern::sample_4, 2160, 3840);
        const double ours = report("bit planes", small, small.time(3000, options.runs), 3000, 0);
        small.profile(3000, 600);
        ladder(small, ours, 300);
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(small.host());
        std::vector<std::uint8_t> cells(bytes, bytes + small.cells());
        Times times;
        const auto begin = std::chrono::steady_clock::now();
        advance_sand_sequential(small.sand(), 0, 300, cells.data());
        const auto end = std::chrono::steady_clock::now();
        times.sorted.push_back(std::chrono::duration<double>(end - begin).count());
        report("sequential, one core", small, times, 300, ours);
        std::printf("  differing from it: %llu\n", small.differing(cells.data(), 300));
    }
};

Options read_options(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--no-ladder") {
            options.ladder = false;
        } else if (arguments[i] == "--side") {
            options.side = std::stoll(arguments.at(++i));
        } else if (arguments[i] == "--runs") {
            options.runs = std::stoi(arguments.at(++i));
        }
    }
    return options;
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    try {
        runner::Bench bench{runner::read_options({argv + 1, argv + argc})};
        bench.run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
