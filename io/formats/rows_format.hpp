// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/rows/stored_rows.hpp"
#include "io/rows/written_format.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// A format whose files are folders of datasets, or archives of such folders.
struct FolderFormat {
    /// Whether a folder, whatever its name, is one.
    bool (*is_one)(const std::string& folder);
    /// Every dataset of it. @throws Error (input).
    std::vector<std::string> (*datasets)(const std::string& folder, const InputRules& rules);
};

/// A format of files beside HDF5. Each holds one dataset, of any name; or it is a folder
/// or an archive of several.
struct RowsFormat {
    std::string_view name;    ///< for people
    std::string_view endings; ///< of file names, a space between two
    /// What its dataset is called where one has a name; "": the file says it.
    std::string_view dataset;

    /// Finds where and how a file has the rows of a dataset. @throws Error (input).
    using Survey = StoredRows (*)(const SurveyedDataset& what);
    Survey survey;

    /// Reads rows that survey() finds to be stored in no way that the other rooms can read.
    using Open = std::unique_ptr<RowReader> (*)(const std::string& file, int threads);
    Open open; ///< @throws Error (input); null where survey() finds no such way

    const WrittenFormat* written; ///< null: no such file is written row by row
    std::string_view instead; ///< where it is null, how to make one: "make a …"; "": not at all

    /// Whether it is surveyed by a library that is not to be trusted with a damaged file, or by
    /// our own parser, which the fuzzer knows.
    enum class Parser { foreign, own } parser;

    /// What else a format has whose files are folders or archives; null for all others.
    const FolderFormat* folder = nullptr;

    /// How slices are written, a file each (slice_names.hpp); null: never.
    const WrittenFormat* slices = nullptr;
};

/// All of them.
std::span<const RowsFormat> rows_formats();

/// The format that a file's name says, in letters of any case, or that of one that is being written
/// (FILE.partial). Where the name's ending says nothing, the first bytes of a file that is there.
/// null: HDF5, or nothing that is known.
const RowsFormat* rows_format_of(const std::string& file);

/// How a file of this name, or what it stands for, is written; null where it is not.
const WrittenFormat* written_in(const RowsFormat& format, const std::string& file);

/// Whether a file of this name would be one of slices, if its name is right.
bool writes_slices(const std::string& file);

/// The endings of slices: ".tif and .png".
std::string slices_endings();

/// How a file of this name is written, for OutputLayout::format; null: as HDF5.
/// @throws Error (usage) where its format is not written.
const WrittenFormat* written_format_of(const std::string& file);

/// How an output of this name, or one that is being written, is a folder; null where it is a file.
const FolderOfChunks* folder_output_of(const std::string& file);
bool is_folder_output(const std::string& file);

/// Whether a file of this name is an HDF5 file, by its ending.
bool is_hdf5_name(const std::string& file);

/// What is wrong with the name of a file that is to be made, for "NAME ...": its ending is none of
/// a format that is written, or it has a slices_fault() or a name_length_fault(). "" where nothing
/// is.
std::string output_name_fault(const std::string& file);

/// The endings of all files that jobs write: ".h5, .npy and .tif".
std::string written_endings();

/// Whether a file of this name, or a dataset, is of a format for cells of sand: several to a byte.
bool holds_cells(const std::string& file);
bool holds_cells(const DatasetInfo& info);

/// Memory that a reader of packed cells takes.
std::int64_t cell_reader_bytes(int threads);

/// What a dataset of cells is called where it has a name, and what the root attribute `kind` of an
/// HDF5 file of cells is.
inline constexpr const char* cells_dataset = "/frames";
inline constexpr const char* cells_kind = "sand";

/// The ending, of the format's, that the name has; in small letters, empty if none.
std::string_view ending_of(const std::string& file, const RowsFormat& format);

} // namespace runner
