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
    std::vector<std::int64_t> sizes = {}; ///< of all strips as they are packed; else empty
};

/// Lines of a strip. With compression one of colour is a line, so that it is whole rows.
std::int64_t tiff_strip_lines(const TiffImage& image, Compression compression);

/// Where everything is in a TIFF file that is written. First the header, then the elements of all
/// pages, then what the pages have in common (the sizes of their strips, and of colour bits and
/// formats), then for each page its directory and the places of its strips, and their sizes where
/// they are packed, then the values of the first page's own tags. Classic where all offsets fit 32
/// bits, else BigTIFF.
class TiffLayout {
  public:
    static constexpr std::int64_t data_at = 16;

    TiffLayout(TiffImage image, TiffTags tags, TiffPacking packing);

    std::int64_t size() const { return tail_at() + tail_size(); }

    /// What stands before the elements, and what they have in common behind them.
    TiffBytes header() const;
    TiffBytes common() const;
    std::int64_t common_at() const { return rounded(data_at + data_bytes_); }

    /// Adds a page's directory and the places of its strips.
    void add_page(std::int64_t page, TiffBytes& bytes) const;
    /// Adds what stands behind the last page.
    void add_tail(TiffBytes& bytes) const;

  private:
    /// The types of a directory's entries.
    enum class EntryType : std::uint16_t {
        text = 2,
        short_number = 3,
        number = 4,
        ratio = 5,
        long_number = 16
    };
    struct Entry {
        std::uint16_t tag = 0;
        EntryType type = EntryType::short_number;
        std::int64_t count = 1;
        std::int64_t value = 0; ///< itself where it fits, else where in the file they are
    };

    static std::int64_t rounded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }
    static std::int64_t width_of(EntryType type);

    std::int64_t word() const { return big_ ? 8 : 4; }
    std::int64_t pages_at() const {
        return rounded(common_at() + (is_packed() ? 0 : strips_ * word()) + 4 * image_.samples);
    }
    std::int64_t entries_of(std::int64_t page) const;
    std::int64_t directory_size(std::int64_t page) const;
    std::int64_t page_size(std::int64_t page) const;
    std::int64_t page_at(std::int64_t page) const {
        return pages_at() + (page == 0 ? 0 : page_size(0) + (page - 1) * page_size(1));
    }
    std::int64_t tail_at() const { return page_at(pages_); }
    std::int64_t tail_size() const;
    bool has_alpha() const { return image_.samples == 4; }
    bool is_packed() const { return packing_.compression != Compression::none; }
    /// Bytes of the table of a page's strips, in its own directory where there is one alone.
    std::int64_t table_size() const { return strips_ > 1 ? rounded(strips_ * word()) : 0; }
    std::int64_t strip_at(std::int64_t page, std::int64_t strip) const;
    std::int64_t strip_size(std::int64_t page, std::int64_t strip) const;
    void add_table(std::int64_t page,
                   std::int64_t (TiffLayout::*value)(std::int64_t, std::int64_t) const,
                   TiffBytes& bytes) const;
    /// In the order of their tags. `strips_at`: where the places of the page's strips are.
    std::vector<Entry> page_entries(std::int64_t page, std::int64_t strips_at) const;
    void add_own_entries(std::vector<Entry>& entries) const;

    TiffImage image_;
    TiffTags tags_;
    TiffPacking packing_;
    std::vector<std::int64_t> places_; ///< of packed strips
    std::int64_t data_bytes_ = 0;
    std::int64_t pages_ = 1;
    std::int64_t strip_lines_ = 1;
    std::int64_t strips_ = 1; ///< of a page
    bool big_ = true;         // while the size is asked for: the larger one
};

} // namespace runner
