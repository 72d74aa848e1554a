// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

class FileAccess;

/// An HDF5 output that keeps the flats and darks of its scan has three datasets of frames: those of
/// its job, the kept ones, and a virtual dataset over both, in the order of the scan, which is the
/// one that users know (docs/adr/0026).

/// Where the frames of the job are in such an output.
inline constexpr const char* made_frames_dataset = "/runner/projections";
/// Where the kept frames are, dense.
inline constexpr const char* kept_frames_dataset = "/runner/fields";
/// The checksums of the kept frames' rows, as row_hashes_dataset has them; rows are numbered as in
/// the virtual dataset, and each run is of one frame.
inline constexpr const char* kept_hashes_dataset = "/runner/field_hashes";

/// Frames of the virtual dataset, by their numbers.
struct FrameSplit {
    std::vector<std::int64_t> made; ///< of the job, rising
    std::vector<std::int64_t> kept; ///< of the scan as they are there, rising

    std::int64_t count() const { return std::ssize(made) + std::ssize(kept); }
    /// `kept` are numbers below `count`, rising; all others are made.
    static FrameSplit of(std::vector<std::int64_t> kept, std::int64_t count);
};

/// The datasets of such an output whose rows have checksums. `joined`: the virtual one.
std::vector<std::string> datasets_of_frames(const std::string& joined);

/// Copies all rows of `kept`, frames of the output's type and extents, to kept_frames_dataset,
/// stores their checksums, and makes the virtual dataset `joined` of all frames. Takes some MiB, or
/// a row where that is more. @throws Error (output), and (input) as the reader.
void write_kept_frames(const OutputDataset& output, const std::string& joined,
                       const FrameSplit& frames, RowReader& kept);

/// Stores frames of `kept` again, in the place of those that are there. @throws Error (output).
void replace_kept_frames(FileAccess& files, const std::string& file, RowReader& kept);

/// The checksums that frames of `kept` have, as read_kept_hashes() lists them.
/// @throws Error (input) as the reader.
std::vector<RowHash> hashes_of_kept(const FrameSplit& frames, RowReader& kept);

/// The checksums that the kept frames of a finished output have, of a virtual dataset of this
/// array. @throws Error (input).
std::vector<RowHash> read_kept_hashes(FileAccess& files, const std::string& file,
                                      const ArrayInfo& joined);

/// Which frames the rows with checksums are. @throws Error (input) where they are not whole ones.
FrameSplit split_of(const std::vector<RowHash>& kept, const ArrayInfo& joined,
                    const std::string& file);

} // namespace runner
