// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/mrc_file.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "io/formats/header_fields.hpp"
#include "io/rows/file_elements.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {
namespace {

using namespace std::string_view_literals;

constexpr const char* what_mrc = "cannot read the MRC file";
constexpr const char* get_mrc_again = "Get it again from where it was made";

constexpr std::int64_t extents_at = 0; ///< NX, NY and NZ
constexpr std::int64_t mode_at = 12;
constexpr std::int64_t start_at = 16;      ///< NXSTART and so on
constexpr std::int64_t intervals_at = 28;  ///< MX, MY and MZ
constexpr std::int64_t cell_at = 40;       ///< the cell's lengths, then its angles
constexpr std::int64_t angles_at = 52;     ///< three, in degrees
constexpr std::int64_t axes_at = 64;       ///< MAPC, MAPR and MAPS
constexpr std::int64_t statistics_at = 76; ///< DMIN, DMAX and DMEAN
constexpr std::int64_t group_at = 88;      ///< ISPG
constexpr std::int64_t extended_at = 92;   ///< NSYMBT
constexpr std::int64_t nversion_at = 108;
constexpr std::int64_t imod_stamp_at = 152;
constexpr std::int64_t imod_flags_at = 156;
constexpr std::int64_t origin_at = 196;
constexpr std::int64_t map_at = 208;
constexpr std::int64_t machine_at = 212;
constexpr std::int64_t deviation_at = 216; ///< RMS
constexpr std::int64_t labels_at = 220;    ///< NLABL

constexpr std::int32_t image_group = 0;
constexpr std::int32_t volume_group = 1;
constexpr std::int32_t first_stack_group = 401; ///< of stacks of volumes
constexpr std::int32_t last_stack_group = 630;
constexpr const char* angstrom = "angstrom";

struct Mode {
    std::int32_t mode;
    ArrayInfo type;
};

const std::vector<Mode>& modes() {
    static const std::vector<Mode> all = {
        {0, {ElementType::int8, {}}},
        {1, {ElementType::int16, {}}},
        {2, {ElementType::float32, {}}},
        {6, {ElementType::uint16, {}}},
        {12, {ElementType::bytes2, {}, {float16_text, {}}}},
    };
    return all;
}

[[noreturn]] void refuse_mrc(const std::string& file, std::int64_t byte, const std::string& why,
                             const std::string& try_this = get_mrc_again) {
    throw Error(ExitCode::input, {what_mrc, fmt::format("{}, byte {}", file, byte), why, try_this});
}

/// The order of bytes of a stamp; nothing for one that is none.
std::optional<HeaderFields::Order> order_of(std::string_view stamp) {
    if (stamp.starts_with("DD"sv) || stamp.starts_with("DA"sv)) {
        return HeaderFields::Order::of_machine;
    }
    return stamp.starts_with("\x11\x11"sv) ? std::optional(HeaderFields::Order::other)
                                           : std::nullopt;
}

HeaderFields fields_of_mrc(const std::array<std::byte, mrc_header_bytes>& head,
                           const std::string& file) {
    const HeaderFields plain(head);
    if (plain.text(map_at, 3) != "MAP"sv) {
        refuse_mrc(file, map_at, "the four letters there are not \"MAP \", as in such files",
                   "Name an MRC2014 file, or give this one the ending of what it is, as .h5");
    }
    const std::optional<HeaderFields::Order> order = order_of(plain.text(machine_at, 2));
    if (!order) {
        refuse_mrc(file, machine_at,
                   fmt::format("the machine stamp begins with 0x{:02x} 0x{:02x}, which is none of "
                               "little-endian (0x44 0x44) or big-endian (0x11 0x11) files",
                               plain.at<std::uint8_t>(machine_at),
                               plain.at<std::uint8_t>(machine_at + 1)));
    }
    return HeaderFields(head, *order);
}

/// Whether bytes of mode 0 have no sign: IMOD wrote the file, and does not say that they have.
bool has_unsigned_bytes(const HeaderFields& fields) {
    constexpr std::int32_t stamp = 1146047817; // "IMOD"
    constexpr std::int32_t signed_bytes = 1;
    return fields.at<std::int32_t>(imod_stamp_at) == stamp &&
           (fields.at<std::int32_t>(imod_flags_at) & signed_bytes) == 0;
}

ArrayInfo elements_of(const HeaderFields& fields, const std::string& file) {
    const auto mode = fields.at<std::int32_t>(mode_at);
    const auto found = std::find_if(modes().begin(), modes().end(),
                                    [&](const Mode& each) { return each.mode == mode; });
    if (found == modes().end()) {
        refuse_mrc(file, mode_at,
                   fmt::format("the mode is {}{}", mode,
                               (mode == 3 || mode == 4 ? ", of complex numbers"
                                : mode == 101          ? ", of numbers of 4 bits"
                                                       : ", and there is none such")),
                   "Known are the modes 0, 1, 2, 6 and 12: int8, int16, float32, uint16 and "
                   "float16");
    }
    return mode == 0 && has_unsigned_bytes(fields) ? ArrayInfo{ElementType::uint8, {}}
                                                   : found->type;
}

void check_axes(const HeaderFields& fields, const std::string& file) {
    for (std::int32_t i = 0; i < 3; ++i) {
        const std::int64_t byte = axes_at + 4 * std::int64_t{i};
        if (const auto axis = fields.at<std::int32_t>(byte); axis != i + 1) {
            constexpr std::array names = {"MAPC", "MAPR", "MAPS"};
            refuse_mrc(file, byte,
                       fmt::format("{} is {}, and only files whose columns, rows and sections are "
                                   "x, y and z (1, 2 and 3) are read",
                                   names.at(static_cast<std::size_t>(i)), axis),
                       "Sort its axes first, as with CCP4's mapmask (AXIS X Y Z)");
        }
    }
}

std::vector<std::int64_t> shape_of_mrc(const HeaderFields& fields, const std::string& file) {
    std::array<std::int64_t, 3> extents{};
    for (std::size_t i = 0; i < extents.size(); ++i) {
        const std::int64_t byte = extents_at + 4 * static_cast<std::int64_t>(i);
        extents.at(i) = fields.at<std::int32_t>(byte);
        if (extents.at(i) < 1) {
            refuse_mrc(file, byte,
                       fmt::format("N{} is {}, and must be 1 or more", "XYZ"[i], extents.at(i)));
        }
    }
    const auto& [x, y, z] = extents;
    const auto group = fields.at<std::int32_t>(group_at);
    if (group >= first_stack_group && group <= last_stack_group) {
        const std::int64_t sections = fields.at<std::int32_t>(intervals_at + 8);
        if (sections < 1 || z % sections != 0) {
            refuse_mrc(file, intervals_at + 8,
                       fmt::format("MZ is {}, and the {} sections of a stack of volumes are no "
                                   "multiple of it",
                                   sections, z));
        }
        return {z / sections, sections, y, x};
    }
    return group == image_group && z == 1 ? std::vector<std::int64_t>{y, x}
                                          : std::vector<std::int64_t>{z, y, x};
}

/// The size of voxels, and where the first one is.
Axes mrc_axes(const HeaderFields& fields, const std::vector<std::int64_t>& shape) {
    const auto number = [&](std::int64_t byte) {
        const auto value = fields.at<float>(byte);
        return std::isfinite(value) ? double{value} : 0;
    };
    const bool has_origin =
        number(origin_at) != 0 || number(origin_at + 4) != 0 || number(origin_at + 8) != 0;
    const bool of_images = fields.at<std::int32_t>(group_at) == image_group;
    Axes made;
    made.each.resize(shape.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(shape.size(), 3); ++i) {
        const std::int64_t byte = 4 * static_cast<std::int64_t>(i);
        Axis& axis = made.each[shape.size() - 1 - i];
        axis.name = i == 2 && of_images ? "" : std::string(1, "xyz"[i]);
        const auto intervals = fields.at<std::int32_t>(intervals_at + byte);
        const double length = number(cell_at + byte);
        const bool counts_images = i == 2 && of_images && intervals == 1;
        if (intervals < 1 || length <= 0 || counts_images) {
            continue;
        }
        const double spacing = length / intervals;
        axis.unit = angstrom;
        axis.spacing = spacing;
        axis.origin = has_origin ? number(origin_at + byte)
                                 : fields.at<std::int32_t>(start_at + byte) * spacing;
    }
    return fitting_axes(std::move(made), shape);
}

/// What the header says beside the voxels and their places.
std::vector<std::string> unkept_of_mrc(const HeaderFields& fields) {
    constexpr std::int32_t most_labels = 10;
    constexpr std::int64_t label_bytes = 80;
    constexpr std::string_view writer = "Created by"; // says nothing of the image
    std::vector<std::string> unkept;
    const std::int32_t labels = std::clamp(fields.at<std::int32_t>(labels_at), 0, most_labels);
    for (std::int64_t label = 0; label < labels && unkept.empty(); ++label) {
        const std::int64_t byte = labels_at + 4 + label * label_bytes;
        if (fields.text(byte, writer.size()) != writer) {
            unkept.emplace_back("the labels");
        }
    }
    constexpr float right = 90;
    for (std::int64_t angle = 0; angle < 3; ++angle) {
        const auto degrees = fields.at<float>(angles_at + 4 * angle);
        if (degrees != right && degrees != 0) {
            unkept.emplace_back("the angles of the cell, which are not right");
            break;
        }
    }
    if (fields.at<std::int32_t>(extended_at) > 0) {
        unkept.emplace_back("the extended header");
    }
    return unkept;
}

/// Columns, rows and sections of a file, and the sections of a volume.
struct Extents {
    std::array<std::int64_t, 3> of_file{};
    std::int64_t sections = 1;
};

Extents extents_of_mrc(const std::vector<std::int64_t>& shape) {
    Extents extents{{shape.back(), shape[shape.size() - 2], 1}, 1};
    if (shape.size() > 2) {
        extents.sections = shape[shape.size() - 3];
        extents.of_file[2] = checked_product(std::span(shape).first(shape.size() - 2));
    }
    return extents;
}

/// Angstrom from one element to the next, as the header has it; 0: not known.
double angstroms(const Axes& axes, std::size_t axis_from_last) {
    if (axis_from_last >= axes.each.size()) {
        return 0;
    }
    const Axis& axis = axes.each[axes.each.size() - 1 - axis_from_last];
    return axis.spacing.value_or(0) * metres_in(axis.unit).value_or(0) * 1e10;
}

} // namespace

bool is_mrc(std::string_view begin) {
    return begin.size() >= machine_at + 2 && begin.substr(map_at, 3) == "MAP"sv &&
           order_of(begin.substr(machine_at)).has_value();
}

DenseLayout parse_mrc(const std::array<std::byte, mrc_header_bytes>& head,
                      const std::string& file) {
    const HeaderFields fields = fields_of_mrc(head, file);
    DenseLayout layout;
    layout.array = elements_of(fields, file);
    check_axes(fields, file);
    layout.array.shape = shape_of_mrc(fields, file);
    const auto extended = fields.at<std::int32_t>(extended_at);
    if (extended < 0) {
        refuse_mrc(file, extended_at,
                   fmt::format("NSYMBT, the bytes of the extended header, is {}", extended));
    }
    layout.offset = mrc_header_bytes + extended;
    layout.bytes = fields.order() == HeaderFields::Order::other ? DenseLayout::Bytes::big_endian
                                                                : DenseLayout::Bytes::little_endian;
    layout.storage = "MRC";
    layout.axes = mrc_axes(fields, layout.array.shape);
    layout.unkept = unkept_of_mrc(fields);
    check_readable_shape(layout.array, file, what_mrc);
    return layout;
}

std::unique_ptr<RowReader> open_mrc_reader(const std::string& file, int threads) {
    std::unique_ptr<ByteSource> source = open_plain_source(file);
    if (*source->size() < mrc_header_bytes) {
        refuse_mrc(file, *source->size(), "it ends there, within its header of 1024 bytes");
    }
    std::array<std::byte, mrc_header_bytes> head{};
    source->read(0, mrc_header_bytes, head.data());
    DenseLayout layout = parse_mrc(head, file);
    note_rest(layout, file, *source->size());
    return open_dense_rows(std::move(source), file, what_mrc, std::move(layout), threads);
}

DataPlace mrc_place(const ArrayInfo& array) {
    const auto refuse = [&](const std::string& what_of_it, const std::string& why,
                            const std::string& try_this) {
        throw Error(ExitCode::usage, {"cannot make an MRC file", what_of_it, why, try_this});
    };
    const ArrayInfo type{array.type, {}, array.stored};
    if (std::none_of(modes().begin(), modes().end(),
                     [&](const Mode& each) { return each.type == type; })) {
        refuse(type_text(array), "it holds int8, int16, uint16, float16 and float32",
               "End the output's name in .h5, .npy, .tif or .nii, or let rescale, or convert "
               "--dtype, make one of these types");
    }
    constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
    const std::size_t axes = array.shape.size();
    if (axes < 2 || axes > 4) {
        refuse(shape_text(array.shape), "it has two to four axes",
               "End the output's name in .h5 or .npy");
    }
    const Extents extents = extents_of_mrc(array.shape);
    if (std::any_of(extents.of_file.begin(), extents.of_file.end(),
                    [](std::int64_t extent) { return extent > longest; })) {
        refuse(shape_text(array.shape), "columns, rows and sections are at most 2^31 - 1",
               "End the output's name in .h5 or .npy");
    }
    const std::int64_t bytes = byte_count(array);
    return {mrc_header_bytes, bytes, mrc_header_bytes + bytes};
}

void mrc_structure(const ArrayInfo& array, const Axes& axes, const StructurePiece& piece) {
    const Extents extents = extents_of_mrc(array.shape);
    // One section of a stack would be read as an image of two axes.
    const bool counts_images =
        array.shape.size() == 2 || (array.shape.size() == 3 && extents.sections > 1 &&
                                    angstroms(axes, 0) > 0 && angstroms(axes, 2) == 0);
    HeaderMaker<mrc_header_bytes> header;
    const ArrayInfo type{array.type, {}, array.stored};
    header.put(mode_at, std::find_if(modes().begin(), modes().end(), [&](const Mode& each) {
                            return each.type == type;
                        })->mode);
    for (std::size_t i = 0; i < 3; ++i) {
        const std::int64_t byte = 4 * static_cast<std::int64_t>(i);
        const std::int64_t intervals =
            i < 2 ? extents.of_file.at(i) : (counts_images ? 1 : extents.sections);
        header.put(extents_at + byte, static_cast<std::int32_t>(extents.of_file.at(i)));
        header.put(intervals_at + byte, static_cast<std::int32_t>(intervals));
        header.put(angles_at + byte, 90.0F);
        header.put(axes_at + byte, static_cast<std::int32_t>(i + 1));
        if (const double size = angstroms(axes, i); size > 0) {
            const Axis& axis = axes.each[axes.each.size() - 1 - i];
            header.put(cell_at + byte, static_cast<float>(size * static_cast<double>(intervals)));
            header.put(origin_at + byte,
                       static_cast<float>(axis.origin.value_or(0) / *axis.spacing * size));
        }
    }
    header.put(group_at, array.shape.size() == 4 ? first_stack_group
                         : counts_images         ? image_group
                                                 : volume_group);
    header.put(nversion_at, std::int32_t{20141});
    header.put_text(map_at, "MAP DD\0\0"sv);
    // Not determined, as the standard marks them: DMAX < DMIN, DMEAN below both, RMS negative.
    header.put(statistics_at, 0.0F);
    header.put(statistics_at + 4, -1.0F);
    header.put(statistics_at + 8, -2.0F);
    header.put(deviation_at, -1.0F);
    piece(0, header.made());
}

} // namespace runner
