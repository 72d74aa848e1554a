// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose.hpp"

#include "tests/support/transpose_cases.hpp"

namespace runner {
namespace {

template <class Q> class TransposeTest : public QueueTest<Q> {
  protected:
    void expect_right(TransposeCases& cases, const Transposition& t, std::int64_t in_offset = 0,
                      std::int64_t out_offset = 0) {
        TransposeBuffers<Q> buffers(this->queue(), cases, t, in_offset, out_offset);
        transpose(this->queue(), t, buffers.in(), buffers.out());
        EXPECT_EQ("", buffers.wrong());
    }

    void expect_all_right(TransposeCases& cases, const std::array<std::int64_t, 3>& shape) {
        for (const auto& permutation : all_permutations) {
            for (const int element_bytes : {1, 2, 4, 8, 16}) {
                expect_right(cases, dense_transposition(shape, permutation, element_bytes));
            }
        }
    }
};

TYPED_TEST_SUITE(TransposeTest, TestQueues);

TYPED_TEST(TransposeTest, AFewBytesByHand) {
    // Two planes of 2 × 3.
    std::vector<std::byte> in;
    for (int i = 0; i < 12; ++i) {
        in.push_back(static_cast<std::byte>(i));
    }
    const DeviceBytes<TypeParam> from(this->queue(), in);
    const DeviceBytes<TypeParam> to(this->queue(), in);
    const auto result = [&](const std::array<int, 3>& permutation) {
        transpose(this->queue(), dense_transposition({2, 2, 3}, permutation, 1), from.data(),
                  to.data());
        std::vector<int> numbers;
        for (const std::byte byte : to.fetch()) {
            numbers.push_back(static_cast<int>(byte));
        }
        return numbers;
    };
    using Numbers = std::vector<int>;
    EXPECT_EQ((Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), result({0, 1, 2}));
    EXPECT_EQ((Numbers{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}), result({0, 2, 1}));
    EXPECT_EQ((Numbers{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}), result({1, 0, 2}));
    EXPECT_EQ((Numbers{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}), result({1, 2, 0}));
    EXPECT_EQ((Numbers{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}), result({2, 0, 1}));
    EXPECT_EQ((Numbers{0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11}), result({2, 1, 0}));
}

TYPED_TEST(TransposeTest, SmallExtents) {
    TransposeCases cases(1);
    for (const std::int64_t a : {1, 2, 3, 5}) {
        for (const std::int64_t b : {1, 2, 7}) {
            for (const std::int64_t c : {1, 3, 4, 8}) {
                this->expect_all_right(cases, {a, b, c});
            }
        }
    }
}

TYPED_TEST(TransposeTest, ExtentsAroundTiles) {
    TransposeCases cases(2);
    for (const auto& shape : std::vector<std::array<std::int64_t, 3>>{{31, 32, 33},
                                                                      {33, 31, 32},
                                                                      {7, 64, 127},
                                                                      {64, 5, 127},
                                                                      {127, 64, 3},
                                                                      {64, 128, 32},
                                                                      {1, 129, 257},
                                                                      {4, 9, 301},
                                                                      {129, 1, 128}}) {
        this->expect_all_right(cases, shape);
    }
}

TYPED_TEST(TransposeTest, LongAndOddExtents) {
    TransposeCases cases(3);
    for (const auto& shape : std::vector<std::array<std::int64_t, 3>>{
             {1, 1023, 129}, {3, 5, 4099}, {4099, 3, 5}, {5, 4099, 3}, {2, 257, 300}}) {
        this->expect_all_right(cases, shape);
    }
}

TYPED_TEST(TransposeTest, NoElements) {
    TransposeCases cases(4);
    this->expect_all_right(cases, {0, 3, 5});
    this->expect_all_right(cases, {3, 0, 5});
    this->expect_all_right(cases, {3, 5, 0});
}

TYPED_TEST(TransposeTest, AnyPlaceInMemory) {
    TransposeCases cases(5);
    for (const int element_bytes : {1, 2, 4, 8}) {
        for (std::int64_t offset = 0; offset < 16 / element_bytes; offset += 1) {
            for (const auto& permutation : all_permutations) {
                const Transposition t =
                    dense_transposition({2, 96, 80}, permutation, element_bytes);
                this->expect_right(cases, t, offset, cases.number(0, 16));
            }
        }
    }
}

TYPED_TEST(TransposeTest, ForthAndBackIsTheSame) {
    TransposeCases cases(6);
    for (const auto& forth : all_permutations) {
        std::array<int, 3> back{};
        for (std::size_t i = 0; i < 3; ++i) {
            back[static_cast<std::size_t>(forth[i])] = static_cast<int>(i);
        }
        for (const int element_bytes : {1, 2, 4, 8, 16}) {
            const Transposition t = dense_transposition({33, 70, 41}, forth, element_bytes);
            const auto bytes = cases.bytes(span_bytes(t.shape, t.in_strides, element_bytes));
            const DeviceBytes<TypeParam> from(this->queue(), bytes);
            const DeviceBytes<TypeParam> between(
                this->queue(), cases.bytes(static_cast<std::int64_t>(bytes.size())));
            transpose(this->queue(), t, from.data(), between.data());
            const DeviceBytes<TypeParam> to(this->queue(),
                                            cases.bytes(static_cast<std::int64_t>(bytes.size())));
            transpose(this->queue(), dense_transposition(out_shape(t), back, element_bytes),
                      between.data(), to.data());
            EXPECT_TRUE(bytes == to.fetch()) << describe(t);
        }
    }
}

TYPED_TEST(TransposeTest, RandomBoxesInLargerArrays) {
    TransposeCases cases(7);
    for (int i = 0; i < 300; ++i) {
        this->expect_right(cases, cases.any(60000), cases.number(0, 4), cases.number(0, 4));
    }
}

} // namespace
} // namespace runner
