// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose_axes.hpp"
#include <cstring>
namespace runner {
void transpose(CpuQueue&, const Transposition& t, const std::byte* in, std::byte* out) {
    for (auto e : t.shape) if (e == 0) return;
    const auto axes = reduce_axes(t, in, out);
    const auto& x = axes.axis;
    for (std::int64_t i = 0; i < x[0].extent; ++i) for (std::int64_t j = 0; j < x[1].extent; ++j) for (std::int64_t k = 0; k < x[2].extent; ++k)
        std::memcpy(out + (i * x[0].out + j * x[1].out + k * x[2].out) * axes.element_bytes, in + (i * x[0].in + j * x[1].in + k * x[2].in) * axes.element_bytes, size_t(axes.element_bytes));
}
}
