// SPDX-License-Identifier: BSD-3-Clause
// Times the two passes of BM4D on the GPU beside the matching that they begin with.
//   bm4d_bench [--extent N] [--samples N]
#include "bench/kernels/times.hpp"
#include "kernels/denoise/denoise_bm4d.hpp"
#include "kernels/queue/launch.cuh"

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
    int samples = 5;
};

/// A ball of 150 in 50, with noise of 10.
std::vector<float> make_scene(const Match& match) {
    std::mt19937 random(1);
    std::normal_distribution<float> noise(0, 10);
    std::vector<float> volume;
    const auto& n = match.volume;
    for (std::int64_t z = 0; z < n[0]; ++z) {
        for (std::int64_t y = 0; y < n[1]; ++y) {
            for (std::int64_t x = 0; x < n[2]; ++x) {
                const auto from_middle = [&](std::int64_t at, std::int64_t extent) {
                    return (2 * at - extent + 1) * (2 * at - extent + 1) / 4;
                };
                const bool inside =
                    from_middle(z, n[0]) + from_middle(y, n[1]) + from_middle(x, n[2]) <
                    n[2] * n[2] / 9;
                volume.push_back((inside ? 150.0F : 50.0F) + noise(random));
            }
        }
    }
    return volume;
}

/// Everything of one case, on the device.
class Case {
  public:
    Case(CudaQueue& queue, const Match& match)
        : queue_(queue), match_(match),
          layers_(match_layers(match, 0, match.volume[0])), held_{0, match.volume[0]},
          rows_(match_rows(match, layers_)),
          voxels_(match.volume[0] * match.volume[1] * match.volume[2]),
          noisy_(allocate_device(queue, 4 * voxels_)), first_(allocate_device(queue, 4 * voxels_)),
          result_(allocate_device(queue, 4 * voxels_)),
          values_(allocate_device(queue, 8 * voxels_)),
          weights_(allocate_device(queue, 8 * bm4d_weights(match, held_))),
          lists_(allocate_device(queue, (12 * match.count + 4) * rows_)),
          bm4d_(make_bm4d(match, 10, 250)) {
        const std::vector<float> scene = make_scene(match);
        const Buffer staging = allocate_staging(queue, 4 * voxels_);
        std::memcpy(staging.data(), scene.data(), static_cast<std::size_t>(4 * voxels_));
        upload(queue, noisy_.data(), staging.data(), 4 * voxels_);
        queue.synchronize();
    }

    std::int64_t rows() const { return rows_; }

    Times match(const Buffer& volume, int samples) {
        return time(queue_, samples, 1,
                    [&] { match_patches(queue_, match_, layers_, floats(volume), lists()); });
    }

    /// The work of the lists that are there.
    Times filter(const float* first, const Buffer& result, int samples) {
        const Bm4dSums sums{reinterpret_cast<std::int64_t*>(values_.data()),
                            reinterpret_cast<std::int64_t*>(weights_.data())};
        return time(queue_, samples, 1, [&] {
            clear_bm4d_sums(queue_, match_, held_, sums);
            add_bm4d_estimates(queue_, match_, layers_, bm4d_, {floats(noisy_), first}, lists(),
                               held_, sums);
            finish_bm4d(queue_, match_, bm4d_, held_, sums, floats(result));
        });
    }

    Times match_first(int samples) { return match(noisy_, samples); }
    Times filter_first(int samples) { return filter(nullptr, first_, samples); }
    Times match_second(int samples) { return match(first_, samples); }
    Times filter_second(int samples) { return filter(floats(first_), result_, samples); }

  private:
    static float* floats(const Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }
    MatchLists lists() const {
        const std::int64_t each = rows_ * match_.count;
        return {reinterpret_cast<std::uint64_t*>(lists_.data()),
                reinterpret_cast<float*>(lists_.data() + 8 * each),
                reinterpret_cast<std::int32_t*>(lists_.data() + 12 * each)};
    }

    CudaQueue& queue_;
    Match match_;
    MatchLayers layers_;
    HeldLayers held_;
    std::int64_t rows_;
    std::int64_t voxels_;
    Buffer noisy_;
    Buffer first_;
    Buffer result_;
    Buffer values_;
    Buffer weights_;
    Buffer lists_;
    Bm4d bm4d_;
};

void one_case(CudaQueue& queue, const Options& options, int patch, std::int64_t step, int count) {
    Match match;
    match.volume = {options.extent, options.extent, options.extent};
    match.patch = {patch, patch, patch};
    match.window = {11, 11, 11};
    match.count = count;
    match.step = step;
    Case one(queue, match);
    const Times match_first = one.match_first(options.samples);
    const Times first = one.filter_first(options.samples);
    const Times match_second = one.match_second(options.samples);
    const Times second = one.filter_second(options.samples);
    const double matching = match_first.median() + match_second.median();
    const double all = matching + first.median() + second.median();
    std::printf("bm4d %ld^3 patch %d step %ld count %d, %ld groups: match %.2f + %.2f ms, hard "
                "%.2f ms (%.3f x its match), wiener %.2f ms (%.3f x), all %.2f ms, %.3f x the "
                "matching, %.3f Gvoxel/s; spread %.1f%%\n",
                static_cast<long>(options.extent), patch, static_cast<long>(step), count,
                static_cast<long>(one.rows()), 1e3 * match_first.median(),
                1e3 * match_second.median(), 1e3 * first.median(),
                first.median() / match_first.median(), 1e3 * second.median(),
                second.median() / match_second.median(), 1e3 * all, all / matching,
                1e-9 * static_cast<double>(options.extent * options.extent * options.extent) / all,
                100 * second.spread());
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
    for (const int count : {8, 16, 32}) {
        one_case(queue, options, 4, 3, count);
    }
    one_case(queue, options, 4, 2, 16);
    one_case(queue, options, 5, 3, 16);
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
