// SPDX-License-Identifier: BSD-3-Clause
// Every operation that heeds invalid elements: what each queue makes of whole frames and of parts
// is what one thread makes of the whole. tests/end_to_end/invalid_elements.py compares that with
// numpy.
#include "kernels/bin/bin.hpp"
#include "kernels/convolve/convolve_valid.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/fill/fill.hpp"
#include "kernels/median/median.hpp"

#include "tests/support/element_bytes.hpp"
#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace runner {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Small numbers, of which some are `invalid`; whole rows and patches of them too.
std::vector<std::byte> some_elements(ElementType type, std::int64_t rows, std::int64_t columns,
                                     double invalid, unsigned seed) {
    std::mt19937 random(seed);
    return visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        std::vector<T> values(static_cast<std::size_t>(rows * columns));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const bool lost = random() % 6 == 0 || (i / static_cast<std::size_t>(columns)) % 9 == 4;
            values[i] = lost ? (std::isnan(invalid) ? std::numeric_limits<T>::quiet_NaN()
                                                    : static_cast<T>(invalid))
                             : static_cast<T>(random() % 50);
        }
        return bytes_of(values);
    });
}

std::vector<std::byte> rows_of(const std::vector<std::byte>& all, std::int64_t row_bytes,
                               std::int64_t first, std::int64_t count) {
    const auto begin = all.begin() + first * row_bytes;
    return {begin, begin + count * row_bytes};
}

/// An operation on rows of frames: its elements in and out, and the rows that a row needs.
struct Operation {
    std::int64_t in_row_bytes = 0;
    std::int64_t out_row_bytes = 0;
    std::int64_t rows = 0; ///< of the frame
    std::int64_t halo = 0;
    std::int64_t step = 1; ///< blocks are multiples of it, and `each` rows of the output of it
    std::int64_t each = 1;
};

/// Compares the parts of a frame, `take` rows each, with the whole by one thread.
template <class Q, class Run>
void compare(Q& queue, const Operation& of, const std::vector<std::byte>& in, std::int64_t take,
             const Run& run) {
    const auto make = [&](auto& on, const RowBlock& block) {
        const std::int64_t made = (block.out_rows + of.step - 1) / of.step * of.each;
        return made_on(on, rows_of(in, of.in_row_bytes, block.in_first, block.in_rows),
                       static_cast<std::size_t>(made * of.out_row_bytes),
                       [&](const std::byte* from, std::byte* to) {
                           run(on, block, from, to);
                           on.synchronize();
                       });
    };
    CpuQueue alone(1);
    const std::vector<std::byte> whole = make(alone, {1, 0, of.rows, 0, of.rows});
    for (std::int64_t first = 0; first < of.rows; first += take) {
        const std::int64_t last = std::min(of.rows, first + take);
        const std::int64_t in_first = std::max<std::int64_t>(0, first - of.halo);
        const std::int64_t in_last = std::min(of.rows, last + of.halo);
        const std::vector<std::byte> part =
            make(queue, {1, in_first, in_last - in_first, first, last - first});
        const std::int64_t before = first / of.step * of.each * of.out_row_bytes;
        EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + before))
            << "rows from " << first << " on";
    }
}

struct Case {
    ElementType in;
    ElementType out;
    double invalid;
};

const std::vector<Case> cases = {{ElementType::uint8, ElementType::float32, 255},
                                 {ElementType::int16, ElementType::uint8, -3},
                                 {ElementType::uint16, ElementType::int64, 65535},
                                 {ElementType::int32, ElementType::float64, 7},
                                 {ElementType::uint64, ElementType::int16, 0},
                                 {ElementType::float32, ElementType::float32, not_a_number},
                                 {ElementType::float32, ElementType::uint64, 0},
                                 {ElementType::float64, ElementType::int32, -9.5}};

template <class Q> class InvalidElements : public QueueTest<Q> {};
TYPED_TEST_SUITE(InvalidElements, TestQueues);

TYPED_TEST(InvalidElements, AreMarked) {
    for (const Case& each : cases) {
        constexpr std::int64_t columns = 1031;
        const Operation of{columns * size_of(each.in), columns * size_of(each.out), 17};
        const auto run = [&](auto& queue, const RowBlock& block, const std::byte* in,
                             std::byte* out) {
            mark_invalid(queue,
                         {each.in, each.invalid, each.out, invalid_value(each.out, each.invalid)},
                         block.out_rows * columns, in, out);
        };
        compare(this->queue(), of, some_elements(each.in, 17, columns, each.invalid, 1), 5, run);
    }
}

TYPED_TEST(InvalidElements, AreLeftOutOfBins) {
    for (const Case& each : cases) {
        for (const int factor : {1, 2, 5}) {
            Bin b;
            b.in_type = each.in;
            b.out_type = each.out;
            b.rows = 23;
            b.columns = 301;
            b.factors = {1, 3, factor};
            b.value = factor == 2 ? Bin::Value::sum : Bin::Value::mean;
            b.edge = BinEdge::partial;
            b.invalid = each.invalid;
            const Operation of{
                b.columns * size_of(each.in), b.out_columns() * size_of(each.out), b.rows, 0, 3, 1};
            compare(this->queue(), of, some_elements(each.in, b.rows, b.columns, each.invalid, 2),
                    6,
                    [&](auto& queue, const RowBlock& block, const std::byte* in, std::byte* out) {
                        bin(queue, b, block, in, out);
                    });
        }
    }
}

TYPED_TEST(InvalidElements, AreLeftOutOfMedians) {
    for (const Case& each : cases) {
        for (const std::array<int, 3>& size :
             {std::array{1, 3, 3}, {1, 5, 5}, {1, 7, 3}, {3, 3, 3}, {1, 1, 9}}) {
            Median m;
            m.type = each.in;
            m.layers = size[0] > 1 ? 4 : 1;
            m.rows = 19;
            m.columns = 77;
            m.size = size;
            m.boundary = size[1] == 5 ? Boundary::constant : Boundary::mirror;
            m.fill = 3;
            m.difference = size[1] == 7 ? std::optional(4.0) : std::nullopt;
            m.invalid = each.invalid;
            const std::int64_t rows = m.layers * m.rows;
            const std::int64_t row_bytes = m.columns * size_of(each.in);
            const std::int64_t halo = size[0] > 1 ? m.rows : size[1] / 2;
            compare(this->queue(), {row_bytes, row_bytes, rows, halo},
                    some_elements(each.in, rows, m.columns, each.invalid, 3),
                    size[0] > 1 ? m.rows : 7,
                    [&](auto& queue, const RowBlock& block, const std::byte* in, std::byte* out) {
                        median(queue, m, block, in, out);
                    });
        }
    }
}

TYPED_TEST(InvalidElements, AreLeftOutOfConvolutions) {
    for (const Case& each : cases) {
        for (const bool signs : {false, true}) {
            Convolution c;
            c.in_type = each.in;
            c.out_type = each.out;
            c.frame_rows = 29;
            c.columns = 143;
            c.row_taps = {0.1, 0.3, 0.25, 0.2, 0.15};
            c.column_taps = {0.3, 0.5, signs ? -0.2 : 0.2};
            c.boundary = signs ? Boundary::constant : Boundary::reflect;
            c.fill = 2;
            compare(this->queue(),
                    {c.columns * size_of(each.in), c.columns * size_of(each.out), c.frame_rows, 1},
                    some_elements(each.in, c.frame_rows, c.columns, each.invalid, 4), 8,
                    [&](auto& queue, const RowBlock& block, const std::byte* in, std::byte* out) {
                        using Q = std::decay_t<decltype(queue)>;
                        const Backend at = Q::shares_host_memory ? Backend::cpu : Backend::cuda;
                        const Buffer scratch =
                            allocate_device(queue, ValidScratch(at, c, block).bytes());
                        convolve_valid(queue, ValidConvolution{c, each.invalid}, block, in, out,
                                       scratch.data());
                        queue.synchronize();
                    });
        }
    }
}

TYPED_TEST(InvalidElements, AreFilled) {
    for (const Case& each : cases) {
        for (const std::array<int, 3>& reach : {std::array{0, 3, 4}, {1, 2, 2}, {2, 1, 0}}) {
            Fill f;
            f.type = each.in;
            f.layers = reach[0] > 0 ? 4 : 1;
            f.rows = 21;
            f.columns = 83;
            f.invalid = each.invalid;
            f.method = reach[0] == 1 ? Fill::Method::mean : Fill::Method::nearest;
            f.reach = reach;
            f.rest = reach[0] == 2 ? std::optional(4.0) : std::nullopt;
            const std::int64_t rows = f.layers * f.rows;
            const std::int64_t row_bytes = f.columns * size_of(each.in);
            const bool layers = reach[0] > 0;
            compare(
                this->queue(), {row_bytes, row_bytes, rows, layers ? reach[0] * f.rows : reach[1]},
                some_elements(each.in, rows, f.columns, each.invalid, 5), layers ? f.rows : 6,
                [&](auto& queue, const RowBlock& block, const std::byte* in, std::byte* out) {
                    const DeviceBytes<std::decay_t<decltype(queue)>> counts(
                        queue, std::vector<std::byte>(sizeof(FillCounts)));
                    fill(queue, f, block, in, out, reinterpret_cast<FillCounts*>(counts.data()));
                    queue.synchronize();
                });
        }
    }
}

/// 1 ? 3 of two rows, in which 9 is invalid.
TYPED_TEST(InvalidElements, AreCounted) {
    Fill f;
    f.type = ElementType::uint8;
    f.rows = 2;
    f.columns = 3;
    f.invalid = 9;
    f.reach = {0, 0, 1};
    auto& queue = this->queue();
    const DeviceBytes<TypeParam> counts(queue, std::vector<std::byte>(sizeof(FillCounts)));
    const std::vector<std::byte> made = made_on(
        queue, bytes_of(std::vector<std::uint8_t>{1, 9, 3, 9, 9, 9}), 6,
        [&](const std::byte* in, std::byte* out) {
            fill(queue, f, {1, 0, 2, 0, 2}, in, out, reinterpret_cast<FillCounts*>(counts.data()));
            queue.synchronize();
        });
    EXPECT_EQ((std::vector<std::uint8_t>{1, 1, 3, 9, 9, 9}), values_of<std::uint8_t>(made));
    EXPECT_EQ((std::vector<std::uint64_t>{1, 3}), values_of<std::uint64_t>(counts.fetch()));
}

} // namespace
} // namespace runner
