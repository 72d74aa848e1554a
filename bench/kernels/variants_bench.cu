// SPDX-License-Identifier: BSD-3-Clause
// Times the kernels that are variants of others, each beside what would run without it:
//   variants_bench [--samples N]
// march: window means of 3^3 by the march, or by the tiles. A variant stays if it gains 1.3 times
// (docs/adr/0027). The results are compared too.
#include "bench/kernels/times.hpp"
#include "kernels/denoise/window_means_call.hpp"
#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace runner {
namespace {

/// Floats of [0, 200).
__global__ void fill_kernel(float* values, std::int64_t count) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        std::uint64_t bits = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15ULL;
        bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        values[i] = static_cast<float>(static_cast<std::uint32_t>(bits >> 32U)) * 0x1p-32F * 200;
    }
}

/// Counts the words that differ.
__global__ void difference_kernel(const std::uint32_t* a, const std::uint32_t* b,
                                  std::int64_t count, unsigned long long* differing) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        if (a[i] != b[i]) {
            atomicAdd(differing, 1ULL);
        }
    }
}

class Bench {
  public:
    explicit Bench(int samples)
        : samples_(samples), in_(allocate_device(queue_, most_bytes)),
          with_(allocate_device(queue_, most_bytes)), without_(allocate_device(queue_, most_bytes)),
          differing_(allocate_device(queue_, 8)), staging_(allocate_staging(queue_, 8)) {}

    void run() {
        std::printf("# variant, case: median ms with it, without it, times gained; spread "
                    "(10-90 %%) of both; words that differ\n");
        march();
    }

  private:
    static constexpr std::int64_t most_bytes = std::int64_t{512} << 20; // 512^3 floats

    /// `with(out)` and `without(out)` run the two ways, which take turns, so that both meet the
    /// same clock.
    template <class With, class Without>
    void compare(const std::string& text, std::int64_t bytes, const With& with,
                 const Without& without) {
        const Times first = time(queue_, samples_, 1, [&] { with(with_.data()); });
        const Times other = time(queue_, samples_, 1, [&] { without(without_.data()); });
        const Times again = time(queue_, samples_, 1, [&] { with(with_.data()); });
        const double least = std::min(first.median(), again.median());
        std::printf("%s: %.4f %.4f %.3f; %.1f%% %.1f%%; %llu\n", text.c_str(), 1e3 * least,
                    1e3 * other.median(), other.median() / least, 100 * first.spread(),
                    100 * other.spread(), differing(bytes));
        std::fflush(stdout);
    }

    unsigned long long differing(std::int64_t bytes) {
        auto* const count = reinterpret_cast<unsigned long long*>(staging_.data());
        *count = 0;
        upload(queue_, differing_.data(), staging_.data(), 8);
        launch(queue_, {dim3(2048), dim3(256)}, difference_kernel,
               reinterpret_cast<const std::uint32_t*>(with_.data()),
               reinterpret_cast<const std::uint32_t*>(without_.data()), bytes / 4,
               reinterpret_cast<unsigned long long*>(differing_.data()));
        download(queue_, staging_.data(), differing_.data(), 8);
        queue_.synchronize();
        return *count;
    }

    void march() {
        auto* const volume = reinterpret_cast<float*>(in_.data());
        launch(queue_, {dim3(2048), dim3(256)}, fill_kernel, volume, most_bytes / 4);
        for (const std::int64_t extent : {256, 512}) {
            for (const std::int64_t window : {5, 7, 11}) {
                Match match;
                match.volume = {extent, extent, extent};
                match.patch = {3, 3, 3};
                match.window = {window, window, window};
                const HeldLayers all{0, extent};
                const WindowCall call = make_window_call(match, {10, 0.6, 200}, all, all);
                compare(
                    "march, " + std::to_string(extent) + "^3, window " + std::to_string(window) +
                        "^3",
                    4 * extent * extent * extent,
                    [&](std::byte* out) {
                        if (!march_window_means(queue_, call, volume,
                                                reinterpret_cast<float*>(out))) {
                            throw std::logic_error("the march does not take this case");
                        }
                    },
                    [&](std::byte* out) {
                        tile_window_means(queue_, call, volume, reinterpret_cast<float*>(out));
                    });
            }
        }
    }

    int samples_;
    CudaQueue queue_{0};
    Buffer in_;
    Buffer with_;
    Buffer without_;
    Buffer differing_;
    Buffer staging_;
};

int read_samples(const std::vector<std::string>& call) {
    if (call.empty()) {
        return 15;
    }
    if (call.size() != 2 || call[0] != "--samples") {
        throw std::invalid_argument("variants_bench [--samples N]");
    }
    return std::stoi(call[1]);
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    try {
        runner::Bench(runner::read_samples({argv + 1, argv + argc})).run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
