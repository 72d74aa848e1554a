// SPDX-License-Identifier: BSD-3-Clause
// Every element type in and out, and radii beyond those of fused kernels, on every queue.
#include "kernels/convolve/convolve.hpp"

#include "kernels/convolve/convolve_tile.hpp"
#include "tests/reference/convolve_reference.hpp"
#include "tests/support/convolve_cases.hpp"
#include "tests/support/convolve_targets.hpp"
#include "tests/support/queues.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

namespace runner {
namespace {

template <class Q> class ConvolveTypesTest : public QueueTest<Q> {
  protected:
    void expect_reference(const Convolution& c, std::int64_t frames, ConvolveCases& cases) {
        const std::vector<std::byte> image =
            cases.image(c.in_type, frames * c.frame_rows * c.columns);
        const RowBlock block = whole_image(c, frames);
        EXPECT_EQ("", first_difference(c.out_type, convolve_reference(c, image),
                                       convolve_on(this->queue(), c, block, image)))
            << describe(c, block);
    }

    /// One row of In becomes one of Out by taps of one element.
    template <class Out, class In> std::vector<Out> times(double tap, const std::vector<In>& row) {
        Convolution c;
        c.in_type = element_type_of<In>();
        c.out_type = element_type_of<Out>();
        c.frame_rows = 1;
        c.columns = static_cast<std::int64_t>(row.size());
        c.row_taps = {tap};
        c.column_taps = {1};
        return values_of<Out>(convolve_on(this->queue(), c, whole_image(c, 1), bytes_of(row)));
    }
};

TYPED_TEST_SUITE(ConvolveTypesTest, TestQueues);

TYPED_TEST(ConvolveTypesTest, EveryPairIsTheReference) {
    ConvolveCases cases(51);
    for (const ElementType in : all_element_types) {
        for (const ElementType out : all_element_types) {
            const Boundary boundary = all_boundaries[static_cast<std::size_t>(cases.number(0, 4))];
            this->expect_reference(cases.convolution(in, out, cases.number(1, 40),
                                                     cases.number(1, 300), 3, 3, boundary),
                                   cases.number(1, 3), cases);
        }
    }
}

TYPED_TEST(ConvolveTypesTest, AnyRadiiAndShapes) {
    ConvolveCases cases(52);
    const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {{1, 1}, {1, 211}, {199, 1},
                                                                       {2, 3}, {31, 37}, {7, 2300}};
    for (const Boundary boundary : all_boundaries) {
        for (const auto& [rows, columns] : shapes) {
            for (const ElementType in : {ElementType::int8, ElementType::int16, ElementType::int32,
                                         ElementType::uint32, ElementType::uint64}) {
                const ElementType out =
                    all_element_types[static_cast<std::size_t>(cases.number(0, 9))];
                this->expect_reference(cases.convolution(in, out, rows, columns,
                                                         cases.number(0, 128), cases.number(0, 40),
                                                         boundary),
                                       1, cases);
            }
        }
    }
}

TYPED_TEST(ConvolveTypesTest, WideRadii) {
    ConvolveCases cases(22);
    for (const std::int64_t radius : {129, 200, 700, Convolution::max_radius}) {
        for (const Boundary boundary : all_boundaries) {
            const bool is_large = radius > 700;
            this->expect_reference(cases.convolution(ElementType::uint16, ElementType::float32, 7,
                                                     is_large ? 67 : 1301, radius, 2, boundary),
                                   1, cases);
            this->expect_reference(cases.convolution(ElementType::float64, ElementType::int32,
                                                     is_large ? 61 : 1301, 5, 1, radius, boundary),
                                   1, cases);
        }
    }
}

TYPED_TEST(ConvolveTypesTest, IntegersOf32BitsAndMoreAreComputedInFloat64) {
    // 16777217 has no float32; 2^53 + 1 no float64, and is rounded to even.
    EXPECT_EQ(
        (std::vector<std::int32_t>{16777217, -16777217}),
        (this->template times<std::int32_t>(1, std::vector<std::int32_t>{16777217, -16777217})));
    EXPECT_EQ((std::vector<double>{4294967295.0, 1}),
              (this->template times<double>(1, std::vector<std::uint32_t>{4294967295U, 1})));
    const std::int64_t big = (std::int64_t{1} << 53) + 1;
    EXPECT_EQ(
        (std::vector<std::int64_t>{big - 1, -big + 1, big + 3}),
        (this->template times<std::int64_t>(1, std::vector<std::int64_t>{big, -big, big + 2})));
    // Short integers are computed in float32: 0.1 is rounded to it.
    EXPECT_EQ((std::vector<double>{double{-0.1F}}),
              (this->template times<double>(0.1, std::vector<std::int8_t>{-1})));
    EXPECT_EQ((std::vector<double>{-0.1}),
              (this->template times<double>(0.1, std::vector<std::int32_t>{-1})));
}

TYPED_TEST(ConvolveTypesTest, IntegersRoundHalfToEvenAndSaturate) {
    EXPECT_EQ((std::vector<std::int8_t>{-128, -128, -2, -2, 0, 2, 2, 127, 127}),
              (this->template times<std::int8_t>(
                  0.5, std::vector<std::int16_t>{-300, -256, -5, -3, 1, 3, 5, 254, 255})));
    EXPECT_EQ((std::vector<std::int16_t>{-32768, 32767, 0, 32766, -32768}),
              (this->template times<std::int16_t>(
                  1, std::vector<float>{-1e10F, 1e10F, std::nanf(""), 32766.5F, -32767.5F})));
    using Limits = std::numeric_limits<std::int64_t>;
    // The largest float64 below 2^63 is 2^63 - 1024.
    EXPECT_EQ((std::vector<std::int64_t>{Limits::max(), Limits::max() - 1023, Limits::min(),
                                         Limits::min(), Limits::max(), 0}),
              (this->template times<std::int64_t>(1, std::vector<double>{0x1p63, 0x1p63 - 1024,
                                                                         -0x1p63, -0x1p64, HUGE_VAL,
                                                                         std::nan("")})));
    EXPECT_EQ((std::vector<std::uint64_t>{~std::uint64_t{0}, ~std::uint64_t{0} - 2047, 0, 0}),
              (this->template times<std::uint64_t>(
                  1, std::vector<double>{0x1p64, 0x1p64 - 2048, -0.75, -HUGE_VAL})));
    EXPECT_EQ(
        (std::vector<std::uint32_t>{0, 4294967295U, 4294967040U}),
        (this->template times<std::uint32_t>(1, std::vector<float>{-1, 0x1p32F, 4294967040.0F})));
    EXPECT_EQ((std::vector<std::int64_t>{Limits::max(), Limits::min()}),
              (this->template times<std::int64_t>(
                  2, std::vector<std::int64_t>{Limits::max(), Limits::min()})));
}

TYPED_TEST(ConvolveTypesTest, ChannelsOfAnyType) {
    ConvolveCases cases(53);
    for (const ElementType in : {ElementType::int16, ElementType::uint32, ElementType::float32}) {
        Convolution grey =
            cases.convolution(in, ElementType::int32, 19, 23, 2, 3, Boundary::reflect);
        Convolution colour = grey;
        colour.columns *= 3;
        colour.channels = 3;
        const auto pixels = cases.image(in, colour.frame_rows * colour.columns);
        const auto made = values_of<std::int32_t>(
            convolve_on(this->queue(), colour, whole_image(colour, 1), pixels));
        const auto size = static_cast<std::size_t>(size_of(in));
        for (std::size_t channel = 0; channel < 3; ++channel) {
            std::vector<std::byte> plane;
            std::vector<std::int32_t> of_plane;
            for (std::size_t i = channel; i < made.size(); i += 3) {
                const auto at = pixels.begin() + static_cast<std::ptrdiff_t>(i * size);
                plane.insert(plane.end(), at, at + static_cast<std::ptrdiff_t>(size));
                of_plane.push_back(made[i]);
            }
            EXPECT_EQ(values_of<std::int32_t>(convolve_reference(grey, plane)), of_plane)
                << name_of(in) << ", channel " << channel;
        }
    }
}

TEST(ConvolveTypesScratch, IsEnoughForEveryBlockWithNoMoreRows) {
    ConvolveCases cases(55);
    Convolution c =
        cases.convolution(ElementType::int16, ElementType::int8, 10, 12, 9, 1, Boundary::wrap);
    for (const int channels : {1, 3}) {
        c.channels = channels;
        // A block of one frame with a long halo, and two whole frames.
        EXPECT_GE(convolve_scratch_bytes(Backend::cuda, c, {1, -9, 27, 0, 9}),
                  convolve_scratch_bytes(Backend::cuda, c, {2, 0, 10, 0, 10}));
    }
}

/// What the space of a thread holds, by its own places; its lists at their longest.
std::int64_t held_bytes(const ConvolveCall& call) {
    CpuQueue queue(1);
    ConvolveSpace space(call, queue);
    const std::int64_t size = size_of(call.compute_type);
    const std::int64_t line = (space.pitch() + 2 * call.row_reach()) * size;
    const std::size_t lists =
        space.held().capacity() + space.rows().capacity() + space.beyond().capacity();
    return space.line() - space.ring() + line + static_cast<std::int64_t>(8 * lists);
}

TEST(ConvolveThreads, TheMemoryOfAThreadIsKnownBeforeItIsTaken) {
    for (const ElementType type : {ElementType::uint8, ElementType::float64}) {
        using Case = std::array<int, 3>;
        for (const auto& [columns, row_radius, column_radius] :
             {Case{1, 129, 0}, Case{5000, 4096, 4096}, Case{300, 0, 4096}, Case{90000, 4096, 1}}) {
            Convolution c;
            c.in_type = c.out_type = type;
            c.frame_rows = 10000;
            c.columns = columns;
            c.row_taps.assign(2 * static_cast<std::size_t>(row_radius) + 1, 1.0);
            c.column_taps.assign(2 * static_cast<std::size_t>(column_radius) + 1, 1.0);
            const RowBlock block = whole_image(c, 1);
            const std::int64_t held = held_bytes(make_convolve_call(c, block, nullptr, nullptr));
            const std::int64_t taps = std::ssize(c.row_taps) + std::ssize(c.column_taps);
            const std::int64_t known = convolve_thread_bytes(c, block);
            EXPECT_GE(known, held + taps * size_of(c.compute_type())) << columns;
            if (column_radius > 1) {
                EXPECT_LE(known, held + taps * size_of(c.compute_type()) + 128) << columns;
            }
            for (const std::int64_t rows : {1, 2, 3, 31, 500}) { // of a smaller block
                const RowBlock smaller{1, 0, rows, 0, rows};
                EXPECT_LE(held_bytes(make_convolve_call(c, smaller, nullptr, nullptr)), known);
            }
        }
    }
    Convolution small;
    small.frame_rows = small.columns = 1000;
    small.row_taps = small.column_taps = std::vector<double>(257, 1.0);
    EXPECT_EQ(convolve_thread_bytes(small, whole_image(small, 1)), 0);
    EXPECT_LE(held_bytes(make_convolve_call(small, whole_image(small, 1), nullptr, nullptr)),
              512 << 10);
}

TEST(ConvolveTypesTargets, EveryVectorSetGivesTheBytesOfTheReference) {
    ConvolveCases cases(54);
    for (const ElementType in : all_element_types) {
        const ElementType out = all_element_types[static_cast<std::size_t>(cases.number(0, 7))];
        const Convolution c = cases.convolution(in, out, 11, 307, 2, 3, Boundary::mirror);
        const std::vector<std::byte> image = cases.image(in, c.frame_rows * c.columns);
        expect_on_every_target(c, image);
    }
}

} // namespace
} // namespace runner
