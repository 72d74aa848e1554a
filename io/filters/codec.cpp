// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/codec.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/filters/decoders.hpp"
#include "io/filters/lz4.hpp"
#include "io/filters/page_codecs.hpp"
#include "io/filters/shuffle.hpp"
#include "io/filters/transpose.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <zstd.h>

namespace runner {
namespace {

constexpr int nbit = 5;
constexpr int scaleoffset = 6;

/// Those that no codec is for.
constexpr std::array<std::pair<int, const char*>, 29> others = {
    {{filter_id::fletcher32, "fletcher32"},
     {filter_id::crc32c, "crc32c"},
     {nbit, "nbit"},
     {scaleoffset, "scaleoffset"},
     {305, "LZO"},
     {32002, "MAFISC"},
     {32003, "Snappy"},
     {32005, "APAX"},
     {32006, "CBF"},
     {32007, "JPEG-XR"},
     {32009, "SPDP"},
     {32010, "LPC-Rice"},
     {32011, "CCSDS-123"},
     {32012, "JPEG-LS"},
     {32013, "zfp"},
     {32014, "fpzip"},
     {32016, "B3D"},
     {32017, "SZ"},
     {32018, "FCIDECOMP"},
     {32019, "JPEG"},
     {32020, "VBZ"},
     {32021, "FAPEC"},
     {32022, "BitGroom"},
     {32023, "Granular BitRound"},
     {32024, "SZ3"},
     {32025, "Delta-Rice"},
     {32026, "Blosc2"},
     {32027, "FLAC"},
     {32028, "SPERR"}}};

std::string bitshuffle_text(const std::vector<unsigned>& parameters) {
    static constexpr std::array<const char*, 4> packings = {"", "", " with LZ4", " with zstd"};
    const std::size_t element = parameters[2];
    const std::size_t given = parameters.size() > 3 ? parameters[3] : 0;
    const unsigned packing = parameters.size() > 4 ? parameters[4] : 0;
    const std::size_t block = given == 0 ? bitshuffle_block(element) : given;
    return std::string(packings.at(packing)) + ", blocks of " +
           size_text(static_cast<std::int64_t>(block * element));
}

/// Blosc's: the sixth parameter is how bytes are sorted, the seventh the codec.
std::string blosc_text(const std::vector<unsigned>& parameters) {
    static constexpr std::array<const char*, 6> packers = {"BloscLZ", "LZ4",  "LZ4HC",
                                                           "Snappy",  "zlib", "zstd"};
    static constexpr std::array<const char*, 3> sorts = {"", " after shuffle", " after bitshuffle"};
    constexpr std::size_t sort_at = 5;
    constexpr std::size_t packer_at = 6;
    std::string text;
    if (parameters.size() > packer_at && parameters[packer_at] < packers.size()) {
        text += std::string(" with ") + packers.at(parameters[packer_at]);
    }
    if (parameters.size() > sort_at && parameters[sort_at] < sorts.size()) {
        text += sorts.at(parameters[sort_at]);
    }
    return text;
}

} // namespace

CodecMemory::CodecMemory() : zstd_(nullptr, ZSTD_freeDCtx) {}

std::byte* CodecMemory::scratch(std::size_t bytes) {
    if (scratch_.size() < bytes) {
        scratch_.resize(bytes);
    }
    return scratch_.data();
}

ZSTD_DCtx_s* CodecMemory::zstd() {
    if (!zstd_) {
        zstd_.reset(ZSTD_createDCtx());
        if (!zstd_) {
            throw out_of_host_memory("zstd");
        }
    }
    return zstd_.get();
}

std::span<const Codec> codecs() {
    static const std::array all = {deflate_codec(),
                                   shuffle_codec(),
                                   szip_codec(),
                                   bzip2_codec(),
                                   lzf_codec(),
                                   blosc_codec(),
                                   lz4_codec(),
                                   bitshuffle_codec(),
                                   zstd_codec(),
                                   lzw_codec(),
                                   packbits_codec(),
                                   difference_codec(),
                                   float_difference_codec(),
                                   png_codec(),
                                   png_lines_codec(),
                                   gzip_codec(),
                                   zlib_codec(),
                                   bzip2_streams_codec(),
                                   whole_blosc_codec(),
                                   sized_lz4_codec(),
                                   transpose_codec()};
    return all;
}

const Codec* codec_of(int id) {
    const std::span<const Codec> all = codecs();
    const auto found =
        std::find_if(all.begin(), all.end(), [id](const Codec& codec) { return codec.id == id; });
    return found == all.end() ? nullptr : &*found;
}

std::string registered_name(int id) {
    if (const Codec* codec = codec_of(id)) {
        return codec->name;
    }
    const auto* found = std::find_if(others.begin(), others.end(),
                                     [id](const auto& other) { return other.first == id; });
    return found == others.end() ? "" : found->second;
}

std::string filter_text(const Filter& filter) {
    const std::string known = registered_name(filter.id);
    const bool of_hdf5 = filter.id <= scaleoffset;
    if (codec_of(filter.id) == nullptr && !(of_hdf5 && !known.empty())) {
        const std::string& name = known.empty() ? filter.name : known;
        return fmt::format("{}{}", filter.id, (name.empty() ? "" : " (" + name + ")"));
    }
    if (filter.id == filter_id::bitshuffle && codec_of(filter.id)->accepts(filter.parameters)) {
        return known + bitshuffle_text(filter.parameters);
    }
    if (filter.id == filter_id::blosc || filter.id == filter_id::whole_blosc) {
        return known + blosc_text(filter.parameters);
    }
    if (filter.id == filter_id::lz4 && filter.parameters.size() == 1 && filter.parameters[0] > 0) {
        return known + ", blocks of " + size_text(filter.parameters[0]);
    }
    return known + (filter.parameters.size() == 1 && filter.id != filter_id::lz4
                        ? fmt::format("({})", filter.parameters[0])
                        : "");
}

} // namespace runner
