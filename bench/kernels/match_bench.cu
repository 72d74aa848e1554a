// SPDX-License-Identifier: BSD-3-Clause
// Times match_patches on the GPU beside the published selections, and denoising from its matches.
//   match_bench [--extent N] [--baseline-extent N] [--samples N] [--no-ladder] [--steps]
// Ratios are of seconds a reference: with step 1 the published kernels are slow, so they run on a
// smaller cube there. --steps leaves step 1 out.
#include "bench/kernels/times.hpp"
#include "kernels/denoise/denoise_nlm.hpp"
#include "kernels/queue/launch.cuh"

#include <algorithm>
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
    std::int64_t baseline_extent = 96;
    int samples = 5;
    bool ladder = true;
    bool step_one = true;
};

Match cube(std::int64_t extent, int patch, std::int64_t step, int count) {
    Match match;
    match.volume = {extent, extent, extent};
    match.patch = {patch, patch, patch};
    match.window = {11, 11, 11};
    match.count = count;
    match.step = step;
    return match;
}

/// A ball in noise, or nothing but noise, or nothing at all.
enum class Scene { ball, noise, constant };

std::vector<float> make_scene(Scene scene, std::int64_t n) {
    std::vector<float> volume(static_cast<std::size_t>(n * n * n));
    std::mt19937 random(1);
    std::normal_distribution<float> noise(0, 10);
    for (std::int64_t i = 0; i < n * n * n; ++i) {
        const std::int64_t x = i % n - n / 2;
        const std::int64_t y = i / n % n - n / 2;
        const std::int64_t z = i / n / n - n / 2;
        const float clean =
            scene == Scene::ball && x * x + y * y + z * z < n * n / 9 ? 150.0F : 50.0F;
        volume[static_cast<std::size_t>(i)] =
            scene == Scene::constant ? clean : clean + noise(random);
    }
    return volume;
}

/// Volume and lists of one case on the device.
class Case {
  public:
    Case(CudaQueue& queue, const Match& match, Scene scene)
        : queue_(queue), match_(match), layers_(match_layers(match, 0, match.volume[0])),
          rows_(match_rows(match, layers_)), each_(rows_ * match.count),
          voxels_(match.volume[0] * match.volume[1] * match.volume[2]),
          volume_(allocate_device(queue, 4 * voxels_)),
          lists_(allocate_device(queue, 12 * each_ + 4 * rows_)) {
        const std::vector<float> values = make_scene(scene, match.volume[0]);
        const Buffer staging = allocate_staging(queue, 4 * voxels_);
        std::memcpy(staging.data(), values.data(), static_cast<std::size_t>(4 * voxels_));
        upload(queue, volume_.data(), staging.data(), 4 * voxels_);
        queue.synchronize();
    }

    std::int64_t rows() const { return rows_; }

    Times match(MatchSelection selection, int samples) {
        match_.selection = selection;
        return time(queue_, samples, 1,
                    [&] { match_patches(queue_, match_, layers_, volume(), lists()); });
    }

    /// Estimates and means from the lists that are there.
    Times denoise(int samples) {
        const Buffer sums = allocate_device(queue_, 8 * voxels_);
        const Buffer out = allocate_device(queue_, 4 * voxels_);
        const HeldLayers whole{0, match_.volume[0]};
        const Nlm nlm{10, 1, nlm_fraction_bits(300)};
        auto* units = reinterpret_cast<std::int64_t*>(sums.data());
        return time(queue_, samples, 1, [&] {
            add_nlm_estimates(queue_, match_, layers_, nlm, volume(), lists(), whole, units);
            finish_nlm(queue_, match_, nlm, whole, units, reinterpret_cast<float*>(out.data()));
        });
    }

    std::vector<std::byte> fetch() {
        const std::int64_t bytes = 12 * each_ + 4 * rows_;
        const Buffer staging = allocate_staging(queue_, bytes);
        download(queue_, staging.data(), lists_.data(), bytes);
        queue_.synchronize();
        return {staging.data(), staging.data() + bytes};
    }

  private:
    const float* volume() const { return reinterpret_cast<const float*>(volume_.data()); }
    MatchLists lists() const {
        return {reinterpret_cast<std::uint64_t*>(lists_.data()),
                reinterpret_cast<float*>(lists_.data() + 8 * each_),
                reinterpret_cast<std::int32_t*>(lists_.data() + 12 * each_)};
    }

    CudaQueue& queue_;
    Match match_;
    MatchLayers layers_;
    std::int64_t rows_;
    std::int64_t each_;
    std::int64_t voxels_;
    Buffer volume_;
    Buffer lists_;
};

const char* scene_text(Scene scene) {
    return scene == Scene::ball ? "ball" : scene == Scene::noise ? "noise" : "constant";
}

void one_case(CudaQueue& queue, const Options& options, int patch, std::int64_t step, int count,
              Scene scene) {
    const Match match = cube(options.extent, patch, step, count);
    Case fast_case(queue, match, scene);
    const Times fast = fast_case.match(MatchSelection::fast, options.samples);
    const Times denoise = fast_case.denoise(options.samples);
    const auto voxels = static_cast<double>(options.extent * options.extent * options.extent);
    const double distances = 1331.0 * static_cast<double>(fast_case.rows());
    const double pairs = distances * static_cast<double>(match.patch_voxels());
    std::printf("case %ld^3 patch %d step %ld count %d %s: match %.2f ms spread %.1f%%, %.3f "
                "Gvoxel/s, %.0f Gdistance/s, %.0f Gpair-voxel/s; nlm beside it %.2f ms, together "
                "%.3f x\n",
                static_cast<long>(options.extent), patch, static_cast<long>(step), count,
                scene_text(scene), 1e3 * fast.median(), 100 * fast.spread(),
                1e-9 * voxels / fast.median(), 1e-9 * distances / fast.median(),
                1e-9 * pairs / fast.median(), 1e3 * denoise.median(),
                (fast.median() + denoise.median()) / fast.median());
    std::fflush(stdout);
    if (!options.ladder) {
        return;
    }
    const std::int64_t small_extent = step == 1 ? options.baseline_extent : options.extent;
    Case small(queue, cube(small_extent, patch, step, count), scene);
    small.match(MatchSelection::fast, 1);
    const auto right = small.fetch();
    const double fast_each = fast.median() / static_cast<double>(fast_case.rows());
    double before = 0;
    for (const auto selection : {MatchSelection::serial, MatchSelection::min_and_swap}) {
        const Times times = small.match(selection, 3);
        const double each = times.median() / static_cast<double>(small.rows());
        std::printf("  %-12s %ld^3 %.2f ms, %.1f x the time of fast a reference",
                    selection == MatchSelection::serial ? "serial" : "min_and_swap",
                    static_cast<long>(small_extent), 1e3 * times.median(), each / fast_each);
        if (before > 0) {
            std::printf(", serial is %.2f x this", before / each);
        }
        std::printf("%s\n", small.fetch() == right ? "" : " DIFFERS");
        std::fflush(stdout);
        before = each;
    }
}

Options read_options(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--no-ladder") {
            options.ladder = false;
        } else if (arguments[i] == "--steps") {
            options.step_one = false;
        } else if (arguments[i] == "--extent") {
            options.extent = std::stol(arguments.at(++i));
        } else if (arguments[i] == "--baseline-extent") {
            options.baseline_extent = std::stol(arguments.at(++i));
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
    const auto scenes = {Scene::ball, Scene::noise, Scene::constant};
    if (options.step_one) {
        for (const Scene scene : scenes) {
            one_case(queue, options, 3, 1, 16, scene);
        }
        one_case(queue, options, 3, 1, 8, Scene::ball);
        one_case(queue, options, 3, 1, 32, Scene::ball);
        one_case(queue, options, 5, 1, 16, Scene::ball);
    }
    for (const Scene scene : scenes) {
        one_case(queue, options, 4, 3, 16, scene);
    }
    one_case(queue, options, 4, 3, 32, Scene::ball);
    one_case(queue, options, 4, 3, 64, Scene::ball);
    one_case(queue, options, 4, 2, 16, Scene::ball);
    one_case(queue, options, 8, 4, 16, Scene::ball);
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
