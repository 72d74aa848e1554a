// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/verify/chunk_finder.hpp"
#include "runner/verify/finished_output.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner::verify {

/// A file of a coarser level that is not as it should be, or a level that is in the file of the
/// image.
struct WrongFile {
    std::string name; ///< in the output's folder; or "level 1"
    std::string why;
    std::optional<FoundChunk> first = {}; ///< of a folder: its first wrong chunk, or all of it

    /// "1/c/0/1/0, array /1, shard [0, 1, 0], chunk [0, 2, 1]"; or "level 1".
    std::string text() const { return first ? name + ", " + found_text(*first) : name; }

    bool operator==(const WrongFile&) const = default;
};

/// The places of the chunks of an image, and of those of each of its levels.
std::vector<DatasetLayout> places_of_levels(FileAccess& files, const OutputDataset& image);

/// Makes the coarser levels of an image again, of all of it or of `sample` evenly spread regions,
/// and compares them with the stored ones. Returns the files that differ or cannot be read, by
/// name. The rows of the image itself are right. @throws Error (input) where they cannot be read.
std::vector<WrongFile> check_levels(FileAccess& files, const FinishedOutput& output,
                                    std::optional<std::int64_t> sample, int threads);

/// Writes these files or levels again, of the image. Takes the memory of a file, or of a chunk for
/// each thread. @throws Error (output), also where a level in the file of the image is packed to
/// another size.
void repair_levels(FileAccess& files, const FinishedOutput& output,
                   const std::vector<WrongFile>& wrong, int threads);

} // namespace runner::verify
