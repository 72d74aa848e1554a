// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace runner {

/// The usual ending of the format that a regular file begins like, as ".tif", or ".nii.gz" for what
/// unpacks to a NIfTI file; "" for none, for HDF5, and for what is no regular file or cannot be
/// read.
std::string_view ending_by_content(const std::string& file);

/// Whether it is a regular file with HDF5's signature.
bool begins_as_hdf5(const std::string& file);

} // namespace runner
