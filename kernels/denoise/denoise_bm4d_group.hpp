// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/denoise_bm4d_call.hpp"

#include <cstdint>
#include <vector>

#include <oneapi/tbb/cache_aligned_allocator.h>

namespace runner {

/// The estimates of one thread of a CPU, one group after the other. `work` and what the others
/// point to outlive it.
class GroupFilter {
  public:
    GroupFilter(const Bm4dCall& call, const Bm4dVolumes& volumes, const MatchLists& lists,
                const Bm4dSums& sums);

    /// Adds the estimates of the group of the lists' row.
    void add(std::int64_t row);

  private:
    using Values = std::vector<float, tbb::cache_aligned_allocator<float>>;

    void gather(const float* volume);
    template <Basis basis> void transform(Values& spectrum);
    template <Basis basis> void restore(Values& spectrum);
    template <class Change> float change_sparser(Values& spectrum, const Change& change);
    float keep_large(Values& spectrum) const;
    float find_factors(Values& spectrum) const;
    void put(float weight);

    const Bm4dCall& call_;
    Bm4dVolumes volumes_;
    MatchLists lists_;
    Bm4dSums sums_;
    int group_ = 0;
    int levels_ = 0;
    std::int64_t corners_[Match::max_count] = {};
    const float* distances_ = nullptr;
    Basis basis_ = Basis::cosine;
    Values noisy_; ///< spectra: of the group's patches side by side, one value of all after another
    Values first_;
    Values other_;
    Values patches_; ///< one patch after another
    Values spare_;
    Values haar_; ///< of the group, one coefficient of all voxels after another
};

} // namespace runner
