// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/bin/bin.hpp"

#include "tests/reference/bin_reference.hpp"
#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"
#include "tests/support/vector_sets.hpp"

#include <bit>
#include <cstdint>
#include <numeric>
#include <ostream>

namespace runner {
namespace {

/// Rows [first, first + rows) of each frame's, as a call gets them.
template <class In, class Out, class Q>
std::vector<Out> binned(Q& queue, const Bin& b, const RowBlock& block, const std::vector<In>& in) {
    const std::int64_t lines = b.factors[0] > 1
                                   ? b.blocks(block.out_rows / b.rows, b.factors[0]) * b.out_rows()
                                   : b.blocks(block.out_rows, b.factors[1]);
    const std::int64_t elements = block.frames * lines * b.out_columns() * b.channels;
    return values_of<Out>(made_on(queue, bytes_of(in),
                                  static_cast<std::size_t>(elements) * sizeof(Out),
                                  [&](const std::byte* from, std::byte* to) {
                                      bin(queue, b, block, from, to);
                                      queue.synchronize();
                                  }));
}

template <class In, class Out, class Q>
std::vector<Out> whole(Q& queue, Bin b, std::int64_t frames, const std::vector<In>& in) {
    b.in_type = element_type_of<In>();
    b.out_type = element_type_of<Out>();
    const std::int64_t rows = b.layers * b.rows;
    return binned<In, Out>(queue, b, {frames, 0, rows, 0, rows}, in);
}

template <class Q> class BinTest : public QueueTest<Q> {};
TYPED_TEST_SUITE(BinTest, TestQueues);

TYPED_TEST(BinTest, ByHand) {
    Bin b;
    b.rows = 3;
    b.columns = 5;
    b.factors = {1, 2, 2};
    const std::vector<std::uint8_t> image = {1,  2,  3,  4,  5,  //
                                             6,  7,  8,  9,  10, //
                                             11, 12, 13, 14, 15};
    // (1 + 2 + 6 + 7) / 4 = 4, (3 + 4 + 8 + 9) / 4 = 6
    EXPECT_EQ((std::vector<std::uint8_t>{4, 6}),
              (whole<std::uint8_t, std::uint8_t>(this->queue(), b, 1, image)));
    b.edge = BinEdge::partial;
    EXPECT_EQ((std::vector<float>{4, 6, 7.5F, 11.5F, 13.5F, 15}),
              (whole<std::uint8_t, float>(this->queue(), b, 1, image)));
    // Halves go to even.
    EXPECT_EQ((std::vector<std::int16_t>{4, 6, 8, 12, 14, 15}),
              (whole<std::uint8_t, std::int16_t>(this->queue(), b, 1, image)));
    b.value = Bin::Value::sum;
    EXPECT_EQ((std::vector<double>{16, 24, 15, 23, 27, 15}),
              (whole<std::uint8_t, double>(this->queue(), b, 1, image)));
    EXPECT_EQ((std::vector<std::int8_t>{16, 24, 15, 23, 27, 15}),
              (whole<std::uint8_t, std::int8_t>(this->queue(), b, 1, image)));
}

TYPED_TEST(BinTest, LayersByHand) {
    Bin b;
    b.layers = 3;
    b.rows = 2;
    b.columns = 2;
    b.factors = {2, 1, 2};
    std::vector<std::int32_t> volume(12);
    std::iota(volume.begin(), volume.end(), 0);
    // Layers 0 and 1: rows 0 1 / 4 5 and 2 3 / 6 7.
    EXPECT_EQ((std::vector<double>{2.5, 4.5}),
              (whole<std::int32_t, double>(this->queue(), b, 1, volume)));
    b.edge = BinEdge::partial;
    b.value = Bin::Value::sum;
    EXPECT_EQ((std::vector<double>{10, 18, 17, 21}),
              (whole<std::int32_t, double>(this->queue(), b, 1, volume)));
}

TYPED_TEST(BinTest, TheSumIsInOrder) {
    Bin b;
    b.rows = 2;
    b.columns = 2;
    b.factors = {1, 2, 2};
    b.value = Bin::Value::sum;
    // ((1 + 2⁵³) + 1) + −2⁵³ is 0 in this order and 2 or 1 in others.
    EXPECT_EQ((std::vector<double>{0}),
              (whole<double, double>(this->queue(), b, 1, {1, 0x1p53, 1, -0x1p53})));
}

TYPED_TEST(BinTest, ChannelsStayApart) {
    Bin b;
    b.rows = 1;
    b.columns = 3;
    b.channels = 3;
    b.factors = {1, 1, 2};
    b.edge = BinEdge::partial;
    EXPECT_EQ((std::vector<std::uint8_t>{2, 20, 101, 9, 8, 7}),
              (whole<std::uint8_t, std::uint8_t>(this->queue(), b, 1,
                                                 {1, 10, 100, 3, 30, 102, 9, 8, 7})));
}

TYPED_TEST(BinTest, AllTypesAsTheReference) {
    std::mt19937_64 random(1);
    for (const ElementType in_type : all_element_types) {
        visit_element_type(in_type, [&](auto in_zero) {
            using In = decltype(in_zero);
            for (const ElementType out_type : all_element_types) {
                visit_element_type(out_type, [&](auto out_zero) {
                    using Out = decltype(out_zero);
                    Bin b;
                    b.layers = 1 + static_cast<std::int64_t>(random() % 5);
                    b.rows = 1 + static_cast<std::int64_t>(random() % 9);
                    b.columns = 16 * (1 + static_cast<std::int64_t>(random() % 9));
                    b.columns += random() % 2 == 0 ? static_cast<std::int64_t>(random() % 16) : 0;
                    b.factors = {b.layers > 1 ? 2 : 1, 1 + static_cast<std::int64_t>(random() % 3),
                                 1 + static_cast<std::int64_t>(random() % 5)};
                    b.channels = random() % 4 == 0 ? 3 : 1;
                    b.value = random() % 2 == 0 ? Bin::Value::mean : Bin::Value::sum;
                    b.edge = random() % 2 == 0 ? BinEdge::drop : BinEdge::partial;
                    b.layers = b.factors[0] == 1 ? 1 : b.layers;
                    const auto count =
                        static_cast<std::size_t>(2 * b.layers * b.rows * b.columns * b.channels);
                    const std::vector<In> in = any_elements<In>(count, random);
                    EXPECT_EQ("", first_difference(bin_reference<In, Out>(b, 2, in),
                                                   whole<In, Out>(this->queue(), b, 2, in)))
                        << name_of(in_type) << " to " << name_of(out_type) << ", " << b.layers
                        << " x " << b.rows << " x " << b.columns << " by " << b.factors[0] << " "
                        << b.factors[1] << " " << b.factors[2];
                });
            }
        });
    }
}

/// Means of integers as integers of their type: a GPU divides them without float64 where it may.
template <class T, class Q> void expect_integer_means(Q& queue, std::mt19937_64& random) {
    for (const std::array<std::int64_t, 3> factors : {std::array<std::int64_t, 3>{1, 2, 2},
                                                      {1, 3, 3},
                                                      {2, 2, 2},
                                                      {1, 4, 4},
                                                      {1, 1, 2},
                                                      {1, 6, 1},
                                                      {3, 5, 3},
                                                      {9, 7, 4},
                                                      {1, 100, 4}}) {
        Bin b;
        b.layers = factors[0] > 1 ? 2 * factors[0] + 1 : 1;
        b.rows = 3 * factors[1] + 1;
        b.columns = 48 * (1 + static_cast<std::int64_t>(random() % 4));
        b.factors = factors;
        b.edge = random() % 2 == 0 ? BinEdge::drop : BinEdge::partial;
        std::vector<T> in(static_cast<std::size_t>(b.layers * b.rows * b.columns));
        for (T& element : in) { // also of extremes alone, and of halves
            const auto kind = random() % 4;
            element = kind == 0   ? std::numeric_limits<T>::max()
                      : kind == 1 ? std::numeric_limits<T>::min()
                                  : static_cast<T>(random() % (kind == 2 ? 3 : 65536));
        }
        EXPECT_EQ("", first_difference(bin_reference<T, T>(b, 1, in), whole<T, T>(queue, b, 1, in)))
            << name_of(element_type_of<T>()) << " by " << factors[0] << " " << factors[1] << " "
            << factors[2];
        const std::vector<T> same(in.size(), std::numeric_limits<T>::max());
        EXPECT_EQ(
            "", first_difference(bin_reference<T, T>(b, 1, same), whole<T, T>(queue, b, 1, same)));
    }
}

TYPED_TEST(BinTest, MeansOfIntegers) {
    std::mt19937_64 random(4);
    for (int i = 0; i < 4; ++i) {
        expect_integer_means<std::int8_t>(this->queue(), random);
        expect_integer_means<std::uint8_t>(this->queue(), random);
        expect_integer_means<std::int16_t>(this->queue(), random);
        expect_integer_means<std::uint16_t>(this->queue(), random);
        expect_integer_means<std::int32_t>(this->queue(), random);
    }
}

/// Sums from the least to the greatest numbers, and zeros.
TYPED_TEST(BinTest, MeansOfFloatsOfEverySize) {
    std::mt19937_64 random(5);
    for (const std::int64_t factor : {1, 2, 3, 4}) {
        Bin b;
        b.rows = 21;
        b.columns = 960;
        b.factors = {1, 3, factor};
        std::vector<double> in(static_cast<std::size_t>(b.rows * b.columns));
        for (double& element : in) {
            element = std::bit_cast<double>(random());
        }
        std::fill_n(in.begin(), 4 * b.columns, 0.0);
        EXPECT_EQ("", first_difference(bin_reference<double, double>(b, 1, in),
                                       whole<double, double>(this->queue(), b, 1, in)));
        std::uniform_real_distribution<double> near(1, 2);
        for (double& element : in) {
            element = near(random);
        }
        EXPECT_EQ("", first_difference(bin_reference<double, double>(b, 1, in),
                                       whole<double, double>(this->queue(), b, 1, in)));
    }
}

TYPED_TEST(BinTest, LongRowsAndBlocksOfAFrame) {
    std::mt19937_64 random(2);
    for (const std::int64_t factor : {1, 2, 3, 4, 7, 3000}) {
        Bin b;
        b.rows = 11;
        b.columns = 5003;
        b.factors = {1, 2, factor};
        b.edge = BinEdge::partial;
        const std::vector<float> in =
            any_elements<float>(static_cast<std::size_t>(b.rows * b.columns), random);
        const std::vector<float> expected = bin_reference<float, float>(b, 1, in);
        EXPECT_EQ("", first_difference(expected, (whole<float, float>(this->queue(), b, 1, in))));
        // Rows 4 to 10 alone.
        const std::vector<float> part(in.begin() + 4 * b.columns, in.end());
        const std::vector<float> rest(expected.begin() + 2 * b.out_columns(), expected.end());
        EXPECT_EQ("", first_difference(
                          rest, (binned<float, float>(this->queue(), b, {1, 4, 7, 4, 7}, part))));
    }
}

TEST(BinTargets, EveryVectorSetGivesTheBytesOfTheReference) {
    CpuQueue queue(2);
    std::mt19937_64 random(3);
    for (const std::int64_t factor : {1, 2, 3, 4, 5}) {
        Bin b;
        b.rows = 5;
        b.columns = 211;
        b.factors = {1, 2, factor};
        const std::vector<std::int16_t> in =
            any_elements<std::int16_t>(static_cast<std::size_t>(b.rows * b.columns), random);
        const std::vector<double> expected = bin_reference<std::int16_t, double>(b, 1, in);
        for (const std::int64_t target : usable_targets()) {
            const OnlyTarget only(target);
            EXPECT_EQ("",
                      first_difference(expected, (whole<std::int16_t, double>(queue, b, 1, in))))
                << hwy::TargetName(target);
        }
    }
}

} // namespace
} // namespace runner
