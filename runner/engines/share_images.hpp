// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/job.hpp"
#include "runner/ranks/mpi.hpp"

#include <cstdint>
#include <functional>

namespace runner {

/// Computes the job's side images that are not known yet on every rank: each rank a share of the
/// rows, which the ranks then exchange. `most_bytes`: host memory for computing, of the plan.
/// Collective. @throws AgreedError (input) as SideImage::compute(), and what `check` throws, which
/// is called between reads.
void share_images(const Job& job, std::int64_t most_bytes, const Ranks& ranks,
                  const std::function<void()>& check);

} // namespace runner
