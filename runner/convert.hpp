// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows.hpp"
#include "runner/frame_choice.hpp"
#include "runner/sand_colours.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace runner {

struct ConvertRequest {
    std::string input;          ///< .sand or HDF5
    std::string dataset;        ///< of an HDF5 input
    std::string output;         ///< what it becomes is said by the ending: see output_endings()
    std::string output_dataset; ///< of an HDF5 output
    /// Nothing: all; of which a picture must be the only one.
    std::optional<FrameChoice> frames;
    std::optional<std::uint64_t> first_generation; ///< that of the input's frame 0
    std::optional<Palette> palette;                ///< of pictures; nothing: by what they show
    Overwrite overwrite = Overwrite::no;
    int threads = 1; ///< that read and write, ≥ 1
};

/// ".sand, .h5, .hdf5 and .png": what convert() can make.
std::string output_endings();

/// Refuses what cannot be converted, by the names alone. @throws Error (usage) that lists what can.
void check_formats(const std::string& input, const std::string& output);

/// Makes a file of another format of frames, the last two axes of a dataset, in bounded memory:
/// - .sand: of uint8 whose every value is a material;
/// - HDF5: of any type, one contiguous dataset of [frames, height, width], with /generation where
///   generations are known (frame_numbers()) and the root attribute kind = "sand" for sand;
/// - .png: of uint8, a pixel an element; sand in colours or as values. One frame, or a sequence of
///   files whose names have the frame's number (NumberedNames).
/// Each file has the name FILE.partial until it is complete.
/// @throws Error: (usage) for a format or frame that is not there; (input) when the input cannot be
/// read, or naming frame, row and column of a cell that is no material; (output) for a file that
/// exists and is not to be overwritten, and when storage fails: the file then written is removed,
/// earlier ones of a sequence stay.
void convert(const ConvertRequest& request);

} // namespace runner
