// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/stripes/stripes.hpp"

#include "tests/reference/median_reference.hpp"
#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"
#include "tests/support/vector_sets.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

namespace runner {
namespace {

Stripes stripes_of(std::int64_t rows, std::int64_t columns, int size) {
    Stripes stripes;
    stripes.rows = rows;
    stripes.columns = columns;
    stripes.size = size;
    return stripes;
}

template <class T, class Q>
std::vector<T> made_by(Q& queue, Stripes stripes, std::int64_t frames, const std::vector<T>& in,
                       std::size_t offset = 0) {
    stripes.type = element_type_of<T>();
    return values_of<T>(made_on(
        queue, bytes_of(in), in.size() * sizeof(T),
        [&](const std::byte* from, std::byte* to) {
            const Buffer scratch = allocate_device(queue, stripes_scratch_bytes(stripes, frames));
            remove_stripes(queue, stripes, frames, from, to, scratch.data());
            queue.synchronize();
        },
        offset));
}

/// The column that column `x` stands for: ... 1 0 | 0 1 2 ... last | last ...
std::int64_t reflected(std::int64_t x, std::int64_t columns) {
    while (x < 0 || x >= columns) {
        x = x < 0 ? -1 - x : 2 * columns - 1 - x;
    }
    return x;
}

/// docs/stripes.md, a column and then an element at a time.
template <class T>
std::vector<T> reference(const Stripes& s, std::int64_t frames, const std::vector<T>& in) {
    std::vector<T> out(in.size());
    const auto at = [&](std::int64_t f, std::int64_t r, std::int64_t x) {
        return static_cast<std::size_t>((f * s.rows + r) * s.columns + x);
    };
    for (std::int64_t f = 0; f < frames; ++f) {
        std::vector<std::vector<std::int64_t>> order(static_cast<std::size_t>(s.columns));
        for (std::int64_t x = 0; x < s.columns; ++x) {
            auto& rows = order[static_cast<std::size_t>(x)];
            rows.resize(static_cast<std::size_t>(s.rows));
            std::iota(rows.begin(), rows.end(), 0);
            std::stable_sort(rows.begin(), rows.end(), [&](std::int64_t a, std::int64_t b) {
                return comes_before(in[at(f, a, x)], in[at(f, b, x)]);
            });
        }
        for (std::int64_t rank = 0; rank < s.rows; ++rank) {
            for (std::int64_t x = 0; x < s.columns; ++x) {
                std::vector<T> window;
                for (std::int64_t i = 0; i < s.size; ++i) {
                    const std::int64_t column = reflected(x - s.size / 2 + i, s.columns);
                    const auto row =
                        order[static_cast<std::size_t>(column)].at(static_cast<std::size_t>(rank));
                    window.push_back(in[at(f, row, column)]);
                }
                std::sort(window.begin(), window.end(), comes_before<T>);
                const auto row =
                    order[static_cast<std::size_t>(x)].at(static_cast<std::size_t>(rank));
                out[at(f, row, x)] = window[window.size() / 2];
            }
        }
    }
    return out;
}

template <class T>
std::vector<T> some_elements(const Stripes& s, std::int64_t frames, std::mt19937_64& random) {
    return any_elements<T>(static_cast<std::size_t>(frames * s.rows * s.columns), random);
}

std::string describe(const Stripes& s) {
    return std::to_string(s.rows) + " x " + std::to_string(s.columns) + " by " +
           std::to_string(s.size);
}

template <class T, class Q>
void expect_reference(Q& queue, const Stripes& s, std::int64_t frames, std::mt19937_64& random,
                      std::size_t offset = 0) {
    const std::vector<T> in = some_elements<T>(s, frames, random);
    EXPECT_EQ("", first_difference(reference(s, frames, in),
                                   made_by(queue, s, frames, in, offset * sizeof(T))))
        << name_of(element_type_of<T>()) << " " << describe(s);
}

template <class Q> class StripesTest : public QueueTest<Q> {};
TYPED_TEST_SUITE(StripesTest, TestQueues);

/// The middle column is 10 too high at every angle: its ranks get the medians of three.
TYPED_TEST(StripesTest, ByHand) {
    const std::vector<std::uint8_t> sinogram = {1, 12, 3, //
                                                4, 11, 1, //
                                                2, 13, 2};
    EXPECT_EQ((std::vector<std::uint8_t>{1, 2, 3, //
                                         4, 1, 1, //
                                         2, 4, 2}),
              made_by(this->queue(), stripes_of(3, 3, 3), 1, sinogram));
}

/// The median of two is the greater one. The equal elements of the second column get 7, 8 and 9 in
/// the order of their angles.
TYPED_TEST(StripesTest, EqualElementsKeepTheirOrder) {
    EXPECT_EQ((std::vector<std::int32_t>{9, 7, //
                                         8, 8, //
                                         5, 9}),
              made_by(this->queue(), stripes_of(3, 2, 2), 1,
                      std::vector<std::int32_t>{9, 7, //
                                                8, 7, //
                                                5, 7}));
}

TYPED_TEST(StripesTest, AllTypesAsTheReference) {
    std::mt19937_64 random(1);
    for (const ElementType type : all_element_types) {
        visit_element_type(type, [&](auto zero) {
            using T = decltype(zero);
            for (const int size : {1, 2, 3, 8, 21, 61, 255}) {
                expect_reference<T>(this->queue(), stripes_of(67, 41, size), 2, random,
                                    random() % 2);
            }
        });
    }
}

TYPED_TEST(StripesTest, FewValues) {
    std::mt19937_64 random(2);
    for (const unsigned values : {1U, 2U, 3U}) {
        const Stripes s = stripes_of(131, 23, 5);
        std::vector<std::int64_t> in(static_cast<std::size_t>(s.rows * s.columns));
        for (std::int64_t& element : in) {
            element = static_cast<std::int64_t>(random() % values) - 1;
        }
        const std::vector<float> floats(in.begin(), in.end());
        const std::vector<std::int8_t> bytes(in.begin(), in.end());
        EXPECT_EQ("", first_difference(reference(s, 1, in), made_by(this->queue(), s, 1, in)));
        EXPECT_EQ("",
                  first_difference(reference(s, 1, floats), made_by(this->queue(), s, 1, floats)));
        EXPECT_EQ("",
                  first_difference(reference(s, 1, bytes), made_by(this->queue(), s, 1, bytes)));
    }
}

/// Odd, prime and large numbers of angles, about every power of two that a sort is cut at.
TYPED_TEST(StripesTest, AllNumbersOfAngles) {
    std::mt19937_64 random(3);
    for (const std::int64_t rows :
         {1,    2,    3,    4,    5,    7,    31,   32,    33,    63,    64,   65,   127,
          129,  251,  256,  257,  509,  1023, 1025, 2039,  2047,  2048,  2049, 4093, 4095,
          4096, 4097, 6151, 8191, 8192, 8193, 9001, 12289, 16381, 16383, 16384}) {
        for (const std::int64_t columns : {std::int64_t{1}, std::int64_t{3}}) {
            const Stripes s = stripes_of(rows, columns, 3);
            expect_reference<std::uint16_t>(this->queue(), s, 1, random);
            expect_reference<float>(this->queue(), s, 2, random);
            expect_reference<double>(this->queue(), s, 1, random);
        }
    }
}

/// More angles than a GPU sorts in shared memory several times over.
TYPED_TEST(StripesTest, TheMostAngles) {
    std::mt19937_64 random(4);
    const Stripes s = stripes_of(Stripes::most_rows, 2, 2);
    expect_reference<std::uint8_t>(this->queue(), s, 1, random);
    expect_reference<float>(this->queue(), s, 1, random);
    expect_reference<double>(this->queue(), s, 1, random);
}

/// Several strips of columns, and windows wider than the frame.
TYPED_TEST(StripesTest, AllWidths) {
    std::mt19937_64 random(5);
    for (const std::int64_t columns : {1, 2, 5, 16, 17, 31, 33, 127, 128, 129, 257, 521, 1031}) {
        for (const int size : {1, 4, 9, 31}) {
            expect_reference<float>(this->queue(), stripes_of(19, columns, size), 2, random);
            expect_reference<std::int16_t>(this->queue(), stripes_of(5, columns, size), 1, random);
        }
    }
}

/// Frames that do not pass the scratch memory at once; each queue makes what one thread does.
TYPED_TEST(StripesTest, ManyFrames) {
    std::mt19937_64 random(6);
    CpuQueue alone(1);
    for (const auto& [s, frames] : {std::pair{stripes_of(1, 1, 3), std::int64_t{40000}},
                                    std::pair{stripes_of(16381, 67, 11), std::int64_t{9}}}) {
        const std::vector<std::int32_t> in = some_elements<std::int32_t>(s, frames, random);
        EXPECT_LT(stripes_scratch_bytes(s, frames), frames * stripes_scratch_bytes(s, 1));
        EXPECT_EQ("", first_difference(made_by(alone, s, frames, in),
                                       made_by(this->queue(), s, frames, in)))
            << describe(s);
    }
}

/// Noise, in which each column has a level of its own, and some are constant or much higher.
template <class T>
std::vector<T> striped(const Stripes& s, std::int64_t frames, std::mt19937_64& random) {
    std::vector<double> level(static_cast<std::size_t>(s.columns));
    for (double& of_column : level) {
        of_column = random() % 11 == 0 ? 60 : 30 + static_cast<double>(random() % 5);
    }
    std::vector<T> values;
    for (std::int64_t i = 0; i < frames * s.rows * s.columns; ++i) {
        const auto x = static_cast<std::size_t>(i % s.columns);
        const double noise = x % 13 == 5 ? 0 : static_cast<double>(random() % 1000) / 100;
        values.push_back(static_cast<T>(level[x] + noise));
    }
    return values;
}

/// tests/end_to_end/stripes_rules.py says what is right; here every queue makes what one thread
/// does, of as many angles as AllNumbersOfAngles has.
TYPED_TEST(StripesTest, StripesAreFoundAlike) {
    std::mt19937_64 random(8);
    CpuQueue alone(1);
    const auto expect_alike = [&](const Stripes& s, std::int64_t frames, auto zero) {
        using T = decltype(zero);
        const std::vector<T> in = striped<T>(s, frames, random);
        const std::vector<T> right = made_by(alone, s, frames, in);
        EXPECT_EQ("", first_difference(right, made_by(this->queue(), s, frames, in)))
            << describe(s) << ", method " << static_cast<int>(s.method);
        EXPECT_TRUE(in != right || s.rows < 30 || s.columns < 8) << "no stripes in " << describe(s);
    };
    for (const auto method :
         {Stripes::Method::large, Stripes::Method::dead, Stripes::Method::all}) {
        for (const auto& [rows, columns] : std::vector<std::array<std::int64_t, 2>>{{1, 1},
                                                                                    {1, 40},
                                                                                    {2, 7},
                                                                                    {31, 64},
                                                                                    {33, 127},
                                                                                    {127, 2},
                                                                                    {257, 300},
                                                                                    {1021, 9},
                                                                                    {2048, 5},
                                                                                    {4099, 31},
                                                                                    {8191, 17},
                                                                                    {16381, 9},
                                                                                    {16384, 8}}) {
            Stripes s = stripes_of(rows, columns, 9);
            s.method = method;
            s.small = 4;
            s.snr = 1.5;
            expect_alike(s, 2, float{});
            expect_alike(s, 1, std::uint16_t{});
            expect_alike(s, 1, double{});
        }
        Stripes many = stripes_of(64, 1031, 51);
        many.method = method;
        for (const ElementType type : all_element_types) {
            visit_element_type(type, [&](auto zero) { expect_alike(many, 3, zero); });
        }
    }
}

/// Numbers that are not finite, and columns of them.
TYPED_TEST(StripesTest, SpecialNumbersAreFoundAlike) {
    std::mt19937_64 random(9);
    CpuQueue alone(1);
    for (const auto method :
         {Stripes::Method::large, Stripes::Method::dead, Stripes::Method::all}) {
        Stripes s = stripes_of(97, 53, 9);
        s.method = method;
        const std::vector<double> in = some_elements<double>(s, 4, random);
        EXPECT_EQ("", first_difference(made_by(alone, s, 4, in), made_by(this->queue(), s, 4, in)));
    }
}

TEST(StripesTargets, EveryVectorSetGivesTheBytesOfTheReference) {
    CpuQueue queue(2);
    std::mt19937_64 random(7);
    for (const std::int64_t target : usable_targets()) {
        const OnlyTarget only(target);
        SCOPED_TRACE(hwy::TargetName(target));
        for (const ElementType type : all_element_types) {
            visit_element_type(type, [&](auto zero) {
                expect_reference<decltype(zero)>(queue, stripes_of(141, 29, 7), 1, random);
            });
        }
    }
}

} // namespace
} // namespace runner
