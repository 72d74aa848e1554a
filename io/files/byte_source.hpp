// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace runner {

/// Bytes that are read at positions: those of a file, or what a compressed one unpacks to.
class ByteSource {
  public:
    virtual ~ByteSource() = default;

    /// Fills `to` from byte `offset` on. @throws Error (input) naming the file and the byte, also
    /// when the bytes end before.
    virtual void read(std::int64_t offset, std::int64_t bytes, std::byte* to) = 0;

    /// How many there are; nothing where only reading them would tell.
    virtual std::optional<std::int64_t> size() const = 0;

    /// Bytes of the file itself.
    virtual std::int64_t stored_bytes() const = 0;

    /// Whether several threads may read at once, anywhere; else one, and best from front to back.
    enum class Access { anywhere, in_order };
    virtual Access access() const = 0;
};

/// The file as it is.
std::unique_ptr<ByteSource> open_plain_source(const std::string& file);

/// What a gzip file unpacks to, all its members one after the other, with checksums compared. To go
/// back is to begin again. Memory: some hundred KiB.
std::unique_ptr<ByteSource> open_gzip_source(const std::string& file);

} // namespace runner
