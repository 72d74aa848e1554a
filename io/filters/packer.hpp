// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"
#include "io/rows/output_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;

namespace runner {

/// Packs chunks as the filters of an output layout store them. One for each thread.
class Packer {
  public:
    /// `chunk_bytes`: the most that pack() will be given, below 4 GiB. `element_bytes`: at most
    /// 16. @throws Error (launch) without memory.
    Packer(const OutputLayout& layout, std::int64_t chunk_bytes, std::int64_t element_bytes);

    /// Memory that one takes.
    static std::int64_t memory(const OutputLayout& layout, std::int64_t chunk_bytes);

    /// The packed chunk; valid until the next call.
    std::span<const std::byte> pack(std::span<const std::byte> chunk);

  private:
    std::span<const std::byte> deflate(std::span<const std::byte> chunk);
    std::span<const std::byte> zstd(std::span<const std::byte> chunk);

    OutputLayout layout_;
    std::int64_t element_bytes_;
    std::vector<std::byte> shuffled_;
    std::vector<std::byte> packed_;
    std::vector<std::byte> workspace_; ///< of ISA-L
    CodecMemory memory_;               ///< for bitshuffle
    std::unique_ptr<ZSTD_CCtx_s, std::size_t (*)(ZSTD_CCtx_s*)> zstd_;
};

} // namespace runner
