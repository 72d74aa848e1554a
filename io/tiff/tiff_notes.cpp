// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_pages.hpp"

#include "base/element_type.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include <tiffio.h>

namespace runner {
namespace {

/// A page, the first or another, which the handle is at.
struct PageAt {
    const TiffHandle& tiff;
    const TiffPages& page;
    const std::string& where;
};

/// What its pixels mean, where that is not brightness.
void note_brightness(const PageAt& at, Meaning& meaning) {
    const char* why = nullptr;
    switch (at.tiff.short_number(TIFFTAG_PHOTOMETRIC)) {
    case PHOTOMETRIC_MINISWHITE: why = "0 means white"; break;
    case PHOTOMETRIC_MINISBLACK:
        if (at.page.samples > 1) {
            meaning.notes.push_back(format_error(
                {"the samples of a pixel may be no colour", at.where,
                 "the file says that they are brightness (PhotometricInterpretation)",
                 "They are taken for red, green and blue; a job takes input.colour = false"}));
        }
        return;
    case PHOTOMETRIC_PALETTE: why = "they are numbers of colours"; break;
    default: return;
    }
    meaning.notes.push_back(format_error(
        {"the elements are no brightness", at.where, why, "They are taken as they are stored"}));
}

/// Colours that are multiplied by their alpha, and a sample that may be none.
void note_alpha(const PageAt& at, Meaning& meaning) {
    std::uint16_t count = 0;
    const std::uint16_t* kinds = nullptr;
    const bool is_said =
        TIFFGetFieldDefaulted(at.tiff.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) == 1 &&
        count > 0;
    if (at.page.samples == 4 && (!is_said || kinds[0] == EXTRASAMPLE_UNSPECIFIED)) {
        meaning.notes.push_back(format_error(
            {"the fourth sample of a pixel may be no alpha", at.where,
             "the file does not say what it is (ExtraSamples)",
             "It is taken for alpha; leave it out by input.select = { s = \"0:3\" }"}));
    } else if (is_said && kinds[0] == EXTRASAMPLE_ASSOCALPHA) {
        meaning.notes.push_back(
            format_error({"the colours are multiplied by their alpha", at.where,
                          "the file says so (ExtraSamples 1), and an output does not",
                          "They are taken as they are stored"}));
    }
}

/// Pixels that are to be shown turned or mirrored.
void note_orientation(const PageAt& at, Meaning& meaning) {
    const std::uint16_t orientation = at.tiff.short_number(TIFFTAG_ORIENTATION);
    if (orientation > ORIENTATION_TOPLEFT && orientation <= ORIENTATION_LEFTBOT) {
        meaning.notes.push_back(format_error(
            {"the image is to be shown otherwise than it is stored", at.where,
             fmt::format("its Orientation is {}, which turns or mirrors it", orientation),
             "The pixels are taken as they are stored, and an output does not say it"}));
    }
}

/// A text of one of GDAL's tags, which libtiff does not know.
std::string gdal_text(const PageAt& at, std::uint16_t tag, std::int64_t longest) {
    const RawTag raw = at.tiff.raw_tag(tag, 1);
    std::string text;
    for (std::int64_t i = 0; i < std::min(raw.count, longest); ++i) {
        const std::uint64_t place = raw.offset + static_cast<std::uint64_t>(i);
        const auto letter = static_cast<char>(at.tiff.integer_at(place, 1).value_or(0));
        text += letter == '\0' ? "" : std::string(1, letter);
    }
    return text;
}

/// The number of GDAL's item of this role: `<Item name="SCALE" sample="0" role="scale">0.1</Item>`;
/// empty where there is none.
std::string gdal_item(const std::string& items, const std::string& role) {
    const std::size_t at = items.find("role=\"" + role + "\"");
    const std::size_t begin = at == std::string::npos ? at : items.find('>', at);
    return begin == std::string::npos ? ""
                                      : items.substr(begin + 1, items.find('<', begin) - begin - 1);
}

/// GDAL stores packed elements, and says how they become values.
void note_packing(const PageAt& at, Meaning& meaning) {
    constexpr std::uint16_t tag = 42112; // GDAL_METADATA
    constexpr std::int64_t longest = 1 << 16;
    const std::string items = gdal_text(at, tag, longest);
    const std::string scale = gdal_item(items, "scale");
    const std::string offset = gdal_item(items, "offset");
    if (scale.empty() && offset.empty()) {
        return;
    }
    meaning.notes.push_back(
        format_error({"the elements are packed", at.where,
                      "by GDAL a value is " + (offset.empty() ? "0" : printable(offset)) + " + " +
                          (scale.empty() ? "1" : printable(scale)) + " times the element",
                      "They are taken as they are stored; rescale makes values of them"}));
}

/// The number of elements that are no values, as GDAL writes it.
void find_no_data(const PageAt& at, Meaning& meaning) {
    constexpr std::uint16_t tag = 42113; // GDAL_NODATA
    constexpr std::int64_t longest = 64;
    if (!is_number(at.page.type)) {
        return;
    }
    std::string text = gdal_text(at, tag, longest);
    std::erase(text, ' ');
    double number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) {
        return;
    }
    visit_element_type(at.page.type, [&](auto element) {
        using Element = decltype(element);
        constexpr auto least = static_cast<double>(std::numeric_limits<Element>::lowest());
        constexpr auto most = static_cast<double>(std::numeric_limits<Element>::max());
        const bool is_real = std::is_floating_point_v<Element>;
        if (is_real || (number >= least && number <= most && std::trunc(number) == number)) {
            meaning.invalid_value =
                is_real ? static_cast<double>(static_cast<Element>(number)) : number;
            meaning.invalid.push_back("GDAL_NODATA = " + text);
        }
    });
}

/// ImageJ stores signed elements as unsigned ones, and says how they become values.
void note_calibration(const PageAt& at, const std::string& description, Meaning& meaning) {
    const std::size_t first = description.find("\nc0=");
    if (!description.starts_with("ImageJ=") || first == std::string::npos) {
        return;
    }
    const auto value_at = [&](std::size_t begin) {
        return description.substr(begin, description.find('\n', begin) - begin);
    };
    const std::size_t slope = description.find("\nc1=");
    meaning.notes.push_back(
        format_error({"the elements are calibrated", at.where,
                      "by ImageJ a value is " + printable(value_at(first + 4)) + " + " +
                          (slope == std::string::npos ? "1" : printable(value_at(slope + 4))) +
                          " times the element",
                      "They are taken as they are stored; rescale makes values of them"}));
}

} // namespace

Meaning meaning_of_page(const TiffHandle& tiff, const std::string& description,
                        const TiffPages& page, const std::string& where) {
    const PageAt at{tiff, page, where};
    Meaning meaning;
    note_brightness(at, meaning);
    note_alpha(at, meaning);
    note_orientation(at, meaning);
    note_calibration(at, description, meaning);
    note_packing(at, meaning);
    find_no_data(at, meaning);
    return meaning;
}

} // namespace runner
