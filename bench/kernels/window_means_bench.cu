// SPDX-License-Identifier: BSD-3-Clause
// Times non-local means over whole windows on the GPU.
//   window_means_bench [--extent N] [--samples N]
#include "bench/kernels/times.hpp"
#include "kernels/denoise/window_means.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace runner {
namespace {

struct Options {
    std::int64_t extent = 256;
    int samples = 9;
};

/// Noise of 10 on 100.
Buffer make_scene(CudaQueue& queue, std::int64_t voxels) {
    std::mt19937 random(1);
    std::normal_distribution<float> noise(100, 10);
    std::vector<float> volume(static_cast<std::size_t>(voxels));
    for (float& value : volume) {
        value = noise(random);
    }
    Buffer device = allocate_device(queue, 4 * voxels);
    const Buffer staging = allocate_staging(queue, 4 * voxels);
    std::memcpy(staging.data(), volume.data(), static_cast<std::size_t>(4 * voxels));
    upload(queue, device.data(), staging.data(), 4 * voxels);
    queue.synchronize();
    return device;
}

struct Case {
    std::array<std::int64_t, 3> volume;
    std::array<int, 3> patch;
    std::array<std::int64_t, 3> window;
};

void one_case(CudaQueue& queue, const Options& options, const Case& one) {
    Match match;
    match.volume = one.volume;
    match.patch = one.patch;
    match.window = one.window;
    const std::int64_t voxels = match.volume[0] * match.volume[1] * match.volume[2];
    const Buffer volume = make_scene(queue, voxels);
    const Buffer result = allocate_device(queue, 4 * voxels);
    const HeldLayers all{0, match.volume[0]};
    const Times times = time(queue, options.samples, 1, [&] {
        window_means(queue, match, {10, 0.6, 200}, all,
                     reinterpret_cast<const float*>(volume.data()), all,
                     reinterpret_cast<float*>(result.data()));
    });
    std::printf(
        "window means %ld x %ld x %ld, patch %d x %d x %d, window %ld x %ld x %ld: %.3f ms, "
        "%.1f G weights/s; spread %.1f%%\n",
        static_cast<long>(match.volume[0]), static_cast<long>(match.volume[1]),
        static_cast<long>(match.volume[2]), match.patch[0], match.patch[1], match.patch[2],
        static_cast<long>(match.window[0]), static_cast<long>(match.window[1]),
        static_cast<long>(match.window[2]), 1e3 * times.median(),
        1e-9 * static_cast<double>(voxels * match.candidates()) / times.median(),
        100 * times.spread());
    std::fflush(stdout);
}

Options read_options(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--extent") {
            options.extent = std::stol(arguments.at(++i));
        } else if (arguments[i] == "--samples") {
            options.samples = std::stoi(arguments.at(++i));
        } else {
            throw std::invalid_argument("unknown option " + arguments[i]);
        }
    }
    return options;
}

void run(const Options& options) {
    CudaQueue queue(0);
    const std::int64_t n = options.extent;
    one_case(queue, options, {{n, n, n}, {3, 3, 3}, {11, 11, 11}});
    one_case(queue, options, {{n, n, n}, {5, 5, 5}, {11, 11, 11}});
    one_case(queue, options, {{n, n, n}, {2, 2, 2}, {11, 11, 11}});
    one_case(queue, options, {{1, 16 * n, 16 * n}, {1, 5, 5}, {1, 13, 13}});
    one_case(queue, options, {{1, 16 * n, 16 * n}, {1, 7, 7}, {1, 21, 21}});
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    try {
        runner::run(runner::read_options({argv + 1, argv + argc}));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
