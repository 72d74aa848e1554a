// SPDX-License-Identifier: BSD-3-Clause
// Speed of the sand automaton on the CPU beside the byte-a-cell forms: sample-4 and noise, cell
// updates a second. Usage: bench_sand_cpu [GENERATIONS [RUNS [THREADS]]]
#include "bench/kernels/baselines/sand_bytes.hpp"
#include "kernels/patterns/patterns.hpp"
#include "kernels/sand/sand.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace runner {
namespace {

struct Times {
    std::vector<double> sorted;
    double median() const { return sorted[sorted.size() / 2]; }
    double spread() const { return (sorted.back() - sorted.front()) / median(); }
};

Times measure(int runs, const std::function<void()>& prepare, const std::function<void()>& work) {
    Times times;
    for (int i = 0; i < runs; ++i) {
        prepare();
        const auto begin = std::chrono::steady_clock::now();
        work();
        const auto end = std::chrono::steady_clock::now();
        times.sorted.push_back(std::chrono::duration<double>(end - begin).count());
    }
    std::sort(times.sorted.begin(), times.sorted.end());
    return times;
}

struct Bench {
    CpuQueue queue;
    Sand sand;
    std::vector<std::uint8_t> scene;
    std::vector<std::uint8_t> sequential{};
    std::vector<std::uint8_t> vectors{};
    std::vector<std::uint8_t> planes{};

    void row(const char* name, const Times& times, std::int64_t generations, double base) const {
        const double rate = static_cast<double>(sand.rows) * static_cast<double>(sand.columns) *
                            static_cast<double>(generations) / times.median();
        std::printf("  %-34s %8.3f s  %9.3f Gcell/s  spread %4.1f %%  %6.1f x sequential\n", name,
                    times.median(), rate * 1e-9, times.spread() * 100, rate / base);
        std::fflush(stdout);
    }

    /// All forms, each from generation 0.
    void run(const char* name, std::int64_t generations, int runs) {
        std::printf("%s, %lld x %lld, %lld generations, %d runs\n", name,
                    static_cast<long long>(sand.rows), static_cast<long long>(sand.columns),
                    static_cast<long long>(generations), runs);
        const double updates = static_cast<double>(sand.rows) * static_cast<double>(sand.columns) *
                               static_cast<double>(generations);
        const Times one = measure(
            std::min(runs, 3), [&] { sequential = scene; },
            [&] { advance_sand_sequential(sand, 0, generations, sequential.data()); });
        const double base = updates / one.median();
        row("sequential, 1 thread", one, generations, base);
        const Times bytes = measure(
            std::min(runs, 3), [&] { vectors = scene; },
            [&] { advance_sand_byte_vectors(sand, 0, generations, vectors.data()); });
        row("byte vectors, 1 thread", bytes, generations, base);
        const std::int64_t state_bytes = sand.rows * sand_row_bytes(sand.columns);
        const Buffer from = allocate_device(queue, state_bytes);
        const Buffer to = allocate_device(queue, state_bytes);
        const Buffer tables = allocate_device(queue, sand_table_bytes(Backend::cpu, sand));
        make_sand_tables(queue, sand, tables.data());
        std::int64_t wrong = 0;
        const Times ours = measure(
            runs,
            [&] {
                pack_sand(queue, sand.rows, sand.columns,
                          reinterpret_cast<const std::byte*>(scene.data()), from.data(), &wrong);
            },
            [&] {
                advance_sand(queue, sand, {0, sand.rows}, 0, generations, from.data(), to.data(),
                             tables.data());
            });
        row("bit planes, all threads", ours, generations, base);
        planes.resize(scene.size());
        unpack_sand(queue, sand.rows, sand.columns, to.data(),
                    reinterpret_cast<std::byte*>(planes.data()));
        std::printf("  last states equal: %s\n",
                    sequential == vectors && sequential == planes ? "yes" : "NO");
    }
};

std::vector<std::uint8_t> sample_4(CpuQueue& queue) {
    std::vector<std::uint8_t> cells(std::size_t{2160} * 3840);
    fill_pattern(
        queue, Pattern::sample_4, ElementType::uint8, std::vector<std::int64_t>{2160, 3840}, 0, 0,
        static_cast<std::int64_t>(cells.size()), reinterpret_cast<std::byte*>(cells.data()));
    return cells;
}

std::vector<std::uint8_t> noise(CpuQueue& queue, std::int64_t count) {
    std::vector<std::uint8_t> cells(static_cast<std::size_t>(count));
    fill_pattern(queue, Pattern::noise, ElementType::uint8, std::vector<std::int64_t>{count}, 1, 0,
                 count, reinterpret_cast<std::byte*>(cells.data()));
    for (std::uint8_t& cell : cells) {
        cell &= 3;
    }
    return cells;
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    using namespace runner;
    const std::int64_t generations = argc > 1 ? std::atoll(argv[1]) : 3000;
    const int runs = argc > 2 ? std::atoi(argv[2]) : 5;
    const int threads =
        argc > 3 ? std::atoi(argv[3]) : static_cast<int>(std::thread::hardware_concurrency());
    CpuQueue queue(threads);
    std::printf("%d threads\n", threads);
    Bench sample{CpuQueue(threads), {2160, 3840}, sample_4(queue)};
    sample.run("sample-4", generations, runs);
    Bench dense{CpuQueue(threads), {2160, 3840}, noise(queue, std::int64_t{2160} * 3840)};
    dense.run("noise", std::max<std::int64_t>(1, generations / 10), runs);
    return 0;
}
