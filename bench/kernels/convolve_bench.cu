// SPDX-License-Identifier: BSD-3-Clause
// Times convolve on the GPU beside a copy of the same bytes, the multiply-add rate and baselines.
//   convolve_bench [--size N] [--columns N] [--launches N] [--no-baselines] [--radii 1,2,...]
//                  [--column-radius N] [--types f32,f64,u8,u16] [--to-float32]
#include "base/element_type.hpp"
#include "bench/kernels/baselines/convolve_two_kernel.hpp"
#include "bench/kernels/times.hpp"
#include "kernels/convolve/convolve.hpp"
#include "kernels/profile/limit_kernels.cuh"
#include "kernels/queue/cuda_queue.hpp"
#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

namespace runner {
namespace {

struct Options {
    std::int64_t size = 16384;
    std::int64_t columns = 0; ///< 0: as rows
    int column_radius = 0;    ///< 0: as that of the rows
    int launches = 25;
    bool baselines = true;
    bool to_float32 = false; ///< the output of all types
    std::vector<int> radii = {1, 2, 4, 8, 12, 16, 32, 64};
    std::vector<std::string> types = {"f32", "f64", "u8", "u16"};
};

/// Multiply-adds a second.
template <class T> double multiply_add_rate(CudaQueue& queue, std::byte* device) {
    constexpr unsigned blocks = 132 * 16;
    constexpr unsigned threads = 256;
    const Times times = time(queue, 11, 1, [&] {
        launch(queue, {dim3(blocks), dim3(threads)}, multiply_add_kernel<T>,
               reinterpret_cast<T*>(device), T(0.999), T(1));
    });
    return static_cast<double>(blocks) * threads * multiply_add_chains * multiply_add_length /
           times.median();
}

template <class T> __global__ void fill_kernel(T* data, std::int64_t count, unsigned seed) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        std::uint64_t bits = (static_cast<std::uint64_t>(i) + seed) * 0x9E3779B97F4A7C15ULL;
        bits = (bits ^ (bits >> 31)) * 0xBF58476D1CE4E5B9ULL;
        bits ^= bits >> 29;
        if constexpr (std::is_integral_v<T>) {
            data[i] = static_cast<T>(bits >> 20);
        } else {
            data[i] = static_cast<T>(static_cast<double>(bits >> 11) * 0x1p-53);
        }
    }
}

template <class T>
__global__ void difference_kernel(const T* a, const T* b, std::int64_t count,
                                  unsigned long long* differing) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        if (a[i] != b[i]) {
            atomicAdd(differing, 1ULL);
        }
    }
}

std::vector<double> gaussian(int radius) {
    std::vector<double> taps;
    double sum = 0;
    for (int k = -radius; k <= radius; ++k) {
        const double sigma = std::max(radius, 1) / 3.0;
        taps.push_back(std::exp(-k * k / (2 * sigma * sigma)) + 1e-3 * k);
        sum += taps.back();
    }
    for (double& tap : taps) {
        tap /= sum;
    }
    return taps;
}

struct Bench {
    Options options;
    CudaQueue queue{0};
    Buffer in;
    Buffer out;
    Buffer between;

    explicit Bench(Options given)
        : options(std::move(given)), in(allocate_device(queue, bytes_of(8))),
          out(allocate_device(queue, bytes_of(8))), between(allocate_device(queue, bytes_of(8))) {}

    std::int64_t bytes_of(std::int64_t element) const {
        return options.size * options.size * element;
    }

    template <class T> std::int64_t out_element() const {
        return options.to_float32 ? std::int64_t{4} : std::int64_t{sizeof(T)};
    }

    template <class T> void type(const char* name, double rate) {
        const std::int64_t count = options.size * options.size;
        launch(queue, {dim3(2048), dim3(256)}, fill_kernel<T>, reinterpret_cast<T*>(in.data()),
               count, 1U);
        // As many as a convolution reads and writes, on average.
        const std::int64_t bytes = bytes_of(sizeof(T) + out_element<T>()) / 2;
        const double memcpy_time = time(queue, options.launches, 1, [&] {
                                       copy_on_device(queue, out.data(), in.data(), bytes);
                                   }).median();
        const double kernel_time = time(queue, options.launches, 1, [&] {
                                       launch(queue, {dim3(132 * 16), dim3(512)}, copy_kernel<4>,
                                              reinterpret_cast<const uint4*>(in.data()),
                                              reinterpret_cast<uint4*>(out.data()), bytes / 16);
                                   }).median();
        const double copy = std::min(memcpy_time, kernel_time);
        std::printf("# %s copy: memcpy %.4f ms, kernel %.4f ms, %.0f GB/s\n", name,
                    1e3 * memcpy_time, 1e3 * kernel_time, 2e-9 * static_cast<double>(bytes) / copy);
        for (const int radius : options.radii) {
            row<T>(name, radius, copy, rate);
        }
    }

    template <class T> void row(const char* name, int radius, double copy, double rate) {
        Convolution c;
        c.in_type = element_type_of<T>();
        c.out_type = options.to_float32 ? ElementType::float32 : c.in_type;
        c.frame_rows = options.size;
        c.columns = options.columns > 0 ? options.columns : options.size;
        c.row_taps = gaussian(radius);
        c.column_taps = gaussian(options.column_radius > 0 ? options.column_radius : radius);
        const RowBlock block{1, 0, options.size, 0, options.size};
        const Times times = time(queue, options.launches, 1, [&] {
            convolve(queue, c, block, in.data(), out.data(), nullptr);
        });
        const auto taps = static_cast<double>(c.row_taps.size() + c.column_taps.size());
        const double limit =
            taps * static_cast<double>(c.frame_rows) * static_cast<double>(c.columns) / rate;
        const double t = times.median();
        std::printf("%-4s %4d %9.4f ms %5.1f%%  copy %5.3f  fma %5.3f  min %5.3f", name, radius,
                    1e3 * t, 100 * times.spread(), copy / t, limit / t, std::max(copy, limit) / t);
        if constexpr (!std::is_integral_v<T>) {
            // The baselines take square images and the same taps on both axes.
            if (options.baselines && c.columns == c.frame_rows && c.row_taps == c.column_taps) {
                baselines<T>(c, t);
            }
        }
        std::printf("\n");
        std::fflush(stdout);
    }

    template <class T> void baselines(Convolution c, double t) {
        const RowBlock block{1, 0, options.size, 0, options.size};
        const auto* from = reinterpret_cast<const T*>(in.data());
        auto* middle = reinterpret_cast<T*>(between.data());
        auto* to = reinterpret_cast<T*>(out.data());
        const double two = time(queue, 5, 1, [&] {
                               convolve_two_kernel<T>(queue, options.size, options.size, c.row_taps,
                                                      from, middle, to);
                           }).median();
        c.boundary = Boundary::constant;
        convolve(queue, c, block, in.data(), between.data(), nullptr);
        Buffer counter = allocate_device(queue, 8);
        cuda_call([&] { return cudaMemsetAsync(counter.data(), 0, 8, queue.stream()); });
        launch(queue, {dim3(2048), dim3(256)}, difference_kernel<T>, static_cast<const T*>(to),
               static_cast<const T*>(middle), options.size * options.size,
               reinterpret_cast<unsigned long long*>(counter.data()));
        unsigned long long differing = 0;
        cuda_call([&] {
            return cudaMemcpyAsync(&differing, counter.data(), 8, cudaMemcpyDeviceToHost,
                                   queue.stream());
        });
        queue.synchronize();
        const double naive =
            time(queue, 3, 1, [&] {
                convolve_naive<T>(queue, options.size, options.size, c.row_taps, from, middle, to);
            }).median();
        std::printf("  two-kernel %.2fx naive %.2fx, differing %llu", two / t, naive / t,
                    differing);
    }

    void run() {
        const double f32 = multiply_add_rate<float>(queue, out.data());
        const double f64 = multiply_add_rate<double>(queue, out.data());
        std::printf("# %lld x %lld, %d launches; multiply-adds: f32 %.2f T/s, f64 %.2f T/s\n",
                    static_cast<long long>(options.size), static_cast<long long>(options.size),
                    options.launches, 1e-12 * f32, 1e-12 * f64);
        std::printf("# type radius median spread(10-90%%) | shares of: copy, multiply-add limit, "
                    "the slower of both | baselines' times over ours\n");
        for (const std::string& name : options.types) {
            if (name == "f32") {
                type<float>("f32", f32);
            } else if (name == "f64") {
                type<double>("f64", f64);
            } else if (name == "u8") {
                type<std::uint8_t>("u8", f32);
            } else if (name == "u16") {
                type<std::uint16_t>("u16", f32);
            }
        }
    }
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
        const std::string& key = arguments[i];
        if (key == "--to-float32") {
            options.to_float32 = true;
            continue;
        }
        if (key == "--no-baselines") {
            options.baselines = false;
            continue;
        }
        const std::string& value = arguments.at(++i);
        if (key == "--size") {
            options.size = std::stoll(value);
        } else if (key == "--columns") {
            options.columns = std::stoll(value);
        } else if (key == "--column-radius") {
            options.column_radius = std::stoi(value);
        } else if (key == "--launches") {
            options.launches = std::stoi(value);
        } else if (key == "--types") {
            options.types = split(value);
        } else if (key == "--radii") {
            options.radii.clear();
            for (const std::string& part : split(value)) {
                options.radii.push_back(std::stoi(part));
            }
        } else {
            throw std::invalid_argument("unknown option " + key);
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
