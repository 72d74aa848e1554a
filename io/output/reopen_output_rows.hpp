// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <memory>

namespace runner {

class FileAccess;

/// Writes rows again into a finished output, each into its place, as often as one likes. All that
/// is not of these rows stays as it is; where compressed rows take another size than before, the
/// index of chunks changes too, which `files` does. `files` outlives the writer.
/// @throws Error (output) when the dataset is not stored as `output` says, or in the index a chunk
/// is missing, shares bytes with another or lies beyond the file: to write there would destroy what
/// is right.
std::unique_ptr<RowWriter> reopen_output_rows(FileAccess& files, const OutputDataset& output,
                                              int threads);

} // namespace runner
