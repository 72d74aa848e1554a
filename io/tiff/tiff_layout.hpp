// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/tiff/tiff_image.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What the first page of a TIFF file says of all.
struct TiffTags {
    std::string description; ///< empty: none

    /// Pixels in a unit, along x and y.
    struct Resolution {
        double x = 0;
        double y = 0;
        std::int64_t unit = 1; ///< 1: the description's; 3: centimetre
    };
    std::optional<Resolution> resolution;
};

/// Little-endian numbers, one after the other.
class TiffBytes {
  public:
    void add(std::int64_t value, std::int64_t size) {
        for (std::int64_t i = 0; i < size; ++i) {
            bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
        }
    }
    const std::vector<std::byte>& get() const { return bytes_; }
    std::int64_t size() const { return std::ssize(bytes_); }
    void clear() { bytes_.clear(); }

  private:
    std::vector<std::byte> bytes_;
};

/// How the elements of a TIFF file that is written are packed.
struct TiffPacking {
    Compression compression = Compression::none;
    std::vector<std::int64_t> tile = {};  ///< as OutputLayout's
    std::vector<std::int64_t> sizes = {}; ///< of all strips as they are packed; else empty
};

/// How the pages of an image are cut. What is said of strips elsewhere is said of tiles too.
struct TiffStrips {
    std::int64_t lines = 1;
    std::int64_t columns = 1; ///< of pixels
    std::int64_t count = 1;   ///< of a page
    bool tiled = false;
};

/// Strips of whole lines: with compression one of colour is a line, so that it is whole rows. Or
/// tiles, where the image is at least as high and as wide as one.
TiffStrips tiff_strips(const TiffImage& image, Compression compression,
                       const std::vector<std::int64_t>& tile);

/// Where everything is in a TIFF file that is written. First the header, then the elements of all
/// pages, and level by level those of the pages of coarser levels. Then what the pages have in
/// common (the sizes of their strips, and of colour bits and formats), then for each page its
/// directory and the places of its strips, their sizes where they are packed, and the places of the
/// directories of its levels. These directories follow, level by level, then the values of the
/// first page's own tags. Classic where all offsets fit 32 bits, else BigTIFF.
class TiffLayout {
  public:
    static constexpr std::int64_t data_at = 16;

    /// `levels`: the image as it is in each coarser level. TiffPacking::sizes are those of the
    /// image's strips, and then of the levels'.
    TiffLayout(TiffImage image, TiffTags tags, TiffPacking packing,
               const std::vector<TiffImage>& levels = {});

    std::int64_t levels() const { return std::ssize(levels_); } ///< the image among them

    std::int64_t size() const { return tail_at() + tail_size(); }

    /// What stands before the elements, and what they have in common behind them.
    TiffBytes header() const;
    TiffBytes common() const;
    std::int64_t common_at() const { return rounded(data_at + data_bytes_); }

    /// Adds a page's directory and the places of its strips; of level 0 all, then of level 1.
    void add_page(std::int64_t level, std::int64_t page, TiffBytes& bytes) const;
    /// Adds what stands behind the last page.
    void add_tail(TiffBytes& bytes) const;

  private:
    /// The types of a directory's entries.
    enum class EntryType : std::uint16_t {
        text = 2,
        short_number = 3,
        number = 4,
        ratio = 5,
        directory = 13,
        long_number = 16,
        long_directory = 18
    };
    struct Entry {
        std::uint16_t tag = 0;
        EntryType type = EntryType::short_number;
        std::int64_t count = 1;
        std::int64_t value = 0; ///< itself where it fits, else where in the file they are
    };

    /// The pages of the image, or of a coarser level of it.
    struct Level {
        TiffImage image;
        std::int64_t number = 0; ///< 0: the image
        TiffStrips cut = {};
        std::int64_t strips = 1;       ///< of a page
        std::int64_t first_strip = 0;  ///< among those of all levels
        std::int64_t first_common = 0; ///< among the strips of one page of each level
        std::int64_t data_at = 0;      ///< where its elements are that are not packed
    };
    using OfStrip = std::int64_t (TiffLayout::*)(const Level&, std::int64_t, std::int64_t) const;

    static std::int64_t rounded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }
    static std::int64_t width_of(EntryType type);

    std::int64_t word() const { return big_ ? 8 : 4; }
    /// Where the bits and formats of colour are.
    std::int64_t samples_at() const {
        return common_at() +
               (is_packed() ? 0 : (levels_.back().first_common + levels_.back().strips) * word());
    }
    std::int64_t pages_at() const { return rounded(samples_at() + 4 * samples_); }
    std::int64_t entries_of(const Level& level, std::int64_t page) const;
    std::int64_t directory_size(const Level& level, std::int64_t page) const;
    std::int64_t page_size(const Level& level, std::int64_t page) const;
    std::int64_t page_at(const Level& level, std::int64_t page) const;
    std::int64_t tail_at() const { return page_at(levels_.back(), pages_); }
    std::int64_t tail_size() const;
    bool has_alpha() const { return samples_ == 4; }
    bool is_packed() const { return packing_.compression != Compression::none; }
    /// Bytes of a table of a page; one number is in its own directory.
    std::int64_t table_size(std::int64_t numbers) const {
        return numbers > 1 ? rounded(numbers * word()) : 0;
    }
    /// Bytes of the tables of a page's strips.
    std::int64_t strip_tables_size(const Level& level) const {
        return (is_packed() ? 2 : 1) * table_size(level.strips);
    }
    std::int64_t strip_at(const Level& level, std::int64_t page, std::int64_t strip) const;
    std::int64_t strip_size(const Level& level, std::int64_t page, std::int64_t strip) const;
    void add_strips(const Level& level, std::int64_t page, OfStrip value, TiffBytes& bytes) const;
    void add_table(const std::vector<std::int64_t>& numbers, TiffBytes& bytes) const;
    /// Where a page of the image has the directories of its levels.
    std::vector<std::int64_t> levels_of(std::int64_t page) const;
    /// In the order of their tags. `tables_at`: where the tables behind the directory begin.
    std::vector<Entry> page_entries(const Level& level, std::int64_t page,
                                    std::int64_t tables_at) const;
    void add_strip_entries(const Level& level, std::int64_t page, std::int64_t tables_at,
                           std::vector<Entry>& entries) const;
    void add_own_entries(std::vector<Entry>& entries) const;

    TiffTags tags_;
    TiffPacking packing_;
    std::vector<Level> levels_;        ///< the image is the first
    std::vector<std::int64_t> places_; ///< of packed strips
    std::int64_t data_bytes_ = 0;
    std::int64_t pages_ = 1;
    std::int64_t samples_ = 1; ///< of a pixel
    bool big_ = true;          // while the size is asked for: the larger one
};

} // namespace runner
