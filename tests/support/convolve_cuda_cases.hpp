// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/convolve/boundary.hpp"
#include "kernels/convolve/convolve.hpp"
#include "kernels/convolve/convolve_cuda_scratch.hpp"
#include "kernels/queue/cuda_queue.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace runner {

using Random = std::mt19937_64;

inline std::int64_t draw(Random& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

template <class T> T draw_element(Random& random, bool special) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(draw(random, 0, std::numeric_limits<T>::max()));
    } else {
        if (special && draw(random, 0, 99) == 0) {
            const T values[] = {std::numeric_limits<T>::infinity(),
                                -std::numeric_limits<T>::infinity(),
                                std::numeric_limits<T>::quiet_NaN(),
                                std::numeric_limits<T>::denorm_min() * T(12345),
                                -T(0),
                                std::numeric_limits<T>::max()};
            return values[draw(random, 0, 5)];
        }
        return static_cast<T>(std::normal_distribution<double>(100, 80)(random));
    }
}

template <class T> T one_output(const std::vector<T>& taps, auto&& x) {
    const std::size_t last = taps.size() - 1;
    T sum = taps[last] * x(0);
    for (std::size_t j = 1; j <= last; ++j) {
        sum = std::fma(taps[last - j], x(static_cast<std::int64_t>(j)), sum);
    }
    return sum;
}

template <class T> std::vector<T> rounded(const std::vector<double>& taps) {
    return {taps.begin(), taps.end()};
}

/// The whole frame's result in the compute type.
template <class T, class In> std::vector<T> reference(const Convolution& c, const In* image) {
    const auto rows = c.frame_rows;
    const auto columns = c.columns;
    const auto row_taps = rounded<T>(c.row_taps);
    const auto column_taps = rounded<T>(c.column_taps);
    const T fill = static_cast<T>(c.fill);
    std::vector<T> sums(static_cast<std::size_t>(rows * columns));
    std::vector<T> result(sums.size());
    const auto at = [&](std::int64_t r, std::int64_t k) {
        return static_cast<std::size_t>(r * columns + k);
    };
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t k = 0; k < columns; ++k) {
            sums[at(r, k)] = one_output(row_taps, [&](std::int64_t j) {
                const auto from = map_index(k - c.row_radius() + j, columns, c.boundary);
                return from < 0 ? fill : static_cast<T>(image[at(r, from)]);
            });
        }
    }
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t k = 0; k < columns; ++k) {
            result[at(r, k)] = one_output(column_taps, [&](std::int64_t j) {
                const auto from = map_index(r - c.column_radius() + j, rows, c.boundary);
                return from < 0 ? fill : sums[at(from, k)];
            });
        }
    }
    return result;
}

template <class Out, class T> Out converted(T value) {
    if constexpr (std::is_integral_v<Out>) {
        if (std::isnan(value)) {
            return 0;
        }
        const T top = static_cast<T>(std::numeric_limits<Out>::max());
        return static_cast<Out>(std::nearbyint(std::clamp(value, T(0), top)));
    } else {
        return static_cast<Out>(value);
    }
}

template <class Out> bool same(Out a, Out b) {
    if constexpr (std::is_floating_point_v<Out>) {
        if (std::isnan(a) || std::isnan(b)) {
            return std::isnan(a) && std::isnan(b);
        }
    }
    using Bytes = std::array<std::byte, sizeof(Out)>;
    return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}

inline std::string description(const Convolution& c, const RowBlock& b) {
    return std::string(name_of(c.in_type)) + " to " + std::string(name_of(c.out_type)) +
           ", frame " + std::to_string(c.frame_rows) + " x " + std::to_string(c.columns) +
           ", radii " + std::to_string(c.row_radius()) + " and " +
           std::to_string(c.column_radius()) + ", boundary " +
           std::to_string(static_cast<int>(c.boundary)) + ", frames " + std::to_string(b.frames) +
           ", in " + std::to_string(b.in_first) + " + " + std::to_string(b.in_rows) + ", out " +
           std::to_string(b.out_first) + " + " + std::to_string(b.out_rows);
}

inline std::vector<double> random_taps(Random& random, std::int64_t radius) {
    std::vector<double> taps(static_cast<std::size_t>(2 * radius + 1));
    for (double& tap : taps) {
        tap = std::uniform_real_distribution<double>(-1, 2)(random) /
              static_cast<double>(2 * radius + 1);
    }
    return taps;
}

class ConvolveCuda : public testing::Test {
  protected:
    void SetUp() override {
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
            ASSERT_EQ(std::getenv("RUNNER_REQUIRE_GPU"), nullptr) << "no GPU";
            GTEST_SKIP() << "no GPU";
        }
    }

    /// Convolves random frames on the GPU, a block as given, and compares every element. The bytes
    /// around the output must stay as they were.
    template <class T, class In, class Out>
    void compare(Random& random, Convolution c, const RowBlock& block, std::int64_t shift,
                 bool special) {
        c.in_type = element_type_of<In>();
        c.out_type = element_type_of<Out>();
        const std::int64_t frame = c.frame_rows * c.columns;
        std::vector<In> image(static_cast<std::size_t>(block.frames * frame));
        for (In& element : image) {
            element = draw_element<In>(random, special);
        }
        if (background_) {
            set_background(image, c.columns);
        }
        for (int i = 0; i < infinities_; ++i) {
            const auto at = draw(random, 0, static_cast<std::int64_t>(image.size()) - 1);
            image[static_cast<std::size_t>(at)] = std::numeric_limits<In>::infinity();
        }
        std::vector<In> held;
        for (std::int64_t f = 0; f < block.frames; ++f) {
            for (std::int64_t r = 0; r < block.in_rows; ++r) {
                std::int64_t from = map_index(block.in_first + r, c.frame_rows, c.boundary);
                ASSERT_GE(from, 0);
                const auto begin = image.begin() + f * frame + from * c.columns;
                held.insert(held.end(), begin, begin + c.columns);
            }
        }
        CudaQueue queue(0);
        const auto in_bytes = static_cast<std::int64_t>(held.size() * sizeof(In));
        const std::int64_t out_elements = block.frames * block.out_rows * c.columns;
        const auto out_bytes = static_cast<std::int64_t>(sizeof(Out)) * out_elements;
        const auto in_shift = shift * static_cast<std::int64_t>(sizeof(In));
        // With a shift of 0 both are aligned; otherwise not by the same number of elements.
        const auto out_shift =
            (shift == 0 ? 16 : shift + 3) * static_cast<std::int64_t>(sizeof(Out));
        Buffer in = allocate_device(queue, in_bytes + in_shift);
        Buffer out = allocate_device(queue, out_bytes + 2 * out_shift);
        Buffer scratch = allocate_device(queue, convolve_cuda_scratch_bytes(c, block));
        std::vector<std::byte> result(static_cast<std::size_t>(out.size()), std::byte{0x7b});
        ASSERT_EQ(cudaMemcpy(in.data() + in_shift, held.data(), held.size() * sizeof(In),
                             cudaMemcpyHostToDevice),
                  cudaSuccess);
        ASSERT_EQ(cudaMemcpy(out.data(), result.data(), result.size(), cudaMemcpyHostToDevice),
                  cudaSuccess);
        // A copy from pageable memory may return before it has reached the device, and the queue's
        // stream does not wait for the default one.
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        convolve(queue, c, block, in.data() + in_shift, out.data() + out_shift, scratch.data());
        queue.synchronize();
        ASSERT_EQ(cudaMemcpy(result.data(), out.data(), result.size(), cudaMemcpyDeviceToHost),
                  cudaSuccess);

        const auto* outputs = reinterpret_cast<const Out*>(result.data() + out_shift);
        std::int64_t differing = 0;
        for (std::int64_t f = 0; f < block.frames; ++f) {
            const std::vector<T> expected = reference<T>(c, image.data() + f * frame);
            for (std::int64_t i = 0; i < block.out_rows * c.columns; ++i) {
                const Out want = converted<Out>(
                    expected[static_cast<std::size_t>(block.out_first * c.columns + i)]);
                const Out got = outputs[f * block.out_rows * c.columns + i];
                if (!same(want, got) && differing++ == 0) {
                    ADD_FAILURE() << description(c, block) << ": frame " << f << " row "
                                  << i / c.columns << " column " << i % c.columns << " is " << +got
                                  << " instead of " << +want;
                }
            }
        }
        EXPECT_EQ(differing, 0) << description(c, block) << " of " << out_elements;
        for (std::int64_t i = 0; i < out_shift; ++i) {
            ASSERT_EQ(result[static_cast<std::size_t>(i)], std::byte{0x7b})
                << description(c, block);
            ASSERT_EQ(result[static_cast<std::size_t>(out_shift + out_bytes + i)], std::byte{0x7b})
                << description(c, block);
        }
    }

    /// All but a third of the image, in squares.
    template <class In> void set_background(std::vector<In>& image, std::int64_t columns) const {
        for (std::size_t i = 0; i < image.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            if ((at / columns / 20 + at % columns / 20) % 3 != 0) {
                image[i] = static_cast<In>(*background_);
            }
        }
    }

    template <class T, class In>
    void compare_to_any(Random& random, const Convolution& c, const RowBlock& block, int out_type,
                        std::int64_t shift, bool special) {
        switch (out_type) {
        case 0: return compare<T, In, std::uint8_t>(random, c, block, shift, special);
        case 1: return compare<T, In, std::uint16_t>(random, c, block, shift, special);
        case 2: return compare<T, In, float>(random, c, block, shift, special);
        default: return compare<T, In, double>(random, c, block, shift, special);
        }
    }

    void compare_any(Random& random, const Convolution& c, const RowBlock& block, int in_type,
                     int out_type, std::int64_t shift, bool special) {
        switch (in_type) {
        case 0:
            return compare_to_any<float, std::uint8_t>(random, c, block, out_type, shift, false);
        case 1:
            return compare_to_any<float, std::uint16_t>(random, c, block, out_type, shift, false);
        case 2: return compare_to_any<float, float>(random, c, block, out_type, shift, special);
        default: return compare_to_any<double, double>(random, c, block, out_type, shift, special);
        }
    }

    /// Radii that are equal on both axes and that are not, of one integer type.
    void integers_for_every_radius(unsigned seed, int type);

    std::optional<double> background_; ///< what most of an image is, in squares
    int infinities_ = 0;               ///< in all frames together
};

inline RowBlock whole(const Convolution& c, std::int64_t frames) {
    return {frames, 0, c.frame_rows, 0, c.frame_rows};
}

/// A random block of outputs and an input that holds what it needs: the frame's own rows, or for
/// boundaries other than `constant` sometimes extended rows under their own numbers.
inline RowBlock random_block(Random& random, const Convolution& c) {
    RowBlock block;
    block.out_first = draw(random, 0, c.frame_rows - 1);
    block.out_rows = draw(random, 1, c.frame_rows - block.out_first);
    const std::int64_t first = block.out_first - c.column_radius();
    const std::int64_t end = block.out_first + block.out_rows + c.column_radius();
    if (first >= 0 && end <= c.frame_rows) {
        block.in_first = draw(random, 0, first);
        block.in_rows = draw(random, end, c.frame_rows) - block.in_first;
    } else if (c.boundary != Boundary::constant && draw(random, 0, 1) == 1) {
        block.in_first = first;
        block.in_rows = end - first;
    } else {
        block.in_first = 0;
        block.in_rows = c.frame_rows;
    }
    return block;
}

inline Convolution random_convolution(Random& random, std::int64_t rows, std::int64_t columns,
                                      std::int64_t row_radius, std::int64_t column_radius) {
    Convolution c;
    c.frame_rows = rows;
    c.columns = columns;
    c.row_taps = random_taps(random, row_radius);
    c.column_taps = random_taps(random, column_radius);
    c.boundary = static_cast<Boundary>(draw(random, 0, 4));
    c.fill = std::normal_distribution<double>(0, 100)(random);
    return c;
}

inline void ConvolveCuda::integers_for_every_radius(unsigned seed, int type) {
    Random random(seed);
    for (std::int64_t radius = 0; radius <= Convolution::fused_radius; ++radius) {
        for (const bool equal : {true, false}) {
            const std::int64_t columns = draw(random, 1, 300) * (radius % 2 == 0 ? 16 : 1);
            auto c = random_convolution(random, draw(random, 1, 90), columns, radius,
                                        equal ? radius : draw(random, 0, radius));
            if (draw(random, 0, 1) == 1) {
                std::swap(c.row_taps, c.column_taps);
            }
            if (draw(random, 0, 1) == 1) {
                c.fill = static_cast<double>(draw(random, 0, 255));
            }
            compare_any(random, c, random_block(random, c), type, type,
                        radius % 3 == 0 ? 0 : draw(random, 0, 17), false);
        }
    }
}

} // namespace runner
