// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose_array.hpp"

#include "base/array_info.hpp"
#include "tests/support/transpose_cases.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace runner {
namespace {

using Shape = std::vector<std::int64_t>;
using Permutation = std::vector<int>;

/// Element by element.
std::vector<std::byte> reference(const std::vector<std::byte>& in, const Shape& shape,
                                 const Permutation& permutation, std::int64_t element_bytes) {
    std::vector<std::byte> out;
    for (std::int64_t i = 0; i < std::ssize(in) / element_bytes; ++i) {
        Shape at(shape.size());
        std::int64_t rest = i;
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            const auto from = static_cast<std::size_t>(permutation[axis]);
            at[from] = rest % shape[from];
            rest /= shape[from];
        }
        std::int64_t place = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            place = place * shape[axis] + at[axis];
        }
        const auto element = in.begin() + place * element_bytes;
        out.insert(out.end(), element, element + element_bytes);
    }
    return out;
}

template <class Q> class TransposeArrayTest : public QueueTest<Q> {
  protected:
    void expect_right(const Shape& shape, const Permutation& permutation, int element_bytes) {
        SCOPED_TRACE(shape_text(shape) + " by " +
                     shape_text(std::vector<std::int64_t>(permutation.begin(), permutation.end())) +
                     " of " + std::to_string(element_bytes) + " bytes");
        std::vector<std::byte> in(static_cast<std::size_t>(
            std::accumulate(shape.begin(), shape.end(), std::int64_t{element_bytes},
                            [](std::int64_t a, std::int64_t b) { return a * b; })));
        for (std::size_t i = 0; i < in.size(); ++i) {
            in[i] = static_cast<std::byte>(i * 2654435761U >> 13U);
        }
        const DeviceBytes<Q> from(this->queue(), in);
        const DeviceBytes<Q> to(this->queue(), std::vector<std::byte>(in.size()));
        transpose_array(this->queue(), array_transposition(shape, permutation, element_bytes),
                        from.data(), to.data());
        EXPECT_TRUE(to.fetch() == reference(in, shape, permutation, element_bytes));
    }
};

TYPED_TEST_SUITE(TransposeArrayTest, TestQueues);

TYPED_TEST(TransposeArrayTest, EveryOrderOfFourAxes) {
    Permutation permutation = {0, 1, 2, 3};
    do {
        for (const int element_bytes : {1, 2, 16}) {
            this->expect_right({3, 5, 7, 11}, permutation, element_bytes);
            this->expect_right({5, 1, 4, 33}, permutation, element_bytes);
        }
    } while (std::next_permutation(permutation.begin(), permutation.end()));
}

TYPED_TEST(TransposeArrayTest, EveryOrderOfFiveAxes) {
    Permutation permutation = {0, 1, 2, 3, 4};
    do {
        this->expect_right({3, 2, 5, 3, 7}, permutation, 4);
    } while (std::next_permutation(permutation.begin(), permutation.end()));
}

TYPED_TEST(TransposeArrayTest, OtherNumbersOfAxes) {
    this->expect_right({7}, {0}, 8);
    this->expect_right({1, 1, 1, 1}, {3, 1, 2, 0}, 1);
    this->expect_right({13, 17}, {1, 0}, 4);
    this->expect_right({3, 1, 2, 5, 2, 3, 4}, {6, 1, 4, 0, 5, 2, 3}, 2);
}

TEST(ArrayTransposition, IsOneWhereThreeAxesMove) {
    // t, z, c, y, x to t, c, z, y, x: images stay whole, and without t three axes move.
    EXPECT_TRUE(
        array_transposition(Shape{1, 9, 3, 50, 60}, Permutation{0, 2, 1, 3, 4}, 2).outside.empty());
    const ArrayTransposition times =
        array_transposition(Shape{4, 9, 3, 50, 60}, Permutation{0, 2, 1, 3, 4}, 2);
    EXPECT_EQ(times.outside, (std::vector<TransposeAxis>{{3, 3000, 27000}}));
}

} // namespace
} // namespace runner
