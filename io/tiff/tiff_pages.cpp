// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_pages.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/rows/file_elements.hpp"
#include "io/tiff/tiff_axes.hpp"
#include "io/tiff/tiff_planes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <tiffio.h>

namespace runner {
namespace {

constexpr const char* what_pages = "cannot read the TIFF file";

[[noreturn]] void refuse(const std::string& where, const std::string& why,
                         const std::string& try_this) {
    throw Error(ExitCode::input, {what_pages, where, why, try_this});
}

std::optional<ElementType> element_type_of(unsigned format, unsigned bits) {
    switch (format) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID: return element_type(fmt::format("uint{}", bits));
    case SAMPLEFORMAT_INT: return element_type(fmt::format("int{}", bits));
    case SAMPLEFORMAT_IEEEFP:
        return bits == 16 ? ElementType::bytes2 : element_type(fmt::format("float{}", bits));
    default: return std::nullopt;
    }
}

std::string compression_name(std::uint16_t scheme) {
    if (scheme == COMPRESSION_NONE) {
        return "uncompressed"; // libtiff says None
    }
    const TIFFCodec* codec = TIFFFindCODEC(scheme);
    return codec == nullptr ? std::to_string(scheme) : codec->name;
}

/// In volumes, libtiff 4.5 finds the tiles of all slices, but the strips of the first slice only,
/// and takes every tile for one slice deep.
void set_depth(const TiffHandle& tiff, TiffPages& page, const std::string& where) {
    page.depth = tiff.number(TIFFTAG_IMAGEDEPTH);
    if (page.depth < 1) {
        refuse(where, "its ImageDepth is 0", "Make it again: it has no slices");
    }
    const std::uint32_t tile_depth = tiff.number(TIFFTAG_TILEDEPTH);
    const bool in_strips = page.storage == "strips";
    if (in_strips ? page.depth > 1 : tile_depth != 1) {
        refuse(where,
               fmt::format("it is a volume of {} slices (ImageDepth) {}, which libtiff cannot read",
                           page.depth,
                           (in_strips ? "in strips" : "in tiles of " + std::to_string(tile_depth))),
               "Save it with a page for each slice, as "
               "tifffile.imwrite(NEW, tifffile.imread(OLD)) does in Python");
    }
}

/// Refuses samples of colour that are no red, green and blue.
void check_colours(const TiffHandle& tiff, const TiffPages& page, const std::string& where) {
    const char* colours = nullptr;
    switch (page.samples > 1 ? tiff.short_number(TIFFTAG_PHOTOMETRIC) : PHOTOMETRIC_RGB) {
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
    case PHOTOMETRIC_ITULAB: colours = "L*a*b*"; break;
    case PHOTOMETRIC_LOGLUV: colours = "LogLuv"; break;
    case PHOTOMETRIC_YCBCR: // libtiff makes red, green and blue of JPEG's
        colours = tiff.short_number(TIFFTAG_COMPRESSION) == COMPRESSION_JPEG ? nullptr : "YCbCr";
        break;
    default: break;
    }
    if (colours != nullptr) {
        refuse(where, std::string("its colours are ") + colours, "Save it in red, green and blue");
    }
}

/// The page that the handle is at.
TiffPages page_of(const TiffHandle& tiff, const std::string& where) {
    TiffPages page;
    page.width = tiff.number(TIFFTAG_IMAGEWIDTH);
    page.height = tiff.number(TIFFTAG_IMAGELENGTH);
    const unsigned bits = tiff.short_number(TIFFTAG_BITSPERSAMPLE);
    const std::optional<ElementType> type =
        element_type_of(tiff.short_number(TIFFTAG_SAMPLEFORMAT), bits);
    if (!type) {
        refuse(where,
               fmt::format("its elements have {} bits, in the sample format {}", bits,
                           tiff.short_number(TIFFTAG_SAMPLEFORMAT)),
               "Supported are " + element_type_names() + " and " + float16_text);
    }
    page.type = *type;
    page.samples = tiff.short_number(TIFFTAG_SAMPLESPERPIXEL);
    const bool together = tiff.short_number(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_CONTIG;
    const bool has_alpha =
        page.samples == 4 && tiff.short_number(TIFFTAG_PHOTOMETRIC) == PHOTOMETRIC_RGB;
    if (page.samples != 1 && ((page.samples != 3 && !has_alpha) || !together)) {
        refuse(where,
               fmt::format("it has {} samples a pixel{}", page.samples,
                           (together ? "" : ", each in a plane of its own")),
               together ? "Make it grey, or red, green and blue, with alpha or without"
                        : "Store the samples of a pixel together, as tifffile's planarconfig = "
                          "\"contig\" does");
    }
    check_colours(tiff, page, where);
    const std::uint16_t scheme = tiff.short_number(TIFFTAG_COMPRESSION);
    page.compression = compression_name(scheme);
    if (TIFFIsCODECConfigured(scheme) != 1) {
        refuse(where, "its compression, " + page.compression + ", is unknown to this libtiff",
               "Save it with another compression");
    }
    page.storage = TIFFIsTiled(tiff.get()) != 0 ? "tiles" : "strips";
    set_depth(tiff, page, where);
    return page;
}

std::string page_text(const TiffPages& page) {
    return type_text(page.array()) + " " + shape_text(page.array().shape);
}

} // namespace

ArrayInfo TiffPages::array() const {
    ArrayInfo array{type, {height, width}};
    if (type == ElementType::bytes2) {
        array.stored.text = float16_text;
    }
    if (depth > 1) {
        array.shape.insert(array.shape.begin(), depth);
    }
    if (!leading.empty()) {
        array.shape.insert(array.shape.begin(), leading.begin(), leading.end());
    } else if (pages() > 1) {
        array.shape.insert(array.shape.begin(), pages());
    }
    if (samples > 1) {
        array.shape.push_back(samples);
    }
    return array;
}

bool is_sparse(const TiffHandle& tiff, std::int64_t number) {
    const auto strile = static_cast<std::uint32_t>(number);
    return TIFFGetStrileByteCount(tiff.get(), strile) == 0 &&
           TIFFGetStrileOffset(tiff.get(), strile) == 0;
}

DatasetInfo tiff_info(const TiffHandle& tiff, const TiffPages& pages) {
    DatasetInfo info;
    info.array = pages.array();
    info.storage = pages.storage;
    info.filters = {pages.compression};
    info.stored_bytes = tiff.size();
    info.big_endian = TIFFIsBigEndian(tiff.get()) != 0;
    info.unkept = pages.unkept;
    info.notes = pages.notes;
    info.axes = pages.axes;
    info.invalid = pages.invalid;
    info.invalid_value = pages.invalid_value;
    if (pages.samples > 1) {
        info.channels = pages.samples;
    }
    return info;
}

namespace {

/// What the first page says of all of them.
struct FirstPage {
    explicit FirstPage(const TiffHandle& tiff) : ome(ome_planes_of(tiff)) {
        if (ome && ome->images > 1) {
            directories.insert(ome->directories.begin(), ome->directories.end());
        }
    }

    /// Whether a directory is of another image than the one that is read.
    bool is_elsewhere(std::int64_t directory) const {
        return !directories.empty() && !directories.contains(directory);
    }

    std::optional<OmePlanes> ome;
    std::set<std::int64_t> directories = {}; ///< of the image, where there are several; else none
    std::int64_t named = 0;
    std::string description = {};
    Resolution resolution = {};
    std::vector<std::string> labels = {};
    std::optional<StkAxes> stk = {};
};

/// Whether a description that is not ImageJ's says more than what is read of it: the shape and the
/// axes in tifffile's JSON, and OME-XML.
bool says_more(const std::string& description) {
    if (description.starts_with('<')) {
        return description.find("<OME") == std::string::npos;
    }
    if (!description.starts_with('{')) {
        return !description.empty();
    }
    try {
        const std::vector<std::string> names = Json::parse(description).names();
        return std::any_of(names.begin(), names.end(), [](const std::string& name) {
            return name != "shape" && name != "axes" && name != "truncate";
        });
    } catch (const JsonError&) {
        return true;
    }
}

/// What the page that the handle is at says beside the axes.
std::vector<std::string> unkept_of(const TiffHandle& tiff, const FirstPage& first) {
    std::vector<std::string> unkept;
    const std::string& text = first.description;
    if (first.ome) {
        unkept = ome_unkept(text, first.ome->image);
    } else if (text.starts_with("ImageJ=")) {
        unkept = imagej_unkept(tiff);
    } else if (says_more(text)) {
        unkept.emplace_back("the description");
    }
    for (const auto& [tag, words] :
         {std::pair(TIFFTAG_DATETIME, "the date"), std::pair(TIFFTAG_ARTIST, "the author"),
          std::pair(TIFFTAG_COPYRIGHT, "the copyright")}) {
        const char* said = nullptr;
        if (TIFFGetField(tiff.get(), tag, &said) == 1 && said != nullptr && *said != '\0' &&
            std::find(unkept.begin(), unkept.end(), words) == unkept.end()) {
            unkept.emplace_back(words);
        }
    }
    std::uint32_t bytes = 0;
    const void* profile = nullptr;
    if (TIFFGetField(tiff.get(), TIFFTAG_ICCPROFILE, &bytes, &profile) == 1) {
        unkept.emplace_back("the colour profile");
    }
    constexpr std::array<std::uint16_t, 4> places = {33550, 33922, 34264, 34735}; // of GeoTIFF
    if (std::any_of(places.begin(), places.end(),
                    [&](std::uint16_t tag) { return tiff.raw_tag(tag, 1).count > 0; })) {
        unkept.emplace_back("the place on the earth (GeoTIFF)");
    }
    const bool has_sizes = first.ome || text.starts_with("ImageJ=");
    if (const Resolution& each = first.resolution; each.unit == "inch" && each.x && !has_sizes) {
        const double dots = 1 / *each.x;
        if (dots != 72 && dots != 96) { // what programs write that know of none
            unkept.push_back(fmt::format("the resolution, {:.6g} pixels an inch", dots));
        }
    }
    return unkept;
}

/// Takes the page that the handle is at for the first.
TiffPages begin_pages(const TiffHandle& tiff, TiffPages page, FirstPage& first) {
    first.named = named_planes(tiff, page);
    first.resolution = resolution_of(tiff);
    first.labels = imagej_labels(tiff);
    first.stk = stk_axes(tiff);
    page.unkept = unkept_of(tiff, first);
    return page;
}

void take_meaning(Meaning meaning, TiffPages& pages) {
    pages.notes = std::move(meaning.notes);
    pages.invalid = std::move(meaning.invalid);
    pages.invalid_value = meaning.invalid_value;
}

void note_left_out(const std::string& file, const FirstPage& first, std::int64_t reduced,
                   TiffPages& pages) {
    if (reduced > 0) {
        pages.notes.push_back(format_error({"reduced images are left out", file,
                                            fmt::format("{} of its pages are such", reduced), ""}));
    }
    const std::int64_t there = std::ssize(pages.offsets);
    if (!first.ome && first.named > 1 && first.named < there) {
        pages.notes.push_back(format_error(
            {"the description does not name all pages", file,
             fmt::format("it names {}, and the file has {}, which are all taken", first.named,
                         there),
             fmt::format("Take those that it names by input.frames = \"0:{}\"", first.named)}));
    }
    if (first.ome && first.ome->images > 1) {
        pages.notes.push_back(format_error(
            {"one image of several is read", file,
             fmt::format(
                 "its OME-XML has {} images with planes in this file, and image {} is taken",
                 first.ome->images, first.ome->image),
             "Save each of the others to a file of its own to read it"}));
    }
}

} // namespace

TiffPages list_tiff_pages(TiffHandle& tiff) {
    const std::string& file = tiff.file().path();
    TiffPages pages;
    std::vector<std::uint64_t> directories;
    std::int64_t reduced = 0;
    FirstPage first(tiff);
    first.description = description_of(tiff);
    JoinedMeaning meaning("pages");
    Meaning of_first;
    for (std::int64_t number = 0;; ++number) {
        const std::string where = fmt::format("{}, page {}", file, number);
        directories.push_back(TIFFCurrentDirOffset(tiff.get()));
        if ((tiff.number(TIFFTAG_SUBFILETYPE) & FILETYPE_REDUCEDIMAGE) != 0) {
            ++reduced;
        } else if (!first.is_elsewhere(number)) {
            TiffPages page = page_of(tiff, where);
            check_readable_shape(page.array(), where, what_pages);
            const bool is_first = pages.offsets.empty();
            const std::string own = description_of(tiff); // without one the first counts
            Meaning said = meaning_of_page(tiff, own.empty() ? first.description : own, page,
                                           is_first ? file : where);
            if (is_first) {
                of_first = said;
            } else if (said.invalid.empty()) { // writers give the tag to the first page alone
                said.invalid = of_first.invalid;
                said.invalid_value = of_first.invalid_value;
            }
            meaning.add(fmt::format("page {}", number), said);
            if (is_first) {
                if (!first.ome) { // a reduced page may be before it
                    first.description = description_of(tiff);
                }
                pages = begin_pages(tiff, std::move(page), first);
            } else if (page.type != pages.type || page.width != pages.width ||
                       page.height != pages.height || page.depth != pages.depth ||
                       page.samples != pages.samples) {
                refuse(where, "it is " + page_text(page) + ", and the first page is not",
                       "Split the file into such of like pages, as with tiffsplit");
            }
            pages.offsets.push_back(TIFFCurrentDirOffset(tiff.get()));
        }
        if (TIFFLastDirectory(tiff.get()) != 0) {
            break;
        }
        tiff.clear();
        if (TIFFReadDirectory(tiff.get()) != 1) {
            tiff.fail(fmt::format("{}, page {}", file, number + 1), "it cannot be read");
        }
    }
    if (pages.offsets.empty()) {
        refuse(file, "it has no page but reduced ones", "Name a file with a whole image");
    }
    pages.directories = std::move(directories);
    take_meaning(meaning.joined(), pages);
    note_left_out(file, first, reduced, pages);
    order_by_ome(tiff, pages, first.ome);
    if (first.named > std::ssize(pages.offsets)) {
        find_hidden_planes(tiff, pages, first.named);
    }
    find_axes({first.description, first.ome ? first.ome->image : -1, first.stk}, first.resolution,
              first.labels, pages);
    check_readable_shape(pages.array(), file, what_pages);
    return pages;
}

} // namespace runner
