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

/// Goes from directory to directory of a file, which must lie one behind the other.
class Directories {
  public:
    Directories(const File& file, std::int64_t strips)
        : file_(file), size_(file.size()), strips_(strips) {
        const std::int64_t mark = number(2, 2);
        if (mark != classic && mark != big) {
            refuse(2);
        }
        word_ = mark == big ? 8 : 4;
        next_ = number(mark == big ? 8 : 4, word_);
    }

    /// Adds the sizes of the next one's strips.
    void add_sizes(std::vector<std::int64_t>& sizes) {
        const std::int64_t at = next_;
        if (at <= before_) {
            refuse(at);
        }
        before_ = at;
        const std::int64_t head = word_ == 8 ? 8 : 2;
        const std::int64_t entries = number(at, head);
        if (entries < 1 || entries > most_entries) {
            refuse(at);
        }
        bool found = false;
        std::int64_t entry = at + head;
        for (std::int64_t i = 0; i < entries; ++i, entry += 4 + 2 * word_) {
            if (number(entry, 2) == sizes_tag) {
                add(entry, sizes);
                found = true;
            }
        }
        if (!found) {
            refuse(at);
        }
        next_ = number(entry, word_);
    }

  private:
    static constexpr std::int64_t classic = 42;
    static constexpr std::int64_t big = 43;
    static constexpr std::int64_t sizes_tag = 279;
    static constexpr std::int64_t most_entries = 64;

    void add(std::int64_t entry, std::vector<std::int64_t>& sizes) const {
        if (number(entry + 4, word_) != strips_) {
            refuse(entry + 4);
        }
        const std::int64_t value = entry + 4 + word_;
        const std::int64_t first = strips_ == 1 ? value : number(value, word_);
        if (first < 0 || first > size_ - strips_ * word_) {
            refuse(value);
        }
        std::vector<std::byte> bytes(static_cast<std::size_t>(strips_ * word_));
        file_.read(first, std::ssize(bytes), bytes.data());
        for (std::int64_t strip = 0; strip < strips_; ++strip) {
            sizes.push_back(decoded(bytes.data() + strip * word_, word_));
            if (sizes.back() < 0 || sizes.back() > size_) {
                refuse(first + strip * word_);
            }
        }
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
    std::int64_t strips_; ///< of a page
    std::int64_t word_ = 4;
    std::int64_t next_ = 0;
    std::int64_t before_ = 0;
};

} // namespace

std::vector<std::int64_t> packed_strip_sizes(const OutputDataset& output) {
    const TiffImage image = tiff_image(output);
    const std::int64_t lines = tiff_strip_lines(image, output.layout.compression);
    const File file(output.file, File::Mode::read);
    Directories directories(file, (image.height + lines - 1) / lines);
    std::vector<std::int64_t> sizes;
    for (std::int64_t page = 0; page < image.pages(); ++page) {
        directories.add_sizes(sizes);
    }
    return sizes;
}

} // namespace runner
