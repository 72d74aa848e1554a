// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/nifti_file.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/formats/header_fields.hpp"
#include "io/formats/nifti_axes.hpp"
#include "io/packings/packings.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {
namespace {

using namespace std::string_view_literals;

constexpr const char* what = "cannot read the NIfTI file";
constexpr const char* get_again = "Get it again from where it was made";

constexpr std::int64_t regular_at = 38;
constexpr std::int64_t dim_at = 40;
constexpr std::int64_t datatype_at = 70;
constexpr std::int64_t bitpix_at = 72;
constexpr std::int64_t vox_offset_at = 108;
constexpr std::int64_t slope_at = 112;
constexpr std::int64_t intercept_at = 116;
constexpr std::int64_t intent_at = 68;
constexpr std::int64_t most_shown_at = 124;  // cal_max
constexpr std::int64_t least_shown_at = 128; // cal_min
constexpr std::int64_t slice_seconds_at = 132;
constexpr std::int64_t description_at = 148;
constexpr std::int64_t auxiliary_at = 228;
constexpr std::int64_t magic_at = 344;
constexpr std::int64_t least_offset = 352; ///< behind the header and the mark of extensions
constexpr std::int64_t most_nifti_axes = 7;

[[noreturn]] void refuse(const std::string& file, std::int64_t byte, const std::string& why,
                         const std::string& try_this = get_again) {
    throw Error(ExitCode::input, {what, fmt::format("{}, byte {}", file, byte), why, try_this});
}

/// The header in its own order of bytes, which its length tells.
HeaderFields fields_of(const std::array<std::byte, nifti_header_bytes>& head,
                       const std::string& file) {
    for (const auto order : {HeaderFields::Order::of_machine, HeaderFields::Order::other}) {
        const HeaderFields fields(head, order);
        if (fields.at<std::int32_t>(0) == nifti_header_bytes) {
            return fields;
        }
    }
    const auto length = HeaderFields(head).at<std::int32_t>(0);
    constexpr std::int32_t second_version = 540;
    refuse(file, 0,
           length == second_version || length == __builtin_bswap32(second_version)
               ? "it is of NIfTI's second version"
               : fmt::format("sizeof_hdr is {}, and that of NIfTI-1 is 348", length),
           "Name a .nii or .nii.gz file of NIfTI-1");
}

void check_magic(const HeaderFields& fields, const std::string& file) {
    if (fields.text(magic_at, 4) == "ni1\0"sv) {
        refuse(file, magic_at, "its elements are in another file, a .img",
               "Join the two in a .nii file first, as with fslchfiletype NIFTI");
    }
    if (fields.text(magic_at, 4) != "n+1\0"sv) {
        refuse(file, magic_at, "the magic is not \"n+1\", as that of a .nii file",
               "Name a NIfTI-1 file; one of the older Analyze format is none");
    }
}

std::vector<std::int64_t> shape_of(const HeaderFields& fields, const std::string& file) {
    const auto axes = fields.at<std::int16_t>(dim_at);
    if (axes < 1 || axes > most_nifti_axes) {
        refuse(file, dim_at, fmt::format("dim[0] is {}, and there are 1 to 7 axes", axes));
    }
    std::vector<std::int64_t> shape;
    for (std::int64_t axis = axes; axis >= 1; --axis) {
        const std::int64_t byte = dim_at + 2 * axis;
        const auto extent = fields.at<std::int16_t>(byte);
        if (extent < 1) {
            refuse(file, byte, fmt::format("dim[{}] is {}, and must be 1 or more", axis, extent));
        }
        shape.push_back(extent);
    }
    return shape;
}

struct TypeCode {
    std::int16_t code;
    ElementType type;
};
constexpr std::array type_codes = {
    TypeCode{2, ElementType::uint8},    TypeCode{4, ElementType::int16},
    TypeCode{8, ElementType::int32},    TypeCode{16, ElementType::float32},
    TypeCode{64, ElementType::float64}, TypeCode{256, ElementType::int8},
    TypeCode{512, ElementType::uint16}, TypeCode{768, ElementType::uint32},
    TypeCode{1024, ElementType::int64}, TypeCode{1280, ElementType::uint64},
};

ElementType type_of(const HeaderFields& fields, const std::string& file) {
    const auto code = fields.at<std::int16_t>(datatype_at);
    const auto* found = std::find_if(type_codes.begin(), type_codes.end(),
                                     [&](const TypeCode& each) { return each.code == code; });
    if (found == type_codes.end()) {
        constexpr std::int16_t rgb = 128;
        constexpr std::int16_t rgba = 2304;
        const bool is_colour = code == rgb || code == rgba;
        refuse(file, datatype_at,
               fmt::format("datatype is {}, which is {}", code,
                           is_colour ? "colour" : "none of the ten types"),
               is_colour ? "Save it as a TIFF of colour, or each channel to a file of its own"
                         : "Supported are " + element_type_names());
    }
    const auto bits = fields.at<std::int16_t>(bitpix_at);
    if (bits != 8 * size_of(found->type)) {
        refuse(file, bitpix_at,
               fmt::format("bitpix is {}, and an element of datatype {} has {} bits", bits, code,
                           8 * size_of(found->type)));
    }
    return found->type;
}

std::int64_t offset_of(const HeaderFields& fields, const std::string& file) {
    const auto offset = fields.at<float>(vox_offset_at);
    constexpr float beyond = 0x1p62F;
    if (offset == 0) {
        return least_offset; // as some programs leave it
    }
    if (!(offset >= least_offset && offset < beyond) || offset != std::floor(offset)) {
        refuse(file, vox_offset_at,
               fmt::format("vox_offset is {}, and must be a whole number of at least 352", offset));
    }
    return static_cast<std::int64_t>(offset);
}

std::optional<Scale> scale_of(const HeaderFields& fields, const std::string& file) {
    const Scale scale{fields.at<float>(slope_at), fields.at<float>(intercept_at)};
    if (scale.slope == 0 || std::isnan(scale.slope)) {
        return std::nullopt; // none, says the format
    }
    if (!std::isfinite(scale.slope) || !std::isfinite(scale.intercept)) {
        refuse(file, std::isfinite(scale.slope) ? intercept_at : slope_at,
               fmt::format("scl_slope is {} and scl_inter {}", scale.slope, scale.intercept));
    }
    return scale.slope == 1 && scale.intercept == 0 ? std::nullopt : std::optional(scale);
}

/// What the header says beside the elements and their places.
std::vector<std::string> unkept_of(const HeaderFields& fields, std::int64_t offset) {
    std::vector<std::string> unkept;
    const auto add = [&](bool is_there, const char* words) {
        if (is_there) {
            unkept.emplace_back(words);
        }
    };
    add(fields.text(description_at, 1) != "\0"sv, "the description");
    add(fields.at<std::int16_t>(intent_at) != 0, "the intent");
    add(fields.text(auxiliary_at, 1) != "\0"sv, "the auxiliary file's name");
    add(fields.at<float>(least_shown_at) != 0 || fields.at<float>(most_shown_at) != 0,
        "the range to show (cal_min, cal_max)");
    add(fields.at<float>(slice_seconds_at) != 0, "the times of slices");
    add(offset > least_offset, "the header's extensions");
    return unkept;
}

/// Whether the file is packed: its name ends in .nii.gz, in letters of any case and without the
/// ending of a file that is being written, or its first two bytes are those of gzip.
bool is_gzip(const std::string& file) {
    constexpr std::string_view ending = ".nii.gz";
    constexpr std::string_view partial = ".partial";
    std::string_view name = file;
    if (name.ends_with(partial)) {
        name.remove_suffix(partial.size());
    }
    if (name.size() > ending.size() &&
        std::equal(ending.begin(), ending.end(), name.end() - std::ssize(ending),
                   [](char a, unsigned char b) { return a == std::tolower(b); })) {
        return true;
    }
    const File opened(file, File::Mode::read);
    std::array<std::byte, 2> begin{};
    if (opened.size() < std::ssize(begin)) {
        return false;
    }
    opened.read(0, std::ssize(begin), begin.data());
    return begin == std::array{std::byte{0x1f}, std::byte{0x8b}};
}

} // namespace

DenseLayout parse_nifti(const std::array<std::byte, nifti_header_bytes>& head,
                        const std::string& file) {
    const HeaderFields fields = fields_of(head, file);
    check_magic(fields, file);
    DenseLayout layout;
    layout.array.shape = shape_of(fields, file);
    layout.array.type = type_of(fields, file);
    layout.offset = offset_of(fields, file);
    layout.scale = scale_of(fields, file);
    layout.bytes = fields.order() == HeaderFields::Order::other ? DenseLayout::Bytes::big_endian
                                                                : DenseLayout::Bytes::little_endian;
    layout.axes = nifti_axes(fields, layout.array.shape);
    layout.storage = "NIfTI-1";
    layout.unkept = unkept_of(fields, layout.offset);
    if (layout.scale) {
        layout.notes.push_back(format_error(
            {"the elements are scaled", file,
             fmt::format("they are stored as {} with scl_slope {} and scl_inter {}",
                         name_of(layout.array.type), layout.scale->slope, layout.scale->intercept),
             "They are read as scl_slope * stored + scl_inter, in float64"}));
    }
    check_readable_shape(layout.array, file, what);
    return layout;
}

std::unique_ptr<RowReader> open_nifti_reader(const std::string& file, int threads) {
    std::unique_ptr<ByteSource> source =
        is_gzip(file) ? open_gzip_source(file) : open_plain_source(file);
    std::array<std::byte, nifti_header_bytes> head{};
    if (source->size() && *source->size() < nifti_header_bytes) {
        refuse(file, *source->size(), "it ends there, within its header of 348 bytes");
    }
    source->read(0, nifti_header_bytes, head.data());
    DenseLayout layout = parse_nifti(head, file);
    if (!source->size()) {
        check_declared_bytes({layout.offset + byte_count(layout.array), source->stored_bytes(),
                              highest_ratio::deflate, "gzip"},
                             what, file);
    }
    return open_dense_rows(std::move(source), file, what, std::move(layout), threads);
}

DataPlace nifti_place(const ArrayInfo& array) {
    const auto refuse = [&](const std::string& what_of_it, const std::string& why) {
        throw Error(ExitCode::usage, {"cannot make a .nii file", what_of_it, why,
                                      "End the output's name in .h5, .npy or .tif"});
    };
    const bool known = std::any_of(type_codes.begin(), type_codes.end(),
                                   [&](const TypeCode& each) { return each.type == array.type; });
    if (!known) {
        refuse(type_text(array), "NIfTI-1 holds " + element_type_names());
    }
    if (array.shape.empty() || std::ssize(array.shape) > most_nifti_axes) {
        refuse(shape_text(array.shape), "NIfTI-1 has 1 to 7 axes");
    }
    constexpr std::int64_t longest = std::numeric_limits<std::int16_t>::max();
    if (std::any_of(array.shape.begin(), array.shape.end(),
                    [](std::int64_t extent) { return extent > longest; })) {
        refuse(shape_text(array.shape),
               fmt::format("an axis of NIfTI-1 has at most {} elements", longest));
    }
    const std::int64_t bytes = byte_count(array);
    return {least_offset, bytes, least_offset + bytes};
}

void nifti_structure(const ArrayInfo& array, const Axes& axes, const StructurePiece& piece) {
    HeaderMaker<least_offset> header;
    header.put<std::int32_t>(0, nifti_header_bytes);
    header.put<char>(regular_at, 'r'); // as the format's own library leaves it
    for (std::int64_t axis = 0; axis <= most_nifti_axes; ++axis) {
        header.put<std::int16_t>(dim_at + 2 * axis, 1);
    }
    header.put(dim_at, static_cast<std::int16_t>(array.shape.size()));
    std::int64_t byte = dim_at;
    for (auto extent = array.shape.rbegin(); extent != array.shape.rend(); ++extent) {
        header.put(byte += 2, static_cast<std::int16_t>(*extent));
    }
    const auto* code = std::find_if(type_codes.begin(), type_codes.end(),
                                    [&](const TypeCode& each) { return each.type == array.type; });
    header.put(datatype_at, code->code);
    header.put(bitpix_at, static_cast<std::int16_t>(8 * size_of(array.type)));
    header.put(vox_offset_at, static_cast<float>(least_offset));
    header.put(slope_at, 1.0F);
    put_nifti_axes(header, axes, array.shape.size());
    header.put_text(magic_at, "n+1\0"sv);
    piece(0, header.made());
}

void refuse_colour_in_volume(const OutputDataset& output) {
    if (output.layout.channels.value_or(1) > 1) {
        throw Error(ExitCode::usage,
                    {"cannot make a file of volumes of a colour image",
                     shape_text(output.array.shape),
                     "NIfTI-1 and MRC have no samples of colour along their last axis",
                     "End the output's name in .tif, .ome.tif or .h5, or let a job take one sample "
                     "by input.select = { s = 0 }"});
    }
}

} // namespace runner
