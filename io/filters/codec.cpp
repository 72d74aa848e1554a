// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/codec.hpp"

#include "base/error.hpp"
#include "io/filters/bitshuffle.hpp"
#include "io/filters/blosc.hpp"
#include "io/filters/bzip2.hpp"
#include "io/filters/deflate.hpp"
#include "io/filters/lz4.hpp"
#include "io/filters/lzf.hpp"
#include "io/filters/page_codecs.hpp"
#include "io/filters/shuffle.hpp"
#include "io/filters/szip.hpp"
#include "io/filters/zstd.hpp"

#include <algorithm>
#include <array>

#include <zstd.h>

namespace runner {

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
            throw Error(ExitCode::launch, {"cannot take host memory", "zstd", "none is left", ""});
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
                                   png_codec()};
    return all;
}

const Codec* codec_of(int id) {
    const std::span<const Codec> all = codecs();
    const auto found =
        std::find_if(all.begin(), all.end(), [id](const Codec& codec) { return codec.id == id; });
    return found == all.end() ? nullptr : &*found;
}

} // namespace runner
