// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/rows/stored_rows.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace runner {

/// A format of files beside HDF5. Each holds one dataset, of any name.
struct RowsFormat {
    std::string_view name;    ///< for people
    std::string_view endings; ///< of file names, a space between two
    std::string_view dataset; ///< what its dataset is called where one has a name

    /// Finds where and how a file has its rows. @throws Error (input).
    using Survey = StoredRows (*)(const std::string& file);
    Survey survey;

    /// Reads rows that survey() finds to be stored in no way that the other rooms can read.
    using Open = std::unique_ptr<RowReader> (*)(const std::string& file, int threads);
    Open open; ///< @throws Error (input)

    /// Makes the file and opens it for all of its rows, in any order; null where that is
    /// create_output()'s, or nobody's. @throws Error (output), (usage).
    using Make = std::unique_ptr<RowWriter> (*)(const OutputDataset& output, int threads);
    Make make;

    /// Whether it is surveyed by a library that is not to be trusted with a damaged file, or by
    /// our own parser, which the fuzzer knows.
    enum class Parser { foreign, own } parser;
};

/// All of them.
std::span<const RowsFormat> rows_formats();

/// The format that a file's name says, or one that is being written (FILE.partial); null: HDF5, or
/// nothing that is known.
const RowsFormat* rows_format_of(const std::string& file);

/// Of its endings, the one that the name has; empty if none.
std::string_view ending_of(const std::string& file, const RowsFormat& format);

} // namespace runner
