// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/page/report_page.hpp"
#include "runner/prepare/prepare.hpp"

#include <vector>

namespace runner {

/// Small pictures of a finished job's input and output, of frames that show what it did. Where an
/// image is large only evenly spaced lines of it are read. Never throws for data that cannot be
/// shown: the caption says why there is no picture.
std::vector<PagePicture> report_pictures(FileAccess& files, const PreparedJob& prepared,
                                         int threads);

} // namespace runner
