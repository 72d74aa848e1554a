// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/files/input_rules.hpp"
#include "io/inspect/scan_setup.hpp"
#include "io/rows/frame_roles.hpp"
#include "io/rows/output_layout.hpp"
#include "io/rows/row_pieces.hpp"
#include "io/rows/rows.hpp"
#include "io/rows/stored_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace runner {

/// All that reading a dataset needs to know of its file, as a value: who has it needs no HDF5 to
/// read the rows, unless they are stored in a way that HDF5 or another library alone can decode.
struct DatasetLayout {
    std::string file; ///< as it was asked for
    std::string dataset;
    std::string holder; ///< the file that holds the bytes: another one where a link leads there
    DatasetInfo info;   ///< its offset is in `holder`

    enum class Way {
        positions, ///< dense from info.offset on, or at `extents`
        chunks,    ///< stored chunks, whose filters Unpacker knows
        format,    ///< by our own reader of a format beside HDF5 (io/formats/rows_format.hpp)
        library,   ///< HDF5 alone can read it, or the library of another format
        sources    ///< rows of other datasets, each by positions, chunks or format
    } way = Way::library;

    /// Extents of positions only, where there is no one offset: all rows, in order.
    std::vector<RowExtent> extents = {};
    /// Facts of chunks only: their filters, an element of those that are not stored, and the stored
    /// ones in the order of their indices.
    std::vector<Filter> filters = {};
    std::vector<std::byte> fill = {};
    std::vector<ChunkPlace> chunks = {};
    EdgeChunks edges = EdgeChunks::whole;
    /// The files that they lie in, by their own paths, where `holder` is a folder.
    std::vector<std::string> chunk_files = {};
    /// Where `holder` is an archive: the files in it that they lie in, in the order of their
    /// places.
    std::vector<ArchiveMember> members = {};
    /// Facts of sources only: the datasets, and which of their rows are this one's, in order and
    /// without a gap.
    std::vector<DatasetLayout> sources = {};
    std::vector<RowPiece> pieces = {};
    /// Facts of a file that alone is not the dataset that it says (StoredRows): why, and which
    /// planes of it it has. For who joins files, and not sent to another process.
    std::string elsewhere = {};
    std::optional<PlanesOfSet> of_set = {};
    /// What the file says of its frames, as NXtomo has it (frame_key.hpp).
    FrameRoles roles = {};
    /// What the file says of the beam and the camera, where it holds the frames of a scan.
    ScanSetup setup = {};
    /// Every file that its elements come from, `file` among them, as it was before it was looked
    /// at; those that are not there and would count if they were; and the folders in which they
    /// were looked for. Not of the single sources.
    FileMarks files = {};
};

/// The layout of a dataset in a file that this process made itself, or may be lost over: HDF5 reads
/// it here. @throws Error (input).
DatasetLayout inspect_layout(const std::string& file, const std::string& dataset);

/// Makes h5py's bool, an enumeration of a byte each, uint8 of 0 and 1, but where a library alone
/// can read it.
void take_truth_as_numbers(DatasetLayout& layout);

/// What reading it takes of memory beside the caller's (reader_bytes() of its datasets).
std::int64_t layout_reader_bytes(const DatasetLayout& layout, int threads);

/// Bytes of the elements that a file of another format than HDF5 stores.
std::int64_t stored_elements(const DatasetLayout& layout);

/// How many chunks there are along each axis.
std::vector<std::int64_t> chunk_counts(const DatasetInfo& info);

/// Checks a layout that another process reports: it may have been led astray by a damaged file. No
/// number of it leads beyond `holder_bytes`, the size of the file that holds the bytes, nor to a
/// buffer larger than the stored bytes or a chunk's elements account for. Of sources, the pieces
/// are checked, and not the sources themselves.
/// @throws Error (input) that says what cannot be.
void check_layout_values(const DatasetLayout& layout, std::int64_t holder_bytes);

/// The same by the file as it is now, and that `holder` is one that the rules allow.
void check_layout(const DatasetLayout& layout, const InputRules& rules);

/// Reads its rows with plain reads and our own unpacking. Nothing for what a library alone can
/// read.
/// `threads` ≥ 1. @throws Error (input).
std::unique_ptr<RowReader> open_layout_rows(const DatasetLayout& layout, int threads);

} // namespace runner
