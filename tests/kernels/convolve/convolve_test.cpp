// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve.hpp"

#include "tests/reference/convolve_reference.hpp"
#include "tests/support/convolve_cases.hpp"
#include "tests/support/queues.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace runner {
namespace {

template <class Q> class ConvolveTest : public QueueTest<Q> {
  protected:
    void expect_reference(const Convolution& c, std::int64_t frames,
                          const std::vector<std::byte>& image) {
        const RowBlock block = whole_image(c, frames);
        EXPECT_EQ("", first_difference(c.out_type, convolve_reference(c, image),
                                       convolve_on(this->queue(), c, block, image)))
            << describe(c, block);
    }

    void expect_reference(const Convolution& c, std::int64_t frames, ConvolveCases& cases) {
        expect_reference(c, frames, cases.image(c.in_type, frames * c.frame_rows * c.columns));
    }

    /// The whole image from In to Out on the queue.
    template <class In, class Out>
    std::vector<Out> whole(Convolution c, std::int64_t rows, std::int64_t columns,
                           const std::vector<In>& image) {
        c.in_type = element_type_of<In>();
        c.out_type = element_type_of<Out>();
        c.frame_rows = rows;
        c.columns = columns;
        return values_of<Out>(convolve_on(this->queue(), c, whole_image(c, 1), bytes_of(image)));
    }
};

TYPED_TEST_SUITE(ConvolveTest, TestQueues);

/// Taps that write the five values around a place as the digits of the result.
const std::vector<double> digit_taps = {1, 10, 100, 1000, 10000};

struct Digits {
    Boundary boundary;
    std::vector<double> one;  ///< of the image [7]
    std::vector<double> two;  ///< of [1, 2]
    std::vector<double> four; ///< of [1, 2, 3, 4]
};
const std::vector<Digits> all_digits = {
    {Boundary::constant, {99799}, {99129, 91299}, {99123, 91234, 12349, 23499}},
    {Boundary::nearest, {77777}, {11122, 11222}, {11123, 11234, 12344, 23444}},
    {Boundary::reflect, {77777}, {21122, 11221}, {21123, 11234, 12344, 23443}},
    {Boundary::mirror, {77777}, {12121, 21212}, {32123, 21234, 12343, 23432}},
    {Boundary::wrap, {77777}, {12121, 21212}, {34123, 41234, 12341, 23412}},
};

TYPED_TEST(ConvolveTest, RowPassByHandForEachBoundary) {
    for (const Digits& digits : all_digits) {
        Convolution c;
        c.row_taps = digit_taps;
        c.column_taps = {1};
        c.boundary = digits.boundary;
        c.fill = 9;
        const std::vector<double> one = {7};
        const std::vector<double> two = {1, 2};
        const std::vector<double> four = {1, 2, 3, 4};
        EXPECT_EQ(digits.one, (this->template whole<double, double>(c, 1, 1, one)));
        EXPECT_EQ(digits.two, (this->template whole<double, double>(c, 1, 2, two)));
        EXPECT_EQ(digits.four, (this->template whole<double, double>(c, 1, 4, four)));
    }
}

TYPED_TEST(ConvolveTest, ColumnPassByHandForEachBoundary) {
    for (const Digits& digits : all_digits) {
        Convolution c;
        c.row_taps = {1};
        c.column_taps = digit_taps;
        c.boundary = digits.boundary;
        c.fill = 9;
        const std::vector<double> one = {7};
        const std::vector<double> two = {1, 2};
        const std::vector<double> four = {1, 2, 3, 4};
        EXPECT_EQ(digits.one, (this->template whole<double, double>(c, 1, 1, one)));
        EXPECT_EQ(digits.two, (this->template whole<double, double>(c, 2, 1, two)));
        EXPECT_EQ(digits.four, (this->template whole<double, double>(c, 4, 1, four)));
    }
}

TYPED_TEST(ConvolveTest, BothPassesByHand) {
    Convolution c;
    c.row_taps = {1, 0, 10};   // 10 · left + right
    c.column_taps = {1, 0, 2}; // 2 · above + below
    c.boundary = Boundary::nearest;
    const std::vector<std::uint8_t> image = {1, 2, 3, //
                                             4, 5, 6, //
                                             7, 8, 9};
    // Row pass: 12 13 23 / 45 46 56 / 78 79 89.
    const std::vector<std::uint16_t> expected = {69,  72,  102, //
                                                 102, 105, 135, //
                                                 168, 171, 201};
    EXPECT_EQ(expected, (this->template whole<std::uint8_t, std::uint16_t>(c, 3, 3, image)));
}

TYPED_TEST(ConvolveTest, FillOfARowBeyondTheFrameComesAfterTheRowPass) {
    Convolution c;
    c.row_taps = {1, 1, 1};
    c.column_taps = {1, 10, 100};
    c.boundary = Boundary::constant;
    c.fill = 5;
    // The row pass makes 5 + 3 + 5 = 13; above and below it stands 5, not 15.
    const std::vector<float> image = {3};
    EXPECT_EQ(std::vector<float>{635}, (this->template whole<float, float>(c, 1, 1, image)));
}

TYPED_TEST(ConvolveTest, SumsAreFusedInBothTypesAndPasses) {
    const auto expect_fused = [&]<class T>(T small) {
        // (1 + s)² = 1 + 2s + s², and s² is lost where the product is rounded first.
        Convolution c;
        c.row_taps = {0, 1 + double{small}, -1};
        c.column_taps = {1};
        const std::vector<T> image = {1 + 2 * small, 1 + small, 0};
        EXPECT_EQ(small * small, (this->template whole<T, T>(c, 1, 3, image))[1]);
        std::swap(c.row_taps, c.column_taps);
        EXPECT_EQ(small * small, (this->template whole<T, T>(c, 3, 1, image))[1]);
    };
    expect_fused(0x1p-12F);
    expect_fused(0x1p-27);
}

TYPED_TEST(ConvolveTest, TapsAndFillAreRoundedToTheComputeType) {
    Convolution c;
    c.row_taps = {0.1};
    c.column_taps = {1, 0, 0};
    c.boundary = Boundary::constant;
    c.fill = 0.1;
    const std::vector<std::uint8_t> image = {1, 1};
    const std::vector<double> expected = {double{0.1F}, double{0.1F}};
    EXPECT_EQ(expected, (this->template whole<std::uint8_t, double>(c, 2, 1, image)));
    const std::vector<double> in_double = {1, 1};
    const std::vector<double> unrounded = {0.1, 0.1};
    EXPECT_EQ(unrounded, (this->template whole<double, double>(c, 2, 1, in_double)));
}

template <class T> std::vector<T> special_values() {
    const T inf = std::numeric_limits<T>::infinity();
    const T nan = std::numeric_limits<T>::quiet_NaN();
    return {0.5F,     1.5F,  2.5F,   -0.0F, -3,   -0.5F, 254.5F, 255,   255.5F, 300,    65534.5F,
            65535.5F, 1e10F, -1e10F, inf,   -inf, nan,   -nan,   0.25F, 3.75F,  254.25F};
}

TYPED_TEST(ConvolveTest, IntegersRoundHalfToEvenAndSaturateAndNanIsZero) {
    Convolution c;
    c.row_taps = {1};
    c.column_taps = {1};
    const std::vector<std::uint8_t> bytes = {0,   2,   2, 0,   0, 0, 254, 255, 255, 255, 255,
                                             255, 255, 0, 255, 0, 0, 0,   0,   4,   254};
    const std::vector<std::uint16_t> words = {
        0, 2, 2, 0, 0, 0, 254, 255, 256, 300, 65534, 65535, 65535, 0, 65535, 0, 0, 0, 0, 4, 254};
    const std::vector<float> single = special_values<float>();
    const std::vector<double> twice = special_values<double>();
    const auto count = static_cast<std::int64_t>(single.size());
    EXPECT_EQ(bytes, (this->template whole<float, std::uint8_t>(c, 1, count, single)));
    EXPECT_EQ(bytes, (this->template whole<double, std::uint8_t>(c, count, 1, twice)));
    EXPECT_EQ(words, (this->template whole<float, std::uint16_t>(c, count, 1, single)));
    EXPECT_EQ(words, (this->template whole<double, std::uint16_t>(c, 1, count, twice)));
}

TYPED_TEST(ConvolveTest, FloatsKeepZerosSignsDenormalsAndInfinities) {
    Convolution c;
    c.row_taps = {1};
    c.column_taps = {1};
    c.in_type = ElementType::float64;
    c.out_type = ElementType::float32;
    c.frame_rows = 1;
    const std::vector<double> image = {-0.0,         1 + 0x1p-24, 1 + 3 * 0x1p-24, 1e300,
                                       -1e300,       0x1p-140,    0x1p-149,        0x1p-150,
                                       3 * 0x1p-151, std::nan("")};
    c.columns = static_cast<std::int64_t>(image.size());
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> expected = {-0.0F,     1, 1 + 0x1p-22F, inf, -inf, 0x1p-140F,
                                         0x1p-149F, 0, 0x1p-149F,    NAN};
    EXPECT_EQ("",
              first_difference(c.out_type, bytes_of(expected),
                               convolve_on(this->queue(), c, whole_image(c, 1), bytes_of(image))));
    const std::vector<float> tiny = {0x1p-140F, -0x1p-149F};
    c.row_taps = {0.5};
    const std::vector<float> halves = {0x1p-141F, -0.0F};
    c.in_type = ElementType::float32;
    c.columns = 2;
    EXPECT_EQ("",
              first_difference(c.out_type, bytes_of(halves),
                               convolve_on(this->queue(), c, whole_image(c, 1), bytes_of(tiny))));
}

TYPED_TEST(ConvolveTest, SpecialValuesMeetTapsAsInTheReference) {
    ConvolveCases cases(5);
    const std::vector<float> special = special_values<float>();
    for (const ElementType type : {ElementType::float32, ElementType::float64}) {
        for (const ElementType out : convolution_types) {
            Convolution c = cases.convolution(type, out, 37, 41, 2, 3, Boundary::mirror);
            c.row_taps[1] = 0;
            std::vector<std::byte> image = cases.image(type, c.frame_rows * c.columns);
            visit_element_type(type, [&](auto zero) {
                using T = decltype(zero);
                if constexpr (std::is_floating_point_v<T>) {
                    std::vector<T> values = values_of<T>(image);
                    for (std::size_t i = 0; i < values.size(); i += 23) {
                        values[i] = static_cast<T>(special[i / 23 % special.size()]);
                    }
                    for (std::size_t i = 0; i < values.size() / 3; ++i) {
                        values[i] *= std::numeric_limits<T>::min() / 50000;
                    }
                    image = bytes_of(values);
                }
            });
            this->expect_reference(c, 1, image);
        }
    }
}

TYPED_TEST(ConvolveTest, AllTypesAndBoundaries) {
    ConvolveCases cases(1);
    for (const ElementType in : convolution_types) {
        for (const ElementType out : convolution_types) {
            for (const Boundary boundary : all_boundaries) {
                this->expect_reference(cases.convolution(in, out, 67, 139, 3, 5, boundary), 1,
                                       cases);
            }
        }
    }
}

TYPED_TEST(ConvolveTest, AllRadii) {
    ConvolveCases cases(2);
    for (std::int64_t radius = 0; radius <= Convolution::fused_radius; ++radius) {
        const Boundary boundary = all_boundaries[static_cast<std::size_t>(radius) % 5];
        const ElementType type = radius % 2 == 0 ? ElementType::float32 : ElementType::float64;
        this->expect_reference(cases.convolution(type, type, 45, 83, radius, 0, boundary), 1,
                               cases);
        this->expect_reference(cases.convolution(type, type, 3, 307, 1, radius, boundary), 1,
                               cases);
    }
}

TYPED_TEST(ConvolveTest, RadiiLargerThanTheImageAndImagesOfOneRowOrColumn) {
    ConvolveCases cases(3);
    const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {
        {1, 1}, {1, 2}, {2, 1}, {1, 257}, {257, 1}, {3, 5}, {31, 2}, {2, 101}};
    for (const auto& [rows, columns] : shapes) {
        for (const Boundary boundary : all_boundaries) {
            for (const std::int64_t radius : {1, 7, 128}) {
                this->expect_reference(cases.convolution(ElementType::float64, ElementType::float64,
                                                         rows, columns, radius, 128 - radius / 2,
                                                         boundary),
                                       1, cases);
                this->expect_reference(cases.convolution(ElementType::uint16, ElementType::uint8,
                                                         rows, columns, 128 - radius, radius,
                                                         boundary),
                                       1, cases);
            }
        }
    }
}

TYPED_TEST(ConvolveTest, RandomShapesOfSeveralFrames) {
    ConvolveCases cases(4);
    for (int i = 0; i < 150; ++i) {
        const auto type = [&] {
            return convolution_types[static_cast<std::size_t>(cases.number(0, 3))];
        };
        const std::int64_t frames = cases.number(1, 4);
        const ElementType in = type();
        const ElementType out = type();
        this->expect_reference(
            cases.convolution(in, out, cases.number(1, 120), cases.number(1, 120),
                              cases.number(0, 20), cases.number(0, 20),
                              all_boundaries[static_cast<std::size_t>(cases.number(0, 4))]),
            frames, cases);
    }
}

// Large enough to be written past the caches, with rows that are aligned, are not, and in turn.
TYPED_TEST(ConvolveTest, ImagesLargerThanTheCaches) {
    ConvolveCases cases(8);
    for (const std::int64_t columns : {2176, 2177, 2180}) {
        for (const ElementType type : {ElementType::float32, ElementType::float64}) {
            this->expect_reference(
                cases.convolution(type, type, 1033, columns, 1, 2, Boundary::reflect), 1, cases);
        }
    }
}

// Larger than any tile, so that tiles of every kind meet: first, inner, last; rows kept and made
// again; the image read in place and through a line.
TYPED_TEST(ConvolveTest, ImagesOfManyTiles) {
    ConvolveCases cases(6);
    for (const Boundary boundary : all_boundaries) {
        this->expect_reference(cases.convolution(ElementType::float64, ElementType::float64, 701,
                                                 2203, 4, 3, boundary),
                               1, cases);
        this->expect_reference(
            cases.convolution(ElementType::uint16, ElementType::uint16, 601, 641, 64, 33, boundary),
            1, cases);
        this->expect_reference(cases.convolution(ElementType::float32, ElementType::float32, 419,
                                                 1601, 128, 2, boundary),
                               1, cases);
    }
}

/// The rows that a block of output rows [begin, end) is given: all that lie within the frame, and
/// around the frame's ends what a wrapped image has there.
RowBlock block_with_halo(const Convolution& c, std::int64_t begin, std::int64_t end) {
    const std::int64_t radius = c.column_radius();
    std::int64_t first = begin - radius;
    std::int64_t past = end + radius;
    if (c.boundary != Boundary::wrap) {
        first = std::max<std::int64_t>(first, 0);
        past = std::min(past, c.frame_rows);
    }
    return {1, first, past - first, begin, end - begin};
}

std::vector<std::byte> rows_for(const Convolution& c, const RowBlock& block,
                                const std::vector<std::byte>& image) {
    const auto row_bytes = static_cast<std::size_t>(c.columns * size_of(c.in_type));
    std::vector<std::byte> rows;
    for (std::int64_t i = block.in_first; i < block.in_first + block.in_rows; ++i) {
        const auto row = static_cast<std::size_t>(map_index(i, c.frame_rows, c.boundary));
        const auto from = image.begin() + static_cast<std::ptrdiff_t>(row * row_bytes);
        rows.insert(rows.end(), from, from + static_cast<std::ptrdiff_t>(row_bytes));
    }
    return rows;
}

TYPED_TEST(ConvolveTest, AnyCutIntoBlocksGivesTheSameBytes) {
    ConvolveCases cases(7);
    for (int i = 0; i < 60; ++i) {
        const Boundary boundary = all_boundaries[static_cast<std::size_t>(i) % 5];
        const bool long_radius = i % 3 == 0;
        const Convolution c = cases.convolution(
            i % 2 == 0 ? ElementType::float64 : ElementType::uint8, ElementType::float32,
            cases.number(1, long_radius ? 60 : 300), cases.number(1, 70),
            long_radius ? cases.number(30, 128) : cases.number(0, 9), 2, boundary);
        const std::vector<std::byte> image = cases.image(c.in_type, c.frame_rows * c.columns);
        const std::vector<std::byte> expected = convolve_reference(c, image);
        std::vector<std::byte> joined;
        for (std::int64_t begin = 0, end = 0; begin < c.frame_rows; begin = end) {
            end = std::min(c.frame_rows, begin + cases.number(1, c.frame_rows));
            RowBlock block = block_with_halo(c, begin, end);
            if (i % 4 == 3) {
                block.in_first = 0;
                block.in_rows = c.frame_rows;
            }
            const std::vector<std::byte> part =
                convolve_on(this->queue(), c, block, rows_for(c, block, image));
            joined.insert(joined.end(), part.begin(), part.end());
        }
        ASSERT_EQ("", first_difference(c.out_type, expected, joined))
            << describe(c, whole_image(c, 1));
    }
}

TYPED_TEST(ConvolveTest, ARowHeldUnderItsOwnNumberIsTakenFromThere) {
    // With `wrap`, rows −1 and 2 are held: 5 and 7, and not what a frame of these rows would have.
    Convolution c;
    c.in_type = c.out_type = ElementType::float32;
    c.frame_rows = 2;
    c.columns = 1;
    c.row_taps = {1};
    c.column_taps = {1, 10, 100};
    c.boundary = Boundary::wrap;
    const std::vector<float> rows = {5, 1, 2, 7};
    const std::vector<float> expected = {512, 127};
    EXPECT_EQ(expected,
              values_of<float>(convolve_on(this->queue(), c, {1, -1, 4, 0, 2}, bytes_of(rows))));
}

TYPED_TEST(ConvolveTest, NothingToDoIsDone) {
    Convolution c;
    c.frame_rows = 3;
    c.columns = 3;
    c.row_taps = c.column_taps = {1};
    EXPECT_TRUE(
        convolve_on(this->queue(), c, {1, 0, 3, 1, 0}, bytes_of(std::vector<float>(9))).empty());
}

} // namespace
} // namespace runner
