// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/elements.hpp"
#include "kernels/rescale/rescale.hpp"

#include <cmath>
#include <vector>

namespace runner {

/// docs/rescale.md, an element at a time.
template <class In, class Out>
std::vector<Out> rescale_reference(const Rescale& r, const std::vector<In>& in) {
    std::vector<Out> out;
    out.reserve(in.size());
    const double a = r.to_low;
    const double b = r.to_high;
    for (const In x : in) {
        double y = a;
        if (r.from_high != r.from_low) {
            const double factor = (b - a) / (r.from_high - r.from_low);
            y = std::fma(static_cast<double>(x) - r.from_low, factor, a);
            if (y < std::fmin(a, b)) {
                y = std::fmin(a, b);
            } else if (y > std::fmax(a, b)) {
                y = std::fmax(a, b);
            }
        }
        out.push_back(converted<Out>(y));
    }
    return out;
}

} // namespace runner
