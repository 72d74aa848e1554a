// SPDX-License-Identifier: BSD-3-Clause
// Times the kinds that change values on the GPU beside a device copy of as many bytes as each reads
// and writes: value_kinds_bench [SIDE [SAMPLES [NAME]]]; of lines that begin with NAME, if given.
#include "bench/kernels/times.hpp"
#include "kernels/bin/bin.hpp"
#include "kernels/correct/correct.hpp"
#include "kernels/fourier/fourier_length.hpp"
#include "kernels/median/median.hpp"
#include "kernels/phase/phase.hpp"
#include "kernels/queue/launch.cuh"
#include "kernels/rescale/rescale.hpp"
#include "kernels/stripes/stripes.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr std::int64_t most_element_bytes = 8;

/// Numbers near 1 as float32, and any as integers.
__global__ void fill_kernel(std::uint32_t* words, std::int64_t count) {
    const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += step) {
        words[i] = 0x3F000000U | (static_cast<std::uint32_t>(i) * 2654435761U >> 8U);
    }
}

class Bench {
  public:
    Bench(std::int64_t side, int samples, std::string name)
        : side_(side), samples_(samples), name_(std::move(name)),
          in_(allocate_device(queue_, side * side * most_element_bytes)),
          out_(allocate_device(queue_, side * side * most_element_bytes)),
          count_(allocate_device(queue_, sizeof(PhaseCounts))) {
        launch(queue_, {dim3(132 * 16), dim3(256)}, fill_kernel,
               reinterpret_cast<std::uint32_t*>(in_.data()), in_.size() / 4);
    }

    void run() {
        std::printf("# %lld x %lld, %d samples; share: of a device copy of so many bytes read and "
                    "written\n",
                    static_cast<long long>(side_), static_cast<long long>(side_), samples_);
        for (const ElementType type : {ElementType::uint8, ElementType::uint16, ElementType::int32,
                                       ElementType::float32, ElementType::float64}) {
            medians(type, {1, 3, 3});
            medians(type, {3, 3, 3});
            medians(type, {1, 5, 5});
        }
        for (const ElementType type :
             {ElementType::uint8, ElementType::uint16, ElementType::float32}) {
            for (const int extent : {7, 9, 11, 13, 15}) {
                medians(type, {1, extent, extent});
            }
        }
        medians(ElementType::float32, {5, 5, 5});
        for (const ElementType type : {ElementType::uint8, ElementType::uint16,
                                       ElementType::float32, ElementType::float64}) {
            for (const std::array<std::int64_t, 3> factors :
                 {std::array<std::int64_t, 3>{1, 2, 2}, {2, 2, 2}, {1, 4, 4}, {1, 3, 3}}) {
                bins(type, factors);
            }
        }
        rescales(ElementType::uint8, ElementType::uint8);
        rescales(ElementType::uint16, ElementType::uint8);
        rescales(ElementType::uint16, ElementType::uint16);
        rescales(ElementType::uint16, ElementType::float32);
        rescales(ElementType::float32, ElementType::uint16);
        rescales(ElementType::float32, ElementType::float32);
        rescales(ElementType::float64, ElementType::float64);
        for (const bool takes_log : {false, true}) {
            corrects(ElementType::uint16, takes_log);
            corrects(ElementType::float32, takes_log);
        }
        for (const std::int64_t angles : {1500, 4001}) {
            stripes(ElementType::uint16, angles, Stripes::Method::sort);
            stripes(ElementType::float32, angles, Stripes::Method::sort);
        }
        stripes(ElementType::float32, 1500, Stripes::Method::all);
        phases(2048, 2448, false);
        phases(2048, 2448, true);
        phases(4096, 4096, false);
    }

  private:
    template <class Work> void line(const std::string& name, std::int64_t bytes, const Work& work) {
        line(name, bytes, side_ * side_, work);
    }

    template <class Work>
    void line(const std::string& name, std::int64_t bytes, std::int64_t elements,
              const Work& work) {
        if (!name.starts_with(name_)) {
            return;
        }
        const Times copies = time(queue_, samples_, 4, [&] {
            copy_on_device(queue_, out_.data(), in_.data(), bytes / 2);
        });
        const Times times = time(queue_, samples_, 4, work);
        std::printf("%-40s %9.4f ms  %7.1f Gelements/s  share %5.3f  spread %4.1f %%\n",
                    name.c_str(), 1e3 * times.median(),
                    static_cast<double>(elements) * 1e-9 / times.median(),
                    copies.median() / times.median(), 100 * times.spread());
        std::fflush(stdout);
    }

    void medians(ElementType type, std::array<int, 3> size) {
        Median m;
        m.type = type;
        m.size = size;
        m.layers = size[0] > 1 ? 64 : 1;
        m.rows = side_ / m.layers;
        m.columns = side_;
        const std::string name = "median " + std::to_string(size[0]) + "x" +
                                 std::to_string(size[1]) + "x" + std::to_string(size[2]) + " " +
                                 std::string(name_of(type));
        const auto time_it = [&](const std::string& what, const Tally& replaced) {
            line(name + what, 2 * side_ * side_ * size_of(type), [&] {
                median(queue_, m, {1, 0, side_, 0, side_}, in_.data(), out_.data(), replaced);
            });
        };
        time_it("", {});
        m.difference = 1000;
        time_it(" outliers", {});
        time_it(" outliers counted", tally());
    }

    void bins(ElementType type, std::array<std::int64_t, 3> factors) {
        Bin b;
        b.in_type = b.out_type = type;
        b.layers = factors[0] > 1 ? 64 : 1;
        b.rows = side_ / b.layers;
        b.columns = side_;
        b.factors = factors;
        const std::int64_t made = b.out_layers() * b.out_rows() * b.out_columns();
        line("bin " + std::to_string(factors[0]) + "x" + std::to_string(factors[1]) + "x" +
                 std::to_string(factors[2]) + " " + std::string(name_of(type)),
             (side_ * side_ + made) * size_of(type), [&] {
                 bin(queue_, b, {1, 0, side_, 0, side_}, in_.data(), out_.data());
             });
    }

    void rescales(ElementType from, ElementType to) {
        Rescale r;
        r.in_type = from;
        r.out_type = to;
        r.from_high = 60000;
        r.to_high = 250;
        const auto time_it = [&](const std::string& what, const Tally& clipped) {
            line("rescale " + std::string(name_of(from)) + " to " + std::string(name_of(to)) + what,
                 side_ * side_ * (size_of(from) + size_of(to)),
                 [&] { rescale(queue_, r, side_ * side_, in_.data(), out_.data(), clipped); });
        };
        time_it("", {});
        time_it(" counted", tally());
    }

    Tally tally() const { return {reinterpret_cast<std::uint64_t*>(count_.data())}; }

    /// 64 frames by images of dark and flat field, which are read once a frame too.
    void corrects(ElementType from, bool takes_log) {
        constexpr std::int64_t frames = 64;
        Correct c;
        c.in_type = from;
        c.rows = side_ / frames;
        c.columns = side_;
        c.takes_log = takes_log;
        const auto* image = reinterpret_cast<const float*>(in_.data());
        const Buffer raised = allocate_device(queue_, sizeof(std::uint64_t));
        line("correct " + std::string(name_of(from)) + (takes_log ? " and logarithm" : ""),
             side_ * side_ * (size_of(from) + std::int64_t{sizeof(float)}), [&] {
                 correct(queue_, c, {frames, 0, c.rows, 0, c.rows}, {0.1F, nullptr}, {0, image},
                         in_.data(), reinterpret_cast<float*>(out_.data()),
                         reinterpret_cast<std::uint64_t*>(raised.data()));
             });
    }

    /// As many sinograms of 2448 columns as fit.
    void stripes(ElementType type, std::int64_t angles, Stripes::Method method) {
        Stripes s;
        s.type = type;
        s.rows = angles;
        s.columns = 2448;
        s.method = method;
        s.size = 31;
        const std::int64_t frames = side_ * side_ / (s.rows * s.columns);
        const std::int64_t elements = frames * s.rows * s.columns;
        const Buffer scratch = allocate_device(queue_, stripes_scratch_bytes(s, frames));
        const std::string name = method == Stripes::Method::sort ? "sort" : "all";
        line("stripes " + name + " " + std::to_string(angles) + " " + std::string(name_of(type)),
             2 * elements * size_of(type), elements,
             [&] { remove_stripes(queue_, s, frames, in_.data(), out_.data(), scratch.data()); });
    }

    /// As many projections as fit, with a margin of 100 pixels.
    void phases(std::int64_t rows, std::int64_t columns, bool takes_log) {
        PaganinFilter p;
        p.rows = rows;
        p.columns = columns;
        p.padded_rows = next_fourier_length(rows + 200);
        p.padded_columns = next_fourier_length(columns + 200);
        p.strength = 100;
        p.takes_log = takes_log;
        const std::int64_t frames = side_ * side_ / (rows * columns);
        const std::int64_t elements = frames * rows * columns;
        const std::vector<std::byte> made = phase_tables(p);
        const Buffer tables = allocate_device(queue_, std::ssize(made));
        upload(queue_, tables.data(), made.data(), std::ssize(made));
        const Buffer scratch = allocate_device(queue_, phase_scratch_bytes(p, frames));
        const Buffer counts = allocate_device(queue_, sizeof(PhaseCounts));
        line("phase " + std::to_string(p.padded_rows) + "x" + std::to_string(p.padded_columns) +
                 (takes_log ? " and logarithm" : ""),
             elements * 2 * size_of(ElementType::float32), elements, [&] {
                 retrieve_phase(queue_, p, frames, in_.data(),
                                reinterpret_cast<float*>(out_.data()), tables.data(),
                                scratch.data(), reinterpret_cast<PhaseCounts*>(counts.data()));
             });
    }

    CudaQueue queue_{0};
    std::int64_t side_;
    int samples_;
    std::string name_; ///< of the lines that are wanted
    Buffer in_;
    Buffer out_;
    Buffer count_; ///< of what kernels count
};

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    try {
        const std::int64_t side = argc > 1 ? std::atoll(argv[1]) : 16384;
        runner::Bench(side / 64 * 64, argc > 2 ? std::atoi(argv[2]) : 11, argc > 3 ? argv[3] : "")
            .run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
