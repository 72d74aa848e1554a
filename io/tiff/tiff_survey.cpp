// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_file.hpp"

#include "base/sizes.hpp"
#include "io/filters/codec.hpp"
#include "io/filters/page_codecs.hpp"
#include "io/filters/unpacker.hpp"
#include "io/packings/packings.hpp"
#include "io/tiff/tiff_handle.hpp"
#include "io/tiff/tiff_pages.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <tiffio.h>

namespace runner {
namespace {

/// More strips than these are left to libtiff, which lists them page by page.
constexpr std::int64_t most_places = 1 << 22;

/// How a page is cut and packed.
struct Packing {
    std::int64_t lines = 1;   ///< of a strip or tile
    std::int64_t columns = 1; ///< pixels of a line of it
    std::uint16_t compression = COMPRESSION_NONE;
    std::uint16_t predictor = PREDICTOR_NONE;
    bool tiled = false;
    bool turned = false; ///< the lowest bit of a byte comes first

    bool operator==(const Packing&) const = default;
};

Packing packing_of(const TiffHandle& tiff, const TiffPages& pages) {
    Packing packing;
    packing.tiled = TIFFIsTiled(tiff.get()) != 0;
    packing.compression = tiff.short_number(TIFFTAG_COMPRESSION);
    packing.turned = tiff.short_number(TIFFTAG_FILLORDER) == FILLORDER_LSB2MSB;
    const bool has_predictor =
        packing.compression == COMPRESSION_LZW || packing.compression == COMPRESSION_DEFLATE ||
        packing.compression == COMPRESSION_ADOBE_DEFLATE || packing.compression == COMPRESSION_ZSTD;
    if (has_predictor) { // libtiff knows the tag of these alone
        packing.predictor = std::max<std::uint16_t>(tiff.short_number(TIFFTAG_PREDICTOR), 1);
    }
    if (packing.tiled) {
        packing.lines = tiff.number(TIFFTAG_TILELENGTH);
        packing.columns = tiff.number(TIFFTAG_TILEWIDTH);
        return packing;
    }
    const std::uint32_t rows = tiff.number(TIFFTAG_ROWSPERSTRIP);
    packing.lines = rows == 0 ? pages.height : std::min<std::int64_t>(rows, pages.height);
    packing.columns = pages.width;
    return packing;
}

class Survey {
  public:
    explicit Survey(const std::string& file)
        : tiff_(file), pages_(list_tiff_pages(tiff_)), element_(size_of(pages_.type)) {
        go_to(0);
        packing_ = packing_of(tiff_, pages_);
    }

    StoredRows make() {
        stored_.info = tiff_info(tiff_, pages_);
        stored_.elsewhere = pages_.elsewhere;
        stored_.of_set = pages_.of_set;
        stored_.way = StoredRows::Way::library;
        find_places();
        check_size();
        return std::move(stored_);
    }

  private:
    /// Where the elements lie, where they can be read without libtiff.
    void find_places() {
        if (packing_.lines < 1 || packing_.columns < 1 || pages_.depth > 1 || packing_.turned ||
            pages_.pages() * places_of_page() > most_places) {
            return;
        }
        if (packing_.compression == COMPRESSION_NONE && !packing_.tiled && add_extents()) {
            return;
        }
        if (std::optional<std::vector<Filter>> filters = filters_of()) {
            stored_.filters = *std::move(filters);
            add_chunks();
        }
    }

    /// Several strips or tiles may share bytes, each of which may be enough for one of them.
    void check_size() {
        DeclaredBytes declared{byte_count(stored_.info.array), tiff_.size(), 1, pages_.compression};
        switch (packing_.compression) {
        case COMPRESSION_NONE: break;
        case COMPRESSION_PACKBITS: declared.ratio = highest_ratio::packbits; break;
        case COMPRESSION_LZW: declared.ratio = highest_ratio::lzw; break;
        case COMPRESSION_DEFLATE:
        case COMPRESSION_ADOBE_DEFLATE: declared.ratio = highest_ratio::deflate; break;
        case COMPRESSION_ZSTD: declared.ratio = highest_ratio::zstd; break;
        case COMPRESSION_LZMA: declared.ratio = highest_ratio::lzma; break;
        case COMPRESSION_JPEG: declared.ratio = highest_ratio::jpeg; break;
        default: return; // LERC and WebP have pictures of one value at any size
        }
        if ((declared.unpacked - 1) / declared.ratio >= declared.stored) {
            declared.unpacked = std::max<std::int64_t>(1, declared.unpacked - sparse_bytes());
        }
        check_declared_bytes(declared, "cannot read the TIFF file", tiff_.file().path());
    }

    /// How many bytes the elements of strips and tiles have that have none in the file.
    std::int64_t sparse_bytes() {
        std::int64_t bytes = 0;
        if (packing_.lines < 1 || packing_.columns < 1) {
            return 0;
        }
        (void)each_page([&](std::int64_t /*page*/) {
            for (std::int64_t number = 0; number < places_of_page(); ++number) {
                bytes += is_sparse(tiff_, number) ? bytes_of(number) : 0;
            }
        });
        return bytes;
    }

    void go_to(std::int64_t page) {
        page_ = page;
        tiff_.clear();
        const std::uint64_t offset = pages_.offsets[static_cast<std::size_t>(page)];
        if (TIFFCurrentDirOffset(tiff_.get()) != offset &&
            TIFFSetSubDirectory(tiff_.get(), offset) != 1) {
            tiff_.fail(where(), "it cannot be read");
        }
    }

    std::string where() const { return tiff_.file().path() + ", page " + std::to_string(page_); }

    std::int64_t down() const { return (pages_.height - 1) / packing_.lines + 1; }
    std::int64_t across() const { return (pages_.width - 1) / packing_.columns + 1; }
    std::int64_t places_of_page() const { return down() * across(); }
    std::int64_t line_bytes() const { return packing_.columns * pages_.samples * element_; }

    /// Bytes of the elements of a strip or tile; the last strip is cut.
    std::int64_t bytes_of(std::int64_t number) const {
        const std::int64_t lines =
            packing_.tiled ? packing_.lines
                           : std::min(packing_.lines, pages_.height - number * packing_.lines);
        return lines * line_bytes();
    }

    /// Goes from page to page; false where one is packed in another way than the first.
    template <class Take> bool each_page(const Take& take) {
        const std::int64_t there = std::ssize(pages_.offsets);
        for (std::int64_t page = 0; page < there; ++page) {
            go_to(page);
            if (packing_of(tiff_, pages_) != packing_) {
                return false;
            }
            take(page);
        }
        return true;
    }

    ChunkPlace place(std::int64_t number, std::int64_t least) {
        const auto strile = static_cast<std::uint32_t>(number);
        tiff_.clear();
        const std::uint64_t offset = TIFFGetStrileOffset(tiff_.get(), strile);
        const std::uint64_t bytes = TIFFGetStrileByteCount(tiff_.get(), strile);
        const auto size = static_cast<std::uint64_t>(tiff_.size());
        const auto wanted = static_cast<std::uint64_t>(least);
        if (bytes < wanted || bytes == 0 || offset > size || wanted > size - offset) {
            const std::string name = packing_.tiled ? "tile " : "strip ";
            const std::int64_t line = number / across() * packing_.lines;
            tiff_.fail(where() + ", line " + std::to_string(line),
                       name + std::to_string(number) + " takes " + std::to_string(least) +
                           " bytes, and it is to have " + std::to_string(bytes) + " from byte " +
                           std::to_string(offset) + " on in a file of " + std::to_string(size));
        }
        const std::uint64_t there = std::min(bytes, size - offset);
        return {0, static_cast<std::int64_t>(offset), static_cast<std::int64_t>(there), 0};
    }

    /// Strips as the elements are; false where one has no bytes in the file.
    bool add_extents() {
        if (pages_.hidden_pages > 0) {
            stored_.info.offset = pages_.first_plane;
            stored_.way = StoredRows::Way::positions;
            return true;
        }
        bool sparse = false;
        const std::int64_t row = stored_.info.array.shape.back() * element_;
        std::vector<RowExtent>& extents = stored_.extents;
        const bool alike = each_page([&](std::int64_t page) {
            for (std::int64_t strip = 0; strip < places_of_page() && !sparse; ++strip) {
                sparse = is_sparse(tiff_, strip);
                if (sparse) {
                    break;
                }
                const std::int64_t bytes = bytes_of(strip);
                const std::int64_t offset = place(strip, bytes).offset;
                if (!extents.empty() &&
                    offset == extents.back().offset + extents.back().rows * row) {
                    extents.back().rows += bytes / row;
                    continue;
                }
                const std::int64_t line = page * pages_.height + strip * packing_.lines;
                extents.push_back({line * line_bytes() / row, bytes / row, offset});
            }
        });
        if (!alike || sparse) {
            extents.clear();
            return !sparse;
        }
        stored_.way = StoredRows::Way::positions;
        if (extents.size() == 1) {
            stored_.info.offset = extents.front().offset;
            extents.clear();
        }
        return true;
    }

    void add_chunks() {
        DatasetInfo& info = stored_.info;
        const bool early = packing_.compression == COMPRESSION_LZW && !is_sparse(tiff_, 0) &&
                           begins_as_early_lzw(place(0, 1));
        const std::int64_t bytes = packing_.lines * line_bytes();
        if (early || bytes > largest_chunk) {
            return;
        }
        info.chunk.assign(info.array.shape.size(), 1);
        const std::size_t height = info.chunk.size() - (pages_.samples > 1 ? 3 : 2);
        info.chunk[height] = packing_.lines;
        info.chunk[height + 1] = packing_.columns;
        if (pages_.samples > 1) {
            info.chunk[height + 2] = pages_.samples;
        }
        const bool plain = packing_.compression == COMPRESSION_NONE;
        const bool alike = each_page([&](std::int64_t page) {
            for (std::int64_t number = 0; number < places_of_page(); ++number) {
                const std::int64_t wanted = bytes_of(number);
                if (is_sparse(tiff_, number)) {
                    continue; // a chunk that is not there is zeros
                }
                ChunkPlace chunk = place(number, plain ? wanted : 1);
                chunk.index = page * places_of_page() + number;
                // Some writers give a strip more bytes than it has.
                chunk.bytes = std::min(chunk.bytes, plain ? wanted : most_packed_bytes(bytes));
                stored_.chunks.push_back(chunk);
            }
        });
        if (!alike) {
            stored_.chunks.clear();
            info.chunk.clear();
            return;
        }
        stored_.edges = packing_.tiled ? EdgeChunks::whole : EdgeChunks::cut;
        stored_.way = StoredRows::Way::chunks;
    }

    bool begins_as_early_lzw(const ChunkPlace& first) const {
        std::array<std::byte, 2> head{};
        if (first.bytes < std::ssize(head)) {
            return false;
        }
        tiff_.file().read(first.offset, std::ssize(head), head.data());
        return is_early_lzw(head);
    }

    /// In the order in which they were applied; nothing where we know one of them not.
    std::optional<std::vector<Filter>> filters_of() const {
        std::vector<Filter> filters;
        const PredictedLines lines{static_cast<std::size_t>(packing_.columns * pages_.samples),
                                   static_cast<std::size_t>(element_),
                                   static_cast<std::size_t>(pages_.samples),
                                   stored_.info.big_endian};
        switch (packing_.predictor) {
        case PREDICTOR_NONE: break;
        case PREDICTOR_HORIZONTAL:
            filters.push_back({filter_id::differences, "", lines_parameters(lines)});
            break;
        case PREDICTOR_FLOATINGPOINT:
            filters.push_back({filter_id::float_differences, "", lines_parameters(lines)});
            break;
        default: return std::nullopt;
        }
        switch (packing_.compression) {
        case COMPRESSION_NONE: break;
        case COMPRESSION_LZW: filters.push_back({filter_id::lzw, "", {}}); break;
        case COMPRESSION_PACKBITS:
            filters.push_back({filter_id::packbits,
                               "",
                               {packing_.tiled ? 0U : static_cast<unsigned>(line_bytes())}});
            break;
        case COMPRESSION_DEFLATE:
        case COMPRESSION_ADOBE_DEFLATE: filters.push_back({filter_id::deflate, "", {}}); break;
        case COMPRESSION_ZSTD: filters.push_back({filter_id::zstd, "", {}}); break;
        default: return std::nullopt;
        }
        return Unpacker::knows(filters) ? std::optional(std::move(filters)) : std::nullopt;
    }

    /// As much as a reader of chunks keeps.
    static constexpr std::int64_t largest_chunk = GiB;

    TiffHandle tiff_;
    TiffPages pages_;
    std::int64_t element_;
    std::int64_t page_ = 0;
    Packing packing_;
    StoredRows stored_;
};

} // namespace

StoredRows survey_tiff(const std::string& file) { return Survey(file).make(); }

} // namespace runner
