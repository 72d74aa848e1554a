// SPDX-License-Identifier: BSD-3-Clause
#include "bench/kernels/baselines/transpose_sequential.hpp"

namespace runner {
namespace {

template <class T> void move_all(const Transposition& t, const T* in, T* out) {
    std::array<std::int64_t, 3> to{};
    for (std::size_t i = 0; i < 3; ++i) {
        to[static_cast<std::size_t>(t.permutation[i])] = t.out_strides[i];
    }
    for (std::int64_t z = 0; z < t.shape[0]; ++z) {
        for (std::int64_t y = 0; y < t.shape[1]; ++y) {
            for (std::int64_t x = 0; x < t.shape[2]; ++x) {
                out[z * to[0] + y * to[1] + x * to[2]] =
                    in[z * t.in_strides[0] + y * t.in_strides[1] + x * t.in_strides[2]];
            }
        }
    }
}

} // namespace

void transpose_sequential(const Transposition& transposition, const std::byte* in, std::byte* out) {
    if (transposition.element_bytes == 4) {
        move_all(transposition, reinterpret_cast<const std::uint32_t*>(in),
                 reinterpret_cast<std::uint32_t*>(out));
    } else {
        move_all(transposition, reinterpret_cast<const std::uint64_t*>(in),
                 reinterpret_cast<std::uint64_t*>(out));
    }
}

} // namespace runner
