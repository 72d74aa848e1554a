// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose.hpp"

#include "tests/support/transpose_cases.hpp"

#include <set>

#include <hwy/highway.h>

namespace runner {
namespace {

/// Makes Highway choose one vector set until the end of its life.
class OnlyTarget {
  public:
    explicit OnlyTarget(std::int64_t target) { hwy::GetChosenTarget().Update(target); }
    ~OnlyTarget() { hwy::GetChosenTarget().DeInit(); }
    OnlyTarget(const OnlyTarget&) = delete;
    OnlyTarget(OnlyTarget&&) = delete;
    OnlyTarget& operator=(const OnlyTarget&) = delete;
    OnlyTarget& operator=(OnlyTarget&&) = delete;
};

/// The vector sets that this machine has and the kernels are compiled for, and the one that every
/// machine of this kind has.
std::set<std::int64_t> usable_targets() {
    const std::vector<std::int64_t> best = hwy::SupportedAndGeneratedTargets();
    std::set<std::int64_t> targets(best.begin(), best.end());
    targets.insert(HWY_STATIC_TARGET);
    return targets;
}

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
