// SPDX-License-Identifier: BSD-3-Clause
// Reads what this program has written, by no library: a file that is otherwise is damaged.
#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/tiff/tiff_file.hpp"
#include "io/tiff/tiff_image.hpp"
#include "io/tiff/tiff_layout.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace runner {
namespace {

/// Goes from directory to directory of a file, which must lie one behind the other, those of levels
/// too.
class Directories {
  public:
    explicit Directories(const File& file) : file_(file), size_(file.size()) {
        const std::int64_t mark = number(2, 2);
        if (mark != classic && mark != big) {
            refuse(2);
        }
        word_ = mark == big ? 8 : 4;
        next_ = number(mark == big ? 8 : 4, word_);
    }

    /// Adds the sizes of the next one's strips, of which it has so many, and returns where the
    /// directories of its levels are, of which there are so many.
    std::vector<std::int64_t> add_sizes(std::int64_t strips, std::int64_t levels,
                                        std::vector<std::int64_t>& sizes) {
        return add_sizes_at(next_, strips, levels, sizes);
    }

    /// Adds those of the directory of a level.
    void add_level_sizes(std::int64_t at, std::int64_t strips, std::vector<std::int64_t>& sizes) {
        add_sizes_at(at, strips, 0, sizes);
    }

  private:
    std::vector<std::int64_t> add_sizes_at(std::int64_t at, std::int64_t strips,
                                           std::int64_t levels, std::vector<std::int64_t>& sizes) {
        if (at <= before_) {
            refuse(at);
        }
        before_ = at;
        const std::int64_t head = word_ == 8 ? 8 : 2;
        const std::int64_t entries = number(at, head);
        if (entries < 1 || entries > most_entries) {
            refuse(at);
        }
        std::vector<std::int64_t> found;
        std::vector<std::int64_t> places;
        std::int64_t entry = at + head;
        for (std::int64_t i = 0; i < entries; ++i, entry += 4 + 2 * word_) {
            const std::int64_t tag = number(entry, 2);
            if (tag == sizes_tag || tag == tile_sizes_tag) {
                found = numbers(entry, strips);
            } else if (tag == levels_tag && levels > 0) {
                places = numbers(entry, levels);
            }
        }
        if (found.empty() || std::ssize(places) != levels) {
            refuse(at);
        }
        sizes.insert(sizes.end(), found.begin(), found.end());
        next_ = number(entry, word_);
        return places;
    }

    static constexpr std::int64_t classic = 42;
    static constexpr std::int64_t big = 43;
    static constexpr std::int64_t sizes_tag = 279;
    static constexpr std::int64_t tile_sizes_tag = 325;
    static constexpr std::int64_t levels_tag = 330;
    static constexpr std::int64_t most_entries = 64;

    /// The numbers of an entry, each at most the file's bytes.
    std::vector<std::int64_t> numbers(std::int64_t entry, std::int64_t count) const {
        if (number(entry + 4, word_) != count) {
            refuse(entry + 4);
        }
        const std::int64_t value = entry + 4 + word_;
        const std::int64_t first = count == 1 ? value : number(value, word_);
        if (first < 0 || first > size_ - count * word_) {
            refuse(value);
        }
        std::vector<std::byte> bytes(static_cast<std::size_t>(count * word_));
        file_.read(first, std::ssize(bytes), bytes.data());
        std::vector<std::int64_t> made;
        for (std::int64_t i = 0; i < count; ++i) {
            made.push_back(decoded(bytes.data() + i * word_, word_));
            if (made.back() < 0 || made.back() > size_) {
                refuse(first + i * word_);
            }
        }
        return made;
    }

    static std::int64_t decoded(const std::byte* bytes, std::int64_t count) {
        std::uint64_t value = 0;
        for (std::int64_t i = count; i-- > 0;) {
            value = value << 8U | std::to_integer<std::uint64_t>(bytes[i]);
        }
        return static_cast<std::int64_t>(value);
    }

    std::int64_t number(std::int64_t at, std::int64_t bytes) const {
        if (at < 0 || at > size_ - bytes) {
            refuse(at);
        }
        std::array<std::byte, 8> buffer{};
        file_.read(at, bytes, buffer.data());
        return decoded(buffer.data(), bytes);
    }

    [[noreturn]] void refuse(std::int64_t at) const {
        throw Error(ExitCode::input, {"cannot read the output", file_.path(),
                                      fmt::format("byte {} of its structure has changed", at),
                                      "Remove the file and run the job again"});
    }

    const File& file_;
    std::int64_t size_;
    std::int64_t word_ = 4;
    std::int64_t next_ = 0;
    std::int64_t before_ = 0;
};

} // namespace

std::vector<std::int64_t> packed_strip_sizes(const OutputDataset& output) {
    const TiffImage image = tiff_image(output);
    const std::vector<CoarserLevel> levels = coarser_levels(output);
    const auto strips_of = [&](const TiffImage& level) {
        return tiff_strips(level, output.layout.compression, output.layout.tile).count;
    };
    const File file(output.file, File::Mode::read);
    Directories directories(file);
    std::vector<std::int64_t> sizes;
    std::vector<std::vector<std::int64_t>> places; ///< of the levels of each page
    for (std::int64_t page = 0; page < image.pages(); ++page) {
        places.push_back(directories.add_sizes(strips_of(image), std::ssize(levels), sizes));
    }
    for (std::size_t level = 0; level < levels.size(); ++level) {
        const std::int64_t strips = strips_of(tiff_image(levels[level].dataset));
        for (const std::vector<std::int64_t>& of_page : places) {
            directories.add_level_sizes(of_page[level], strips, sizes);
        }
    }
    return sizes;
}

} // namespace runner
