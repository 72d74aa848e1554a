// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/dataset_layout.hpp"

#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Several files may hold one image, each some of its planes, as an OME-TIFF of several files. Its
/// layout is made of those of the files, with the planes and axes in the order that they say,
/// whatever the files are called. They may be some of the set: the planes then have to be all of a
/// range along each axis, or evenly apart, and a note says how many they are.
/// Nothing where a file does not say which planes it has, or says so of another image.
/// @throws Error (input) where planes are missing, or two files have the same one.
std::optional<DatasetLayout> join_planes(const std::string& stack, const std::string& dataset,
                                         const std::vector<DatasetLayout>& files);

} // namespace runner
