// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/correct/correct.hpp"

#include "tests/reference/correct_reference.hpp"
#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"
#include "tests/support/vector_sets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace runner {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

/// Where frames lie among images of the dark and of the flat field; empty: each has one image.
using Places = std::pair<std::vector<FieldPlace>, std::vector<FieldPlace>>;

/// The corrected pixels of a block and how many values were raised.
template <class In, class Q>
std::pair<std::vector<float>, std::uint64_t>
corrected(Q& queue, Correct c, const RowBlock& block, const std::vector<float>& dark,
          const std::vector<float>& flat, const std::vector<In>& in, const Places& places = {}) {
    c.in_type = element_type_of<In>();
    const DeviceBytes<Q> dark_image(queue, bytes_of(dark));
    const DeviceBytes<Q> flat_image(queue, bytes_of(flat));
    const DeviceBytes<Q> counts(queue, bytes_of(std::vector<std::uint64_t>{1000}));
    const DeviceBytes<Q> dark_places(queue, bytes_of(places.first));
    const DeviceBytes<Q> flat_places(queue, bytes_of(places.second));
    const auto field = [&](const std::vector<float>& values, const DeviceBytes<Q>& image,
                           const DeviceBytes<Q>& at) {
        return CorrectField{
            values[0], values.size() == 1 ? nullptr : reinterpret_cast<const float*>(image.data()),
            places.first.empty() ? nullptr : reinterpret_cast<const FieldPlace*>(at.data())};
    };
    const auto bytes = made_on(
        queue, bytes_of(in), in.size() * sizeof(float), [&](const std::byte* from, std::byte* to) {
            correct(queue, c, block, field(dark, dark_image, dark_places),
                    field(flat, flat_image, flat_places), from, reinterpret_cast<float*>(to),
                    reinterpret_cast<std::uint64_t*>(counts.data()));
            queue.synchronize();
        });
    return {values_of<float>(bytes), values_of<std::uint64_t>(counts.fetch())[0] - 1000};
}

Correct image_of(std::int64_t rows, std::int64_t columns) {
    Correct c;
    c.rows = rows;
    c.columns = columns;
    return c;
}

template <class Q> class CorrectTest : public QueueTest<Q> {};
TYPED_TEST_SUITE(CorrectTest, TestQueues);

TYPED_TEST(CorrectTest, ByHand) {
    Correct c = image_of(1, 5);
    c.dead = -1;
    const std::vector<float> dark = {10, 10, 10, 0, inf};
    const std::vector<float> flat = {110, 10, 5, inf, inf};
    const std::vector<std::uint16_t> image = {60, 60, 60, 60, 60};
    const auto [plain, none] =
        corrected<std::uint16_t>(this->queue(), c, {1, 0, 1, 0, 1}, dark, flat, image);
    EXPECT_EQ(plain, (std::vector<float>{0.5F, -1, -1, -1, -1}));
    EXPECT_EQ(none, 0U);

    c.dead = 0;
    c.clips = true;
    c.clip_high = 0.25F;
    c.takes_log = true;
    c.floor = 0.125F;
    const auto [logs, raised] =
        corrected<std::uint16_t>(this->queue(), c, {1, 0, 1, 0, 1}, dark, flat, image);
    EXPECT_FLOAT_EQ(logs[0], std::log(4.0F));
    EXPECT_FLOAT_EQ(logs[1], std::log(8.0F));
    EXPECT_EQ(raised, 4U);
}

TYPED_TEST(CorrectTest, NumbersStandAtEveryPixelAndNanStays) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Correct c = image_of(2, 2);
    c.clips = true;
    c.takes_log = true;
    const auto [values, raised] =
        corrected<float>(this->queue(), c, {1, 0, 2, 0, 2}, {1}, {3}, {3, nan, -5, inf});
    EXPECT_EQ(values[0], 0);
    EXPECT_TRUE(std::isnan(values[1]));
    EXPECT_FLOAT_EQ(values[2], 13.815511F); // −ln 10⁻⁶
    EXPECT_EQ(values[3], 0);                // clipped to 1
    EXPECT_EQ(raised, 1U);
    c.clips = false;
    EXPECT_EQ(
        corrected<float>(this->queue(), c, {1, 0, 2, 0, 2}, {1}, {3}, {inf, 1, 1, 1}).first[0],
        -inf);
}

template <class Q> void expect_reference(Q& queue, std::mt19937_64& random) {
    for (const ElementType type : all_element_types) {
        visit_element_type(type, [&](auto zero) {
            using In = decltype(zero);
            Correct c = image_of(1 + static_cast<std::int64_t>(random() % 40),
                                 1 + static_cast<std::int64_t>(random() % 90));
            c.columns += random() % 2 == 0 ? -c.columns % 4 + 4 : 0;
            c.clips = random() % 2 == 0;
            c.clip_high = 200;
            c.takes_log = random() % 2 == 0;
            const auto pixels = static_cast<std::size_t>(c.rows * c.columns);
            const std::vector<float> dark =
                random() % 4 == 0 ? std::vector<float>{-3} : any_elements<float>(pixels, random);
            const std::vector<float> flat =
                random() % 4 == 0 ? std::vector<float>{90} : any_elements<float>(pixels, random);
            const std::vector<In> in = any_elements<In>(19 * pixels, random);
            std::uint64_t expected = 0;
            const std::vector<float> right = correct_reference(c, dark, flat, in, expected);
            const auto [values, raised] =
                corrected(queue, c, {19, 0, c.rows, 0, c.rows}, dark, flat, in);
            EXPECT_EQ("", first_difference(right, values)) << name_of(type);
            EXPECT_EQ(raised, expected);
        });
    }
}

/// Quotients of all sizes, and many of usual ones, which a GPU divides another way.
TYPED_TEST(CorrectTest, DivisionsAreRoundedOnce) {
    std::mt19937_64 random(5);
    const Correct c = image_of(64, 512);
    const auto pixels = static_cast<std::size_t>(c.rows * c.columns);
    for (const bool usual : {true, false}) {
        const auto number = [&] {
            const auto bits = static_cast<std::uint32_t>(random());
            return std::bit_cast<float>(usual ? 0x3F000000U + bits % 0x06000000U
                                              : bits & 0x7FFFFFFFU);
        };
        std::vector<float> flat(pixels);
        std::generate(flat.begin(), flat.end(), number);
        std::vector<float> in(6 * pixels);
        std::generate(in.begin(), in.end(), number);
        in[0] = -0.0F;
        in[1] = 0;
        std::uint64_t none = 0;
        const std::vector<float> right = correct_reference(c, {0}, flat, in, none);
        EXPECT_EQ("",
                  first_difference(
                      right,
                      corrected(this->queue(), c, {6, 0, c.rows, 0, c.rows}, {0}, flat, in).first));
    }
}

/// Logarithms of subnormal numbers too, and of many near 1.
TYPED_TEST(CorrectTest, LogarithmsOfEverySize) {
    std::mt19937_64 random(6);
    Correct c = image_of(512, 1024);
    c.takes_log = true;
    c.floor = std::numeric_limits<float>::denorm_min();
    std::vector<float> in(static_cast<std::size_t>(4 * c.rows * c.columns));
    for (float& t : in) {
        const auto bits = static_cast<std::uint32_t>(random());
        const auto kind = random() % 4;
        t = std::bit_cast<float>(kind == 0   ? bits % 0x01000000U
                                 : kind == 1 ? 0x3F000000U + bits % 0x01000000U
                                             : bits % 0x7F800001U);
    }
    std::uint64_t none = 0;
    const std::vector<float> right = correct_reference(c, {0}, {1}, in, none);
    EXPECT_EQ(
        "", first_difference(
                right, corrected(this->queue(), c, {4, 0, c.rows, 0, c.rows}, {0}, {1}, in).first));
}

TYPED_TEST(CorrectTest, AllTypesAsTheReference) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 4; ++i) {
        expect_reference(this->queue(), random);
    }
}

TYPED_TEST(CorrectTest, ABlockTakesItsRowsOfTheFields) {
    std::mt19937_64 random(2);
    const Correct c = image_of(9, 36);
    const std::vector<float> dark = any_elements<float>(9 * 36, random);
    const std::vector<float> flat = any_elements<float>(9 * 36, random);
    const std::vector<std::uint16_t> in = any_elements<std::uint16_t>(9 * 36, random);
    std::uint64_t ignored = 0;
    const std::vector<float> right = correct_reference(c, dark, flat, in, ignored);
    const std::vector<std::uint16_t> part(in.begin() + 3 * 36, in.begin() + 7 * 36);
    const std::vector<float> rows(right.begin() + 3 * 36, right.begin() + 7 * 36);
    EXPECT_EQ("", first_difference(
                      rows, corrected(this->queue(), c, {1, 3, 4, 3, 4}, dark, flat, part).first));
}

/// Frames between three flat and two dark images: each is corrected as by an image of its own.
template <class Q>
void expect_between(Q& queue, std::mt19937_64& random, std::int64_t columns,
                    const RowBlock& block) {
    Correct c = image_of(5, columns);
    c.takes_log = true;
    c.dead = 3;
    const auto image = static_cast<std::size_t>(c.rows * c.columns);
    const auto in_block = static_cast<std::size_t>(block.out_rows * columns);
    const auto first = static_cast<std::size_t>(block.out_first * columns);
    const std::vector<float> darks = any_elements<float>(2 * image, random);
    const std::vector<float> flats = any_elements<float>(3 * image, random);
    std::vector<FieldPlace> dark_places;
    std::vector<FieldPlace> flat_places;
    std::vector<float> right;
    std::uint64_t expected = 0;
    const std::vector<std::uint16_t> in =
        any_elements<std::uint16_t>(static_cast<std::size_t>(block.frames) * in_block, random);
    const auto between = [&](const std::vector<float>& images, const FieldPlace& place) {
        std::vector<float> made;
        for (std::size_t i = first; i < first + in_block; ++i) {
            const float a = images[static_cast<std::size_t>(place.before) * image + i];
            const float b = images[static_cast<std::size_t>(place.after) * image + i];
            const float step = b - a;
            const float part = place.weight * step;
            made.push_back(place.before == place.after ? a : a + part);
        }
        return made;
    };
    for (std::int64_t frame = 0; frame < block.frames; ++frame) {
        const auto weight = static_cast<float>(random() % 1000) / 999;
        const auto before = static_cast<std::int32_t>(random() % 3);
        dark_places.push_back({0, static_cast<std::int32_t>(random() % 2), weight});
        flat_places.push_back({before, std::min(before + 1, 2), 1 - weight});
        const auto from = in.begin() + frame * static_cast<std::ptrdiff_t>(in_block);
        const std::vector<float> made = correct_reference(
            c, between(darks, dark_places.back()), between(flats, flat_places.back()),
            std::vector<std::uint16_t>(from, from + static_cast<std::ptrdiff_t>(in_block)),
            expected);
        right.insert(right.end(), made.begin(), made.end());
    }
    const auto [values, raised] = corrected(queue, c, block, darks, flats, in,
                                            {std::move(dark_places), std::move(flat_places)});
    EXPECT_EQ("", first_difference(right, values));
    EXPECT_EQ(raised, expected);
}

TYPED_TEST(CorrectTest, FramesLieBetweenImages) {
    std::mt19937_64 random(7);
    for (const std::int64_t columns : {48, 31, 4}) {
        expect_between(this->queue(), random, columns, {1, 1, 3, 1, 3});
        expect_between(this->queue(), random, columns, {131, 0, 5, 0, 5});
        expect_between(this->queue(), random, columns, {3, 0, 5, 0, 5});
    }
}

TEST(CorrectTargets, EveryVectorSetGivesTheBytesOfTheReference) {
    CpuQueue queue(2);
    for (const std::int64_t target : usable_targets()) {
        const OnlyTarget only(target);
        SCOPED_TRACE(hwy::TargetName(target));
        std::mt19937_64 random(3);
        expect_reference(queue, random);
        expect_between(queue, random, 37, {3, 0, 5, 0, 5});
    }
}

TEST(NegativeLog, IsWithinOneUnitOfTheTrueValue) {
    std::mt19937 random(4);
    for (int i = 0; i < 2000000; ++i) {
        // All positive bits; every fourth near 1.
        const std::uint32_t bits =
            i % 4 == 0 ? 0x3F700000U + random() % 0x200000U : 1U + random() % 0x7F7FFFFFU;
        const auto t = std::bit_cast<float>(bits);
        const long double truth = -std::log(static_cast<long double>(t));
        const float result = negative_log(t);
        const long double unit = std::nextafter(std::fabs(result), inf) - std::fabs(result);
        ASSERT_LE(std::fabs(static_cast<long double>(result) - truth), 0.501L * unit) << t;
    }
    EXPECT_EQ(negative_log(1), 0);
}

} // namespace
} // namespace runner
