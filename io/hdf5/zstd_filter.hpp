// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace runner {

/// The number HDF5's registry gives to zstd.
inline constexpr int zstd_filter_id = 32015;

/// Makes HDF5 read and write chunks in zstd, as the registered plugin 32015 does: a chunk is one
/// zstd frame that tells its size; the filter's only parameter is the level. @throws Error
/// (defect).
void register_zstd_filter();

} // namespace runner
