// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace runner::filter_id {

/// Filters by the numbers that HDF5's registry gives them.
inline constexpr int deflate = 1;
inline constexpr int shuffle = 2;
inline constexpr int fletcher32 = 3;
inline constexpr int szip = 4;
inline constexpr int bzip2 = 307;
inline constexpr int lzf = 32000;
inline constexpr int blosc = 32001;
inline constexpr int lz4 = 32004;
inline constexpr int bitshuffle = 32008;
inline constexpr int zstd = 32015;

/// Filters of TIFF and PNG files alone: beyond the 16 bits that HDF5 has for a number.
inline constexpr int lzw = 1 << 16;
inline constexpr int packbits = lzw + 1;
inline constexpr int differences = lzw + 2;
inline constexpr int float_differences = lzw + 3;
inline constexpr int png = lzw + 4;

} // namespace runner::filter_id
