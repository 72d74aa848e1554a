// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/files/input_rules.hpp"
#include "io/hdf5/hdf5_handle.hpp"

#include <string>
#include <vector>

namespace runner {

/// The datasets that say what each frame of another one is, as NXtomo has it.
struct FrameKey {
    std::string key = {};     ///< image_key, one number a frame; empty where there is none
    std::string control = {}; ///< image_key_control beside it, if it is there
    /// Why there is no key although the file has one for this dataset, or should have one.
    std::string fault = {};
    /// The groups where other lists of the same frames may be, the key's own first: a group of
    /// links need not have them all.
    std::vector<std::string> groups = {};
    std::vector<std::string> angles = {}; ///< datasets that are their angles where they are there
    FileMarks files = {};                 ///< other files that links to these angles lead through
};

/// Looks for an image_key beside the dataset, beside what its name is a link to or what
/// links to it, and in the detectors of each entry or NXsubentry that the dataset lies in. One fits
/// that has as many numbers as the dataset has elements along its first axis. One of another length
/// is a fault, unless it is the key of another dataset there. So is none at all for the signal of
/// an entry whose definition is NXtomo. No link leads further than `outside` allows. In a process
/// that may be lost. @throws Error (input).
FrameKey find_frame_key(const FileHandle& handle, const std::string& file,
                        const std::string& dataset, const OutsideFiles& outside);

} // namespace runner
