// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/layout_choice.hpp"

#include "base/array_info.hpp"
#include "base/sizes.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>

namespace runner {
namespace {

/// Whether a chunk of bytes is larger than HDF5 allows.
bool is_too_large(const std::vector<std::int64_t>& chunk) {
    constexpr std::int64_t most_bytes = 4 * GiB - 1;
    std::int64_t bytes = 1;
    for (const std::int64_t extent : chunk) {
        if (extent > most_bytes / bytes) {
            return true;
        }
        bytes *= extent;
    }
    return false;
}

/// Whether users choose what chunks and files hold.
bool is_folder(const WrittenFormat* format) {
    return format != nullptr && format->packed != nullptr && format->packed->folder != nullptr &&
           format->packed->folder->slice == nullptr;
}

bool is_taken(Compression compression, const WrittenFormat* format) {
    if (format == nullptr) {
        return compression != Compression::lzw && compression != Compression::gzip &&
               !is_blosc(compression);
    }
    return format->packed != nullptr && format->packed->takes(compression);
}

/// The compressions that files of this format can have: "deflate, zstd, lzw".
std::string compressions_of(const WrittenFormat* format) {
    std::string list;
    for (std::size_t i = 1; i < compression_names.size(); ++i) {
        if (is_taken(static_cast<Compression>(i), format)) {
            list += (list.empty() ? "" : ", ") + std::string(compression_names.at(i));
        }
    }
    return list;
}

/// The faults of the keys that are of images alone: which coarser levels there are, and the
/// version.
void add_level_faults(const LayoutChoice& choice, const std::string& prefix,
                      const WrittenFormat* format, std::vector<LayoutFault>& faults) {
    const auto check = [&](const char* key, bool is_given) {
        const bool in_file = has_levels_in_file(format);
        if (is_given && in_file) {
            faults.push_back({key, "is for outputs that end in .ome.zarr; of an OME-TIFF write " +
                                       prefix + "pyramid"});
        } else if (is_given && !has_levels(format)) {
            faults.push_back({key, "is for outputs that end in .ome.zarr; leave it out"});
        } else if (is_given && choice.levels == 1 && key != std::string("levels")) {
            faults.push_back({key, "needs coarser levels, and " + prefix +
                                       "levels is 1; leave one of the two out"});
        }
    };
    check("levels", choice.levels.has_value());
    check("level_factors", choice.level_factors.has_value());
    if (choice.ngff && (!has_levels(format) || has_levels_in_file(format))) {
        faults.push_back({"ngff", "is for outputs that end in .ome.zarr; leave it out"});
    }
    if (!has_levels_in_file(format)) {
        check("downsample", choice.downsample.has_value());
    } else if (choice.downsample && !choice.pyramid.value_or(false)) {
        faults.push_back({"downsample", "needs " + prefix + "pyramid as well"});
    }
    if (choice.pyramid && !has_levels_in_file(format)) {
        faults.push_back(
            {"pyramid",
             "is for outputs of one file that end in .ome.tif; leave it out" +
                 std::string(has_levels(format) ? ", or write " + prefix + "levels" : "")});
    }
    if (!choice.level_factors || !has_levels(format)) {
        return;
    }
    const std::vector<std::int64_t>& factors = *choice.level_factors;
    const auto is_factor = [](std::int64_t factor) {
        return factor >= 1 && factor <= most_level_factor;
    };
    if ((factors.size() != 2 && factors.size() != 3) ||
        !std::all_of(factors.begin(), factors.end(), is_factor) ||
        std::all_of(factors.begin(), factors.end(), [](std::int64_t each) { return each == 1; })) {
        faults.push_back({"level_factors",
                          "is " + shape_text(factors) +
                              "; expected two factors, of y and x, or three, of z, y and x, each "
                              "from 1 to " +
                              std::to_string(most_level_factor) + " and one above 1"});
    }
}

/// The faults of the key that says what tiles are.
void add_tile_faults(const LayoutChoice& choice, const std::string& prefix,
                     const WrittenFormat* format, std::vector<LayoutFault>& faults) {
    if (!choice.tile) {
        return;
    }
    constexpr std::int64_t step = 16; // TIFF's
    constexpr std::int64_t most = 16384;
    const std::vector<std::int64_t>& tile = *choice.tile;
    if (format == nullptr || format->packed == nullptr || format->packed->pads == nullptr) {
        faults.push_back(
            {"tile", "is for outputs of one file that end in .tif or .ome.tif; leave it out"});
    } else if (choice.compression.value_or(Compression::none) == Compression::none) {
        faults.push_back({"tile", "needs " + prefix +
                                      "compression as well, as \"deflate\": without it a TIFF is "
                                      "in strips"});
    } else if (tile.size() != 2 || !std::all_of(tile.begin(), tile.end(), [](std::int64_t extent) {
                   return extent >= step && extent <= most && extent % step == 0;
               })) {
        faults.push_back({"tile", "is " + shape_text(tile) +
                                      "; expected height and width, multiples of 16 up to 16384, "
                                      "as [256, 256]"});
    }
}

} // namespace

OutputLayout LayoutChoice::layout(const WrittenFormat* format) const {
    OutputLayout layout;
    layout.format = format;
    layout.chunk = chunk.value_or(layout.chunk);
    layout.shard = shard.value_or(layout.shard);
    layout.compression =
        compression.value_or(format == nullptr ? Compression::none : format->usual);
    layout.level = static_cast<int>(level.value_or(layout.level));
    layout.tile = tile.value_or(layout.tile);
    layout.shuffle = shuffle;
    const bool has_pyramid =
        has_levels_in_file(format) ? pyramid.value_or(false) : has_levels(format);
    layout.pyramid.levels = levels.value_or(has_pyramid ? 0 : 1);
    layout.pyramid.factors = level_factors.value_or(layout.pyramid.factors);
    layout.pyramid.downsample = downsample.value_or(layout.pyramid.downsample);
    layout.ngff = ngff.value_or(layout.ngff);
    return layout;
}

bool has_layout_key(const WrittenFormat* format, std::string_view key) {
    if (format == nullptr) {
        return key != "shard";
    }
    const bool has_chunks =
        is_folder(format) && (key == "chunk" || key == "shard" || key == "shuffle");
    return has_chunks || (format->packed != nullptr && format->usual == Compression::none &&
                          (key == "compression" || key == "level"));
}

std::vector<LayoutFault> layout_faults(const LayoutChoice& choice, std::string_view prefix,
                                       const WrittenFormat* format) {
    const Compression compression = choice.compression.value_or(Compression::none);
    const bool compressed = compression != Compression::none;
    const std::string written(prefix);
    const std::string name = "\"" + std::string(name_of(compression)) + "\"";
    const std::string needs_compression =
        "needs " + written + "compression as well, as \"deflate\"";
    std::vector<LayoutFault> faults;
    if (choice.chunk && is_too_large(*choice.chunk)) {
        faults.push_back({"chunk", "a chunk of " + shape_text(*choice.chunk) +
                                       " passes the 4 GiB that HDF5 allows"});
    }
    const bool may_have = has_layout_key(format, "compression");
    if (compressed && may_have && !is_taken(compression, format)) {
        faults.push_back({"compression",
                          name + " is not for such a file; possible: " + compressions_of(format)});
    } else if (compressed && !choice.chunk && format == nullptr) {
        faults.push_back(
            {"compression", "needs " + written + "chunk as well: only chunks are compressed"});
    }
    if (choice.shard && !is_folder(format)) {
        faults.push_back({"shard", "is for outputs that are folders, as .zarr; leave it out"});
    } else if (choice.shard && choice.ngff == Ngff::v0_4) {
        faults.push_back({"shard", "is for Zarr 3, and " + written +
                                       "ngff is 0.4, on Zarr 2, where each chunk is a file; leave "
                                       "one of the two out"});
    }
    if (choice.level && !may_have) {
        // Refused with the format's other keys.
    } else if (choice.level && !compressed) {
        faults.push_back({"level", needs_compression});
    } else if (choice.level && levels_of(compression).highest == 0) {
        faults.push_back({"level", name + " has no levels; leave it out"});
    }
    if (choice.shuffle && !compressed) {
        faults.push_back({"shuffle", needs_compression});
    } else if (choice.shuffle && is_folder(format) && !is_blosc(compression)) {
        faults.push_back({"shuffle", "is for \"blosc-lz4\" and \"blosc-zstd\"; leave it out"});
    } else if (choice.shuffle && sorts_bits(compression)) {
        faults.push_back({"shuffle", name + " sorts the bits itself; leave it out"});
    }
    add_level_faults(choice, written, format, faults);
    add_tile_faults(choice, written, format, faults);
    return faults;
}

std::string compression_list(const WrittenFormat* format) {
    return "none, " + compressions_of(format);
}

std::string compression_list() {
    std::string list;
    for (const char* const name : compression_names) {
        list += (list.empty() ? "" : ", ") + std::string(name);
    }
    return list;
}

Levels accepted_levels(Compression compression) {
    const Levels own = levels_of(compression);
    constexpr Levels any = {0, 22};
    return own.highest > 0 ? own : any;
}

std::optional<std::string> name_in_hdf5(std::string_view compression, const WrittenFormat* format) {
    if ((compression == "gzip" && !is_taken(Compression::gzip, format)) || compression == "zlib") {
        return name_of(Compression::deflate);
    }
    return std::nullopt;
}

} // namespace runner
