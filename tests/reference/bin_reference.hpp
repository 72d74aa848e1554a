// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/bin/bin.hpp"
#include "kernels/elements/elements.hpp"

#include <algorithm>
#include <vector>

namespace runner {

/// docs/bin.md, an element of the output at a time: whole frames.
template <class In, class Out>
std::vector<Out> bin_reference(const Bin& b, std::int64_t frames, const std::vector<In>& in) {
    const auto& [fz, fy, fx] = b.factors;
    std::vector<Out> out;
    for (std::int64_t f = 0; f < frames; ++f) {
        for (std::int64_t z = 0; z < b.out_layers(); ++z) {
            for (std::int64_t y = 0; y < b.out_rows(); ++y) {
                for (std::int64_t i = 0; i < b.out_columns() * b.channels; ++i) {
                    const std::int64_t x = i / b.channels;
                    double sum = 0;
                    std::int64_t count = 0;
                    for (std::int64_t iz = z * fz; iz < std::min(b.layers, (z + 1) * fz); ++iz) {
                        for (std::int64_t iy = y * fy; iy < std::min(b.rows, (y + 1) * fy); ++iy) {
                            for (std::int64_t ix = x * fx; ix < std::min(b.columns, (x + 1) * fx);
                                 ++ix) {
                                const std::int64_t row = (f * b.layers + iz) * b.rows + iy;
                                const std::int64_t at =
                                    (row * b.columns + ix) * b.channels + i % b.channels;
                                sum += static_cast<double>(in[static_cast<std::size_t>(at)]);
                                ++count;
                            }
                        }
                    }
                    const double value =
                        b.value == Bin::Value::mean ? sum / static_cast<double>(count) : sum;
                    out.push_back(converted<Out>(value));
                }
            }
        }
    }
    return out;
}

} // namespace runner
