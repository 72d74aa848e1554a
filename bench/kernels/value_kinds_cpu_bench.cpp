// SPDX-License-Identifier: BSD-3-Clause
// Times the kinds that change values on the CPU: bench_value_kinds_cpu [SIDE [THREADS]].
// Prints the table of value_kinds_scipy_peer.py; divide the lines for the ratio.
#include "kernels/bin/bin.hpp"
#include "kernels/median/median.hpp"
#include "kernels/rescale/rescale.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace runner {
namespace {

constexpr int samples = 5;

void print_line(const char* name, std::int64_t elements, const std::function<void()>& work) {
    work();
    std::vector<double> seconds;
    for (int i = 0; i < samples; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        const auto end = std::chrono::steady_clock::now();
        seconds.push_back(std::chrono::duration<double>(end - begin).count());
    }
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[samples / 2];
    std::printf("%-28s %9.4f Gelements/s  spread %4.1f %%\n", name,
                static_cast<double>(elements) * 1e-9 / median,
                100 * (seconds.back() - seconds.front()) / median);
    std::fflush(stdout);
}

void run(std::int64_t side, int threads) {
    CpuQueue queue(threads);
    const std::int64_t elements = side * side;
    Buffer in = allocate_staging(queue, 4 * elements);
    Buffer out = allocate_staging(queue, 8 * elements);
    auto* bytes = reinterpret_cast<std::uint8_t*>(in.data());
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < 4 * elements; ++i) {
        state = state * 1664525U + 1013904223U;
        bytes[i] = static_cast<std::uint8_t>(i % 4 == 3 ? 0x3F : state >> 24U); // floats near 1
    }
    const auto medians = [&](const char* name, ElementType type, std::array<int, 3> size,
                             std::int64_t layers) {
        Median m;
        m.type = type;
        m.size = size;
        m.layers = layers;
        m.rows = side / layers;
        m.columns = side;
        print_line(name, elements, [&] {
            median(queue, m, {1, 0, side, 0, side}, in.data(), out.data());
        });
    };
    medians("median 1x3x3 uint8", ElementType::uint8, {1, 3, 3}, 1);
    medians("median 1x3x3 uint16", ElementType::uint16, {1, 3, 3}, 1);
    medians("median 1x3x3 float32", ElementType::float32, {1, 3, 3}, 1);
    medians("median 1x5x5 uint16", ElementType::uint16, {1, 5, 5}, 1);
    medians("median 1x5x5 float32", ElementType::float32, {1, 5, 5}, 1);
    medians("median 3x3x3 uint16", ElementType::uint16, {3, 3, 3}, 16);
    medians("median 3x3x3 float32", ElementType::float32, {3, 3, 3}, 16);
    medians("median 1x7x7 float32", ElementType::float32, {1, 7, 7}, 1);
    Bin b;
    b.rows = b.columns = side;
    b.factors = {1, 2, 2};
    b.in_type = b.out_type = ElementType::uint16;
    print_line("bin 2x2 uint16", elements, [&] {
        bin(queue, b, {1, 0, side, 0, side}, in.data(), out.data());
    });
    Rescale r;
    r.from_high = 60000;
    r.to_high = 255;
    r.in_type = ElementType::uint16;
    r.out_type = ElementType::uint8;
    print_line("rescale uint16 to uint8", elements,
               [&] { rescale(queue, r, elements, in.data(), out.data()); });
    r.in_type = ElementType::float32;
    r.out_type = ElementType::uint16;
    print_line("rescale float32 to uint16", elements,
               [&] { rescale(queue, r, elements, in.data(), out.data()); });
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    const std::int64_t side = argc > 1 ? std::atoll(argv[1]) : 4096;
    runner::run(side / 16 * 16, argc > 2 ? std::atoi(argv[2]) : 2);
    return 0;
}
