// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/elements.hpp"
#include "kernels/median/median.hpp"

#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace runner {
namespace {

/// What a call made and counted.
template <class T> struct Made {
    std::vector<T> out;
    std::int64_t replaced = 0;
};

template <class T, class Q>
Made<T> made_of(Q& queue, Median m, std::int64_t frames, const std::vector<T>& in,
                std::int64_t first, std::int64_t last) {
    m.type = element_type_of<T>();
    const std::int64_t rows = m.layers * m.rows;
    const DeviceBytes sum(queue, bytes_of(std::vector<std::uint64_t>{0}));
    Made<T> made;
    made.out = values_of<T>(made_on(
        queue, bytes_of(in), in.size() * sizeof(T), [&](const std::byte* from, std::byte* to) {
            median(queue, m, {frames, 0, rows, 0, rows}, from, to,
                   {reinterpret_cast<std::uint64_t*>(sum.data()), first, last});
            queue.synchronize();
        }));
    made.replaced = values_of<std::int64_t>(sum.fetch()).front();
    return made;
}

/// The valid elements of rows [first, last), through all frames, that are others in the output.
template <class T>
std::int64_t changed(const Median& m, const std::vector<T>& in, const std::vector<T>& out,
                     std::int64_t first, std::int64_t last) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < std::ssize(in); ++i) {
        const T x = in[static_cast<std::size_t>(i)];
        const bool is_invalid =
            std::isnan(static_cast<double>(x)) || (m.invalid && x == converted<T>(*m.invalid));
        const std::int64_t row = i / m.columns;
        const bool is_other = x != out[static_cast<std::size_t>(i)];
        count += row >= first && row < last && !is_invalid && is_other ? 1 : 0;
    }
    return count;
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

template <class Q> class ReplacedValues : public QueueTest<Q> {};
TYPED_TEST_SUITE(ReplacedValues, TestQueues);

TYPED_TEST(ReplacedValues, ByHand) {
    Median m = window({1, 1, 3}, 1, 1, 6);
    m.difference = 2;
    const std::vector<std::int16_t> in = {5, 7, -30000, 30000, 6, 9}; // 5 7 7 6 9 9
    EXPECT_EQ(made_of(this->queue(), m, 1, in, 0, 1).replaced, 3);
    m.side = Median::Side::above;
    EXPECT_EQ(made_of(this->queue(), m, 1, in, 0, 1).replaced, 1);
    m.side = Median::Side::both;
    m.rows = 3;
    m.columns = 2; // rows 5 7, −30000 30000 and 6 9, each with its own medians
    EXPECT_EQ(made_of(this->queue(), m, 1, in, 0, 3).replaced, 0);
    m.difference = std::nullopt; // all are medians
    m.rows = 1;
    m.columns = 6;
    EXPECT_EQ(made_of(this->queue(), m, 1, in, 0, 1).replaced, 0);
}

TYPED_TEST(ReplacedValues, OfInvalidElementsAreNone) {
    Median m = window({1, 1, 3}, 1, 1, 5);
    m.difference = 2;
    m.invalid = 0;
    // 9 is the lower of 9 and 20, so it stays; 20, between 0 and 9, becomes 9.
    const Made<std::uint8_t> made =
        made_of<std::uint8_t>(this->queue(), m, 1, {9, 9, 0, 20, 9}, 0, 1);
    EXPECT_EQ(made.out, (std::vector<std::uint8_t>{9, 9, 0, 9, 9}));
    EXPECT_EQ(made.replaced, 1);
}

/// Every way to compute a median, over rows of which some are counted.
TYPED_TEST(ReplacedValues, AreThoseThatDiffer) {
    std::mt19937_64 random(11);
    for (const ElementType type : all_element_types) {
        visit_element_type(type, [&](auto zero) {
            using T = decltype(zero);
            for (const std::array<int, 3> size :
                 {std::array<int, 3>{1, 3, 3}, {3, 3, 3}, {1, 5, 5}, {1, 7, 7}, {1, 7, 3}}) {
                const std::int64_t columns = random() % 2 == 0 ? 37 : 64;
                Median m = window(size, size[0] > 1 ? 4 : 1, 21, columns);
                m.difference = static_cast<double>(random() % 50);
                m.side = static_cast<Median::Side>(random() % 3);
                if (random() % 2 == 0) {
                    m.invalid = 63;
                }
                const std::int64_t rows = 2 * m.layers * m.rows;
                std::vector<T> in =
                    any_elements<T>(static_cast<std::size_t>(rows * columns), random);
                for (std::size_t i = random() % 11; i < in.size(); i += 1 + random() % 21) {
                    in[i] = converted<T>(63.0); // invalid, in half of the cases
                }
                const auto first = static_cast<std::int64_t>(random() % 8);
                const auto last = rows - static_cast<std::int64_t>(random() % 8);
                const Made<T> made = made_of(this->queue(), m, 2, in, first, last);
                EXPECT_EQ(made.replaced, changed(m, in, made.out, first, last))
                    << name_of(type) << " by " << size[0] << " " << size[1] << " " << size[2];
            }
        });
    }
}

/// Elements of which most are replaced, and rows in many blocks of a GPU's threads.
TYPED_TEST(ReplacedValues, AreAddedUpOverAllBlocks) {
    std::mt19937_64 random(12);
    for (const std::array<int, 3> size : {std::array<int, 3>{1, 3, 3}, {1, 9, 9}, {1, 3, 9}}) {
        Median m = window(size, 1, 700, 640);
        m.difference = 0;
        std::vector<std::uint16_t> in(static_cast<std::size_t>(m.rows * m.columns));
        for (std::uint16_t& element : in) {
            element = static_cast<std::uint16_t>(random());
        }
        const Made<std::uint16_t> made = made_of(this->queue(), m, 1, in, 0, m.rows);
        EXPECT_GT(made.replaced, m.rows * m.columns / 2);
        EXPECT_EQ(made.replaced, changed(m, in, made.out, 0, m.rows));
    }
}

} // namespace
} // namespace runner
