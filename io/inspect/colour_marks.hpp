// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/axes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hdf5.h>

namespace runner {

/// What the attributes of an open dataset say of its last axis, as DatasetInfo::channels. They are
/// NeXus' `interpretation` ("rgb-image", "rgba-image", "image" and others), else HDF5's own
/// convention for images (CLASS, IMAGE_SUBCLASS and INTERLACE_MODE). Nothing where they do not fit
/// the shape.
std::optional<int> marked_channels(hid_t dataset, std::span<const std::int64_t> shape);

/// Whether NeXus' `interpretation` says that the elements are no images, as "spectrum" does.
bool is_no_image(hid_t dataset);

/// A note where `interpretation` says another colour than red, green and blue, or one whose samples
/// seem to be along another axis than the last; "" elsewhere. `where`: the dataset, for the note.
std::string colour_note(hid_t dataset, std::span<const std::int64_t> shape,
                        const std::string& where);

/// Notes where HDF5's convention for images says that elements are numbers of colours, or that 0 is
/// white, or that another corner than the upper left one is first.
std::vector<std::string> image_notes(hid_t dataset, const std::string& where);

/// A note about a last axis (may_be_colour()) of which nothing says what it is. `where`: the
/// dataset; `taken`: as what it is taken; `try_this`: how to say it.
std::string unmarked_colour_note(std::span<const std::int64_t> shape, const std::string& where,
                                 const std::string& taken, const std::string& try_this);

/// Whether the last axis has the name of one of space or time, so that it has no samples of colour.
bool is_no_colour(const Axes& axes);

/// The axis along which the colours of HDF5's convention for images lie where they are planes or
/// lines of their own (INTERLACE_PLANE, INTERLACE_LINE); nothing of another dataset.
std::optional<std::size_t> plane_axis(hid_t dataset, std::span<const std::int64_t> shape);

/// Marks an open dataset of that shape as images with so many channels (1: no axis of colour), by
/// both conventions where they have a word for it. `file` is for messages. @throws Error (output).
void mark_image(hid_t dataset, const std::string& file, std::span<const std::int64_t> shape,
                int channels);

} // namespace runner
