// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/stitch/stitch.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/stitch/stitch_rules.hpp"
#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace runner {
namespace {

using Side = Stitch::Side;
using Blend = Stitch::Blend;

/// Groups of `lines` first lines and as many second ones behind them.
Stitch stacked(std::int64_t columns, std::int64_t samples, std::int64_t lines,
               std::int64_t spare_lines = 0) {
    Stitch s;
    s.columns = columns;
    s.samples = samples;
    s.lines = lines;
    s.line = columns * samples;
    s.partner = lines * s.line;
    s.pixel = samples;
    s.elements = (2 * lines + spare_lines) * s.line;
    return s;
}

/// A first pixel, a second one, and so on; each group is one line.
Stitch interleaved(std::int64_t columns, std::int64_t samples) {
    Stitch s = stacked(columns, samples, 1);
    s.partner = samples;
    s.pixel = 2 * samples;
    return s;
}

/// What an element of the overlap becomes of two values.
template <class In, class Out> Out joined(const Stitch& s, std::int64_t i, In first, In second) {
    const auto weight = [&](std::int64_t of) {
        if (s.overlap == 1) {
            return 0.5;
        }
        const double step = 1 / static_cast<double>(s.overlap - 1);
        const double ahead = of + 1 == s.overlap ? 1 : static_cast<double>(of) * step;
        const double back = of + 1 == s.overlap ? 0 : 1 - static_cast<double>(of) * step;
        return s.side == Side::left ? ahead : back;
    };
    if (s.blend == Blend::none) {
        const bool is_first = s.side == Side::left ? i >= s.overlap / 2 : 2 * i < s.overlap;
        return converted<Out>(static_cast<double>(is_first ? first : second));
    }
    return converted<Out>(weight(i) * static_cast<double>(first) +
                          weight(s.overlap - 1 - i) * static_cast<double>(second));
}

/// An element as one of another type, or as it is.
template <class In, class Out> Out taken(In element) {
    if constexpr (std::is_same_v<In, Out>) {
        return element;
    } else {
        return converted<Out>(static_cast<double>(element));
    }
}

/// Slow and plain: the first line and the mirrored second one, each put where it belongs.
template <class In, class Out>
std::vector<Out> reference(const Stitch& s, std::int64_t groups, const std::vector<In>& in) {
    std::vector<Out> out;
    const std::int64_t shift = s.columns - s.overlap;
    const std::int64_t first_at = s.side == Side::left ? shift : 0;
    const std::int64_t second_at = s.side == Side::left ? 0 : shift;
    const Out mark =
        s.invalid ? invalid_element<Out>(invalid_value(s.out_type, *s.invalid)) : Out{};
    const auto is_bad = [&](In x) { return s.invalid && invalid_test<In>(*s.invalid)(x); };
    for (std::int64_t line = 0; line < groups * s.lines; ++line) {
        const In* from = in.data() + line / s.lines * s.elements + line % s.lines * s.line;
        for (std::int64_t at = 0; at < 2 * s.columns - s.overlap; ++at) {
            for (std::int64_t c = 0; c < s.samples; ++c) {
                const std::int64_t a = at - first_at;
                const std::int64_t b = s.columns - 1 - (at - second_at);
                const bool has_a = a >= 0 && a < s.columns;
                const bool has_b = b >= 0 && b < s.columns;
                const In first = has_a ? from[a * s.pixel + c] : In{};
                const In second = has_b ? from[s.partner + b * s.pixel + c] : In{};
                const bool good_a = has_a && !is_bad(first);
                const bool good_b = has_b && !is_bad(second);
                if (!good_a && !good_b) {
                    out.push_back(mark);
                } else if (good_a && good_b && s.blend == Blend::linear) {
                    out.push_back(joined<In, Out>(s, at - shift, first, second));
                } else if (good_a && good_b) {
                    const bool left = s.side == Side::left;
                    const std::int64_t i = at - shift;
                    const bool is_first = left ? i >= s.overlap / 2 : i < s.overlap - s.overlap / 2;
                    out.push_back(taken<In, Out>(is_first ? first : second));
                } else {
                    out.push_back(taken<In, Out>(good_a ? first : second));
                }
            }
        }
    }
    return out;
}

template <class In, class Out, class Q>
std::vector<Out> stitched(Q& queue, Stitch s, std::int64_t groups, const std::vector<In>& in) {
    s.in_type = element_type_of<In>();
    s.out_type = element_type_of<Out>();
    const auto count = groups * s.lines * s.out_columns() * s.samples;
    return values_of<Out>(made_on(queue, bytes_of(in),
                                  static_cast<std::size_t>(count) * sizeof(Out),
                                  [&](const std::byte* from, std::byte* to) {
                                      stitch(queue, s, groups, from, to);
                                      queue.synchronize();
                                  }));
}

/// Compares with the reference on both sides with both blends, with and without invalid elements.
template <class In, class Out, class Q>
void expect_right(Q& queue, Stitch s, std::int64_t groups, std::mt19937_64& random) {
    s.in_type = element_type_of<In>();
    s.out_type = element_type_of<Out>();
    auto in = any_elements<In>(static_cast<std::size_t>(groups * s.elements), random);
    for (std::size_t i = 0; i < in.size(); i += 1 + random() % 4) {
        in[i] = 7;
    }
    for (const Side side : {Side::left, Side::right}) {
        for (const Blend blend : {Blend::linear, Blend::none}) {
            for (const std::optional<double> invalid : {std::optional<double>(), {7.0}}) {
                s.side = side;
                s.blend = blend;
                s.invalid = invalid;
                EXPECT_EQ("", first_difference(reference<In, Out>(s, groups, in),
                                               (stitched<In, Out>(queue, s, groups, in))))
                    << name_of(s.in_type) << " to " << name_of(s.out_type) << ", " << s.columns
                    << " columns, " << s.samples << " samples, " << s.overlap << " shared, side "
                    << static_cast<int>(side) << ", blend " << static_cast<int>(blend)
                    << (invalid ? ", some invalid" : "");
            }
        }
    }
}

template <class Q> class StitchTest : public QueueTest<Q> {};
TYPED_TEST_SUITE(StitchTest, TestQueues);

TYPED_TEST(StitchTest, ByHand) {
    Stitch s = stacked(5, 1, 1);
    s.overlap = 3;
    const std::vector<float> in = {10, 20, 30, 40, 50, //
                                   1,  2,  3,  4,  5};
    const auto made = [&](Side side, Blend blend) {
        s.side = side;
        s.blend = blend;
        return stitched<float, float>(this->queue(), s, 1, in);
    };
    // On the right 30, 40, 50 meet 5, 4, 3.
    EXPECT_EQ(made(Side::right, Blend::linear), (std::vector<float>{10, 20, 30, 22, 3, 2, 1}));
    EXPECT_EQ(made(Side::right, Blend::none), (std::vector<float>{10, 20, 30, 40, 3, 2, 1}));
    // On the left 10, 20, 30 meet 3, 2, 1.
    EXPECT_EQ(made(Side::left, Blend::linear), (std::vector<float>{5, 4, 3, 11, 30, 40, 50}));
    EXPECT_EQ(made(Side::left, Blend::none), (std::vector<float>{5, 4, 3, 20, 30, 40, 50}));
    s.overlap = 1;
    EXPECT_EQ(made(Side::left, Blend::linear),
              (std::vector<float>{5, 4, 3, 2, 5.5, 20, 30, 40, 50}));
    s.overlap = 0;
    EXPECT_EQ(made(Side::right, Blend::linear),
              (std::vector<float>{10, 20, 30, 40, 50, 5, 4, 3, 2, 1}));
    s.overlap = 5;
    EXPECT_EQ(made(Side::right, Blend::linear), (std::vector<float>{10, 16, 16.5, 11.5, 1}));
}

TYPED_TEST(StitchTest, IntegersRoundHalfToEven) {
    Stitch s = stacked(1, 1, 1);
    s.overlap = 1;
    s.lines = 1;
    const std::vector<std::uint8_t> in = {3, 2, 4, 3};
    EXPECT_EQ((stitched<std::uint8_t, std::uint8_t>(this->queue(), s, 2, in)),
              (std::vector<std::uint8_t>{2, 4}));
}

TYPED_TEST(StitchTest, EveryType) {
    std::mt19937_64 random(3);
    Stitch s = stacked(13, 1, 3, 1);
    s.overlap = 6;
    for (const ElementType type : all_element_types) {
        visit_element_type(type, [&](auto zero) {
            using T = decltype(zero);
            expect_right<T, T>(this->queue(), s, 2, random);
            expect_right<T, float>(this->queue(), s, 2, random);
            expect_right<float, T>(this->queue(), s, 2, random);
        });
    }
}

TYPED_TEST(StitchTest, EveryExtent) {
    std::mt19937_64 random(4);
    for (const std::int64_t columns : {1, 2, 17, 256, 1031}) {
        for (const std::int64_t overlap :
             std::vector<std::int64_t>{0, 1, 2, columns / 3, columns - 1, columns}) {
            for (Stitch s : {stacked(columns, 1, 1), stacked(columns, 1, 5, 1),
                             stacked(columns, 3, 2), interleaved(columns, 3)}) {
                s.overlap = std::min(overlap, columns);
                expect_right<float, float>(this->queue(), s, 3, random);
                expect_right<std::uint16_t, std::uint16_t>(this->queue(), s, 3, random);
            }
        }
    }
}

TYPED_TEST(StitchTest, LongIntegersOutsideOfTheOverlapAreExact) {
    Stitch s = stacked(2, 1, 1);
    s.overlap = 1;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const std::vector<std::int64_t> in = {most - 1, 4, most - 2, 8};
    EXPECT_EQ((stitched<std::int64_t, std::int64_t>(this->queue(), s, 1, in)),
              (std::vector<std::int64_t>{most - 1, 6, most - 2}));
}

TYPED_TEST(StitchTest, AnInvalidElementTakesTheOther) {
    Stitch s = stacked(3, 1, 1);
    s.overlap = 2;
    s.invalid = 0;
    // On the right 0, 4 meet 9, 0: the second pixel has none but 4.
    const std::vector<std::uint16_t> in = {1, 0, 4, 0, 0, 9};
    EXPECT_EQ((stitched<std::uint16_t, std::uint16_t>(this->queue(), s, 1, in)),
              (std::vector<std::uint16_t>{1, 9, 4, 0}));
    const std::vector<float> made = stitched<std::uint16_t, float>(this->queue(), s, 1, in);
    EXPECT_EQ(made[1], 9);
    EXPECT_EQ(bytes_of(std::vector{made[3]}),
              bytes_of(std::vector{std::numeric_limits<float>::quiet_NaN()}));
}

TYPED_TEST(StitchTest, ANaNThatItMakesIsTheQuietOne) {
    Stitch s = stacked(1, 1, 1);
    s.overlap = 1;
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> made =
        stitched<float, float>(this->queue(), s, 1, {infinity, -infinity});
    EXPECT_EQ(bytes_of(made), bytes_of(std::vector{std::numeric_limits<float>::quiet_NaN()}));
}

} // namespace
} // namespace runner
