// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// One filter that a dataset's chunks pass through.
struct Filter {
    int id = 0; ///< as HDF5 registers it
    std::string name;
    std::vector<unsigned> parameters;

    bool operator==(const Filter&) const = default;
};

struct WrittenFormat;

/// lzw is TIFF's, gzip and blosc are Zarr's; HDF5 has the others.
enum class Compression {
    none,
    deflate,
    zstd,
    lz4,
    bitshuffle_lz4,
    bitshuffle_zstd,
    lzw,
    gzip,
    blosc_lz4,
    blosc_zstd
};

/// Their names in job files, in the order of the enumeration.
inline constexpr std::array<const char*, 10> compression_names = {
    "none", "deflate", "zstd",      "lz4",       "bitshuffle-lz4", "bitshuffle-zstd",
    "lzw",  "gzip",    "blosc-lz4", "blosc-zstd"};

inline const char* name_of(Compression compression) {
    return compression_names.at(static_cast<std::size_t>(compression));
}

/// The levels that a compression has; it has none where both are 0.
struct Levels {
    int lowest = 0;
    int highest = 0;
};
constexpr Levels levels_of(Compression compression) {
    switch (compression) {
    case Compression::deflate:
    case Compression::gzip:
    case Compression::blosc_lz4:
    case Compression::blosc_zstd: return {0, 9};
    case Compression::zstd:
    case Compression::bitshuffle_zstd: return {1, 22};
    case Compression::none:
    case Compression::lz4:
    case Compression::bitshuffle_lz4:
    case Compression::lzw: break;
    }
    return {};
}

/// Whether it sorts bits itself, so that a shuffle of bytes before it spoils its result.
constexpr bool sorts_bits(Compression compression) {
    return compression == Compression::bitshuffle_lz4 ||
           compression == Compression::bitshuffle_zstd;
}

/// Whether it is blosc's, which shuffles bytes itself.
constexpr bool is_blosc(Compression compression) {
    return compression == Compression::blosc_lz4 || compression == Compression::blosc_zstd;
}

/// How an element of a coarser level is made of a block of elements.
enum class Downsample { mean, median, max, nearest, mode };

/// Their names in job files, in the order of the enumeration.
inline constexpr std::array<const char*, 5> downsample_names = {"mean", "median", "max", "nearest",
                                                                "mode"};

/// The coarser levels of an image, of formats that hold them.
struct Pyramid {
    std::int64_t levels = 1; ///< at most, the image itself among them; 0: until y and x are short
    /// From a level to the next one along z, y and x, or y and x; empty: by 2, along z as soon as
    /// voxels are no longer taller than wide.
    std::vector<std::int64_t> factors = {};
    Downsample downsample = Downsample::mean;
    std::int64_t level = 0; ///< which of the levels the array is; 0: the image itself

    bool operator==(const Pyramid&) const = default;
};

/// The version of OME-Zarr, of formats that are one: 0.5 on Zarr 3, 0.4 on Zarr 2.
enum class Ngff { v0_5, v0_4 };

/// Their names in job files, in the order of the enumeration.
inline constexpr std::array<const char*, 2> ngff_names = {"0.5", "0.4"};

/// How an output dataset is stored. A file of another format has no attributes, a compression where
/// WrittenFormat::packed is not null, and chunks that a user chooses where it is a folder.
struct OutputLayout {
    /// Extents of a chunk, one per axis; empty: contiguous, or as the format chooses.
    std::vector<std::int64_t> chunk;
    Compression compression = Compression::none; ///< of HDF5 only with chunks
    int level = 1;                               ///< as levels_of()
    bool shuffle = false; ///< bytes of equal weight side by side before compressing
    const WrittenFormat* format = nullptr; ///< of the file, as its name says; null: HDF5
    /// What the last axis is, for formats that mark colour: as DatasetInfo::channels. HDF5's
    /// attributes say it.
    std::optional<int> channels = {};
    /// Extents of what a file of a folder holds, which are multiples of the chunk's; empty: as the
    /// format chooses.
    std::vector<std::int64_t> shard = {};
    Pyramid pyramid = {};
    Ngff ngff = Ngff::v0_5;
    /// Height and width of what is packed together, of formats that have tiles; empty: strips.
    std::vector<std::int64_t> tile = {};

    bool is_hdf5() const { return format == nullptr; }

    bool operator==(const OutputLayout&) const = default;
};

} // namespace runner
