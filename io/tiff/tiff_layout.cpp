// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_layout.hpp"

#include "base/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t most_32_bits = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t ratio_bytes = 8;

std::int64_t sample_format_of(ElementType type) {
    return visit_element_type(type, [](auto zero) {
        using T = decltype(zero);
        return std::is_floating_point_v<T>
                   ? std::int64_t{3}
                   : (std::is_signed_v<T> ? std::int64_t{2} : std::int64_t{1});
    });
}

/// As TIFF numbers them.
std::int64_t scheme_of(Compression compression) {
    switch (compression) {
    case Compression::lzw: return 5;
    case Compression::deflate: return 8;
    case Compression::zstd: return 50000;
    default: return 1;
    }
}

/// The nearest ratio of two numbers of 32 bits, by continued fractions: of 1/0.325 it is 40/13.
std::pair<std::int64_t, std::int64_t> ratio_of(double number) {
    if (!(number < static_cast<double>(most_32_bits))) {
        return {most_32_bits, 1};
    }
    std::pair<std::int64_t, std::int64_t> before{0, 1};
    std::pair<std::int64_t, std::int64_t> now{1, 0};
    double rest = number;
    constexpr int most_terms = 64;
    for (int term = 0; term < most_terms; ++term) {
        const double whole = std::floor(rest);
        if (whole * static_cast<double>(std::max(now.first, now.second)) +
                static_cast<double>(std::max(before.first, before.second)) >
            static_cast<double>(most_32_bits)) {
            break;
        }
        const auto times = static_cast<std::int64_t>(whole);
        before = std::exchange(
            now, {times * now.first + before.first, times * now.second + before.second});
        const double value = static_cast<double>(now.first) / static_cast<double>(now.second);
        if (rest == whole || std::fabs(value - number) <= 1e-15 * number) {
            break;
        }
        rest = 1 / (rest - whole);
    }
    // Below 2^-32 the nearest is 0, which is no ratio of lengths.
    return now.first == 0 || now.second == 0 ? std::pair{std::int64_t{1}, most_32_bits} : now;
}

void add_ratio(TiffBytes& bytes, double number) {
    const auto [above, below] = ratio_of(number);
    bytes.add(above, 4);
    bytes.add(below, 4);
}

} // namespace

TiffStrips tiff_strips(const TiffImage& image, Compression compression,
                       const std::vector<std::int64_t>& tile) {
    constexpr std::int64_t plain_bytes = 8 << 20;
    constexpr std::int64_t packed_bytes = 1 << 18;
    const bool is_packed = compression != Compression::none;
    if (is_packed && !tile.empty() && image.height >= tile[0] && image.width >= tile[1]) {
        return {tile[0], tile[1],
                ceil_divide(image.height, tile[0]) * ceil_divide(image.width, tile[1]), true};
    }
    const std::int64_t lines =
        is_packed && image.samples > 1
            ? 1
            : std::clamp<std::int64_t>(
                  (is_packed ? packed_bytes : plain_bytes) / image.line_bytes(), 1, image.height);
    return {lines, image.width, ceil_divide(image.height, lines), false};
}

TiffLayout::TiffLayout(TiffImage image, TiffTags tags, TiffPacking packing,
                       const std::vector<TiffImage>& levels)
    : tags_(std::move(tags)), packing_(std::move(packing)), pages_(image.pages()),
      samples_(image.samples) {
    Level next{std::move(image)};
    next.data_at = data_at;
    for (std::size_t i = 0;; ++i) {
        next.cut = tiff_strips(next.image, packing_.compression, packing_.tile);
        next.strips = next.cut.count;
        levels_.push_back(next);
        data_bytes_ += pages_ * next.image.page_bytes();
        if (i == levels.size()) {
            break;
        }
        next.image = levels[i];
        next.number += 1;
        next.first_strip += pages_ * next.strips;
        next.first_common += next.strips;
        next.data_at = data_at + data_bytes_;
    }
    if (is_packed()) {
        data_bytes_ = 0;
        for (const std::int64_t bytes : packing_.sizes) {
            places_.push_back(data_at + std::exchange(data_bytes_, data_bytes_ + bytes));
        }
    }
    big_ = data_bytes_ > most_32_bits || size() > most_32_bits;
}

std::int64_t TiffLayout::width_of(EntryType type) {
    switch (type) {
    case EntryType::text: return 1;
    case EntryType::short_number: return 2;
    case EntryType::number:
    case EntryType::directory: return 4;
    default: return 8;
    }
}

TiffBytes TiffLayout::header() const {
    TiffBytes bytes;
    bytes.add('I', 1);
    bytes.add('I', 1);
    bytes.add(big_ ? 43 : 42, 2);
    if (big_) {
        bytes.add(8, 2); // of an offset
        bytes.add(0, 2);
    }
    bytes.add(pages_at(), word());
    bytes.add(0, data_at - bytes.size());
    return bytes;
}

TiffBytes TiffLayout::common() const {
    TiffBytes bytes;
    for (const Level& level : levels_) {
        for (std::int64_t strip = 0; strip < (is_packed() ? 0 : level.strips); ++strip) {
            bytes.add(strip_size(level, 0, strip), word());
        }
    }
    for (std::int64_t sample = 0; sample < samples_; ++sample) {
        bytes.add(8 * levels_.front().image.sample_bytes(), 2);
    }
    for (std::int64_t sample = 0; sample < samples_; ++sample) {
        bytes.add(sample_format_of(levels_.front().image.type), 2);
    }
    bytes.add(0, pages_at() - common_at() - bytes.size());
    return bytes;
}

void TiffLayout::add_page(std::int64_t number, std::int64_t page, TiffBytes& bytes) const {
    const Level& level = levels_.at(static_cast<std::size_t>(number));
    const std::int64_t size = directory_size(level, page);
    const std::int64_t end = bytes.size() + size;
    const std::vector<Entry> entries = page_entries(level, page, page_at(level, page) + size);
    bytes.add(std::ssize(entries), big_ ? 8 : 2);
    for (const Entry& entry : entries) {
        bytes.add(entry.tag, 2);
        bytes.add(static_cast<std::int64_t>(entry.type), 2);
        bytes.add(entry.count, word());
        const bool itself = entry.count == 1 && width_of(entry.type) <= word();
        bytes.add(entry.value, itself ? width_of(entry.type) : word());
        bytes.add(0, itself ? word() - width_of(entry.type) : 0);
    }
    bytes.add(number == 0 && page + 1 < pages_ ? page_at(level, page + 1) : 0, word());
    bytes.add(0, end - bytes.size());
    add_strips(level, page, &TiffLayout::strip_at, bytes);
    if (is_packed()) {
        add_strips(level, page, &TiffLayout::strip_size, bytes);
    }
    if (number == 0) {
        add_table(levels_of(page), bytes);
    }
}

void TiffLayout::add_strips(const Level& level, std::int64_t page, OfStrip value,
                            TiffBytes& bytes) const {
    std::vector<std::int64_t> numbers;
    for (std::int64_t strip = 0; strip < level.strips; ++strip) {
        numbers.push_back((this->*value)(level, page, strip));
    }
    add_table(numbers, bytes);
}

void TiffLayout::add_table(const std::vector<std::int64_t>& numbers, TiffBytes& bytes) const {
    const std::int64_t size = table_size(std::ssize(numbers));
    if (size > 0) {
        for (const std::int64_t number : numbers) {
            bytes.add(number, word());
        }
        bytes.add(0, size - std::ssize(numbers) * word());
    }
}

std::vector<std::int64_t> TiffLayout::levels_of(std::int64_t page) const {
    std::vector<std::int64_t> places;
    for (std::size_t i = 1; i < levels_.size(); ++i) {
        places.push_back(page_at(levels_[i], page));
    }
    return places;
}

void TiffLayout::add_tail(TiffBytes& bytes) const {
    if (tags_.resolution && !big_) {
        add_ratio(bytes, tags_.resolution->x);
        add_ratio(bytes, tags_.resolution->y);
    }
    for (const char letter : tags_.description) {
        bytes.add(static_cast<unsigned char>(letter), 1);
    }
    bytes.add(0, tags_.description.empty() ? 0 : 1);
}

std::int64_t TiffLayout::entries_of(const Level& level, std::int64_t page) const {
    constexpr std::int64_t of_all = 11;
    const std::int64_t all = of_all + (has_alpha() ? 1 : 0) + (level.cut.tiled ? 1 : 0);
    if (level.number > 0) {
        return all + 1;
    }
    return all + (levels() > 1 ? 1 : 0) +
           (page > 0 ? 0 : (tags_.description.empty() ? 0 : 1) + (tags_.resolution ? 3 : 0));
}

std::int64_t TiffLayout::directory_size(const Level& level, std::int64_t page) const {
    const std::int64_t entries = entries_of(level, page);
    return rounded(big_ ? 8 + entries * 20 + 8 : 2 + entries * 12 + 4);
}

std::int64_t TiffLayout::page_size(const Level& level, std::int64_t page) const {
    return directory_size(level, page) + strip_tables_size(level) +
           (level.number == 0 ? table_size(levels() - 1) : 0);
}

std::int64_t TiffLayout::page_at(const Level& level, std::int64_t page) const {
    std::int64_t at = pages_at();
    for (std::int64_t i = 0; i < level.number; ++i) {
        const Level& before = levels_[static_cast<std::size_t>(i)];
        at += page_size(before, 0) + (pages_ - 1) * page_size(before, 1);
    }
    return at + (page == 0 ? 0 : page_size(level, 0) + (page - 1) * page_size(level, 1));
}

std::int64_t TiffLayout::tail_size() const {
    return (tags_.resolution && !big_ ? 2 * ratio_bytes : 0) +
           (tags_.description.empty() ? 0 : std::ssize(tags_.description) + 1);
}

std::int64_t TiffLayout::strip_at(const Level& level, std::int64_t page, std::int64_t strip) const {
    return is_packed()
               ? places_[static_cast<std::size_t>(level.first_strip + page * level.strips + strip)]
               : level.data_at + page * level.image.page_bytes() +
                     strip * level.cut.lines * level.image.line_bytes();
}

std::int64_t TiffLayout::strip_size(const Level& level, std::int64_t page,
                                    std::int64_t strip) const {
    return is_packed() ? packing_.sizes[static_cast<std::size_t>(level.first_strip +
                                                                 page * level.strips + strip)]
                       : std::min(level.cut.lines, level.image.height - strip * level.cut.lines) *
                             level.image.line_bytes();
}

void TiffLayout::add_strip_entries(const Level& level, std::int64_t page, std::int64_t tables_at,
                                   std::vector<Entry>& entries) const {
    const EntryType place = big_ ? EntryType::long_number : EntryType::number;
    const std::int64_t sizes_at = is_packed() ? tables_at + table_size(level.strips)
                                              : common_at() + level.first_common * word();
    const bool one = level.strips == 1;
    const bool tiled = level.cut.tiled;
    const auto tag = [&](std::uint16_t of_strips, std::uint16_t of_tiles) {
        return tiled ? of_tiles : of_strips;
    };
    entries.push_back(
        {tag(273, 324), place, level.strips, one ? strip_at(level, page, 0) : tables_at});
    entries.push_back({tag(278, 323), EntryType::number, 1, level.cut.lines});
    entries.push_back(
        {tag(279, 325), place, level.strips, one ? strip_size(level, page, 0) : sizes_at});
    if (tiled) {
        entries.push_back({322, EntryType::number, 1, level.cut.columns});
    }
}

std::vector<TiffLayout::Entry> TiffLayout::page_entries(const Level& level, std::int64_t page,
                                                        std::int64_t tables_at) const {
    const TiffImage& image = level.image;
    const bool grey = samples_ == 1;
    std::int64_t bits = samples_at();
    std::int64_t formats = bits + 2 * samples_;
    if (grey) {
        bits = 8 * image.sample_bytes();
        formats = sample_format_of(image.type);
    } else if (big_) { // up to four numbers of two bytes are in the entry itself
        const std::int64_t each = has_alpha() ? 0x1'0001'0001'0001 : 0x1'0001'0001;
        bits = 8 * image.sample_bytes() * each;
        formats = sample_format_of(image.type) * each;
    }
    std::vector<Entry> entries = {
        {256, EntryType::number, 1, image.width},
        {257, EntryType::number, 1, image.height},
        {258, EntryType::short_number, samples_, bits},
        {259, EntryType::short_number, 1, scheme_of(packing_.compression)},
        {262, EntryType::short_number, 1, grey ? 1 : 2}, // 0 is black; or colours
        {277, EntryType::short_number, 1, samples_},
        {284, EntryType::short_number, 1, 1}, // a pixel's samples together
        {339, EntryType::short_number, samples_, formats}};
    add_strip_entries(level, page, tables_at, entries);
    if (has_alpha()) { // by which the colours are not multiplied
        entries.push_back({338, EntryType::short_number, 1, 2});
    }
    if (level.number > 0) { // an image of less resolution
        entries.push_back({254, EntryType::number, 1, 1});
    } else if (levels() > 1) {
        const std::vector<std::int64_t> places = levels_of(page);
        const EntryType directory = big_ ? EntryType::long_directory : EntryType::directory;
        entries.push_back(
            {330, directory, std::ssize(places),
             places.size() == 1 ? places.front() : tables_at + strip_tables_size(level)});
    }
    if (level.number == 0 && page == 0) {
        add_own_entries(entries);
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.tag < b.tag; });
    return entries;
}

void TiffLayout::add_own_entries(std::vector<Entry>& entries) const {
    std::int64_t at = tail_at();
    if (tags_.resolution) {
        const auto value = [&](double number) {
            if (big_) {
                const auto [above, below] = ratio_of(number);
                return static_cast<std::int64_t>(static_cast<std::uint64_t>(below) << 32U |
                                                 static_cast<std::uint64_t>(above));
            }
            return std::exchange(at, at + ratio_bytes);
        };
        entries.push_back({282, EntryType::ratio, 1, value(tags_.resolution->x)});
        entries.push_back({283, EntryType::ratio, 1, value(tags_.resolution->y)});
        entries.push_back({296, EntryType::short_number, 1, tags_.resolution->unit});
    }
    if (!tags_.description.empty()) {
        entries.push_back({270, EntryType::text, std::ssize(tags_.description) + 1, at});
    }
}

} // namespace runner
