// SPDX-License-Identifier: BSD-3-Clause
// Written without libtiff, whose writing of many pages and of single lines is slow: without
// compression all places are known before the first element is.
#include "io/tiff/tiff_file.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// The types of a directory's entries.
enum class EntryType : std::uint16_t { short_number = 3, number = 4, long_number = 16 };

std::int64_t width_of(EntryType type) {
    switch (type) {
    case EntryType::short_number: return 2;
    case EntryType::number: return 4;
    default: return 8;
    }
}

struct Entry {
    std::uint16_t tag = 0;
    EntryType type = EntryType::short_number;
    std::int64_t count = 1;
    std::int64_t value = 0; ///< itself where it is one, else where in the file they are
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
    void clear() { bytes_.clear(); }

  private:
    std::vector<std::byte> bytes_;
};

struct Image {
    std::int64_t pages = 1;
    std::int64_t height = 1;
    std::int64_t width = 1;
    std::int64_t samples = 1;
    std::int64_t sample_bytes = 1;
    std::int64_t sample_format = 1; ///< 1 unsigned, 2 signed, 3 floating

    std::int64_t line_bytes() const { return width * samples * sample_bytes; }
    std::int64_t page_bytes() const { return height * line_bytes(); }
};

std::int64_t sample_format_of(ElementType type) {
    return visit_element_type(type, [](auto zero) {
        using T = decltype(zero);
        return std::is_floating_point_v<T>
                   ? std::int64_t{3}
                   : (std::is_signed_v<T> ? std::int64_t{2} : std::int64_t{1});
    });
}

Image image_of(const ArrayInfo& array) {
    std::vector<std::int64_t> shape = array.shape;
    Image image;
    image.sample_bytes = size_of(array.type);
    image.sample_format = sample_format_of(array.type);
    if (array.type == ElementType::uint8 && shape.size() >= 3 && shape.back() == 3) {
        image.samples = 3;
        shape.pop_back();
    }
    if (shape.size() < 2) {
        throw Error(ExitCode::usage, {"cannot make a TIFF file", shape_text(array.shape),
                                      "its pages are images of two axes, and there is one",
                                      "Make a .npy or HDF5 file"});
    }
    image.width = shape.back();
    image.height = shape[shape.size() - 2];
    if (std::max(image.width, image.height) > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(ExitCode::usage,
                    {"cannot make a TIFF file", shape_text(array.shape),
                     "the format has room for 2^32 - 1 pixels a side", "Make a .npy or HDF5 file"});
    }
    shape.resize(shape.size() - 2);
    image.pages = checked_product(shape);
    return image;
}

/// Where everything is. First the header, then the elements of all pages, then what the pages have
/// in common (the sizes of their strips, and of colour bits and formats), then for each page its
/// directory and the places of its strips.
class Layout {
  public:
    static constexpr std::int64_t data_at = 16;

    explicit Layout(const Image& image) : image_(image) {
        constexpr std::int64_t strip_bytes = 8 << 20;
        strip_lines_ = std::clamp<std::int64_t>(strip_bytes / image.line_bytes(), 1, image.height);
        strips_ = (image.height + strip_lines_ - 1) / strip_lines_;
        const std::int64_t data = image.pages * image.page_bytes();
        constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
        big_ = data > most || size() > most;
    }

    std::int64_t size() const { return pages_at() + image_.pages * page_size(); }

    /// What stands before the elements, and what they have in common behind them.
    TiffBytes header() const {
        TiffBytes bytes;
        bytes.add('I', 1);
        bytes.add('I', 1);
        bytes.add(big_ ? 43 : 42, 2);
        if (big_) {
            bytes.add(8, 2); // of an offset
            bytes.add(0, 2);
        }
        bytes.add(pages_at(), word());
        bytes.add(0, data_at - std::ssize(bytes.get()));
        return bytes;
    }

    TiffBytes common() const {
        TiffBytes bytes;
        for (std::int64_t strip = 0; strip < strips_; ++strip) {
            bytes.add(strip_size(strip), word());
        }
        for (std::int64_t sample = 0; sample < image_.samples; ++sample) {
            bytes.add(8 * image_.sample_bytes, 2);
        }
        for (std::int64_t sample = 0; sample < image_.samples; ++sample) {
            bytes.add(image_.sample_format, 2);
        }
        bytes.add(0, pages_at() - common_at() - std::ssize(bytes.get()));
        return bytes;
    }

    std::int64_t common_at() const { return rounded(data_at + image_.pages * image_.page_bytes()); }

    /// Adds a page's directory and the places of its strips.
    void add_page(std::int64_t page, TiffBytes& bytes) const {
        const std::int64_t at = pages_at() + page * page_size();
        const auto entries = page_entries(page, at + directory_size());
        bytes.add(entry_count, big_ ? 8 : 2);
        for (const Entry& entry : entries) {
            bytes.add(entry.tag, 2);
            bytes.add(static_cast<std::int64_t>(entry.type), 2);
            bytes.add(entry.count, word());
            const bool itself = entry.count == 1;
            bytes.add(entry.value, itself ? width_of(entry.type) : word());
            bytes.add(0, itself ? word() - width_of(entry.type) : 0);
        }
        bytes.add(page + 1 < image_.pages ? at + page_size() : 0, word());
        bytes.add(0, directory_size() - directory_used());
        if (strips_ > 1) {
            for (std::int64_t strip = 0; strip < strips_; ++strip) {
                bytes.add(strip_at(page, strip), word());
            }
            bytes.add(0, page_size() - directory_size() - strips_ * word());
        }
    }

  private:
    static constexpr std::int64_t entry_count = 11;

    static std::int64_t rounded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

    std::int64_t word() const { return big_ ? 8 : 4; }
    std::int64_t pages_at() const {
        return rounded(common_at() + strips_ * word() + 4 * image_.samples);
    }
    std::int64_t directory_used() const {
        return big_ ? 8 + entry_count * 20 + 8 : 2 + entry_count * 12 + 4;
    }
    std::int64_t directory_size() const { return rounded(directory_used()); }
    std::int64_t page_size() const {
        return directory_size() + (strips_ > 1 ? rounded(strips_ * word()) : 0);
    }
    std::int64_t strip_at(std::int64_t page, std::int64_t strip) const {
        return data_at + page * image_.page_bytes() + strip * strip_lines_ * image_.line_bytes();
    }
    std::int64_t strip_size(std::int64_t strip) const {
        return std::min(strip_lines_, image_.height - strip * strip_lines_) * image_.line_bytes();
    }

    /// In the order of their tags. `strips_at`: where the places of the page's strips are.
    std::vector<Entry> page_entries(std::int64_t page, std::int64_t strips_at) const {
        const EntryType place = big_ ? EntryType::long_number : EntryType::number;
        const std::int64_t sizes_at = common_at();
        const std::int64_t bits_at = sizes_at + strips_ * word();
        const bool one = strips_ == 1;
        const bool grey = image_.samples == 1;
        return {{256, EntryType::number, 1, image_.width},
                {257, EntryType::number, 1, image_.height},
                {258, EntryType::short_number, image_.samples,
                 grey ? 8 * image_.sample_bytes : bits_at},
                {259, EntryType::short_number, 1, 1},            // not compressed
                {262, EntryType::short_number, 1, grey ? 1 : 2}, // 0 is black; or colours
                {273, place, strips_, one ? strip_at(page, 0) : strips_at},
                {277, EntryType::short_number, 1, image_.samples},
                {278, EntryType::number, 1, strip_lines_},
                {279, place, strips_, one ? strip_size(0) : sizes_at},
                {284, EntryType::short_number, 1, 1}, // a pixel's samples together
                {339, EntryType::short_number, image_.samples,
                 grey ? image_.sample_format : bits_at + 2 * image_.samples}};
    }

    Image image_;
    std::int64_t strip_lines_ = 1;
    std::int64_t strips_ = 1;
    bool big_ = true; // while the size is asked for: the larger one
};

} // namespace

DataPlace tiff_place(const ArrayInfo& array) {
    if (!is_number(array.type)) {
        throw Error(ExitCode::usage, {"cannot make a TIFF file", type_text(array),
                                      "it holds real numbers", "Make an HDF5 file"});
    }
    return {Layout::data_at, byte_count(array), Layout(image_of(array)).size()};
}

void tiff_structure(const ArrayInfo& array, const Placement& /*placement*/,
                    const StructurePiece& piece) {
    constexpr std::int64_t buffer_bytes = 1 << 20;
    const Image image = image_of(array);
    const Layout layout(image);
    piece(0, layout.header().get());
    TiffBytes bytes = layout.common();
    std::int64_t at = layout.common_at();
    for (std::int64_t page = 0; page < image.pages; ++page) {
        layout.add_page(page, bytes);
        if (std::ssize(bytes.get()) >= buffer_bytes || page + 1 == image.pages) {
            piece(at, bytes.get());
            at += std::ssize(bytes.get());
            bytes.clear();
        }
    }
}

} // namespace runner
