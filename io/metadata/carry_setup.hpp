// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/inspect/scan_setup.hpp"
#include "io/metadata/carry_metadata.hpp"
#include "io/rows/dataset_part.hpp"

namespace runner {

/// What of a scan's setup is true of a part of its frames. As of the metadata (scan_items.hpp),
/// what is lost has the reason as its fault.
ScanSetup setup_of_part(ScanSetup setup, const DatasetPart& part);

/// The same of an output of one step that is like the frames in this way: sizes of pixels are
/// multiplied by blocks in their own type, as the output's file would have them.
ScanSetup carried_setup(ScanSetup setup, const Likeness& output);

/// Makes every number one of no use. `why` follows the number's path: "is lost: …".
ScanSetup lost_setup(ScanSetup setup, const std::string& why);

} // namespace runner
