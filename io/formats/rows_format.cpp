// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/rows_format.hpp"

#include "base/error.hpp"
#include "io/formats/nifti_file.hpp"
#include "io/formats/npy_file.hpp"
#include "io/formats/png_reader.hpp"
#include "io/formats/sand_file.hpp"
#include "io/formats/sand_rows.hpp"
#include "io/tiff/tiff_file.hpp"

#include <algorithm>
#include <array>

namespace runner {
namespace {

constexpr const char* image_dataset = "/data";

using Parser = RowsFormat::Parser;

/// The survey of a reader that has its own parser.
template <RowsFormat::Open open> StoredRows survey_own(const std::string& file) {
    StoredRows stored;
    stored.info = open(file, 1)->info();
    if (stored.info.offset) {
        stored.way = StoredRows::Way::positions;
    }
    return stored;
}

constexpr WrittenFormat written_sand{WrittenFormat::Elements::cells,
                                     WrittenFormat::Unknown::replaced,
                                     sand_place,
                                     sand_structure,
                                     sand_alignment,
                                     sand_block_bytes,
                                     open_sand_output,
                                     open_sand_writer};

/// The writing of a format whose elements lie dense and little-endian.
constexpr WrittenFormat dense(DataPlace (*place)(const ArrayInfo&),
                              void (*structure)(const ArrayInfo&, const StructurePiece&)) {
    return {WrittenFormat::Elements::numbers,
            WrittenFormat::Unknown::kept,
            place,
            structure,
            dense_alignment,
            0,
            open_dense_output,
            open_dense_writer};
}
constexpr WrittenFormat written_npy = dense(npy_place, npy_structure);
constexpr WrittenFormat written_tiff = dense(tiff_place, tiff_structure);

constexpr std::array formats = {
    RowsFormat{"sand", ".sand", cells_dataset, survey_own<open_sand_reader>, open_sand_reader,
               &written_sand, Parser::own},
    RowsFormat{"numpy", ".npy", image_dataset, survey_own<open_npy_reader>, open_npy_reader,
               &written_npy, Parser::own},
    RowsFormat{"TIFF", ".tif .tiff", image_dataset, survey_tiff, open_tiff_reader, &written_tiff,
               Parser::foreign},
    RowsFormat{"PNG", ".png", image_dataset, survey_png, open_png_reader, nullptr, Parser::foreign},
    RowsFormat{"NIfTI-1", ".nii .nii.gz", image_dataset, survey_own<open_nifti_reader>,
               open_nifti_reader, nullptr, Parser::own},
};

} // namespace

std::span<const RowsFormat> rows_formats() { return formats; }

std::string_view ending_of(const std::string& file, const RowsFormat& format) {
    constexpr std::string_view partial = ".partial";
    std::string_view name = file;
    if (name.ends_with(partial)) {
        name.remove_suffix(partial.size());
    }
    for (std::size_t at = 0; at < format.endings.size();) {
        const std::size_t end = std::min(format.endings.find(' ', at), format.endings.size());
        const std::string_view ending = format.endings.substr(at, end - at);
        if (name.ends_with(ending)) {
            return ending;
        }
        at = end + 1;
    }
    return {};
}

const RowsFormat* rows_format_of(const std::string& file) {
    const auto* found = std::find_if(formats.begin(), formats.end(), [&](const RowsFormat& each) {
        return !ending_of(file, each).empty();
    });
    return found == formats.end() ? nullptr : found;
}

const WrittenFormat* written_format_of(const std::string& file) {
    const RowsFormat* const format = rows_format_of(file);
    if (format != nullptr && format->written == nullptr) {
        throw Error(ExitCode::usage, {"cannot make the file", file,
                                      std::string(format->name) + " files are not made so",
                                      "Make an HDF5 file and use runner convert"});
    }
    return format == nullptr ? nullptr : format->written;
}

bool holds_cells(const std::string& file) {
    const RowsFormat* const format = rows_format_of(file);
    return format != nullptr && format->written != nullptr &&
           format->written->elements == WrittenFormat::Elements::cells;
}

bool holds_cells(const DatasetInfo& info) { return info.storage == sand_storage; }

std::int64_t cell_reader_bytes(int threads) { return threads * sand_block_bytes; }

} // namespace runner
