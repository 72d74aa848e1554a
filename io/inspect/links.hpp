// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/files/input_rules.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/inspect/file_content.hpp"

#include <string>
#include <vector>

namespace runner {

/// Follows `path` in `file`, which `handle` has open, link by link and before HDF5 does: a link may
/// lead into another file. Returns quietly where a part of the path is not there; opening it says
/// that. Returns the other files that it leads through. @throws Error (input): a circle of links, a
/// link to a file that is not allowed or not there, a link of a kind that only another program can
/// follow.
FileMarks check_links(const FileHandle& handle, const std::string& file, const std::string& path,
                      const OutsideFiles& outside);

/// The soft and external links of an open HDF5 file in the order of their names, each followed as
/// far as an input's links may be without leave (OutsideFiles): to files beside it. Those behind an
/// external link are its file's. @throws Error (input).
std::vector<LinkContent> links_of(const FileHandle& handle, const std::string& file);

} // namespace runner
