// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/output_layout.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// What a user says of an output's layout: the keys of [output] in a job file, and the options of
/// the verbs that make files.
struct LayoutChoice {
    /// Nothing: not given.
    std::optional<std::vector<std::int64_t>> chunk;
    std::optional<std::vector<std::int64_t>> shard;
    std::optional<Compression> compression;
    std::optional<std::int64_t> level;
    bool shuffle = false;
    std::optional<std::int64_t> levels; ///< of an image; 0: "auto"
    std::optional<std::vector<std::int64_t>> level_factors;
    std::optional<Downsample> downsample;
    std::optional<Ngff> ngff;
    std::optional<bool> pyramid; ///< coarser levels in the image's own file
    std::optional<std::vector<std::int64_t>> tile;

    /// The layout of a file of this format, with defaults for what is not given.
    OutputLayout layout(const WrittenFormat* format) const;
};

/// What is wrong with a key of a choice.
struct LayoutFault {
    std::string key; ///< the key of LayoutChoice's member
    std::string why; ///< follows the key in a message: "needs output.chunk as well: …"
};

/// Keys that do not go together, or not with a file of this format, in the order chunk,
/// shard, compression, level, shuffle, levels, level_factors, downsample, ngff, pyramid, tile.
/// `prefix` precedes a key where users write it: "output." or "--". `format`: as
/// OutputLayout::format.
std::vector<LayoutFault> layout_faults(const LayoutChoice& choice, std::string_view prefix,
                                       const WrittenFormat* format);

/// Whether files of this format have what a key of a choice says.
bool has_layout_key(const WrittenFormat* format, std::string_view key);

inline constexpr std::int64_t most_levels = 32;       ///< of an image
inline constexpr std::int64_t most_level_factor = 64; ///< from a level to the next one

/// "none, deflate, …": every compression, for messages and help.
std::string compression_list();
/// The compressions of files of this format.
std::string compression_list(const WrittenFormat* format);

/// The levels that a user may give with this compression; of one without levels those of any.
Levels accepted_levels(Compression compression);

/// What HDF5 calls a compression that has another name elsewhere: "deflate" for "gzip". Nothing for
/// other names, and where the format has it under this one.
std::optional<std::string> name_in_hdf5(std::string_view compression, const WrittenFormat* format);

} // namespace runner
