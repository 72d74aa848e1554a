// SPDX-License-Identifier: BSD-3-Clause
// Speed of transposition on all cores, beside a copy of the same bytes.
//   bench_transpose_cpu [MIB [RUNS [TYPE,...]]]
#include "base/sizes.hpp"
#include "kernels/transpose/transpose.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace runner {
namespace {

using Shape = std::array<std::int64_t, 3>;

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

/// Even, odd and flat shapes of about so many elements.
std::vector<Shape> shapes_of(std::int64_t elements) {
    std::int64_t side = 1;
    while (8 * side * side * side <= elements) {
        side *= 2;
    }
    const std::int64_t rest = elements / side / side;
    return {{side, rest, side},
            {side - 1, side - 3, rest + 1},
            {5, 2 * side, rest * side / 10 / 32 * 32},
            {2 * side, rest * side / 10 / 32 * 32, 5},
            {2 * side + 1, 7, rest * side / 14 / 32 * 32 + 1}};
}

bool right(const Transposition& t, const std::byte* in, const std::byte* out) {
    const auto e = static_cast<std::size_t>(t.element_bytes);
    std::array<std::int64_t, 3> shape{};
    for (std::size_t j = 0; j < 3; ++j) {
        shape[j] = t.shape[static_cast<std::size_t>(t.permutation[j])];
    }
    const std::int64_t count = shape[0] * shape[1] * shape[2];
    // A sample of the elements, far apart and prime to the extents.
    for (std::int64_t i = 0; i < count; i += 9973) {
        const std::array<std::int64_t, 3> k = {i / shape[2] / shape[1], i / shape[2] % shape[1],
                                               i % shape[2]};
        std::int64_t from = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            from += k[j] * t.in_strides[static_cast<std::size_t>(t.permutation[j])];
        }
        if (std::memcmp(in + from * t.element_bytes, out + i * t.element_bytes, e) != 0) {
            return false;
        }
    }
    return true;
}

void bench_type(CpuQueue& queue, const std::string& name, int element_bytes, std::int64_t bytes,
                int runs) {
    const Buffer in = allocate_device(queue, bytes + bytes / 8);
    const Buffer out = allocate_device(queue, bytes + bytes / 8);
    for (std::int64_t i = 0; i < in.size(); ++i) {
        in.data()[i] = static_cast<std::byte>(static_cast<std::uint64_t>(i) * 2654435761U >> 13U);
    }
    for (const Shape& shape : shapes_of(bytes / element_bytes)) {
        const std::int64_t size = shape[0] * shape[1] * shape[2] * element_bytes;
        const Times copy =
            measure(queue, runs, [&] { copy_on_device(queue, out.data(), in.data(), size); });
        for (const auto& permutation : std::vector<std::array<int, 3>>{
                 {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
            const Transposition t = dense_transposition(shape, permutation, element_bytes);
            const Times times =
                measure(queue, runs, [&] { transpose(queue, t, in.data(), out.data()); });
            std::printf("case %-4s %lldx%lldx%lld %d%d%d %9.4f ms %6.2f GB/s share %5.3f spread "
                        "%4.1f%%%s\n",
                        name.c_str(), static_cast<long long>(shape[0]),
                        static_cast<long long>(shape[1]), static_cast<long long>(shape[2]),
                        permutation[0], permutation[1], permutation[2], times.median * 1e3,
                        2e-9 * static_cast<double>(size) / times.median, copy.median / times.median,
                        100 * times.spread, right(t, in.data(), out.data()) ? "" : " WRONG");
            std::fflush(stdout);
        }
    }
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    const std::int64_t bytes = (argc > 1 ? std::atoll(argv[1]) : 1024) * runner::MiB;
    const int runs = argc > 2 ? std::atoi(argv[2]) : 5;
    const std::string types = argc > 3 ? argv[3] : "f32,f64,u16,u8";
    runner::CpuQueue queue(static_cast<int>(std::thread::hardware_concurrency()));
    std::printf("# %lld MiB, %d threads, %d runs; share: of a copy of as many bytes\n",
                static_cast<long long>(bytes / runner::MiB), queue.threads(), runs);
    for (const auto& [name, element_bytes] :
         {std::pair<std::string, int>{"f32", 4}, {"f64", 8}, {"u16", 2}, {"u8", 1}}) {
        if (types.find(name) != std::string::npos) {
            runner::bench_type(queue, name, element_bytes, bytes, runs);
        }
    }
    return 0;
}
