// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/rows_format.hpp"

#include "base/error.hpp"
#include "io/files/file_names.hpp"
#include "io/files/folder_tree.hpp"
#include "io/formats/format_signature.hpp"
#include "io/formats/mrc_file.hpp"
#include "io/formats/nifti_file.hpp"
#include "io/formats/nifti_gz.hpp"
#include "io/formats/npy_file.hpp"
#include "io/formats/png_file.hpp"
#include "io/formats/png_reader.hpp"
#include "io/formats/sand_file.hpp"
#include "io/formats/sand_rows.hpp"
#include "io/formats/slice_names.hpp"
#include "io/formats/slices.hpp"
#include "io/tiff/tiff_file.hpp"
#include "io/zarr/ome_group.hpp"
#include "io/zarr/ome_levels.hpp"
#include "io/zarr/zarr_file.hpp"
#include "io/zarr/zarr_writer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr const char* image_dataset = "/data";

using Parser = RowsFormat::Parser;

/// The survey of a reader that has its own parser.
template <RowsFormat::Open open> StoredRows survey_own(const SurveyedDataset& one) {
    StoredRows stored;
    stored.info = open(one.file, 1)->info();
    if (stored.info.offset) {
        stored.way = StoredRows::Way::positions;
    }
    return stored;
}

/// The functions of a format whose files follow from the array and its axes alone.
template <DataPlace (*place)(const ArrayInfo&)> DataPlace place_of(const OutputDataset& output) {
    return place(output.array);
}
template <void (*structure)(const ArrayInfo&, const Axes&, const StructurePiece&)>
void structure_of(const OutputDataset& output, const StructurePiece& piece) {
    structure(output.array, output.axes, piece);
}

/// The survey of a file that holds one dataset.
template <StoredRows (*survey)(const std::string&)>
StoredRows survey_only(const SurveyedDataset& one) {
    return survey(one.file);
}

constexpr WrittenFormat written_sand{WrittenFormat::Elements::cells,
                                     WrittenFormat::Unknown::replaced,
                                     place_of<sand_place>,
                                     structure_of<sand_structure>,
                                     WrittenFormat::Placed::no,
                                     nullptr,
                                     sand_alignment,
                                     sand_block_bytes,
                                     nullptr,
                                     open_sand_output,
                                     open_sand_writer};

/// The writing of a format whose elements lie dense and little-endian.
constexpr WrittenFormat dense(DataPlace (*place)(const OutputDataset&),
                              void (*structure)(const OutputDataset&, const StructurePiece&),
                              WrittenFormat::Placed placed,
                              std::vector<std::string> (*left_out)(const OutputDataset&),
                              const PackedFormat* packed) {
    return {WrittenFormat::Elements::numbers,
            WrittenFormat::Unknown::kept,
            place,
            structure,
            placed,
            left_out,
            dense_alignment,
            0,
            packed,
            open_dense_output,
            open_dense_writer};
}
template <DataPlace (*place)(const ArrayInfo&),
          void (*structure)(const ArrayInfo&, const Axes&, const StructurePiece&)>
constexpr WrittenFormat dense_of(WrittenFormat::Placed placed) {
    return dense(place_of<place>, structure_of<structure>, placed, nullptr, nullptr);
}
constexpr WrittenFormat written_npy = dense_of<npy_place, npy_structure>(WrittenFormat::Placed::no);

/// As dense_of(), of volumes.
template <DataPlace (*place)(const ArrayInfo&),
          void (*structure)(const ArrayInfo&, const Axes&, const StructurePiece&)>
constexpr WrittenFormat volumes_of() {
    WrittenFormat format = dense_of<place, structure>(WrittenFormat::Placed::yes);
    format.place = [](const OutputDataset& output) {
        refuse_colour_in_volume(output);
        return place(output.array);
    };
    return format;
}
constexpr WrittenFormat written_nifti = volumes_of<nifti_place, nifti_structure>();
constexpr WrittenFormat written_mrc = volumes_of<mrc_place, mrc_structure>();

template <TiffFlavour flavour>
constexpr PackedFormat packed_tiff{
    is_tiff_compression,
    tiff_chunk,
    [](const OutputDataset& output, std::span<const std::int64_t> sizes,
       const StructurePiece& piece) { make_packed_tiff_structure(output, flavour, sizes, piece); },
    packed_strip_sizes,
    nullptr,
    nullptr,
    has_tiff_tiles};

template <TiffFlavour flavour> constexpr WrittenFormat tiff_of() {
    WrittenFormat tiff =
        dense([](const OutputDataset& output) { return place_tiff(output, flavour); },
              [](const OutputDataset& output, const StructurePiece& piece) {
                  make_tiff_structure(output, flavour, piece);
              },
              WrittenFormat::Placed::yes,
              [](const OutputDataset& output) { return left_out_of_tiff(output, flavour); },
              &packed_tiff<flavour>);
    tiff.colour = WrittenFormat::Colour::said;
    return tiff;
}
constexpr WrittenFormat written_tiff = tiff_of<TiffFlavour::imagej>();
constexpr WrittenFormat written_ome = [] {
    WrittenFormat ome = tiff_of<TiffFlavour::ome>();
    ome.levels = tiff_levels;
    return ome;
}();

constexpr PackedFormat packed_png{
    [](Compression compression) { return compression == Compression::deflate; }, png_chunk,
    make_png_structure, png_strip_sizes, png_filter};
constexpr WrittenFormat written_png = [] {
    WrittenFormat png = dense(place_png, nullptr, WrittenFormat::Placed::yes, nullptr, &packed_png);
    png.usual = Compression::deflate;
    png.colour = WrittenFormat::Colour::said;
    return png;
}();

constexpr PackedFormat packed_nifti{
    [](Compression compression) { return compression == Compression::gzip; }, nifti_gz_chunk,
    make_nifti_gz_structure, nifti_gz_sizes};
constexpr WrittenFormat written_nifti_gz = [] {
    WrittenFormat nifti =
        dense(place_nifti_gz, nullptr, WrittenFormat::Placed::yes, nullptr, &packed_nifti);
    nifti.usual = Compression::gzip;
    return nifti;
}();

template <ZarrFlavour flavour>
constexpr FolderOfChunks zarr_folder{
    zarr_files,
    [](const OutputDataset& output, std::int64_t index) {
        return zarr_file(output, index, flavour);
    },
    place_in_zarr,
    zarr_shard,
    zarr_tail,
    [](const OutputDataset& output) { return zarr_texts(output, flavour); },
    [](const std::string& /*file*/, const std::string& name) { return is_zarr_name(name); },
    files_in,
    nullptr,
    zarr_level_elements,
    flavour == ZarrFlavour::ome ? ome_channels : nullptr,
    zarr_cube,
    zarr_record};

template <ZarrFlavour flavour>
constexpr PackedFormat packed_zarr{is_zarr_compression,  zarr_chunk, nullptr, nullptr, nullptr,
                                   &zarr_folder<flavour>};

template <ZarrFlavour flavour> constexpr WrittenFormat zarr_of() {
    return {WrittenFormat::Elements::numbers,
            WrittenFormat::Unknown::kept,
            [](const OutputDataset& output) { return place_zarr(output, flavour); },
            nullptr,
            WrittenFormat::Placed::yes,
            [](const OutputDataset& output) { return left_out_of_zarr(output, flavour); },
            nullptr,
            0,
            &packed_zarr<flavour>,
            nullptr,
            nullptr,
            Compression::none,
            flavour == ZarrFlavour::ome ? ome_levels : nullptr};
}
constexpr WrittenFormat written_zarr = zarr_of<ZarrFlavour::array>();
constexpr WrittenFormat written_ome_zarr = [] {
    WrittenFormat ome = zarr_of<ZarrFlavour::ome>();
    ome.check_axes = check_ome_axes;
    return ome;
}();

constexpr FolderFormat zarr_folders{is_zarr, zarr_arrays};

constexpr std::array formats = {
    RowsFormat{"sand", ".sand", cells_dataset, survey_own<open_sand_reader>, open_sand_reader,
               &written_sand, "", Parser::own},
    RowsFormat{"numpy", ".npy", image_dataset, survey_own<open_npy_reader>, open_npy_reader,
               &written_npy, "", Parser::own},
    RowsFormat{"OME-TIFF", ".ome.tif .ome.tiff", image_dataset, survey_only<survey_tiff>,
               open_tiff_reader, &written_ome, "", Parser::foreign, nullptr,
               &SlicesOf<written_ome>::written},
    RowsFormat{"TIFF", ".tif .tiff", image_dataset, survey_only<survey_tiff>, open_tiff_reader,
               &written_tiff, "", Parser::foreign, nullptr, &SlicesOf<written_tiff>::written},
    RowsFormat{"TIFF", ".btf .svs .lsm .stk .ndpi", image_dataset, survey_only<survey_tiff>,
               open_tiff_reader, nullptr, "", Parser::foreign},
    RowsFormat{"PNG", ".png", image_dataset, survey_only<survey_png>, open_png_reader, &written_png,
               "", Parser::foreign, nullptr, &SlicesOf<written_png>::written},
    RowsFormat{"NIfTI-1", ".nii", image_dataset, survey_own<open_nifti_reader>, open_nifti_reader,
               &written_nifti, "", Parser::own},
    RowsFormat{"NIfTI-1", ".nii.gz", image_dataset, survey_own<open_nifti_reader>,
               open_nifti_reader, &written_nifti_gz, "", Parser::own},
    RowsFormat{"MRC", ".mrc", image_dataset, survey_own<open_mrc_reader>, open_mrc_reader,
               &written_mrc, "", Parser::own},
    RowsFormat{"MRC", ".mrcs .rec .st .map", image_dataset, survey_own<open_mrc_reader>,
               open_mrc_reader, nullptr, "make a .mrc file, and rename it", Parser::own},
    RowsFormat{"Zarr", ".ome.zarr", "", survey_zarr, nullptr, &written_ome_zarr, "",
               Parser::foreign, &zarr_folders},
    RowsFormat{"Zarr", ".zarr", "", survey_zarr, nullptr, &written_zarr, "", Parser::foreign,
               &zarr_folders},
    RowsFormat{"Zarr", ".zarr.zip .ozx", "", survey_zarr, nullptr, nullptr,
               "make a .zarr folder, and pack what is in it by zip -0", Parser::foreign,
               &zarr_folders},
};

constexpr std::string_view hdf5_endings = ".h5 .hdf5 .nx .nxs .nexus .he5 .nc4";

std::vector<std::string> words(std::string_view text) {
    std::istringstream from{std::string(text)};
    return {std::istream_iterator<std::string>(from), {}};
}

/// The name of a file, without the ending of one that is being written, in small letters.
std::string plain_name(const std::string& file) {
    constexpr std::string_view partial = ".partial";
    const std::size_t end = file.find_last_not_of('/') + 1; // npos + 1 is 0
    std::string name = file.substr(0, end);
    name.erase(0, name.rfind('/') + 1);
    if (name.ends_with(partial)) {
        name.resize(name.size() - partial.size());
    }
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) {
        return static_cast<char>(letter < 0x80 ? std::tolower(letter) : letter);
    });
    return name;
}

/// The one of the endings that a plain_name() has.
std::string_view ending_among(std::string_view endings, const std::string& name) {
    for (std::size_t at = 0; at < endings.size();) {
        const std::size_t end = std::min(endings.find(' ', at), endings.size());
        const std::string_view ending = endings.substr(at, end - at);
        if (name.ends_with(ending)) {
            return ending;
        }
        at = end + 1;
    }
    return {};
}

const RowsFormat* format_of_ending(const std::string& name) {
    const auto* found = std::find_if(formats.begin(), formats.end(), [&](const RowsFormat& each) {
        return !ending_among(each.endings, name).empty();
    });
    return found == formats.end() ? nullptr : found;
}

const RowsFormat* format_of_folder(const std::string& file) {
    const auto* found = std::find_if(formats.begin(), formats.end(), [&](const RowsFormat& each) {
        return each.folder != nullptr && each.folder->is_one(file);
    });
    return found == formats.end() ? nullptr : found;
}

/// "a, b and c": the endings that `first` has, and those of formats with such a member.
std::string listed_endings(std::string_view first, const WrittenFormat* RowsFormat::*member) {
    std::vector<std::string> endings = words(first);
    for (const RowsFormat& format : formats) {
        if (format.*member != nullptr) {
            const std::vector<std::string> more = words(format.endings);
            endings.insert(endings.end(), more.begin(), more.end());
        }
    }
    std::string text;
    for (std::size_t i = 0; i < endings.size(); ++i) {
        text += i == 0 ? "" : (i + 1 < endings.size() ? ", " : " and ");
        text += endings[i];
    }
    return text;
}

} // namespace

std::span<const RowsFormat> rows_formats() { return formats; }

std::string_view ending_of(const std::string& file, const RowsFormat& format) {
    return ending_among(format.endings, plain_name(file));
}

const RowsFormat* rows_format_of(const std::string& file) {
    const std::string name = plain_name(file);
    if (const RowsFormat* const format = format_of_ending(name)) {
        return format;
    }
    if (!ending_among(hdf5_endings, name).empty()) {
        return nullptr;
    }
    if (const RowsFormat* const format = format_of_folder(file)) {
        return format;
    }
    const std::string_view ending = ending_by_content(file);
    return ending.empty() ? nullptr : format_of_ending(std::string(ending));
}

bool is_hdf5_name(const std::string& file) {
    return !ending_among(hdf5_endings, plain_name(file)).empty();
}

std::string written_endings() { return listed_endings(hdf5_endings, &RowsFormat::written); }

std::string slices_endings() { return listed_endings("", &RowsFormat::slices); }

bool writes_slices(const std::string& file) {
    const std::string name = plain_name(file);
    const RowsFormat* const format = format_of_ending(name);
    return format != nullptr && format->slices != nullptr && !slices_mark(name).empty();
}

const WrittenFormat* written_in(const RowsFormat& format, const std::string& file) {
    return slices_mark(plain_name(file)).empty() ? format.written : format.slices;
}

std::string output_name_fault(const std::string& file) {
    const std::string name = plain_name(file);
    if (std::string fault = slices_fault(name); !fault.empty()) {
        return fault;
    }
    if (std::string fault = name_length_fault(file); !fault.empty()) {
        return fault;
    }
    const RowsFormat* const format = format_of_ending(name);
    if (format != nullptr ? format->written != nullptr : is_hdf5_name(file)) {
        return "";
    }
    const std::string instead(format == nullptr ? "" : format->instead);
    return "names no format that is written: end it in one of " + written_endings() +
           (instead.empty() ? "" : ", or " + instead);
}

const WrittenFormat* written_format_of(const std::string& file) {
    const RowsFormat* const format = rows_format_of(file);
    const WrittenFormat* const written = format == nullptr ? nullptr : written_in(*format, file);
    if (format != nullptr && written == nullptr) {
        throw Error(ExitCode::usage,
                    {"cannot make the file", file,
                     std::string(format->name) + " files are not made so",
                     format->instead.empty() ? "Make an HDF5 file and use runner convert"
                                             : "Instead, " + std::string(format->instead)});
    }
    return written;
}

const FolderOfChunks* folder_output_of(const std::string& file) {
    const RowsFormat* const format = format_of_ending(plain_name(file));
    const WrittenFormat* const written = format == nullptr ? nullptr : written_in(*format, file);
    return written == nullptr || written->packed == nullptr ? nullptr : written->packed->folder;
}

bool is_folder_output(const std::string& file) { return folder_output_of(file) != nullptr; }

bool holds_cells(const std::string& file) {
    const RowsFormat* const format = rows_format_of(file);
    return format != nullptr && format->written != nullptr &&
           format->written->elements == WrittenFormat::Elements::cells;
}

bool holds_cells(const DatasetInfo& info) { return info.storage == sand_storage; }

std::int64_t cell_reader_bytes(int threads) { return threads * sand_block_bytes; }

} // namespace runner
