// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/median/median.hpp"

#include "tests/reference/median_reference.hpp"
#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"
#include "tests/support/vector_sets.hpp"

#include <string>

namespace runner {
namespace {

constexpr std::array all_boundaries = {Boundary::constant, Boundary::nearest, Boundary::reflect,
                                       Boundary::mirror, Boundary::wrap};

/// A block's rows on the queue, from its input rows.
template <class T, class Q>
std::vector<T> median_on(Q& queue, Median m, const RowBlock& block, const std::vector<T>& in,
                         std::size_t offset = 0) {
    m.type = element_type_of<T>();
    const std::int64_t elements = block.frames * block.out_rows * m.columns;
    return values_of<T>(made_on(
        queue, bytes_of(in), static_cast<std::size_t>(elements) * sizeof(T),
        [&](const std::byte* from, std::byte* to) {
            median(queue, m, block, from, to);
            queue.synchronize();
        },
        offset));
}

template <class T, class Q>
std::vector<T> whole(Q& queue, const Median& m, std::int64_t frames, const std::vector<T>& in,
                     std::size_t offset = 0) {
    const std::int64_t rows = m.layers * m.rows;
    return median_on(queue, m, {frames, 0, rows, 0, rows}, in, offset);
}

Median window(std::array<int, 3> size, std::int64_t layers, std::int64_t rows,
              std::int64_t columns) {
    Median m;
    m.size = size;
    m.layers = layers;
    m.rows = rows;
    m.columns = columns;
    return m;
}

std::string describe(const Median& m) {
    return std::to_string(m.layers) + " x " + std::to_string(m.rows) + " x " +
           std::to_string(m.columns) + " by " + std::to_string(m.size[0]) + " " +
           std::to_string(m.size[1]) + " " + std::to_string(m.size[2]) + ", boundary " +
           std::to_string(static_cast<int>(m.boundary));
}

template <class Q> class MedianTest : public QueueTest<Q> {};
TYPED_TEST_SUITE(MedianTest, TestQueues);

TYPED_TEST(MedianTest, ByHand) {
    const Median m = window({1, 3, 3}, 1, 3, 4);
    const std::vector<std::uint8_t> image = {1, 2, 3, 4, //
                                             5, 0, 7, 8, //
                                             9, 6, 2, 1};
    // Reflected; the first is of 1 1 2 1 1 2 5 5 0.
    EXPECT_EQ((std::vector<std::uint8_t>{1, 2, 3, 4, 5, 3, 3, 4, 6, 6, 2, 2}),
              whole(this->queue(), m, 1, image));
}

TYPED_TEST(MedianTest, NanIsAboveAllNumbersAndZerosHaveAnOrder) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    Median m = window({1, 1, 3}, 1, 1, 6);
    m.boundary = Boundary::nearest;
    const std::vector<float> got =
        whole<float>(this->queue(), m, 1, {nan, -nan, inf, -0.0F, 0.0F, -0.0F});
    EXPECT_TRUE(std::isnan(got[0]));
    EXPECT_TRUE(std::isnan(got[1]));
    EXPECT_EQ(got[2], inf);
    EXPECT_FALSE(std::signbit(got[3]));
    EXPECT_TRUE(std::signbit(got[4]));
    EXPECT_TRUE(std::signbit(got[5]));
}

TYPED_TEST(MedianTest, ADifferenceKeepsWhatIsNear) {
    Median m = window({1, 1, 3}, 1, 1, 6);
    m.difference = 2;
    EXPECT_EQ((std::vector<std::int16_t>{5, 7, 7, 6, 9, 9}),
              whole<std::int16_t>(this->queue(), m, 1, {5, 7, -30000, 30000, 6, 9}));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> got = whole<float>(this->queue(), m, 1, {1, nan, 2, 9, 3, 3});
    EXPECT_TRUE(std::isnan(got[1])); // |NaN − 2| is not above 2
    EXPECT_EQ(got[3], 3);
    EXPECT_EQ(got[4], 3);
}

TYPED_TEST(MedianTest, OnlyOneSideIsReplaced) {
    Median m = window({1, 1, 3}, 1, 1, 6);
    m.difference = 2;
    m.side = Median::Side::above;
    EXPECT_EQ((std::vector<std::int16_t>{5, 7, -30000, 6, 6, 9}),
              whole<std::int16_t>(this->queue(), m, 1, {5, 7, -30000, 30000, 6, 9}));
    m.side = Median::Side::below;
    EXPECT_EQ((std::vector<std::int16_t>{5, 7, 7, 30000, 9, 9}),
              whole<std::int16_t>(this->queue(), m, 1, {5, 7, -30000, 30000, 6, 9}));
    m.difference = 0;
    m.columns = 3;
    EXPECT_EQ((std::vector<std::uint64_t>{~0ULL, 1, 1}),
              whole<std::uint64_t>(this->queue(), m, 1, {~0ULL, 0, 1}));
    m.side = Median::Side::above;
    EXPECT_EQ((std::vector<std::uint64_t>{1, 1, 0}),
              whole<std::uint64_t>(this->queue(), m, 1, {1, ~0ULL, 0}));
}

template <class T, class Q>
void expect_reference(Q& queue, const Median& m, std::int64_t frames, std::mt19937_64& random,
                      std::size_t offset = 0) {
    const auto count = static_cast<std::size_t>(frames * m.layers * m.rows * m.columns);
    const std::vector<T> in = any_elements<T>(count, random);
    EXPECT_EQ("", first_difference(median_reference(m, frames, in),
                                   whole(queue, m, frames, in, offset * sizeof(T))))
        << name_of(element_type_of<T>()) << " " << describe(m);
}

TYPED_TEST(MedianTest, AllTypesAndBoundariesAsTheReference) {
    std::mt19937_64 random(1);
    for (const ElementType type : all_element_types) {
        visit_element_type(type, [&](auto zero) {
            using T = decltype(zero);
            for (const Boundary boundary : all_boundaries) {
                for (const std::array<int, 3> size :
                     {std::array<int, 3>{1, 3, 3}, {3, 3, 3}, {1, 5, 5}, {1, 7, 3}}) {
                    Median m = window(size, size[0] > 1 ? 4 : 1, 13, 37);
                    m.boundary = boundary;
                    m.fill = 100.5;
                    if (random() % 3 == 0) {
                        m.difference = 40;
                        m.side = static_cast<Median::Side>(random() % 3);
                    }
                    expect_reference<T>(this->queue(), m, 2, random);
                }
            }
        });
    }
}

/// Few values, of which many are equal; and windows of them alone.
TYPED_TEST(MedianTest, EqualElements) {
    std::mt19937_64 random(6);
    for (const std::array<int, 3> size : {std::array<int, 3>{1, 3, 3},
                                          {3, 3, 3},
                                          {1, 5, 5},
                                          {1, 7, 7},
                                          {5, 5, 5},
                                          {1, 1, 9},
                                          {1, 13, 13}}) {
        const Median m = window(size, size[0] > 1 ? 6 : 1, 21, 44);
        for (const int values : {1, 2, 3}) {
            const auto count = static_cast<std::size_t>(m.layers * m.rows * m.columns);
            std::vector<std::int32_t> in(count);
            for (std::int32_t& element : in) {
                element = static_cast<std::int32_t>(random() % static_cast<unsigned>(values)) - 1;
            }
            const std::vector<double> doubles(in.begin(), in.end());
            EXPECT_EQ("",
                      first_difference(median_reference(m, 1, in), whole(this->queue(), m, 1, in)))
                << describe(m);
            EXPECT_EQ("", first_difference(median_reference(m, 1, doubles),
                                           whole(this->queue(), m, 1, doubles)))
                << describe(m);
        }
    }
}

TYPED_TEST(MedianTest, AllSizes) {
    std::mt19937_64 random(2);
    for (int z = 1; z <= 9; z += 2) {
        for (int y = 1; y <= 9; y += 2) {
            for (int x = 1; x <= 9; x += 2) {
                Median m = window({z, y, x}, z > 1 ? 3 : 1, 6, 19);
                m.boundary = all_boundaries[random() % 5];
                if (m.elements() <= Median::most_elements) {
                    expect_reference<std::uint16_t>(this->queue(), m, 1, random);
                    expect_reference<float>(this->queue(), m, 1, random);
                }
            }
        }
    }
}

TYPED_TEST(MedianTest, LargeWindowsOfOneLayer) {
    std::mt19937_64 random(7);
    for (int extent = 7; extent <= Median::most_extent; extent += 2) {
        // A GPU's block has 16 rows and 32 or 64 columns: less than one, and parts of several.
        for (const auto& [rows, columns] : {std::pair{1, 1}, {5, 131}, {37, 45}}) {
            Median m = window({1, extent, extent}, 1, rows, columns);
            m.boundary = all_boundaries[random() % 5];
            m.fill = 100.5;
            if (random() % 2 == 0) {
                m.difference = 40;
            }
            expect_reference<std::int8_t>(this->queue(), m, 2, random);
            expect_reference<std::uint8_t>(this->queue(), m, 1, random, 1);
            expect_reference<std::int16_t>(this->queue(), m, 1, random);
            expect_reference<std::uint16_t>(this->queue(), m, 2, random, 1);
            expect_reference<std::int32_t>(this->queue(), m, 1, random);
            expect_reference<std::uint32_t>(this->queue(), m, 1, random);
            expect_reference<float>(this->queue(), m, 2, random);
            expect_reference<double>(this->queue(), m, 1, random);
        }
    }
    expect_reference<std::uint16_t>(this->queue(), window({1, 15, 3}, 1, 20, 50), 1, random);
    expect_reference<float>(this->queue(), window({3, 7, 15}, 3, 8, 50), 1, random);
}

TYPED_TEST(MedianTest, AllWidthsAndAlignments) {
    std::mt19937_64 random(3);
    for (std::int64_t columns = 1; columns <= 70; ++columns) {
        Median m = window({1, 3, 3}, 1, 5, columns);
        m.boundary = all_boundaries[static_cast<std::size_t>(columns) % 5];
        const std::size_t offset = random() % 2;
        expect_reference<std::uint8_t>(this->queue(), m, 1, random, offset);
        expect_reference<std::int16_t>(this->queue(), m, 2, random, offset);
        expect_reference<float>(this->queue(), m, 1, random, offset);
        expect_reference<std::int32_t>(this->queue(), m, 1, random, offset);
    }
    // Every way of a GPU to hold columns: few, a thread's and one more or less, many; rows that are
    // cut into segments, of an odd number too.
    for (const std::array<int, 3> size : {std::array<int, 3>{3, 3, 3}, {1, 5, 5}}) {
        for (const std::int64_t columns : {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 32, 64, 258}) {
            for (const std::int64_t rows : {1, 2, 9}) {
                Median m = window(size, size[0] > 1 ? 1 + rows % 3 : 1, rows, columns);
                m.boundary = all_boundaries[random() % 5];
                const std::size_t offset = random() % 4 == 0 ? 1 : 0;
                expect_reference<std::int8_t>(this->queue(), m, 2, random, offset);
                expect_reference<std::uint16_t>(this->queue(), m, 1, random, offset);
                expect_reference<std::uint32_t>(this->queue(), m, 1, random, offset);
                expect_reference<float>(this->queue(), m, 1, random, offset);
                expect_reference<double>(this->queue(), m, 1, random, offset);
                expect_reference<std::uint64_t>(this->queue(), m, 1, random, offset);
            }
        }
    }
    expect_reference<std::uint16_t>(this->queue(), window({1, 5, 5}, 1, 150, 2600), 1, random);
    expect_reference<float>(this->queue(), window({3, 3, 3}, 5, 67, 512), 1, random);
    expect_reference<std::uint8_t>(this->queue(), window({1, 3, 3}, 1, 131, 2048), 2, random);
}

/// Blocks of some rows, with their halo, held under extended numbers.
TYPED_TEST(MedianTest, BlocksGiveTheRowsOfTheWhole) {
    std::mt19937_64 random(4);
    for (const Boundary boundary : all_boundaries) {
        for (const std::array<int, 3> size : {std::array<int, 3>{1, 5, 3}, {1, 7, 7}, {3, 3, 3}}) {
            const bool layers = size[0] > 1;
            Median m = window(size, layers ? 7 : 1, layers ? 5 : 23, 33);
            m.boundary = boundary;
            const std::int64_t unit = layers ? m.rows : 1;
            const std::int64_t all = m.layers * m.rows;
            const std::int64_t halo = layers ? m.rows : m.size[1] / 2;
            const std::vector<float> in =
                any_elements<float>(static_cast<std::size_t>(all * m.columns), random);
            const std::vector<float> expected = median_reference(m, 1, in);
            for (std::int64_t first = 0; first < all; first += 3 * unit) {
                const std::int64_t last = std::min(all, first + 3 * unit);
                std::int64_t begin = first - halo;
                std::int64_t end = last + halo;
                if (boundary != Boundary::wrap) {
                    begin = std::max<std::int64_t>(0, begin);
                    end = std::min(all, end);
                }
                std::vector<float> rows;
                for (std::int64_t row = begin; row < end; ++row) {
                    const auto from = in.begin() + (row + all) % all * m.columns;
                    rows.insert(rows.end(), from, from + m.columns);
                }
                const std::vector<float> right(expected.begin() + first * m.columns,
                                               expected.begin() + last * m.columns);
                EXPECT_EQ("",
                          first_difference(
                              right, median_on(this->queue(), m,
                                               {1, begin, end - begin, first, last - first}, rows)))
                    << describe(m) << ", rows from " << first;
            }
        }
    }
}

TEST(MedianTargets, EveryVectorSetGivesTheBytesOfTheReference) {
    CpuQueue queue(2);
    std::mt19937_64 random(5);
    for (const std::int64_t target : usable_targets()) {
        const OnlyTarget only(target);
        SCOPED_TRACE(hwy::TargetName(target));
        for (const ElementType type : all_element_types) {
            visit_element_type(type, [&](auto zero) {
                for (const std::array<int, 3> size :
                     {std::array<int, 3>{1, 3, 3}, {3, 3, 3}, {1, 5, 5}, {1, 9, 1}, {1, 1, 9}}) {
                    expect_reference<decltype(zero)>(
                        queue, window(size, size[0] > 1 ? 3 : 1, 9, 141), 1, random);
                }
            });
        }
    }
}

} // namespace
} // namespace runner
