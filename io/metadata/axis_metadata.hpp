// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"
#include "io/rows/axes.hpp"

namespace runner {

/// Puts names and spacings of axes into the dataset's attributes, in place of those that it has:
/// `DIMENSION_LABELS`; `spacing` with a number for each axis (NaN where none is known) and
/// `spacing_units`; `element_size_um` where all are lengths; and all that is known, as `placement`.
/// `axes` fit the metadata's shape, or say nothing.
void set_axes(Metadata& metadata, const Axes& axes);

/// Whether axes of the metadata's shape have a spacing that these do not say: by no coordinates, no
/// list of sizes, and no scan.
bool lacks_spacing(const Metadata& metadata, const Axes& axes);

/// Takes away what the file says of axes that are declared otherwise than it names, spaces and
/// places them: coordinates, names in the group, and a scan's sizes of pixels.
void overrule_axes(Metadata& metadata, const Axes& of_file, const Axes& declared);

/// Puts the names of axes that the dataset's group does not say, because it has no coordinates of
/// theirs, into `DIMENSION_LABELS`, unless the dataset says names itself.
void keep_names(Metadata& metadata, const Axes& axes);

/// The marks of an image, which every HDF5 output has, say that its last axes are y and x. Puts the
/// names of the `axes` of an output with so many channels (1: none) into `DIMENSION_LABELS`, which
/// may be empty there, where these are others and nothing else says them; and the channels of
/// colour planes, which only the input's marks said, into `placement`.
void keep_marked_names(Metadata& metadata, const Axes& axes, int channels);

} // namespace runner
