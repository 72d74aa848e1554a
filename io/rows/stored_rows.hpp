// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/files/input_rules.hpp"
#include "io/rows/output_layout.hpp"
#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Where a stored chunk lies.
struct ChunkPlace {
    std::int64_t index = 0;    ///< in the grid of chunks, the last axis running fastest
    std::int64_t offset = 0;   ///< of its bytes in the file
    std::int64_t bytes = 0;    ///< as stored; 0 where the index cannot be right
    std::uint32_t skipped = 0; ///< bit i: filter i was not applied
    std::uint32_t file = 0;    ///< the number of the file, where chunks lie in several

    bool operator==(const ChunkPlace&) const = default;
};

/// A file in an archive that chunks lie in.
struct ArchiveMember {
    std::string name;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    std::uint32_t checksum = 0; ///< CRC-32 of the bytes

    bool operator==(const ArchiveMember&) const = default;
};

/// Whether a chunk across the end of the array is stored whole, or may be cut there along the first
/// axis that is not of one element.
enum class EdgeChunks { whole, cut };

/// Rows that lie dense in a file.
struct RowExtent {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::int64_t offset = 0; ///< of the first one's bytes

    bool operator==(const RowExtent&) const = default;
};

/// A dataset of a file of another format than HDF5.
struct SurveyedDataset {
    const std::string& file;
    const std::string& dataset; ///< "": the one that the format says
    const InputRules& rules;
};

/// Which planes of an image a file has that is one of several.
struct PlanesOfSet {
    std::vector<std::int64_t> extents; ///< of the axes that count all planes, the slowest first
    std::vector<std::int64_t> numbers; ///< of the planes that this file's pages are
    Axes axes;                         ///< of the whole image
};

/// How a file of another format than HDF5 stores the rows of its dataset.
struct StoredRows {
    DatasetInfo info;
    enum class Way {
        positions, ///< dense from info.offset on, or at `extents`
        chunks,    ///< packed, by `filters`, at `chunks`
        own,       ///< its RowsFormat's reader is our own
        library    ///< its RowsFormat's reader is a library that may be lost over a damaged file
    } way = Way::own;
    std::vector<RowExtent> extents = {}; ///< all rows, in order
    std::vector<Filter> filters = {};
    std::vector<ChunkPlace> chunks = {};
    EdgeChunks edges = EdgeChunks::whole;
    /// A folder has these: what its dataset is called, the files that `chunks` lie in, an element
    /// of those that are not stored, and the marks of all files that were looked at.
    std::string dataset = {};
    std::vector<std::string> chunk_files = {};
    std::vector<std::byte> fill = {};
    /// An archive has these: the files in it that `chunks` lie in, in the order of their places.
    std::vector<ArchiveMember> members = {};
    FileMarks files = {};
    /// Why the file alone is not the dataset that it says; "" where it is. In a stack of files each
    /// may be a part.
    std::string elsewhere = {};
    std::optional<PlanesOfSet> of_set = {}; ///< nothing where the file does not say it
};

} // namespace runner
