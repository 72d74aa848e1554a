// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/formats/header_fields.hpp"
#include "io/rows/axes.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

/// What a NIfTI-1 header says of the axes of an array of this shape: pixdim, xyzt_units, toffset,
/// qform and sform. What is not finite is not known.
Axes nifti_axes(const HeaderFields& header, const std::vector<std::int64_t>& shape);

/// The same fields of a header that is written. x, y and z are the last three axes. Units of length
/// become those that NIfTI-1 has. An affine is written where it is one of these three axes.
void put_nifti_axes(HeaderMaker<352>& header, const Axes& axes, std::size_t count);

} // namespace runner
