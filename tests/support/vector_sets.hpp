// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include <hwy/highway.h>

namespace runner {

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
inline std::set<std::int64_t> usable_targets() {
    const std::vector<std::int64_t> best = hwy::SupportedAndGeneratedTargets();
    std::set<std::int64_t> targets(best.begin(), best.end());
    targets.insert(HWY_STATIC_TARGET);
    return targets;
}

} // namespace runner
