// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct XXH3_state_s;

namespace runner {

/// XXH3, 64 bits, seed 0.
std::uint64_t hash_bytes(const std::byte* data, std::int64_t bytes);

/// hash_bytes() of bytes that come piece by piece.
class BytesHasher {
  public:
    BytesHasher();

    void add(const std::byte* data, std::int64_t bytes);
    /// The checksum of all that was added so far.
    std::uint64_t hash() const;

  private:
    struct Free {
        void operator()(XXH3_state_s* state) const noexcept;
    };
    std::unique_ptr<XXH3_state_s, Free> state_;
};

/// XXH3, 128 bits, seed 0, of bytes that come piece by piece: 32 hexadecimal digits, as
/// `xxhsum -H2` prints them.
class Digest {
  public:
    Digest();

    void add(const std::byte* data, std::int64_t bytes);
    /// The digest of all that was added so far.
    std::string hex() const;

  private:
    struct Free {
        void operator()(XXH3_state_s* state) const noexcept;
    };
    std::unique_ptr<XXH3_state_s, Free> state_;
};

/// Digest of these bytes.
std::string digest_of(std::span<const std::byte> bytes);

} // namespace runner
