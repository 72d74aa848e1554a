// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose.hpp"

#include "tests/support/transpose_cases.hpp"
#include "tests/support/vector_sets.hpp"

#include <set>

namespace runner {
namespace {

TEST(TransposeTargets, EveryVectorSetGivesTheSame) {
    CpuQueue queue(2);
    TransposeCases cases(41);
    const std::set<std::int64_t> targets = usable_targets();
    for (int i = 0; i < 150; ++i) {
        const Transposition t = cases.any(20000);
        for (const std::int64_t target : targets) {
            const OnlyTarget only(target);
            TransposeBuffers<CpuQueue> buffers(queue, cases, t, cases.number(0, 3),
                                               cases.number(0, 3));
            transpose(queue, t, buffers.in(), buffers.out());
            EXPECT_EQ("", buffers.wrong()) << hwy::TargetName(target);
        }
    }
}

TEST(TransposeTargets, LargeArraysAreStreamed) {
    CpuQueue queue(2);
    TransposeCases cases(42);
    // Beyond the size from which results go past the caches.
    for (const int element_bytes : {1, 4, 8}) {
        for (const std::int64_t target : usable_targets()) {
            const OnlyTarget only(target);
            const auto& permutation =
                all_permutations[static_cast<std::size_t>(cases.number(1, 5))];
            const Transposition t = dense_transposition({3, 509, 9000000 / 3 / 509 / element_bytes},
                                                        permutation, element_bytes);
            TransposeBuffers<CpuQueue> buffers(queue, cases, t, cases.number(0, 3), 1);
            transpose(queue, t, buffers.in(), buffers.out());
            EXPECT_EQ("", buffers.wrong()) << hwy::TargetName(target);
        }
    }
}

} // namespace
} // namespace runner
