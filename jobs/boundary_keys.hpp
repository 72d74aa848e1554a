// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/keys.hpp"
#include "kernels/convolve/boundary.hpp"

namespace runner {

/// `boundary`, which fills Keys::boundary.
template <class Keys> Key<Keys> boundary_key() {
    return key<Keys>("boundary", &Keys::boundary,
                     choice_form<Boundary>({"constant", "nearest", "reflect", "mirror", "wrap"}),
                     "what lies beyond the border");
}

/// `fill`, which fills Keys::fill.
template <class Keys> Key<Keys> fill_key() {
    return key<Keys>("fill", &Keys::fill, number_form(),
                     "the value beyond the border with `boundary = \"constant\"`")
        .unit("units of the input");
}

} // namespace runner
