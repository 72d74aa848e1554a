// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/profile_range.hpp"

#include <nvtx3/nvToolsExt.h>

namespace runner {

ProfileRange::ProfileRange(const char* name) { (void)nvtxRangePushA(name); }

ProfileRange::~ProfileRange() { (void)nvtxRangePop(); }

} // namespace runner
