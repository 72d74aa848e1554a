// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/bzip2.hpp"

#include "io/filters/filter_ids.hpp"
#include <bzlib.h>

namespace runner {
namespace {

bool bzip2_accepts(Parameters /*parameters*/) { return true; }

std::optional<std::size_t> bzip2_claimed(Parameters /*parameters*/, Bytes /*packed*/) {
    return std::nullopt;
}

std::optional<std::size_t> bzip2_unpack(Parameters /*parameters*/, Bytes packed,
                                        std::span<std::byte> to, CodecMemory& /*memory*/) {
    auto bytes = static_cast<unsigned>(to.size());
    // libbz2 does not write through this pointer; its type is an old one.
    const int result =
        BZ2_bzBuffToBuffDecompress(reinterpret_cast<char*>(to.data()), &bytes,
                                   const_cast<char*>(reinterpret_cast<const char*>(packed.data())),
                                   static_cast<unsigned>(packed.size()), 0, 0);
    return result == BZ_OK ? std::optional<std::size_t>(bytes) : std::nullopt;
}

} // namespace

Codec bzip2_codec() {
    return {filter_id::bzip2, "bzip2", bzip2_accepts, bzip2_claimed, bzip2_unpack};
}

} // namespace runner
