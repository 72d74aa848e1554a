// SPDX-License-Identifier: BSD-3-Clause
// Times transpose on the GPU beside the best copy of the same bytes and the published ladder.
//   transpose_bench [--only GROUP,...] [--match TEXT,...] [--samples N] [--no-ladder] [--tune]
// Groups: even, odd, small, narrow, matrix, host. --tune times every kernel that can do a case;
// --match leaves out cases whose "u8 257x16384x255" has none of the texts.
#include "bench/kernels/baselines/transpose_ladder.hpp"
#include "bench/kernels/baselines/transpose_sequential.hpp"
#include "bench/kernels/times.hpp"
#include "kernels/profile/limit_kernels.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/transpose/transpose_choice.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace runner {
namespace {

using Shape = std::array<std::int64_t, 3>;

constexpr std::array<std::array<int, 3>, 6> permutations = {
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

struct Options {
    std::vector<std::string> groups = {"even", "odd", "small", "narrow", "matrix", "host"};
    std::vector<std::string> matches = {""};
    int samples = 11;
    bool ladder = true;
    bool tune = false;
};

__global__ void fill_kernel(std::uint64_t* words, std::int64_t count) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        std::uint64_t bits = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15ULL;
        bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        words[i] = bits ^ (bits >> 27U);
    }
}

/// Counts the bytes in which `out` is not the transposition of `in`.
__global__ void check_kernel(const std::uint8_t* in, const std::uint8_t* out, Transposition t,
                             unsigned long long* wrong) {
    const std::int64_t e = t.element_bytes;
    std::int64_t extent[3];
    std::int64_t stride[3];
    for (int j = 0; j < 3; ++j) {
        extent[j] = t.shape[t.permutation[j]];
        stride[j] = t.in_strides[t.permutation[j]];
    }
    const std::int64_t count = extent[0] * extent[1] * extent[2];
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += step) {
        const std::int64_t from = i % extent[2] * stride[2] +
                                  i / extent[2] % extent[1] * stride[1] +
                                  i / extent[2] / extent[1] * stride[0];
        for (std::int64_t b = 0; b < e; ++b) {
            if (in[from * e + b] != out[i * e + b]) {
                atomicAdd(wrong, 1ULL);
            }
        }
    }
}

std::string type_text(int element_bytes) {
    switch (element_bytes) {
    case 1: return "u8";
    case 2: return "u16";
    case 4: return "f32";
    case 8: return "f64";
    default: return "c128";
    }
}

std::string shape_text(const Shape& s) {
    return std::to_string(s[0]) + "x" + std::to_string(s[1]) + "x" + std::to_string(s[2]);
}

class Bench {
  public:
    explicit Bench(Options options)
        : options_(std::move(options)), in_(allocate_device(queue_, most_bytes)),
          out_(allocate_device(queue_, most_bytes)), count_(allocate_device(queue_, 8)) {
        launch(queue_, {dim3(2048), dim3(256)}, fill_kernel,
               reinterpret_cast<std::uint64_t*>(in_.data()), most_bytes / 8);
    }

    void run() {
        std::printf("# case TYPE SHAPE PERMUTATION: median ms of a call, GB/s read and written, "
                    "share of the best copy of as many bytes, spread (10-90 %%), kernel\n");
        for (const std::string& group : options_.groups) {
            std::printf("# %s\n", group.c_str());
            run_group(group);
        }
    }

  private:
    static constexpr std::int64_t most_bytes = 1400000000;

    /// In a sample; one where a profiler records each.
    int calls() const { return options_.samples == 1 ? 1 : 3; }

    bool matches(const std::string& text) const {
        return std::any_of(
            options_.matches.begin(), options_.matches.end(),
            [&](const std::string& part) { return text.find(part) != std::string::npos; });
    }

    void run_group(const std::string& group) {
        if (group == "even") {
            cases(4, {{512, 1024, 512}, {640, 608, 704}}, options_.ladder);
            cases(8, {{512, 512, 512}, {480, 544, 512}}, options_.ladder);
        } else if (group == "odd") {
            cases(4, {{1021, 1023, 257}, {1023, 257, 129}, {129, 1023, 2049}}, false);
            cases(8, {{509, 1023, 257}, {1023, 257, 129}, {129, 1023, 1025}}, false);
        } else if (group == "small") {
            small(4, {3, 5, 8, 12}, 1 << 28);
            small(8, {3, 5, 8, 12}, 1 << 27);
        } else if (group == "narrow") {
            cases(2, {{640, 928, 896}, {1021, 1023, 513}, {257, 8192, 255}}, false);
            cases(1, {{896, 1152, 1024}, {1021, 1023, 1025}, {257, 16384, 255}}, false);
            cases(16, {{256, 512, 512}, {257, 511, 513}}, false);
            small(2, {3, 8}, 1 << 29);
            small(1, {3, 8}, 1 << 30);
        } else if (group == "matrix") {
            matrices();
        } else if (group == "host") {
            host();
        } else {
            throw std::invalid_argument("unknown group " + group);
        }
    }

    /// One extent at a time is small, the others alike; with multiples of 32 and without.
    void small(int element_bytes, const std::vector<std::int64_t>& extents, std::int64_t elements) {
        for (const std::int64_t extent : extents) {
            std::int64_t side = 1;
            while (side * side * extent < elements) {
                side *= 2;
            }
            const std::int64_t other = elements / extent / side / 32 * 32;
            const std::int64_t odd = extent == 5 ? 1 : 0;
            for (std::size_t place = 0; place < 3; ++place) {
                Shape shape{};
                shape[place] = extent;
                shape[(place + 1) % 3] = side - odd;
                shape[(place + 2) % 3] = other - odd;
                cases(element_bytes, {shape}, false);
            }
        }
    }

    double best_copy(std::int64_t bytes) {
        const auto found = std::find_if(copies_.begin(), copies_.end(),
                                        [&](const auto& copy) { return copy.first == bytes; });
        if (found != copies_.end()) {
            return found->second;
        }
        const auto* from = reinterpret_cast<const uint4*>(in_.data());
        auto* to = reinterpret_cast<uint4*>(out_.data());
        const auto by = [&](auto kernel, unsigned blocks, unsigned threads) {
            return time(queue_, options_.samples, calls(),
                        [&] {
                            launch(queue_, {dim3(blocks), dim3(threads)}, kernel, from, to,
                                   bytes / 16);
                        })
                .median();
        };
        const auto whole = [&](int at_once) {
            return static_cast<unsigned>((bytes / 16 + 256 * at_once - 1) / (256 * at_once));
        };
        const double times[] = {
            time(queue_, options_.samples, calls(),
                 [&] { copy_on_device(queue_, out_.data(), in_.data(), bytes); })
                .median(),
            by(copy_kernel<4>, 132 * 16, 512),
            by(copy_kernel<4>, 132 * 8, 256),
            by(copy_kernel<4>, whole(4), 256),
            by(copy_kernel<2>, whole(2), 256),
            by(copy_kernel<1>, whole(1), 256)};
        const double best = *std::min_element(std::begin(times), std::end(times));
        std::printf("# copy of %lld bytes, GB/s: cudaMemcpy", static_cast<long long>(bytes));
        for (const double t : times) {
            std::printf(" %.0f", 2e-9 * static_cast<double>(bytes) / t);
        }
        std::printf(" (kernels: 4 x 16 bytes in 2112 blocks of 512, in 1056 of 256, whole grids "
                    "of 4, 2, 1 x 16 bytes)\n");
        copies_.emplace_back(bytes, best);
        return best;
    }

    unsigned long long wrong(const Transposition& t) {
        cuda_call([&] { return cudaMemsetAsync(count_.data(), 0, 8, queue_.stream()); });
        launch(queue_, {dim3(132 * 16), dim3(256)}, check_kernel,
               reinterpret_cast<const std::uint8_t*>(in_.data()),
               reinterpret_cast<const std::uint8_t*>(out_.data()), t,
               reinterpret_cast<unsigned long long*>(count_.data()));
        unsigned long long value = 0;
        cuda_call([&] {
            return cudaMemcpyAsync(&value, count_.data(), 8, cudaMemcpyDeviceToHost,
                                   queue_.stream());
        });
        queue_.synchronize();
        return value;
    }

    void poison(std::int64_t bytes) {
        cuda_call([&] {
            return cudaMemsetAsync(out_.data(), 0xA5, static_cast<std::size_t>(bytes),
                                   queue_.stream());
        });
    }

    void cases(int element_bytes, const std::vector<Shape>& shapes, bool ladder) {
        for (const Shape& shape : shapes) {
            const std::int64_t bytes = shape[0] * shape[1] * shape[2] * element_bytes;
            if (bytes > most_bytes) {
                throw std::invalid_argument("too large: " + shape_text(shape));
            }
            if (!matches(type_text(element_bytes) + " " + shape_text(shape))) {
                continue;
            }
            const double copy = best_copy(bytes);
            for (const auto& permutation : permutations) {
                const Transposition t = dense_transposition(shape, permutation, element_bytes);
                one_case(t, copy);
                if (ladder) {
                    this->ladder(t, copy);
                }
                std::printf("\n");
                if (options_.tune) {
                    tune(t, copy);
                }
                std::fflush(stdout);
            }
        }
    }

    void one_case(const Transposition& t, double copy) {
        const std::int64_t bytes = t.shape[0] * t.shape[1] * t.shape[2] * t.element_bytes;
        poison(bytes);
        const Times times = time(queue_, options_.samples, calls(),
                                 [&] { transpose(queue_, t, in_.data(), out_.data()); });
        const unsigned long long differing = wrong(t);
        const TransposeAxes axes = reduce_axes(t, in_.data(), out_.data());
        const std::string how =
            axes.count < 2 ? "copy" : choice_text(choose_transpose(axes, in_.data(), out_.data()));
        std::printf("case %-4s %-16s %d%d%d %8.4f ms %6.0f GB/s share %5.3f spread %4.1f%% [%s]",
                    type_text(t.element_bytes).c_str(), shape_text(t.shape).c_str(),
                    t.permutation[0], t.permutation[1], t.permutation[2], 1e3 * times.median(),
                    2e-9 * static_cast<double>(bytes) / times.median(), copy / times.median(),
                    100 * times.spread(), how.c_str());
        if (differing != 0) {
            std::printf(" WRONG in %llu bytes", differing);
        }
    }

    /// Shares of copy of the published kernels.
    void ladder(const Transposition& t, double copy) {
        const char* names = "ABCDEFG";
        std::printf(" ladder");
        for (int i = 0; i < 7; ++i) {
            const Times times = time(queue_, 3, 1, [&] {
                transpose_baseline(queue_, static_cast<TransposeBaseline>(i), t.shape,
                                   t.permutation, t.element_bytes, in_.data(), out_.data());
            });
            std::printf(" %c %.3f", names[i], copy / times.median());
        }
    }

    /// The fastest ways, and that of each kernel.
    void tune(const Transposition& t, double copy) {
        const TransposeAxes axes = reduce_axes(t, in_.data(), out_.data());
        if (axes.count < 2) {
            return;
        }
        std::vector<std::pair<double, std::string>> found;
        for (const TransposeChoice& choice : all_transpose_choices(axes, in_.data(), out_.data())) {
            const Times times = time(
                queue_, 3, 2, [&] { transpose_as(queue_, choice, axes, in_.data(), out_.data()); });
            found.emplace_back(copy / times.median(), choice_text(choice));
        }
        std::sort(found.rbegin(), found.rend());
        for (const auto& [share, text] : found) {
            std::printf("#   tune %.3f %s\n", share, text.c_str());
        }
    }

    void matrices() {
        for (const int element_bytes : {4, 8}) {
            const std::int64_t rows = 16384;
            const std::int64_t columns = element_bytes == 4 ? 16384 : 8192;
            const std::int64_t bytes = rows * columns * element_bytes;
            const double copy = best_copy(bytes);
            const Transposition t =
                dense_transposition({1, rows, columns}, {0, 2, 1}, element_bytes);
            one_case(t, copy);
            for (const int tile : {8, 32}) {
                const Times times = time(queue_, options_.samples, 1, [&] {
                    transpose_matrix_baseline(queue_, tile, rows, columns, element_bytes,
                                              in_.data(), out_.data());
                });
                std::printf(" tile %dx%d %.3f", tile, tile, copy / times.median());
            }
            std::printf("\n");
        }
    }

    /// Against plain loops on one core of the host.
    void host() {
        const Shape shape = {512, 1024, 512};
        const std::int64_t bytes = shape[0] * shape[1] * shape[2] * 4;
        Buffer from = allocate_staging(queue_, bytes);
        Buffer to = allocate_staging(queue_, bytes);
        download(queue_, from.data(), in_.data(), bytes);
        queue_.synchronize();
        std::fill_n(to.data(), bytes, std::byte{0});
        for (const auto& permutation : permutations) {
            const Transposition t = dense_transposition(shape, permutation, 4);
            const auto begin = std::chrono::steady_clock::now();
            transpose_sequential(t, from.data(), to.data());
            const auto end = std::chrono::steady_clock::now();
            const double host = std::chrono::duration<double>(end - begin).count();
            const double kernel =
                time(queue_, 5, 3, [&] { transpose(queue_, t, in_.data(), out_.data()); }).median();
            const double copies = time(queue_, 3, 1, [&] {
                                      upload(queue_, in_.data(), from.data(), bytes);
                                      transpose(queue_, t, in_.data(), out_.data());
                                      download(queue_, to.data(), out_.data(), bytes);
                                  }).median();
            std::printf("host f32 %s %d%d%d one core %.3f s, ours %.0f x without copies, %.1f x "
                        "with (page-locked, one after the other)\n",
                        shape_text(shape).c_str(), permutation[0], permutation[1], permutation[2],
                        host, host / kernel, host / copies);
            std::fflush(stdout);
        }
    }

    Options options_;
    CudaQueue queue_{0};
    Buffer in_;
    Buffer out_;
    Buffer count_;
    std::vector<std::pair<std::int64_t, double>> copies_;
};

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');) {
        parts.push_back(part);
    }
    return parts;
}

Options read_options(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--no-ladder") {
            options.ladder = false;
        } else if (arguments[i] == "--tune") {
            options.tune = true;
        } else if (arguments[i] == "--only") {
            options.groups = split(arguments.at(++i));
        } else if (arguments[i] == "--match") {
            options.matches = split(arguments.at(++i));
        } else if (arguments[i] == "--samples") {
            options.samples = std::stoi(arguments.at(++i));
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
