// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_file.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/tiff/tiff_pages.hpp"
#include "io/tiff/tiff_stream_check.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <tiffio.h>

namespace runner {
namespace {

/// The most memory for one row of tiles.
constexpr std::int64_t most_tile_bytes = 4 * GiB;

/// Lines of a page, unpacked from the tiles side by side. They count through all slices.
struct Band {
    std::int64_t line = 0;
    std::int64_t lines = 0;

    bool holds(std::int64_t number) const { return number >= line && number < line + lines; }
};

class TiffReader final : public RowReader {
  public:
    TiffReader(const std::string& file, int threads)
        : tiff_(file), pages_(list_tiff_pages(tiff_)), threads_(threads),
          line_bytes_(pages_.width * pages_.samples * size_of(pages_.type)) {
        go_to(0);
        info_ = tiff_info(tiff_, pages_);
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        if (pages_.samples == 1) {
            return read_lines(first, rows, to);
        }
        // A row is a pixel: lines that are not wanted whole are read apart.
        const std::int64_t pixel = row_bytes(info_.array);
        while (rows > 0) {
            const std::int64_t column = first % pages_.width;
            const std::int64_t whole = column == 0 ? rows / pages_.width : 0;
            const std::int64_t count =
                whole > 0 ? whole * pages_.width : std::min(rows, pages_.width - column);
            if (whole > 0) {
                read_lines(first / pages_.width, whole, to);
            } else {
                line_.resize(static_cast<std::size_t>(line_bytes_));
                read_lines(first / pages_.width, 1, line_.data());
                std::copy_n(line_.data() + column * pixel, count * pixel, to);
            }
            first += count;
            rows -= count;
            to += count * pixel;
        }
    }

    /// Where there are pages without a directory, how the elements of all pages lie: dense, from
    /// those of the first on.
    std::optional<DenseLayout> hidden() {
        if (pages_.hidden_pages == 0) {
            return std::nullopt;
        }
        DenseLayout layout;
        layout.array = info_.array;
        layout.offset = pages_.first_plane;
        layout.bytes =
            info_.big_endian ? DenseLayout::Bytes::big_endian : DenseLayout::Bytes::little_endian;
        layout.storage = info_.storage;
        layout.notes = info_.notes;
        return layout;
    }

  private:
    /// Lines of all pages, one after the other.
    void read_lines(std::int64_t first, std::int64_t lines, std::byte* to) {
        while (lines > 0) {
            const std::int64_t page_lines = pages_.depth * pages_.height;
            const std::int64_t page = first / page_lines;
            const std::int64_t line = first % page_lines;
            const std::int64_t count = std::min(lines, page_lines - line);
            go_to(page);
            if (is_plain_) {
                read_strips(line, count, to);
            } else if (is_tiled_) {
                read_tiles(line, count, to);
            } else {
                decode_strips(line, count, to);
            }
            first += count;
            lines -= count;
            to += count * line_bytes_;
        }
    }

    void go_to(std::int64_t page) {
        if (page == page_) {
            return;
        }
        page_ = -1;
        tiff_.clear();
        if (TIFFSetSubDirectory(tiff_.get(), pages_.offsets[static_cast<std::size_t>(page)]) != 1) {
            tiff_.fail(where(page), "it cannot be read");
        }
        page_ = page;
        band_ = {};
        checked_strip_ = -1;
        next_line_ = -1;
        is_tiled_ = TIFFIsTiled(tiff_.get()) != 0;
        const std::uint32_t rows = tiff_.number(TIFFTAG_ROWSPERSTRIP);
        strip_lines_ = rows == 0 ? pages_.height : std::min<std::int64_t>(rows, pages_.height);
        is_plain_ = !is_tiled_ && tiff_.short_number(TIFFTAG_COMPRESSION) == COMPRESSION_NONE &&
                    tiff_.short_number(TIFFTAG_FILLORDER) != FILLORDER_LSB2MSB;
        if (tiff_.short_number(TIFFTAG_COMPRESSION) == COMPRESSION_JPEG && pages_.samples > 1) {
            (void)TIFFSetField(tiff_.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        }
        if (!is_tiled_ &&
            TIFFScanlineSize64(tiff_.get()) != static_cast<std::uint64_t>(line_bytes_)) {
            tiff_.fail(where(page), "a line of it is not as long as its width says");
        }
    }

    std::string where(std::int64_t page) const {
        return fmt::format("{}, page {}", tiff_.file().path(), page);
    }
    std::string where_line(std::int64_t line) const {
        return fmt::format("{}, line {}", where(page_), line);
    }

    std::int64_t strip_offset(std::int64_t strip) {
        const auto number = static_cast<std::uint32_t>(strip);
        const std::int64_t lines = std::min(strip_lines_, pages_.height - strip * strip_lines_);
        const std::uint64_t offset = TIFFGetStrileOffset(tiff_.get(), number);
        const std::uint64_t bytes = TIFFGetStrileByteCount(tiff_.get(), number);
        const auto wanted = static_cast<std::uint64_t>(lines * line_bytes_);
        const auto size = static_cast<std::uint64_t>(tiff_.file().size());
        if (bytes < wanted || offset > size || wanted > size - offset) {
            tiff_.fail(
                where_line(strip * strip_lines_),
                fmt::format(
                    "strip {} takes {} bytes, and it is to have {} from byte {} on in a file of {}",
                    strip, wanted, bytes, offset, size));
        }
        return static_cast<std::int64_t>(offset);
    }

    /// Plain reads at the strips' places.
    void read_strips(std::int64_t line, std::int64_t lines, std::byte* to) {
        tiff_.clear();
        while (lines > 0) {
            const std::int64_t strip = line / strip_lines_;
            const std::int64_t within = line % strip_lines_;
            std::int64_t count = std::min(lines, strip_lines_ - within);
            if (is_sparse(tiff_, strip)) {
                std::fill_n(to, count * line_bytes_, std::byte{0});
                line += count;
                lines -= count;
                to += count * line_bytes_;
                continue;
            }
            const std::int64_t offset = strip_offset(strip) + within * line_bytes_;
            // Strips that follow one another in the file are read together.
            while (count < lines && !is_sparse(tiff_, (line + count) / strip_lines_) &&
                   strip_offset((line + count) / strip_lines_) == offset + count * line_bytes_) {
                count += std::min(lines - count, strip_lines_);
            }
            threads_.run_blocks(count * line_bytes_, [&](std::int64_t begin, std::int64_t bytes) {
                tiff_.file().read(offset + begin, bytes, to + begin);
                if (TIFFIsByteSwapped(tiff_.get()) != 0) {
                    swap_bytes(to + begin, bytes / size_of(pages_.type), size_of(pages_.type));
                }
            });
            line += count;
            lines -= count;
            to += count * line_bytes_;
        }
    }

    /// Line by line: libtiff continues in a strip where it was.
    void decode_strips(std::int64_t line, std::int64_t lines, std::byte* to) {
        for (std::int64_t i = 0; i < lines; ++i) {
            const std::int64_t strip = (line + i) / strip_lines_;
            std::byte* const here = to + i * line_bytes_;
            if (is_sparse(tiff_, strip)) {
                std::fill_n(here, line_bytes_, std::byte{0});
                continue;
            }
            if (strip != checked_strip_) {
                const std::int64_t inside =
                    std::min(strip_lines_, pages_.height - strip * strip_lines_);
                check_.check(tiff_, static_cast<std::uint32_t>(strip),
                             {inside * line_bytes_, strip_lines_ * line_bytes_},
                             fmt::format("{}, strip {}", where_line(line + i), strip));
                checked_strip_ = strip;
            }
            skip_to(line + i);
            decode_line(line + i, here);
        }
    }

    /// Unpacks the lines of a strip before this one: most compressions begin with its first line.
    void skip_to(std::int64_t line) {
        const std::int64_t first = line / strip_lines_ * strip_lines_;
        std::int64_t before = next_line_ >= first && next_line_ <= line ? next_line_ : first;
        skipped_.resize(static_cast<std::size_t>(line_bytes_));
        for (; before < line; ++before) {
            decode_line(before, skipped_.data());
        }
    }

    void decode_line(std::int64_t line, std::byte* to) {
        const std::string place = where_line(line);
        next_line_ = -1;
        tiff_.clear();
        if (TIFFReadScanline(tiff_.get(), to, static_cast<std::uint32_t>(line), 0) != 1) {
            page_ = -1; // where libtiff is in the strip is not known now
            tiff_.fail(place, "it cannot be unpacked");
        }
        tiff_.refuse_guesses(place);
        next_line_ = line + 1;
    }

    /// By way of the tiles side by side, which are kept for the lines that follow.
    void read_tiles(std::int64_t line, std::int64_t lines, std::byte* to) {
        while (lines > 0) {
            if (!band_.holds(line)) {
                load_band(line);
            }
            const std::int64_t within = line - band_.line;
            const std::int64_t count = std::min(lines, band_.lines - within);
            std::copy_n(band_lines_.data() + within * line_bytes_, count * line_bytes_, to);
            line += count;
            lines -= count;
            to += count * line_bytes_;
        }
    }

    void load_band(std::int64_t line) {
        tiff_.clear();
        const std::int64_t tile_lines = tiff_.number(TIFFTAG_TILELENGTH);
        if (tile_lines < 1) {
            tiff_.fail(where_line(line), "its tiles have no lines");
        }
        const std::int64_t y = line % pages_.height;
        const std::int64_t first = y / tile_lines * tile_lines;
        const Band band{line - y + first, std::min(tile_lines, pages_.height - first)};
        band_ = {};
        const std::int64_t tile_width = tiff_.number(TIFFTAG_TILEWIDTH);
        const std::int64_t tile_line = tile_width * pages_.samples * size_of(pages_.type);
        const tmsize_t tile_bytes = TIFFTileSize(tiff_.get());
        if (tile_line < 1 || tile_bytes % tile_line != 0 || tile_bytes / tile_line != tile_lines) {
            tiff_.fail(where_line(band.line), "a tile is not as large as its extents say");
        }
        if (tile_bytes > most_tile_bytes || band.lines > most_tile_bytes / line_bytes_) {
            tiff_.fail(where_line(band.line),
                       "its tiles side by side take more than " + size_text(most_tile_bytes));
        }
        tile_.resize(static_cast<std::size_t>(tile_bytes));
        band_lines_.resize(static_cast<std::size_t>(band.lines * line_bytes_));
        for (std::int64_t x = 0; x < pages_.width; x += tile_width) {
            load_tile(band, x, tile_line);
        }
        band_ = band;
    }

    /// The tile at column `x`, into its place in `band_lines_`.
    void load_tile(const Band& band, std::int64_t x, std::int64_t tile_line) {
        const auto column = static_cast<std::uint32_t>(x);
        const auto y = static_cast<std::uint32_t>(band.line % pages_.height);
        const auto slice = static_cast<std::uint32_t>(band.line / pages_.height);
        const std::uint32_t number = TIFFComputeTile(tiff_.get(), column, y, slice, 0);
        const std::string place = fmt::format("{}, tile {}", where_line(band.line), number);
        if (is_sparse(tiff_, number)) {
            std::fill(tile_.begin(), tile_.end(), std::byte{0});
        } else {
            check_.check(tiff_, number, {std::ssize(tile_), std::ssize(tile_)}, place);
            tiff_.clear();
            if (TIFFReadTile(tiff_.get(), tile_.data(), column, y, slice, 0) < 0) {
                tiff_.fail(place, "it cannot be unpacked");
            }
            tiff_.refuse_guesses(place);
        }
        const std::int64_t pixel = pages_.samples * size_of(pages_.type);
        const std::int64_t bytes = std::min(tile_line, (pages_.width - x) * pixel);
        for (std::int64_t i = 0; i < band.lines; ++i) {
            std::copy_n(tile_.data() + i * tile_line, bytes,
                        band_lines_.data() + i * line_bytes_ + x * pixel);
        }
    }

    TiffHandle tiff_;
    TiffPages pages_;
    DatasetInfo info_;
    IoThreads threads_;
    std::int64_t line_bytes_;
    std::int64_t page_ = -1; ///< that libtiff is at
    bool is_tiled_ = false;
    bool is_plain_ = false; ///< strips that are as elements are, but for the order of bytes
    std::int64_t strip_lines_ = 1;
    TiffStreamCheck check_;
    std::int64_t checked_strip_ = -1; ///< the last one that check_ has passed
    std::int64_t next_line_ = -1;     ///< that libtiff would unpack next; -1: not known
    Band band_;                       ///< that band_lines_ holds
    std::vector<std::byte> band_lines_;
    std::vector<std::byte> tile_;
    std::vector<std::byte> line_;
    std::vector<std::byte> skipped_;
};

} // namespace

std::unique_ptr<RowReader> open_tiff_reader(const std::string& file, int threads) {
    auto reader = std::make_unique<TiffReader>(file, threads);
    if (const std::optional<DenseLayout> layout = reader->hidden()) {
        return open_dense_rows(open_plain_source(file), file, "cannot read the TIFF file", *layout,
                               threads);
    }
    return reader;
}

} // namespace runner
