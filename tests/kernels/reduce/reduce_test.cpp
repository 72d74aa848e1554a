// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduce/reduce.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/reduce/reduce_rules.hpp"
#include "tests/reference/reduce_reference.hpp"
#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace runner {
namespace {

using Operation = Reduction::Operation;

/// What the queue makes of the groups.
template <class In, class Out, class Q>
std::vector<Out> reduced(Q& queue, const Reduction& r, std::int64_t groups,
                         const std::vector<In>& in) {
    const Backend backend = std::is_same_v<Q, CpuQueue> ? Backend::cpu : Backend::cuda;
    const Buffer scratch = allocate_device(
        queue, std::max<std::int64_t>(256, reduce_scratch_bytes(backend, r, groups)));
    const auto bytes = static_cast<std::size_t>(groups * r.places() * r.results()) * sizeof(Out);
    return values_of<Out>(
        made_on(queue, bytes_of(in), bytes, [&](const std::byte* from, std::byte* to) {
            reduce(queue, r, groups, from, to, scratch.data());
            queue.synchronize();
        }));
}

template <class In, class Out> Reduction typed(Reduction r) {
    r.in_type = element_type_of<In>();
    r.out_type = element_type_of<Out>();
    return r;
}

/// Compares with the reference, for elements of type In of which some may be invalid.
template <class In, class Out, class Q>
void expect_right(Q& queue, const Reduction& like, std::int64_t groups, std::vector<In> in) {
    const Reduction r = typed<In, Out>(like);
    if (r.invalid) {
        for (std::size_t i = 0; i < in.size(); i += 3) {
            in[i] = invalid_element<In>(invalid_value(r.in_type, *r.invalid));
        }
    }
    EXPECT_EQ("", first_difference(reduce_reference<In, Out>(r, groups, in),
                                   (reduced<In, Out>(queue, r, groups, in))))
        << name_of(r.in_type) << ", operation " << static_cast<int>(r.operation)
        << (r.invalid ? ", some invalid" : "");
}

/// Every operation.
template <class In, class Q>
void expect_all_right(Q& queue, Reduction like, std::int64_t groups, const std::vector<In>& in) {
    like.percentiles = {99, 0, 50, 12.5, 100};
    like.bins = 7;
    like.range = {-100, 123.25};
    const auto run = [&]<class Out>(Operation operation, Out /*zero*/) {
        like.operation = operation;
        expect_right<In, Out>(queue, like, groups, in);
    };
    run(Operation::mean, float{});
    run(Operation::mean, double{});
    run(Operation::mean, std::int16_t{});
    run(Operation::std, double{});
    run(Operation::sum, SumElement<In>{});
    run(Operation::min, In{});
    run(Operation::max, In{});
    run(Operation::median, In{});
    run(Operation::percentiles, In{});
    run(Operation::histogram, std::uint64_t{});
}

/// The elements of a group that is an array of these extents; `is_reduced` of each of its axes.
Reduction of_group(std::vector<std::int64_t> extents, const std::string& is_reduced) {
    Reduction r;
    std::int64_t stride = 1;
    std::size_t reduced = 3;
    std::size_t kept = 3;
    for (std::size_t axis = extents.size(); axis-- > 0; stride *= extents[axis]) {
        GroupAxis& to = is_reduced[axis] == '1' ? r.reduced.at(--reduced) : r.kept.at(--kept);
        to = {extents[axis], stride};
    }
    return r;
}

template <class Q> class ReduceTest : public QueueTest<Q> {};
TYPED_TEST_SUITE(ReduceTest, TestQueues);

TYPED_TEST(ReduceTest, ByHand) {
    const std::vector<std::uint8_t> image = {1, 2, 9, //
                                             5, 4, 3};
    const auto made = [&]<class Out>(Operation operation, const std::string& axes, Out /*zero*/) {
        Reduction r = of_group({2, 3}, axes);
        r.operation = operation;
        r.bins = 2;
        r.range = {1, 5};
        r.percentiles = {0, 100};
        return reduced<std::uint8_t, Out>(this->queue(), typed<std::uint8_t, Out>(r), 1, image);
    };
    EXPECT_EQ(made(Operation::mean, "10", float{}), (std::vector<float>{3, 3, 6}));
    EXPECT_EQ(made(Operation::mean, "01", float{}), (std::vector<float>{4, 4}));
    EXPECT_EQ(made(Operation::sum, "11", std::uint64_t{}), (std::vector<std::uint64_t>{24}));
    EXPECT_EQ(made(Operation::max, "01", std::uint8_t{}), (std::vector<std::uint8_t>{9, 5}));
    EXPECT_EQ(made(Operation::min, "10", std::uint8_t{}), (std::vector<std::uint8_t>{1, 2, 3}));
    EXPECT_EQ(made(Operation::std, "10", double{}), (std::vector<double>{2, 1, 3}));
    EXPECT_EQ(made(Operation::median, "11", std::uint8_t{}), (std::vector<std::uint8_t>{3}));
    EXPECT_EQ(made(Operation::median, "01", std::uint8_t{}), (std::vector<std::uint8_t>{2, 4}));
    EXPECT_EQ(made(Operation::percentiles, "11", std::uint8_t{}),
              (std::vector<std::uint8_t>{1, 9}));
    // From 1 to below 3, and from 3 to 5.
    EXPECT_EQ(made(Operation::histogram, "11", std::uint64_t{}),
              (std::vector<std::uint64_t>{2, 3}));
}

TYPED_TEST(ReduceTest, EveryTypeAndOperation) {
    std::mt19937_64 random(71);
    const Reduction like = of_group({3, 5, 37}, "101");
    for (const ElementType type : all_element_types) {
        visit_element_type(type, [&](auto zero) {
            using T = decltype(zero);
            const auto in = any_elements<T>(2 * 3 * 5 * 37, random);
            expect_all_right<T>(this->queue(), like, 2, in);
            Reduction some = like;
            some.invalid = std::is_integral_v<T> ? 7 : std::numeric_limits<double>::quiet_NaN();
            expect_all_right<T>(this->queue(), some, 2, in);
        });
    }
}

TYPED_TEST(ReduceTest, EveryFormOfGroup) {
    std::mt19937_64 random(5);
    for (const auto& [extents, axes, groups] :
         std::vector<std::tuple<std::vector<std::int64_t>, std::string, std::int64_t>>{
             {{1}, "1", 3},
             {{131}, "1", 7},
             {{4099}, "0", 1},
             {{259, 3}, "10", 2},
             {{2, 331}, "10", 3},
             {{300, 65}, "10", 1},
             {{3, 7, 2, 5}, "1010", 2},
             {{3, 7, 2, 5}, "0101", 2},
             {{2, 3, 2, 3, 2, 33}, "101010", 1},
             {{2, 3, 2, 3, 2, 33}, "010101", 1}}) {
        std::int64_t count = groups;
        for (const std::int64_t extent : extents) {
            count *= extent;
        }
        const auto floats = any_elements<float>(static_cast<std::size_t>(count), random);
        expect_all_right<float>(this->queue(), of_group(extents, axes), groups, floats);
        const auto words = any_elements<std::uint16_t>(static_cast<std::size_t>(count), random);
        expect_all_right<std::uint16_t>(this->queue(), of_group(extents, axes), groups, words);
    }
}

TYPED_TEST(ReduceTest, SeveralPieces) {
    std::mt19937_64 random(9);
    const std::int64_t count = 2 * Reduction::piece + 77;
    std::vector<float> in(static_cast<std::size_t>(2 * count));
    for (float& value : in) {
        value = std::normal_distribution<float>(0, 40)(random);
    }
    expect_all_right<float>(this->queue(), of_group({count}, "1"), 2, in);
    expect_all_right<float>(this->queue(), of_group({count, 2}, "10"), 1, in);
}

TYPED_TEST(ReduceTest, InvalidPlacesStayInvalid) {
    Reduction r = of_group({2, 2}, "10");
    r.invalid = 0;
    const std::vector<std::uint16_t> in = {0, 5, 0, 9};
    const auto made = [&]<class Out>(Operation operation, Out /*zero*/) {
        r.operation = operation;
        return reduced<std::uint16_t, Out>(this->queue(), typed<std::uint16_t, Out>(r), 1, in);
    };
    EXPECT_EQ(made(Operation::min, std::uint16_t{}), (std::vector<std::uint16_t>{0, 5}));
    EXPECT_EQ(made(Operation::median, std::uint16_t{}), (std::vector<std::uint16_t>{0, 5}));
    EXPECT_EQ(made(Operation::sum, std::uint64_t{}), (std::vector<std::uint64_t>{0, 14}));
    const std::vector<float> means = made(Operation::mean, float{});
    EXPECT_TRUE(is_nan(means[0]));
    EXPECT_EQ(means[1], 7);
}

TYPED_TEST(ReduceTest, SumsOfLongIntegersAreExactAndSaturate) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    Reduction r = typed<std::int64_t, std::int64_t>(of_group({3, 3}, "10"));
    r.operation = Operation::sum;
    const std::vector<std::int64_t> in = {most, most, -most, most, 1, -most, -most, 2, -most};
    EXPECT_EQ((reduced<std::int64_t, std::int64_t>(this->queue(), r, 1, in)),
              (std::vector<std::int64_t>{most, most, std::numeric_limits<std::int64_t>::min()}));
    r.operation = Operation::mean;
    r.out_type = ElementType::float64;
    // most + most - most, and (most + 3) / 3.
    EXPECT_EQ((reduced<std::int64_t, double>(this->queue(), r, 1, in)),
              (std::vector<double>{0x1p63 / 3, 0x1p63 / 3, -0x1p63}));
}

TEST(ReduceRules, TheNearestDouble) {
    const auto wide = [](std::int64_t high, std::uint64_t low) {
        return static_cast<WideInteger>(high) * (static_cast<WideInteger>(1) << 64) + low;
    };
    EXPECT_EQ(nearest_double(wide(0, 0)), 0);
    EXPECT_EQ(nearest_double(wide(1, 0)), 0x1p64);
    EXPECT_EQ(nearest_double(wide(-1, 0)), -0x1p64);
    EXPECT_EQ(nearest_double(wide(1, 2048)), 0x1p64);          // half, to even
    EXPECT_EQ(nearest_double(wide(1, 2049)), 0x1p64 + 0x1p12); // above it
    EXPECT_EQ(nearest_double(wide(1, 6144)), 0x1p64 + 0x1p13); // half, to even
    EXPECT_EQ(nearest_double(-wide(1, 2049)), -0x1p64 - 0x1p12);
}

TEST(ReduceRules, BinsBeginAtTheirEdges) {
    const HistogramBins bins = HistogramBins::of(10, 0, 1);
    for (std::int64_t bin = 0; bin < 10; ++bin) {
        EXPECT_EQ(bins.bin_of(bins.edge(bin)), bin);
        EXPECT_EQ(bins.bin_of(std::nextafter(bins.edge(bin + 1), 0)), bin);
    }
    EXPECT_EQ(bins.bin_of(1), 9);
    EXPECT_EQ(bins.bin_of(std::nextafter(1, 2)), -1);
    EXPECT_EQ(bins.bin_of(std::nextafter(0, -1)), -1);
    EXPECT_EQ(bins.bin_of(std::numeric_limits<double>::quiet_NaN()), -1);
}

} // namespace
} // namespace runner
