// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/attributes.hpp"
#include "runner/output/begin_output.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/probe/prober.hpp"

#include <string>
#include <vector>

namespace runner::output {

/// The attribute of a finished output that holds Beginning::identity.
inline constexpr const char* identity_attribute = "identity";
/// In the record beside an output: OutputLayout::channels, where they are known.
inline constexpr const char* channels_attribute = "channels";
/// In the same: OutputDataset::extremes, where the output states them.
inline constexpr const char* extremes_attribute = "extremes";

/// The attribute of a finished output in HDF5 that holds the Digest of its frames' generations.
inline constexpr const char* generations_checksum_attribute = "generation_checksum";

/// Whether the finished output is synced to the disk before it has its name.
RowWriter::Sync final_sync(const PreparedJob& prepared);

/// What is true of the output's axes, of a format that describes them; else nothing. On rank 0.
/// @throws Error (launch).
Axes output_axes(const PreparedJob& prepared, Prober& prober);

/// Completes the output under way on rank 0, once every rank has written its last row: checks that
/// all rows are there and that the input has not changed, stores checksums, attributes and what is
/// still true of the input's metadata. `facts`: attributes about the run, beside those of the job.
/// `extremes`: of an output that states them.
/// Returns warnings about metadata that the output does not have. @throws Error (output), and
/// (input) where the input has changed.
std::vector<std::string> complete_record(const PreparedJob& prepared, const Beginning& beginning,
                                         std::vector<Attribute> facts, const Extremes& extremes,
                                         Prober& prober);

} // namespace runner::output
