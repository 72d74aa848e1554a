// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/voxels.hpp"

#include "tests/support/queues.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace runner {
namespace {

template <class Q> class AnscombeTest : public QueueTest<Q> {
  protected:
    using Change = void (*)(Q&, std::int64_t, const float*, float*);

    std::vector<float> changed(Change change, const std::vector<float>& values) {
        std::vector<std::byte> bytes(values.size() * 4 + 4, std::byte{0x5A});
        std::copy_n(reinterpret_cast<const std::byte*>(values.data()), values.size() * 4,
                    bytes.begin());
        const DeviceBytes<Q> memory(this->queue(), bytes);
        auto* floats = reinterpret_cast<float*>(memory.data());
        change(this->queue(), static_cast<std::int64_t>(values.size()), floats, floats);
        bytes = memory.fetch();
        EXPECT_EQ(bytes.back(), std::byte{0x5A}) << "written past the elements";
        std::vector<float> result(values.size());
        std::copy_n(bytes.begin(), values.size() * 4, reinterpret_cast<std::byte*>(result.data()));
        return result;
    }
};

TYPED_TEST_SUITE(AnscombeTest, TestQueues);

TYPED_TEST(AnscombeTest, StabilisesByTheFormula) {
    std::vector<float> counts = {-5,     -0.375F, -0.25F,  -0.0F, 0,
                                 0.625F, 1.625F,  15.625F, 65535, 1e30F};
    for (int i = 0; i < 70000; ++i) {
        counts.push_back(static_cast<float>(i) / 3);
    }
    const auto found = this->changed(stabilise_counts, counts);
    EXPECT_EQ(found[0], 0);
    EXPECT_EQ(found[5], 2);
    EXPECT_EQ(found[7], 8);
    for (std::size_t i = 1; i < counts.size(); ++i) {
        const double right = 2 * std::sqrt(static_cast<double>(counts[i]) + 0.375);
        ASSERT_EQ(found[i], static_cast<float>(right)) << counts[i];
    }
}

TYPED_TEST(AnscombeTest, ThereIsNothingBelowZero) {
    EXPECT_EQ(this->changed(restore_counts, {-3, 0, 1, 1.2247448F}),
              (std::vector<float>{0, 0, 0, 0}));
}

TYPED_TEST(AnscombeTest, NoNumberIsNoCount) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(this->changed(stabilise_counts, {nan}), std::vector<float>{0});
    EXPECT_EQ(this->changed(restore_counts, {nan}), std::vector<float>{0});
}

TYPED_TEST(AnscombeTest, TheInverseIsUnbiased) {
    // The mean of what counts with a Poisson distribution become gives their mean back.
    std::vector<float> means;
    std::vector<float> stabilised;
    for (const double mean : {1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 400.0}) {
        double sum = 0;
        for (int count = 0; count < 1000; ++count) {
            const double chance =
                std::exp(count * std::log(mean) - mean - std::lgamma(count + 1.0));
            sum += chance * 2 * std::sqrt(count + 0.375);
        }
        means.push_back(static_cast<float>(mean));
        stabilised.push_back(static_cast<float>(sum));
    }
    const auto found = this->changed(restore_counts, stabilised);
    for (std::size_t i = 0; i < means.size(); ++i) {
        // The closed form is not the inverse itself, but near it; the plain inverse is off by 1/4.
        EXPECT_NEAR(found[i], means[i], 0.03 + 1e-5 * static_cast<double>(means[i])) << means[i];
    }
}

TYPED_TEST(AnscombeTest, NoElements) {
    EXPECT_TRUE(this->changed(stabilise_counts, {}).empty());
    EXPECT_TRUE(this->changed(restore_counts, {}).empty());
}

} // namespace
} // namespace runner
