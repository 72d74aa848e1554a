// SPDX-License-Identifier: BSD-3-Clause
// Times the kernels that are variants of others, each beside what would run without it:
//   variants_bench [--samples N] [--only march,push,split]
// march: window means of 3^3 by the march, or by the tiles. push: float32 convolutions of equal
// radii 9 to 16 by an instance of the radius, or by one for radii known at run time. split:
// components that stop being the fastest axis by the split kernel, or by what is chosen without it.
// A variant stays if it gains 1.3 times. The results are compared too.
#include "bench/kernels/times.hpp"
#include "kernels/convolve/convolve_ways.hpp"
#include "kernels/denoise/window_means_work.hpp"
#include "kernels/queue/launch.cuh"
#include "kernels/transpose/transpose_choice.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace runner {
namespace {

struct Options {
    int samples = 15;
    std::vector<std::string> only = {"march", "push", "split"};
};

/// Floats of [0, 200) where `as_floats`, any bits else.
__global__ void fill_kernel(std::uint32_t* words, std::int64_t count, bool as_floats) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        std::uint64_t bits = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15ULL;
        bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        const auto word = static_cast<std::uint32_t>(bits >> 32U);
        words[i] = as_floats ? __float_as_uint(static_cast<float>(word) * 0x1p-32F * 200) : word;
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
    explicit Bench(Options options)
        : options_(std::move(options)), in_(allocate_device(queue_, most_bytes)),
          with_(allocate_device(queue_, most_bytes)), without_(allocate_device(queue_, most_bytes)),
          differing_(allocate_device(queue_, 8)), staging_(allocate_staging(queue_, 8)) {}

    void run() {
        std::printf("# variant, case: median ms with it, without it, times gained; spread "
                    "(10-90 %%) of both; words that differ\n");
        for (const std::string& name : options_.only) {
            if (name == "march") {
                march();
            } else if (name == "push") {
                push();
            } else if (name == "split") {
                split();
            } else {
                throw std::invalid_argument("unknown variant " + name);
            }
        }
    }

  private:
    static constexpr std::int64_t most_bytes = std::int64_t{1200} << 20;

    void fill(bool as_floats) {
        launch(queue_, {dim3(2048), dim3(256)}, fill_kernel,
               reinterpret_cast<std::uint32_t*>(in_.data()), most_bytes / 4, as_floats);
    }

    /// `one(out)` runs a way. The ways take turns, so that both meet the same clock.
    template <class With, class Without>
    void compare(const std::string& text, std::int64_t bytes, const With& with,
                 const Without& without) {
        const Times first = time(queue_, options_.samples, 1, [&] { with(with_.data()); });
        const Times other = time(queue_, options_.samples, 1, [&] { without(without_.data()); });
        const Times again = time(queue_, options_.samples, 1, [&] { with(with_.data()); });
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
        fill(true);
        const auto* volume = reinterpret_cast<const float*>(in_.data());
        for (const std::int64_t extent : {256, 512}) {
            for (const std::int64_t window : {5, 7, 11}) {
                Match match;
                match.volume = {extent, extent, extent};
                match.patch = {3, 3, 3};
                match.window = {window, window, window};
                const HeldLayers all{0, extent};
                const WindowWork work = make_window_work(match, {10, 0.6, 200}, all, all);
                compare(
                    "march, " + std::to_string(extent) + "^3, window " + std::to_string(window) +
                        "^3",
                    4 * extent * extent * extent,
                    [&](std::byte* out) {
                        if (!march_window_means(queue_, work, volume,
                                                reinterpret_cast<float*>(out))) {
                            throw std::logic_error("the march does not take this case");
                        }
                    },
                    [&](std::byte* out) {
                        tile_window_means(queue_, work, volume, reinterpret_cast<float*>(out));
                    });
            }
        }
    }

    void push() {
        fill(true);
        for (const std::int64_t size : {4096, 16384}) {
            for (std::int64_t radius = 9; radius <= 16; ++radius) {
                ConvolveView<float> view{};
                view.in = in_.data();
                view.columns = size;
                view.frame_rows = size;
                view.in_rows = size;
                view.out_rows = size;
                view.boundary = Boundary::reflect;
                view.aligned = true;
                view.out_aligned = true;
                const std::vector<float> taps(static_cast<std::size_t>(2 * radius + 1),
                                              1.0F / static_cast<float>(2 * radius + 1));
                const auto by = [&](PushLaunch<float> push) {
                    if (push == nullptr) {
                        throw std::logic_error("there is no kernel of this radius");
                    }
                    return [this, &view, &taps, push](std::byte* out) {
                        view.out = out;
                        push(queue_, view, 1, taps, taps);
                    };
                };
                compare("push, float32 " + std::to_string(size) + "^2, radius " +
                            std::to_string(radius),
                        4 * size * size, by(push_launch<float>(radius)),
                        by(any_push_launch<float>(radius, radius)));
            }
        }
    }

    void split() {
        fill(false);
        using Shape = std::array<std::int64_t, 3>;
        const std::vector<std::pair<int, Shape>> cases = {{1, {32768, 10912, 3}},
                                                          {2, {16384, 10912, 3}},
                                                          {2, {8192, 8192, 8}},
                                                          {4, {16384, 5440, 3}},
                                                          {4, {8191, 6527, 5}}};
        for (const auto& [bytes, shape] : cases) {
            for (const std::array<int, 3>& order : {std::array{0, 2, 1}, std::array{2, 0, 1}}) {
                split_case(dense_transposition(shape, order, bytes));
            }
        }
    }

    void split_case(const Transposition& transposition) {
        const TransposeAxes axes = reduce_axes(transposition, in_.data(), with_.data());
        const auto& shape = transposition.shape;
        const auto& order = transposition.permutation;
        std::string text = "split, " + std::to_string(transposition.element_bytes) + " bytes " +
                           std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "x" +
                           std::to_string(shape[2]) + " " + std::to_string(order[0]) +
                           std::to_string(order[1]) + std::to_string(order[2]);
        const TransposeChoice with = choose_transpose(axes, in_.data(), with_.data());
        const TransposeChoice without = choose_transpose(axes, in_.data(), without_.data(), false);
        text += " (" + choice_text(with) + " | " + choice_text(without) + ")";
        const auto by = [&](const TransposeChoice& choice) {
            return [this, &axes, &choice](std::byte* out) {
                transpose_as(queue_, choice, axes, in_.data(), out);
            };
        };
        compare(text, axes.elements() * axes.element_bytes, by(with), by(without));
    }

    Options options_;
    CudaQueue queue_{0};
    Buffer in_;
    Buffer with_;
    Buffer without_;
    Buffer differing_;
    Buffer staging_;
};

Options read_options(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--samples") {
            options.samples = std::stoi(arguments.at(++i));
        } else if (arguments[i] == "--only") {
            std::istringstream list(arguments.at(++i));
            options.only.clear();
            for (std::string name; std::getline(list, name, ',');) {
                options.only.push_back(name);
            }
        } else {
            throw std::invalid_argument("unknown option " + arguments[i]);
        }
    }
    return options;
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    try {
        runner::Bench(runner::read_options({argv + 1, argv + argc})).run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
