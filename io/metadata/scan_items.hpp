// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/input_rules.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/metadata/carry_metadata.hpp"
#include "io/metadata/metadata.hpp"

#include <string>
#include <vector>

namespace runner {

/// What an NXtomo entry says of a scan beside its frames, as items of Metadata::scan: texts and
/// numbers of one axis at most. A dataset of the detector whose image_key it is stands under
/// "instrument/detector".

/// Reads the items of the scan that a dataset holds; none where it is not the frames of one. What
/// is left out is added to `left_out`, and where it has no key although its file says NXtomo all of
/// it. Links lead into other files only to the key and the angles. In a process that may be lost.
/// @throws Error (input).
std::vector<ScanItem> read_scan(const FileHandle& handle, const std::string& file,
                                const std::string& dataset, const OutsideFiles& outside,
                                std::vector<std::string>& left_out);

/// The items of a scan of which a part is taken.
std::vector<ScanItem> scan_of_part(const std::vector<ScanItem>& scan, const AxisChange& change,
                                   const DatasetPart& part, std::vector<std::string>& left_out);

/// The items that hold after a step: none where the first axis are no more the frames, or the last
/// two are not what they were. Sizes of pixels are multiplied by blocks, and of blocks of frames
/// the numbers of the frames are means. Of fewer frames the lists have the first ones; of wider
/// ones, which halves are joined to, the field of view is the full one.
std::vector<ScanItem> carried_scan(const std::vector<ScanItem>& scan, const AxisChange& change,
                                   std::vector<std::string>& left_out);

/// Writes the items to an HDF5 output of ours, with `dataset` as the frames: a complete NXtomo
/// entry. Existing attributes and objects stay as they are. @throws Error (output).
void write_scan(const std::string& file, const std::string& dataset,
                const std::vector<ScanItem>& scan);

} // namespace runner
