// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/rows_format.hpp"

#include "base/error.hpp"
#include "io/formats/nifti_file.hpp"
#include "io/formats/npy_file.hpp"
#include "io/formats/png_reader.hpp"
#include "io/formats/sand_file.hpp"
#include "io/formats/sand_reader.hpp"
#include "io/tiff/tiff_reader.hpp"
#include "io/tiff/tiff_survey.hpp"
#include "io/tiff/tiff_writer.hpp"

#include <algorithm>
#include <array>

namespace runner {
namespace {

constexpr const char* image_dataset = "/data";

using Parser = RowsFormat::Parser;

/// Of a reader that has its own parser.
template <RowsFormat::Open open> StoredRows survey_own(const std::string& file) {
    StoredRows stored;
    stored.info = open(file, 1)->info();
    if (stored.info.offset) {
        stored.way = StoredRows::Way::positions;
    }
    return stored;
}

constexpr std::array formats = {
    RowsFormat{"sand", ".sand", sand_dataset, survey_own<open_sand_reader>, open_sand_reader,
               nullptr, Parser::own},
    RowsFormat{"numpy", ".npy", image_dataset, survey_own<open_npy_reader>, open_npy_reader,
               make_npy_writer, Parser::own},
    RowsFormat{"TIFF", ".tif .tiff", image_dataset, survey_tiff, open_tiff_reader, make_tiff_writer,
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

} // namespace runner
