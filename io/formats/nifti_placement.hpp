// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/formats/header_fields.hpp"
#include "io/rows/placement.hpp"

#include <cstddef>

namespace runner {

/// Where a NIfTI-1 header says that the elements of an array of so many axes lie: pixdim,
/// xyzt_units, toffset, qform and sform. What is not finite is not known.
Placement nifti_placement(const HeaderFields& header, std::size_t axes);

/// The same fields of a header that is written. x, y and z are the last three axes. Units of length
/// become those that NIfTI-1 has. An affine is written where it is one of these three axes.
void put_nifti_placement(HeaderMaker<352>& header, const Placement& placement, std::size_t axes);

} // namespace runner
