// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_planes.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/tiff/ome_planes.hpp"
#include "io/tiff/tiff_axes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tiffio.h>

namespace runner {
namespace {

constexpr std::uint16_t imagej_counts_tag = 50838; ///< IJMetadataByteCounts
constexpr std::uint16_t imagej_data_tag = 50839;   ///< IJMetadata
constexpr std::uint64_t imagej_magic = 0x494a494a; ///< "IJIJ"

/// A text of UTF-16 in the file's byte order, as UTF-8; characters of two words are "?".
std::string text_at(const TiffHandle& tiff, std::uint64_t offset, std::uint64_t bytes) {
    std::string text;
    for (std::uint64_t at = 0; at + 2 <= bytes; at += 2) {
        const std::uint64_t word = tiff.integer_at(offset + at, 2).value_or('?');
        if (word < 0x80) {
            text += static_cast<char>(word);
        } else if (word < 0x800) {
            text += static_cast<char>(0xc0U | word >> 6U);
            text += static_cast<char>(0x80U | (word & 0x3fU));
        } else if (word >= 0xd800 && word < 0xe000) {
            text += word < 0xdc00 ? "?" : "";
        } else {
            text += static_cast<char>(0xe0U | word >> 12U);
            text += static_cast<char>(0x80U | (word >> 6U & 0x3fU));
            text += static_cast<char>(0x80U | (word & 0x3fU));
        }
    }
    return text;
}

/// The integer that the text begins with, which it is cut off from.
std::optional<std::int64_t> take_integer(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{}) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

/// ImageJ=1.54f\nimages=12\n…
std::int64_t planes_of_imagej(std::string_view description) {
    constexpr std::string_view key = "\nimages=";
    const std::size_t at = description.find(key);
    if (!description.starts_with("ImageJ=") || at == std::string_view::npos) {
        return 0;
    }
    description.remove_prefix(at + key.size());
    return take_integer(description).value_or(0);
}

/// {"shape": [3, 4, 512, 512], …}, or of old shape=(3,4,512,512): elements of all planes.
std::optional<std::int64_t> elements_of_shape(std::string_view description) {
    std::size_t at = std::string_view::npos;
    if (constexpr std::string_view key = "\"shape\":"; description.starts_with('{')) {
        at = description.find(key);
        at = at == std::string_view::npos ? at : description.find('[', at);
    } else if (description.starts_with("shape=(")) {
        at = description.find('(');
    }
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::int64_t elements = 1;
    do {
        description.remove_prefix(at + 1);
        at = 0;
        const std::optional<std::int64_t> extent = take_integer(description);
        if (!extent && (description.starts_with(')') || description.starts_with(']'))) {
            break; // (5,)
        }
        if (!extent || *extent < 1 || elements > INT64_MAX / *extent) {
            return std::nullopt;
        }
        elements *= *extent;
    } while (description.starts_with(','));
    return elements;
}

/// Where the elements of the page begin that the handle is at; nothing where they are packed or in
/// several pieces.
std::optional<std::int64_t> plain_place(const TiffHandle& tiff, std::int64_t bytes) {
    if (TIFFIsTiled(tiff.get()) != 0 ||
        tiff.short_number(TIFFTAG_COMPRESSION) != COMPRESSION_NONE ||
        tiff.short_number(TIFFTAG_FILLORDER) == FILLORDER_LSB2MSB) {
        return std::nullopt;
    }
    const std::uint64_t first = TIFFGetStrileOffset(tiff.get(), 0);
    std::uint64_t next = first;
    for (std::uint32_t strip = 0; strip < TIFFNumberOfStrips(tiff.get()); ++strip) {
        const std::uint64_t there = next - first;
        if (TIFFGetStrileOffset(tiff.get(), strip) != next) {
            return std::nullopt;
        }
        // Some writers say the bytes of all planes that lie behind one directory.
        next += std::min(TIFFGetStrileByteCount(tiff.get(), strip),
                         static_cast<std::uint64_t>(bytes) - there);
    }
    return next - first == static_cast<std::uint64_t>(bytes) &&
                   next <= static_cast<std::uint64_t>(tiff.size())
               ? std::optional(static_cast<std::int64_t>(first))
               : std::nullopt;
}

/// Where the first plane begins, if all of so many lie dense from there on; else why not.
struct DensePlanes {
    std::optional<std::int64_t> first = {};
    std::string why_not = {};
};

DensePlanes dense_planes(TiffHandle& tiff, const TiffPages& pages, std::int64_t named) {
    const std::int64_t plane =
        pages.height * pages.width * pages.samples * pages.depth * size_of(pages.type);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < pages.offsets.size(); ++i) {
        tiff.clear();
        if (TIFFCurrentDirOffset(tiff.get()) != pages.offsets[i] &&
            TIFFSetSubDirectory(tiff.get(), pages.offsets[i]) != 1) {
            tiff.fail(fmt::format("{}, page {}", tiff.file().path(), i), "it cannot be read");
        }
        const std::optional<std::int64_t> at = plain_place(tiff, plane);
        if (!at || (i > 0 && *at != first + static_cast<std::int64_t>(i) * plane)) {
            return {std::nullopt, "the pages that it has do not lie one behind the other unpacked"};
        }
        first = i == 0 ? *at : first;
    }
    if (named > (tiff.size() - first) / plane) {
        return {std::nullopt, fmt::format("so many take {} bytes each from byte {} on, and the "
                                          "file has {}: it was cut off, or the others are in "
                                          "other files",
                                          plane, first, tiff.size())};
    }
    const auto holds = [&](std::uint64_t offset) {
        return offset >= static_cast<std::uint64_t>(first) &&
               offset < static_cast<std::uint64_t>(first + named * plane);
    };
    if (std::any_of(pages.directories.begin(), pages.directories.end(), holds)) {
        return {std::nullopt, "where the others might lie is a page's directory"};
    }
    return {first, ""};
}

} // namespace

std::string description_of(const TiffHandle& tiff) {
    const char* text = nullptr;
    const bool there =
        TIFFGetField(tiff.get(), TIFFTAG_IMAGEDESCRIPTION, &text) == 1 && text != nullptr;
    return there ? text : "";
}

void order_by_ome(const TiffHandle& tiff, TiffPages& pages, const std::optional<OmePlanes>& ome) {
    const std::string& file = tiff.file().path();
    if (!ome) {
        if (const std::string master = ome_master(description_of(tiff)); !master.empty()) {
            pages.elsewhere = "it is a part of an image, of which the OME-XML is in " + master;
        }
        return;
    }
    const std::set<std::uint64_t> there(pages.offsets.begin(), pages.offsets.end());
    std::vector<std::uint64_t> ordered;
    std::vector<std::int64_t> numbers; // of the planes that are here
    for (std::int64_t plane = 0; plane < std::ssize(ome->directories); ++plane) {
        const std::int64_t directory = ome->directories[static_cast<std::size_t>(plane)];
        const std::uint64_t offset = directory < 0 || directory >= std::ssize(pages.directories)
                                         ? 0
                                         : pages.directories[static_cast<std::size_t>(directory)];
        if (there.contains(offset)) {
            ordered.push_back(offset);
            numbers.push_back(plane);
        }
    }
    if (std::ssize(ordered) == ome->planes) {
        pages.offsets = std::move(ordered);
        return;
    }
    if (ome->other_files.empty()) {
        throw Error(ExitCode::input,
                    {"not all planes of the TIFF file are found", file,
                     fmt::format("its OME-XML says {}, and the file has {} of them", ome->planes,
                                 ordered.size()),
                     "Get the file again. If the pages are all, save them without that "
                     "description, as tiffset -u 270 FILE does"});
    }
    pages.elsewhere = fmt::format("its OME-XML says {} planes, of which {} are in this file and "
                                  "others in {}{}",
                                  ome->planes, ordered.size(), ome->other_files.front(),
                                  ome->other_files.size() > 1 ? " and more" : "");
    if (ordered.size() == there.size() && ordered.size() == pages.offsets.size()) {
        pages.offsets = std::move(ordered);
        pages.of_set = PlanesOfSet{{}, std::move(numbers), {}};
    }
}

std::optional<OmePlanes> ome_planes_of(const TiffHandle& tiff) {
    constexpr std::int64_t most_directories = 1 << 24;
    return ome_planes(description_of(tiff), tiff.file().path(),
                      tiff.short_number(TIFFTAG_SAMPLESPERPIXEL), most_directories);
}

std::vector<std::string> imagej_labels(const TiffHandle& tiff) {
    constexpr std::uint64_t labels = 0x6c61626c; // "labl"
    constexpr std::uint64_t most_bytes = 1024;   // of a label
    constexpr std::int64_t most_counts = 65536;  // more than planes that have names
    constexpr std::uint64_t most_head = 512;     // of a few kinds of metadata
    const RawTag counts = tiff.raw_tag(imagej_counts_tag, 4);
    const RawTag data = tiff.raw_tag(imagej_data_tag, 1);
    if (counts.count < 2 || counts.count > most_counts ||
        tiff.integer_at(data.offset, 4) != imagej_magic) {
        return {};
    }
    const auto bytes_of = [&](std::int64_t part) {
        return part < counts.count
                   ? tiff.integer_at(counts.offset + 4 * static_cast<std::uint64_t>(part), 4)
                         .value_or(0)
                   : 0;
    };
    const std::uint64_t head = data.offset + std::min(bytes_of(0), most_head);
    std::uint64_t at = data.offset + bytes_of(0);
    std::int64_t part = 1;
    for (std::uint64_t entry = data.offset + 4; entry + 8 <= head; entry += 8) {
        const std::uint64_t kind = tiff.integer_at(entry, 4).value_or(0);
        const auto parts = static_cast<std::int64_t>(tiff.integer_at(entry + 4, 4).value_or(0));
        if (kind == labels) {
            std::vector<std::string> found(
                static_cast<std::size_t>(std::clamp<std::int64_t>(parts, 0, counts.count - part)));
            for (std::size_t i = 0; i < std::min(found.size(), most_imagej_labels); ++i) {
                const std::uint64_t bytes = bytes_of(part++);
                found[i] = text_at(tiff, at, std::min(bytes, most_bytes));
                at += bytes;
            }
            return found;
        }
        for (std::int64_t i = 0; i < parts && part < counts.count; ++i) {
            at += bytes_of(part++);
        }
    }
    return {};
}

std::vector<std::string> imagej_unkept(const TiffHandle& tiff) {
    constexpr std::array kinds = {std::pair(0x696e666fU, "the text Info"),
                                  std::pair(0x6c757473U, "the lookup tables of channels"),
                                  std::pair(0x726f6920U, "the region of interest"),
                                  std::pair(0x6f766572U, "the overlay")};
    constexpr std::int64_t most_kinds = 64;
    std::vector<std::string> found;
    const RawTag data = tiff.raw_tag(imagej_data_tag, 1);
    if (data.count < 4 || tiff.integer_at(data.offset, 4) != imagej_magic) {
        return found;
    }
    const std::uint64_t head =
        tiff.integer_at(tiff.raw_tag(imagej_counts_tag, 4).offset, 4).value_or(0);
    for (std::uint64_t at = 4; at + 8 <= head && at <= 8 * most_kinds; at += 8) {
        const std::uint64_t kind = tiff.integer_at(data.offset + at, 4).value_or(0);
        for (const auto& [number, words] : kinds) {
            if (kind == number) {
                found.emplace_back(words);
            }
        }
    }
    return found;
}

std::int64_t named_planes(const TiffHandle& tiff, const TiffPages& page) {
    const std::string description = description_of(tiff);
    if (const std::int64_t planes = planes_of_imagej(description); planes > 0) {
        return planes;
    }
    if (const std::int64_t planes = tiff.raw_tag(planes_of_stk, 8).count; planes > 0) {
        return planes;
    }
    const std::int64_t elements = elements_of_shape(description).value_or(0);
    const std::int64_t of_page = page.height * page.width * page.samples * page.depth;
    // Another shape than the page's is what a program that changed the image has left.
    return elements % of_page == 0 ? elements / of_page : 0;
}

void find_hidden_planes(TiffHandle& tiff, TiffPages& pages, std::int64_t named) {
    const std::int64_t there = std::ssize(pages.offsets);
    const DensePlanes dense = dense_planes(tiff, pages, named);
    if (!dense.first) {
        throw Error(ExitCode::input,
                    {"not all planes of the TIFF file are found", tiff.file().path(),
                     fmt::format("its description says {}, and it has {} pages; {}", named, there,
                                 dense.why_not),
                     "Get the file again. If the pages are all, save them without that "
                     "description, as tiffset -u 270 FILE does"});
    }
    pages.hidden_pages = named - there;
    pages.first_plane = *dense.first;
}

} // namespace runner
