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

/// What its pixels mean, where that is not brightness.
void note_meaning(const TiffHandle& tiff, TiffPages& pages) {
    const char* meaning = nullptr;
    switch (tiff.short_number(TIFFTAG_PHOTOMETRIC)) {
    case PHOTOMETRIC_MINISWHITE: meaning = "0 means white"; break;
    case PHOTOMETRIC_MINISBLACK:
        if (pages.samples > 1) {
            pages.notes.push_back(format_error(
                {"the samples of a pixel may be no colour", tiff.file().path(),
                 "the file says that they are brightness (PhotometricInterpretation)",
                 "They are taken for red, green and blue; a job takes input.colour = false"}));
        }
        return;
    case PHOTOMETRIC_PALETTE: meaning = "they are numbers of colours"; break;
    default: return;
    }
    pages.notes.push_back(format_error({"the elements are no brightness", tiff.file().path(),
                                        meaning, "They are taken as they are stored"}));
}

/// Colours that are multiplied by their alpha, and a sample that may be none.
void note_alpha(const TiffHandle& tiff, TiffPages& pages) {
    std::uint16_t count = 0;
    const std::uint16_t* kinds = nullptr;
    const bool is_said =
        TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) == 1 && count > 0;
    if (pages.samples == 4 && (!is_said || kinds[0] == EXTRASAMPLE_UNSPECIFIED)) {
        pages.notes.push_back(format_error(
            {"the fourth sample of a pixel may be no alpha", tiff.file().path(),
             "the file does not say what it is (ExtraSamples)",
             "It is taken for alpha; leave it out by input.select = { s = \"0:3\" }"}));
    } else if (is_said && kinds[0] == EXTRASAMPLE_ASSOCALPHA) {
        pages.notes.push_back(
            format_error({"the colours are multiplied by their alpha", tiff.file().path(),
                          "the file says so (ExtraSamples 1), and an output does not",
                          "They are taken as they are stored"}));
    }
}

/// Pixels that are to be shown turned or mirrored.
void note_orientation(const TiffHandle& tiff, TiffPages& pages) {
    const std::uint16_t orientation = tiff.short_number(TIFFTAG_ORIENTATION);
    if (orientation > ORIENTATION_TOPLEFT && orientation <= ORIENTATION_LEFTBOT) {
        pages.notes.push_back(format_error(
            {"the image is to be shown otherwise than it is stored", tiff.file().path(),
             fmt::format("its Orientation is {}, which turns or mirrors it", orientation),
             "The pixels are taken as they are stored, and an output does not say it"}));
    }
}

/// The number of elements that are no values, as GDAL writes it.
void find_no_data(const TiffHandle& tiff, TiffPages& pages) {
    constexpr std::uint16_t tag = 42113; // GDAL_NODATA
    constexpr std::int64_t longest = 64;
    if (!is_number(pages.type)) {
        return;
    }
    const RawTag raw = tiff.raw_tag(tag, 1);
    std::string text;
    for (std::int64_t i = 0; i < std::min(raw.count, longest); ++i) {
        const std::uint64_t at = raw.offset + static_cast<std::uint64_t>(i);
        const auto letter = static_cast<char>(tiff.integer_at(at, 1).value_or(0));
        text += letter == '\0' || letter == ' ' ? "" : std::string(1, letter);
    }
    double number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) {
        return;
    }
    visit_element_type(pages.type, [&](auto element) {
        using Element = decltype(element);
        constexpr auto least = static_cast<double>(std::numeric_limits<Element>::lowest());
        constexpr auto most = static_cast<double>(std::numeric_limits<Element>::max());
        const bool is_real = std::is_floating_point_v<Element>;
        if (is_real || (number >= least && number <= most && std::trunc(number) == number)) {
            pages.invalid_value =
                is_real ? static_cast<double>(static_cast<Element>(number)) : number;
            pages.invalid.push_back("GDAL_NODATA = " + text);
        }
    });
}

/// ImageJ stores signed elements as unsigned ones, and says how they become values.
void note_calibration(const std::string& description, const std::string& file, TiffPages& pages) {
    const std::size_t at = description.find("\nc0=");
    if (!description.starts_with("ImageJ=") || at == std::string::npos) {
        return;
    }
    const auto value_at = [&](std::size_t begin) {
        return description.substr(begin, description.find('\n', begin) - begin);
    };
    const std::size_t slope = description.find("\nc1=");
    pages.notes.push_back(
        format_error({"the elements are calibrated", file,
                      "by ImageJ a value is " + printable(value_at(at + 4)) + " + " +
                          (slope == std::string::npos ? "1" : printable(value_at(slope + 4))) +
                          " times the element",
                      "They are taken as they are stored; rescale makes values of them"}));
}

} // namespace

void note_elements(const TiffHandle& tiff, const std::string& description, TiffPages& pages) {
    note_meaning(tiff, pages);
    note_alpha(tiff, pages);
    note_orientation(tiff, pages);
    note_calibration(description, tiff.file().path(), pages);
    find_no_data(tiff, pages);
}

} // namespace runner
