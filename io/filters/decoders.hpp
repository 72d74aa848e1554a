// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

namespace runner {

/// Filter 1, which h5py calls gzip: a zlib stream. By ISA-L.
Codec deflate_codec();

/// Zarr's gzip: a gzip file of one member or several, behind which zeros may follow, as Python
/// allows, and nothing else. By ISA-L. Parameters as deflate's.
Codec gzip_codec();

/// Zarr's zlib: a zlib stream, and nothing behind it. Parameters as deflate's.
Codec zlib_codec();

/// Filter 307: a bzip2 stream. By libbz2.
Codec bzip2_codec();

/// Zarr's bz2: bzip2 streams one behind another, and nothing else.
Codec bzip2_streams_codec();

/// Filter 32015: zstd frames. Its parameter is the level.
Codec zstd_codec();

/// Filter 32001: a chunk of Blosc 1, with whichever of its codecs. By libblosc.
Codec blosc_codec();

/// Zarr's blosc: the same, and nothing behind the chunk.
Codec whole_blosc_codec();

/// Filter 32000, h5py's "lzf": runs of literal bytes and references at most 8 KiB back.
///
/// A control byte c below 32 stands before c + 1 literal bytes. Any other has the length of a
/// reference less 2 in its upper three bits (7: plus the next byte), and the upper five bits of
/// the distance less 1; the byte behind has the lower eight.
Codec lzf_codec();

/// Filter 4: the unpacked size in four bytes, the lowest first, then a stream of NASA's extended
/// Rice coding. By libaec. Parameters: options, pixels per block, bits per pixel, pixels per
/// scanline.
Codec szip_codec();

} // namespace runner
