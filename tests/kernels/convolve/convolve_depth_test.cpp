// SPDX-License-Identifier: BSD-3-Clause
// Convolution along a third axis, on every queue.
#include "kernels/convolve/convolve.hpp"

#include "tests/reference/convolve_reference.hpp"
#include "tests/support/convolve_cases.hpp"
#include "tests/support/convolve_targets.hpp"
#include "tests/support/queues.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace runner {
namespace {

ElementType any_type(ConvolveCases& cases) {
    return all_element_types[static_cast<std::size_t>(cases.number(0, 9))];
}

Boundary any_boundary(ConvolveCases& cases) {
    return all_boundaries[static_cast<std::size_t>(cases.number(0, 4))];
}

std::int64_t samples_of_frame(const Convolution& c) { return c.layers * c.frame_rows * c.columns; }

template <class Q> class ConvolveDepthTest : public QueueTest<Q> {
  protected:
    void expect_reference(const Convolution& c, std::int64_t frames, ConvolveCases& cases) {
        const std::vector<std::byte> image = cases.image(c.in_type, frames * samples_of_frame(c));
        const RowBlock block = whole_image(c, frames);
        EXPECT_EQ("", first_difference(c.out_type, convolve_reference(c, image),
                                       convolve_on(this->queue(), c, block, image)))
            << describe(c, block);
    }
};

TYPED_TEST_SUITE(ConvolveDepthTest, TestQueues);

/// One element a layer, no taps but those of the depth.
Convolution column_of(std::int64_t layers, std::vector<double> depth_taps) {
    Convolution c;
    c.in_type = c.out_type = ElementType::float64;
    c.layers = layers;
    c.frame_rows = c.columns = 1;
    c.row_taps = c.column_taps = {1};
    c.depth_taps = std::move(depth_taps);
    c.fill = 9;
    return c;
}

TYPED_TEST(ConvolveDepthTest, ByHandForEachBoundary) {
    // The five layers around a place are the digits of the result.
    const std::vector<std::pair<Boundary, std::vector<double>>> expected = {
        {Boundary::constant, {99123, 91234, 12349, 23499}},
        {Boundary::nearest, {11123, 11234, 12344, 23444}},
        {Boundary::reflect, {21123, 11234, 12344, 23443}},
        {Boundary::mirror, {32123, 21234, 12343, 23432}},
        {Boundary::wrap, {34123, 41234, 12341, 23412}},
    };
    for (const auto& [boundary, digits] : expected) {
        Convolution c = column_of(4, {1, 10, 100, 1000, 10000});
        c.boundary = boundary;
        const std::vector<double> image = {1, 2, 3, 4};
        EXPECT_EQ(digits, values_of<double>(
                              convolve_on(this->queue(), c, whole_image(c, 1), bytes_of(image))));
    }
}

TYPED_TEST(ConvolveDepthTest, ThePassesFollowOneAnotherAndEachIsRounded) {
    // 17 · 0.1F · 3 · 3, where each product is rounded.
    Convolution c = column_of(1, {3});
    c.in_type = ElementType::uint8;
    c.row_taps = {0.1};
    c.column_taps = {3};
    const float rows = 17 * 0.1F;
    const float columns = 3 * rows;
    const float expected = 3 * columns;
    EXPECT_EQ(std::vector<double>{double{expected}},
              values_of<double>(convolve_on(this->queue(), c, whole_image(c, 1),
                                            bytes_of(std::vector<std::uint8_t>{17}))));
    EXPECT_NE(expected, 3 * static_cast<float>(51 * double{0.1F})); // the rows not rounded
    EXPECT_NE(expected, static_cast<float>(9 * double{rows}));      // the columns not rounded
    // Beyond the volume stands the fill value, not what the other passes make of it.
    c = column_of(1, {1, 10, 100});
    c.row_taps = {1, 1, 1};
    c.boundary = Boundary::constant;
    c.fill = 5;
    EXPECT_EQ(std::vector<double>{635},
              values_of<double>(convolve_on(this->queue(), c, whole_image(c, 1),
                                            bytes_of(std::vector<double>{3}))));
}

TYPED_TEST(ConvolveDepthTest, SumsAreFused) {
    const double s = 0x1p-27;
    Convolution c = column_of(3, {0, 1 + s, -1});
    const std::vector<double> image = {1 + 2 * s, 1 + s, 0};
    EXPECT_EQ(s * s, values_of<double>(
                         convolve_on(this->queue(), c, whole_image(c, 1), bytes_of(image)))[1]);
}

TYPED_TEST(ConvolveDepthTest, SpecialValuesMeetTapsAsInTheReference) {
    ConvolveCases cases(60);
    Convolution c = cases.volume(
        cases.convolution(ElementType::float32, ElementType::float32, 5, 37, 1, 1, Boundary::wrap),
        9, 2);
    c.depth_taps[1] = 0; // zero times infinity
    std::vector<float> image = values_of<float>(cases.image(c.in_type, samples_of_frame(c)));
    for (std::size_t i = 0; i < image.size(); i += 31) {
        image[i] = i % 2 == 0 ? HUGE_VALF : i % 3 == 0 ? std::nanf("") : -0.0F;
    }
    for (const ElementType out : all_element_types) {
        c.out_type = out;
        EXPECT_EQ(
            "", first_difference(out, convolve_reference(c, bytes_of(image)),
                                 convolve_on(this->queue(), c, whole_image(c, 1), bytes_of(image))))
            << describe(c, whole_image(c, 1));
    }
}

TYPED_TEST(ConvolveDepthTest, EveryPairOfTypes) {
    ConvolveCases cases(61);
    for (const ElementType in : all_element_types) {
        for (const ElementType out : all_element_types) {
            const std::int64_t radius = cases.number(0, 3);
            this->expect_reference(
                cases.volume(cases.convolution(in, out, cases.number(1, 12), cases.number(1, 90),
                                               radius, radius, any_boundary(cases)),
                             cases.number(1, 20), cases.number(0, 5)),
                cases.number(1, 3), cases);
        }
    }
}

TYPED_TEST(ConvolveDepthTest, EveryRadius) {
    ConvolveCases cases(62);
    for (std::int64_t radius = 0; radius <= Convolution::fused_radius; ++radius) {
        const ElementType type = radius % 2 == 0 ? ElementType::float32 : ElementType::float64;
        this->expect_reference(
            cases.volume(cases.convolution(type, type, 3, 41, 1, 0,
                                           all_boundaries[static_cast<std::size_t>(radius) % 5]),
                         cases.number(1, radius % 3 == 0 ? 8 : 60), radius),
            1, cases);
    }
}

TYPED_TEST(ConvolveDepthTest, WideRadii) {
    ConvolveCases cases(65);
    for (const Boundary boundary : all_boundaries) {
        for (const ElementType out : {ElementType::float32, ElementType::int16}) {
            this->expect_reference(
                cases.volume(cases.convolution(ElementType::float32, out, 3, 41, 1, 150, boundary),
                             cases.number(1, 300), 260),
                cases.number(1, 2), cases);
        }
    }
}

TYPED_TEST(ConvolveDepthTest, PrimeAndSingleExtents) {
    ConvolveCases cases(63);
    for (const std::int64_t layers : {1, 2, 31, 67}) {
        for (const std::int64_t rows : {1, 13}) {
            for (const std::int64_t columns : {1, 17, 257}) {
                this->expect_reference(
                    cases.volume(cases.convolution(any_type(cases), any_type(cases), rows, columns,
                                                   cases.number(0, 20), cases.number(0, 20),
                                                   any_boundary(cases)),
                                 layers, cases.number(0, 40)),
                    1, cases);
            }
        }
    }
}

// More samples in a layer than a tile has, and an output past the caches.
TYPED_TEST(ConvolveDepthTest, LargeLayers) {
    ConvolveCases cases(64);
    this->expect_reference(
        cases.volume(cases.convolution(ElementType::float32, ElementType::float32, 201, 331, 1, 1,
                                       Boundary::mirror),
                     37, 2),
        1, cases);
    this->expect_reference(cases.volume(cases.convolution(ElementType::uint16, ElementType::uint8,
                                                          64, 64, 0, 2, Boundary::constant),
                                        70, 3),
                           1, cases);
}

/// The layers that a block of output layers [begin, end) is given: all within the frame, and around
/// its ends what a wrapped volume has there.
RowBlock block_with_halo(const Convolution& c, std::int64_t begin, std::int64_t end) {
    std::int64_t first = begin - c.depth_radius();
    std::int64_t past = end + c.depth_radius();
    if (c.boundary != Boundary::wrap) {
        first = std::max<std::int64_t>(first, 0);
        past = std::min(past, c.layers);
    }
    const std::int64_t rows = c.frame_rows;
    return {1, first * rows, (past - first) * rows, begin * rows, (end - begin) * rows};
}

TYPED_TEST(ConvolveDepthTest, AnyCutIntoBlocksGivesTheSameBytes) {
    ConvolveCases cases(65);
    for (int i = 0; i < 40; ++i) {
        const Convolution c =
            cases.volume(cases.convolution(any_type(cases), any_type(cases), cases.number(1, 9),
                                           cases.number(1, 50), 2, 1,
                                           all_boundaries[static_cast<std::size_t>(i) % 5]),
                         cases.number(1, 40), cases.number(0, i % 3 == 0 ? 50 : 6));
        const std::vector<std::byte> image = cases.image(c.in_type, samples_of_frame(c));
        const std::int64_t layer_bytes = c.frame_rows * c.columns * size_of(c.in_type);
        std::vector<std::byte> joined;
        for (std::int64_t begin = 0, end = 0; begin < c.layers; begin = end) {
            end = std::min(c.layers, begin + cases.number(1, c.layers));
            const RowBlock block = block_with_halo(c, begin, end);
            std::vector<std::byte> held;
            for (std::int64_t row = block.in_first; row < block.in_first + block.in_rows;
                 row += c.frame_rows) {
                const std::int64_t layer = map_index(row / c.frame_rows, c.layers, c.boundary);
                const auto from = image.begin() + layer * layer_bytes;
                held.insert(held.end(), from, from + layer_bytes);
            }
            const auto part = convolve_on(this->queue(), c, block, held);
            joined.insert(joined.end(), part.begin(), part.end());
        }
        ASSERT_EQ("", first_difference(c.out_type, convolve_reference(c, image), joined))
            << describe(c, whole_image(c, 1));
    }
}

TYPED_TEST(ConvolveDepthTest, ALayerHeldUnderItsOwnNumberIsTakenFromThere) {
    // With `wrap`, layers −1 and 2 are held: 5 and 7, and not what a frame of these would have.
    Convolution c = column_of(2, {1, 10, 100});
    c.boundary = Boundary::wrap;
    EXPECT_EQ((std::vector<double>{512, 127}),
              values_of<double>(convolve_on(this->queue(), c, {1, -1, 4, 0, 2},
                                            bytes_of(std::vector<double>{5, 1, 2, 7}))));
}

TYPED_TEST(ConvolveDepthTest, ChannelsAreFilteredEachOnItsOwn) {
    ConvolveCases cases(66);
    for (const ElementType in : {ElementType::uint8, ElementType::int16, ElementType::float64}) {
        const Convolution grey = cases.volume(
            cases.convolution(in, ElementType::float64, 7, 11, 2, 2, Boundary::reflect), 5, 2);
        Convolution colour = grey;
        colour.columns *= 3;
        colour.channels = 3;
        const auto pixels = cases.image(in, samples_of_frame(colour));
        const auto made =
            values_of<double>(convolve_on(this->queue(), colour, whole_image(colour, 1), pixels));
        const auto size = static_cast<std::size_t>(size_of(in));
        for (std::size_t channel = 0; channel < 3; ++channel) {
            std::vector<std::byte> plane;
            std::vector<double> of_plane;
            for (std::size_t i = channel; i < made.size(); i += 3) {
                const auto at = pixels.begin() + static_cast<std::ptrdiff_t>(i * size);
                plane.insert(plane.end(), at, at + static_cast<std::ptrdiff_t>(size));
                of_plane.push_back(made[i]);
            }
            EXPECT_EQ(values_of<double>(convolve_reference(grey, plane)), of_plane)
                << name_of(in) << ", channel " << channel;
        }
    }
}

TYPED_TEST(ConvolveDepthTest, WhatIsCountedIsWhatTheBlockSays) {
    ConvolveCases cases(67);
    const Convolution c = cases.volume(
        cases.convolution(ElementType::uint8, ElementType::uint8, 20, 30, 2, 3, Boundary::nearest),
        12, 2);
    const RowBlock block = block_with_halo(c, 3, 8);
    const auto in = cases.image(c.in_type, block.in_rows * c.columns);
    const double before = this->queue().meter()->done();
    convolve_on(this->queue(), c, block, in);
    this->queue().synchronize();
    this->queue().settle();
    // Multiplications and additions: 9 layers with 5 + 7 taps, 5 with 5.
    const double expected = 2.0 * 20 * 30 * (9 * 12 + 5 * 5);
    EXPECT_EQ(convolve_operations(c, block), expected);
    EXPECT_NEAR(this->queue().meter()->done() - before, expected, 1e-6 * expected);
    Convolution images = c;
    images.depth_taps.clear();
    images.layers = 1;
    EXPECT_EQ(convolve_operations(images, {1, 0, 20, 0, 20}), 0);
}

TEST(ConvolveDepthTargets, EveryVectorSetGivesTheBytesOfTheReference) {
    ConvolveCases cases(68);
    for (const ElementType in : all_element_types) {
        for (const ElementType out : {in, any_type(cases)}) {
            const Convolution c =
                cases.volume(cases.convolution(in, out, 5, 211, 1, 2, any_boundary(cases)), 41, 3);
            const std::vector<std::byte> image = cases.image(in, samples_of_frame(c));
            expect_on_every_target(c, image);
        }
    }
}

TEST(ConvolveDepthScratch, IsEnoughForEveryBlockWithNoMoreRows) {
    ConvolveCases cases(69);
    Convolution c = cases.volume(
        cases.convolution(ElementType::int16, ElementType::int8, 10, 12, 2, 1, Boundary::wrap), 5,
        4);
    for (const Backend backend : {Backend::cpu, Backend::cuda}) {
        for (const int channels : {1, 3}) {
            c.channels = channels;
            // A block of one frame with a long halo, and two whole frames.
            EXPECT_GE(convolve_scratch_bytes(backend, c, {1, -40, 120, 0, 40}),
                      convolve_scratch_bytes(backend, c, {2, 0, 50, 0, 50}));
        }
    }
}

} // namespace
} // namespace runner
