// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

struct ZSTD_DCtx_s;

namespace runner {

using Bytes = std::span<const std::byte>;
using Parameters = std::span<const unsigned>; ///< of a filter, as the file stores them

/// What decoders keep from one chunk to the next. One for each thread.
class CodecMemory {
  public:
    CodecMemory();

    /// At least so many bytes, with any content; valid until the next call.
    std::byte* scratch(std::size_t bytes);

    /// A context to unpack zstd with. @throws Error (launch) without memory.
    ZSTD_DCtx_s* zstd();

  private:
    std::vector<std::byte> scratch_;
    std::unique_ptr<ZSTD_DCtx_s, std::size_t (*)(ZSTD_DCtx_s*)> zstd_;
};

/// How one filter's bytes are unpacked. The bytes may be damaged or hostile: no decoder reads
/// beyond `packed` or writes beyond `to`, and each takes memory in proportion to `to` at most.
struct Codec {
    int id;           ///< as HDF5 registers it, or one of our own (filter_ids.hpp)
    const char* name; ///< for people

    /// Whether a file can have these parameters.
    bool (*accepts)(Parameters parameters);

    /// The size that the packed bytes claim to unpack to; nothing where they do not say, or are
    /// damaged.
    std::optional<std::size_t> (*claimed)(Parameters parameters, Bytes packed);

    /// Unpacks into the front of `to` and returns how many bytes that were; nothing where the
    /// packed bytes are damaged or `to` is too small. `parameters`: accepted ones.
    std::optional<std::size_t> (*unpack)(Parameters parameters, Bytes packed,
                                         std::span<std::byte> to, CodecMemory& memory);
};

/// Every filter that is unpacked here, but fletcher32, which packs nothing.
std::span<const Codec> codecs();

/// The one with this id; null where there is none.
const Codec* codec_of(int id);

} // namespace runner
