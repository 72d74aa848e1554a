// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"
#include "io/output/publish_output.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/rows/output_layout.hpp"
#include "views/convert_type.hpp"
#include "views/pictures/frame_choice.hpp"
#include "views/pictures/sand_colours.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace runner {

class FileAccess;

struct ConvertRequest {
    std::string input;              ///< HDF5, of a format in io/formats/rows_format.hpp, or raw
    std::optional<DenseLayout> raw; ///< what a raw input holds; its name's ending says nothing then
    std::string dataset;            ///< of an HDF5 input
    std::string output;         ///< what it becomes is said by the ending: see written_endings()
    std::string output_dataset; ///< of an HDF5 output
    /// Nothing: all; of which a picture must be the only one.
    std::optional<FrameChoice> frames;
    std::optional<std::uint64_t> first_generation; ///< that of the input's frame 0
    std::optional<Palette> palette;                ///< of pictures; nothing: by what they show
    std::optional<ArrayInfo> type; ///< convertible_type() of the output; nothing: the input's
    Beyond beyond = Beyond::refuse;
    std::optional<bool> colour; ///< whether the last axis is; nothing: as the input says
    Axes axes = {};             ///< of the input's dataset
    Metadata metadata = {};     ///< what an HDF5 input's file says of it; nothing: not known
    OutputLayout layout;        ///< of an HDF5 output; `format` is chosen by its name
    Overwrite overwrite = Overwrite::no;
    std::function<void(const std::string&)> warn = {};              ///< is given warnings
    int threads = 1;                                                ///< that read and write, ≥ 1
    std::int64_t memory = std::numeric_limits<std::int64_t>::max(); ///< that rows may take
};

/// Refuses what cannot be converted, by the names alone. `raw`: the input's name says nothing.
/// @throws Error (usage) that lists what can.
enum class InputNames { say_format, are_raw };
void check_formats(const std::string& input, const std::string& output,
                   InputNames names = InputNames::say_format);

/// Makes a file of another format, element by element the same, in bounded memory. Without `frames`
/// the shape stays; with them it is [frames, height, width] of the last two axes (and 3 of colour),
/// and [height, width] for a single one.
/// - .sand: of uint8 whose every value is a material; always [frames, height, width];
/// - HDF5: of any type, one dataset, with /generation where generations are known
///   (frame_numbers()) and the root attribute kind = "sand" for sand, which has frames always;
/// - .npy: of any type, little-endian, in C order;
/// - .nii, .mrc: of the types that they hold, with the axes;
/// - .tif: of any type, a page a frame, not compressed; BigTIFF beyond 4 GiB;
/// - .png: of uint8 and uint16, a pixel an element; sand in colours or as values. One frame, or a
///   sequence of files whose names have the frame's number (NumberedNames).
/// Each file has the name FILE.partial until it is complete. Returns what it has made, a line for a
/// person.
/// @throws Error: (usage) for a format or frame that is not there, and for chunks that do not fit
/// the output or the memory; (input) when the input cannot be
/// read, or naming frame, row and column of a cell that is no material; (output) for a file that
/// exists and is not to be overwritten, and when storage fails: the file then written is removed,
/// earlier ones of a sequence stay.
std::string convert(FileAccess& files, const ConvertRequest& request);

} // namespace runner
