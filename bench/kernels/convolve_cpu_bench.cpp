// SPDX-License-Identifier: BSD-3-Clause
// Speed of convolution on all cores: pixels a second for each type and radius, beside a copy of the
// same bytes. Usage: bench_convolve_cpu [SIDE [RUNS]]
#include "kernels/convolve/convolve.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace runner {
namespace {

struct Times {
    double median;
    double spread; ///< (slowest − fastest) / median
};

template <class F> Times measure(CpuQueue& queue, int runs, F&& action) {
    std::vector<double> seconds;
    action();
    for (int i = 0; i < runs; ++i) {
        CpuQueue::Event begin(queue);
        CpuQueue::Event end(queue);
        begin.record(queue);
        action();
        end.record(queue);
        seconds.push_back(end.seconds_since(begin));
    }
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[seconds.size() / 2];
    return {median, (seconds.back() - seconds.front()) / median};
}

Convolution box_blur(ElementType type, std::int64_t side, std::int64_t radius) {
    Convolution c;
    c.in_type = c.out_type = type;
    c.frame_rows = c.columns = side;
    const auto count = static_cast<std::size_t>(2 * radius + 1);
    c.row_taps.assign(count, 1 / static_cast<double>(count));
    c.column_taps = c.row_taps;
    return c;
}

/// Fills with numbers that every type has, none of them denormal.
void fill_image(ElementType type, std::byte* bytes, std::int64_t count) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        for (std::int64_t i = 0; i < count; ++i) {
            const auto value = static_cast<T>(i * 2654435761 % 251);
            std::memcpy(bytes + i * std::int64_t{sizeof(T)}, &value, sizeof(T));
        }
    });
}

void bench_type(CpuQueue& queue, ElementType type, std::int64_t side, int runs) {
    const std::int64_t bytes = side * side * size_of(type);
    const Buffer in = allocate_device(queue, bytes);
    const Buffer out = allocate_device(queue, bytes);
    fill_image(type, in.data(), side * side);
    const auto pixels = static_cast<double>(side * side);
    const Times copy =
        measure(queue, runs, [&] { copy_on_device(queue, out.data(), in.data(), bytes); });
    std::printf("%-8s copy   %7.3f Gpx/s  spread %4.1f %%\n", std::string(name_of(type)).c_str(),
                pixels / copy.median * 1e-9, copy.spread * 100);
    for (const std::int64_t radius : {1, 4, 8, 16, 32}) {
        const Convolution c = box_blur(type, side, radius);
        const RowBlock block{1, 0, side, 0, side};
        const Times times = measure(
            queue, runs, [&] { convolve(queue, c, block, in.data(), out.data(), nullptr); });
        std::printf("%-8s R %-4lld %7.3f Gpx/s  spread %4.1f %%  of copy %.2f\n",
                    std::string(name_of(type)).c_str(), static_cast<long long>(radius),
                    pixels / times.median * 1e-9, times.spread * 100, copy.median / times.median);
    }
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    const std::int64_t side = argc > 1 ? std::atoll(argv[1]) : 12288;
    const int runs = argc > 2 ? std::atoi(argv[2]) : 5;
    runner::CpuQueue queue(static_cast<int>(std::thread::hardware_concurrency()));
    std::printf("%lld × %lld, %d threads, %d runs\n", static_cast<long long>(side),
                static_cast<long long>(side), queue.threads(), runs);
    for (const auto type : {runner::ElementType::float64, runner::ElementType::float32,
                            runner::ElementType::uint16, runner::ElementType::uint8}) {
        runner::bench_type(queue, type, side, runs);
    }
    return 0;
}
