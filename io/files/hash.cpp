// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/hash.hpp"

#include "base/format.hpp"

#include <new>

#include <xxhash.h>

namespace runner {

std::uint64_t hash_bytes(const std::byte* data, std::int64_t bytes) {
    return XXH3_64bits(data, static_cast<std::size_t>(bytes));
}

BytesHasher::BytesHasher() : state_(XXH3_createState()) {
    if (!state_) {
        throw std::bad_alloc();
    }
    (void)XXH3_64bits_reset(state_.get()); // fails for a null pointer only; so does adding
}

void BytesHasher::add(const std::byte* data, std::int64_t bytes) {
    (void)XXH3_64bits_update(state_.get(), data, static_cast<std::size_t>(bytes));
}

std::uint64_t BytesHasher::hash() const { return XXH3_64bits_digest(state_.get()); }

void BytesHasher::Free::operator()(XXH3_state_s* state) const noexcept {
    (void)XXH3_freeState(state);
}

Digest::Digest() : state_(XXH3_createState()) {
    if (!state_) {
        throw std::bad_alloc();
    }
    (void)XXH3_128bits_reset(state_.get()); // fails for a null pointer only; so does adding
}

void Digest::add(const std::byte* data, std::int64_t bytes) {
    (void)XXH3_128bits_update(state_.get(), data, static_cast<std::size_t>(bytes));
}

std::string Digest::hex() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

void Digest::Free::operator()(XXH3_state_s* state) const noexcept { (void)XXH3_freeState(state); }

std::string digest_of(std::span<const std::byte> bytes) {
    Digest digest;
    digest.add(bytes.data(), std::ssize(bytes));
    return digest.hex();
}

} // namespace runner
