// SPDX-License-Identifier: BSD-3-Clause
#include "cli/layout_options.hpp"

#include "io/formats/rows_format.hpp"
#include "io/output/layout_choice.hpp"

#include <algorithm>

namespace runner::cli {
namespace {

constexpr const char* chunk = "--chunk";
constexpr const char* shard = "--shard";
constexpr const char* compression = "--compression";
constexpr const char* level = "--level";
constexpr const char* shuffle = "--shuffle";
constexpr const char* levels = "--levels";
constexpr const char* level_factors = "--level-factors";
constexpr const char* downsample = "--downsample";
constexpr const char* ngff = "--ngff";
constexpr const char* pyramid = "--pyramid";
constexpr const char* tile = "--tile";

Compression parse_compression(const VerbParser& parser, const std::string& given,
                              const WrittenFormat* format) {
    if (const std::optional<std::string> known = name_in_hdf5(given, format)) {
        parser.refuse(std::string(compression) + " is one of " + compression_list(format) +
                          ", not \"" + given + "\"",
                      "Did you mean " + *known + "? HDF5 calls it so");
    }
    return static_cast<Compression>(
        parser.index_of(compression, given, {compression_names.begin(), compression_names.end()}));
}

} // namespace

LayoutOptions::LayoutOptions(VerbParser& parser) : parser_(parser) {
    parser.add_option(chunk, chunk_, "Z,Y,X",
                      "extents of an HDF5 chunk, one per axis (default: contiguous), or of a Zarr "
                      "chunk (default: about 1 MiB)");
    parser.add_option(shard, shard_, "Z,Y,X",
                      "extents of a Zarr shard, in whole chunks (default: about 256 MiB)");
    parser.add_option(
        compression, compression_, "NAME",
        compression_list() +
            " (default: none); in HDF5 requires --chunk, in TIFF deflate, zstd or lzw, in Zarr "
            "gzip, zstd or blosc's");
    parser.add_option(
        level, level_, "NUMBER",
        "deflate, gzip and blosc 0 to 9, zstd and bitshuffle-zstd 1 to 22 (default 1)");
    parser.add_flag(shuffle, shuffle_, "shuffle the bytes before deflate, zstd, lz4 or by blosc");
    parser.add_option(
        levels, levels_, "N",
        "arrays of an OME-Zarr, each coarser than the one before, or auto (default): until y and x "
        "have at most 256 elements");
    parser.add_option(
        level_factors, level_factors_, "Z,Y,X",
        "from a level to the next one (default: 2, along z once voxels are as wide as "
        "tall)");
    parser.add_option(downsample, downsample_, "NAME",
                      "mean (default), median, max, nearest or mode: what a level has of a block");
    parser.add_option(ngff, ngff_, "VERSION",
                      "the version of OME-Zarr: 0.5 (default), on Zarr 3, or 0.4, on Zarr 2");
    parser.add_flag(pyramid, pyramid_,
                    "coarser levels of an OME-TIFF, until y and x have at most 256 pixels");
    parser.add_option(tile, tile_, "Y,X",
                      "extents of the tiles of a compressed TIFF, as 256,256 (default: strips)");
}

OutputLayout LayoutOptions::layout(const std::string& file) const {
    const RowsFormat* const format = rows_format_of(file);
    const WrittenFormat* const written = format == nullptr ? nullptr : written_in(*format, file);
    for (const std::string option : {chunk, shard, compression, level, shuffle}) {
        const bool has =
            format == nullptr || (written != nullptr && has_layout_key(written, option.substr(2)));
        if (parser_.is_given(option) && !has) {
            const bool packs = written != nullptr && has_layout_key(written, "compression");
            parser_.refuse(option + ": a " + std::string(ending_of(file, *format)) +
                               (packs ? " file has no chunks and no shuffle"
                                      : " file has no chunks and no compression"),
                           "Name a .h5 file");
        }
    }
    LayoutChoice choice;
    if (parser_.is_given(chunk)) {
        choice.chunk = parser_.extents(chunk, chunk_);
    }
    if (parser_.is_given(shard)) {
        choice.shard = parser_.extents(shard, shard_);
    }
    if (parser_.is_given(compression)) {
        choice.compression = parse_compression(parser_, compression_, written);
    }
    if (parser_.is_given(level)) {
        const Levels accepted = accepted_levels(choice.compression.value_or(Compression::none));
        choice.level = parser_.integer(level, level_, accepted.lowest, accepted.highest);
    }
    choice.shuffle = shuffle_;
    if (parser_.is_given(levels)) {
        choice.levels = levels_ == "auto" ? 0 : parser_.integer(levels, levels_, 1, most_levels);
    }
    if (parser_.is_given(level_factors)) {
        choice.level_factors = parser_.extents(level_factors, level_factors_);
    }
    if (parser_.is_given(downsample)) {
        choice.downsample = static_cast<Downsample>(parser_.index_of(
            downsample, downsample_, {downsample_names.begin(), downsample_names.end()}));
    }
    if (parser_.is_given(ngff)) {
        choice.ngff = static_cast<Ngff>(
            parser_.index_of(ngff, ngff_, {ngff_names.begin(), ngff_names.end()}));
    }
    if (pyramid_) {
        choice.pyramid = true;
    }
    if (parser_.is_given(tile)) {
        choice.tile = parser_.extents(tile, tile_);
    }
    for (const LayoutFault& fault : layout_faults(choice, "--", written)) {
        std::string key = fault.key;
        std::replace(key.begin(), key.end(), '_', '-');
        parser_.refuse("--" + key + ": " + fault.why);
    }
    return choice.layout(written);
}

} // namespace runner::cli
