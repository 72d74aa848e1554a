// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/png_reader.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/files/file.hpp"
#include "io/files/input_rules.hpp"
#include "io/filters/codec.hpp"
#include "io/filters/page_codecs.hpp"
#include "io/filters/unpacker.hpp"
#include "io/packings/packings.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include <png.h>

namespace runner {
namespace {

constexpr const char* what_png = "cannot read the picture";

/// libpng reading a file line by line.
class PngLines {
  public:
    explicit PngLines(const std::string& file) : file_(file, File::Mode::read) {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, ignore);
        info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
        if (info_ == nullptr) {
            png_destroy_read_struct(&png_, nullptr, nullptr);
            throw out_of_host_memory();
        }
        try {
            guarded([&] {
                png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
                png_set_read_fn(png_, this, take);
                png_read_info(png_, info_);
                png_set_packing(png_);
                png_set_swap(png_);
                if (is_grey_with_alpha()) {
                    png_set_strip_alpha(png_);
                }
            });
        } catch (...) {
            png_destroy_read_struct(&png_, &info_, nullptr);
            throw;
        }
    }
    PngLines(const PngLines&) = delete;
    PngLines& operator=(const PngLines&) = delete;
    ~PngLines() { png_destroy_read_struct(&png_, &info_, nullptr); }

    std::int64_t width() const { return png_get_image_width(png_, info_); }
    std::int64_t height() const { return png_get_image_height(png_, info_); }
    int bits() const { return png_get_bit_depth(png_, info_); }
    int kind() const { return png_get_color_type(png_, info_); }
    bool is_grey_with_alpha() const { return kind() == PNG_COLOR_TYPE_GRAY_ALPHA; }
    bool interlaced() const { return png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE; }

    /// The number of the line that read() gives next.
    std::int64_t next() const { return next_; }

    void read(std::byte* line) {
        guarded([&] { png_read_row(png_, reinterpret_cast<png_bytep>(line), nullptr); });
        ++next_;
        if (next_ == height()) {
            guarded([&] { png_read_end(png_, nullptr); }); // with the last checksum
        }
    }

  private:
    /// `call` owns nothing: a failure jumps over its end.
    template <class Call> void guarded(const Call& call) {
        if (setjmp(png_jmpbuf(png_)) != 0) {
            throw Error(ExitCode::input, {what_png, fmt::format("{}, line {}", file_.path(), next_),
                                          "libpng says: " + printable(failure_),
                                          "The file may be damaged: get it again"});
        }
        call();
    }

    [[noreturn]] static void fail(png_structp png, png_const_charp message) {
        auto* lines = static_cast<PngLines*>(png_get_error_ptr(png));
        try {
            lines->failure_ = message;
        } catch (const std::bad_alloc&) {
            lines->failure_.clear();
        }
        png_longjmp(png, 1);
    }

    static void ignore(png_structp /*png*/, png_const_charp /*message*/) {}

    static void take(png_structp png, png_bytep to, std::size_t count) {
        auto* lines = static_cast<PngLines*>(png_get_io_ptr(png));
        if (!lines->fill(reinterpret_cast<std::byte*>(to), static_cast<std::int64_t>(count))) {
            png_error(png, "the file ends too soon, or cannot be read");
        }
    }

    bool fill(std::byte* to, std::int64_t count) noexcept {
        try {
            while (count > 0) {
                if (used_ == std::ssize(buffer_)) {
                    refill();
                }
                const std::int64_t part = std::min(count, std::ssize(buffer_) - used_);
                std::copy_n(buffer_.data() + used_, part, to);
                used_ += part;
                to += part;
                count -= part;
            }
            return true;
        } catch (const std::exception&) {
            return false;
        }
    }

    void refill() {
        constexpr std::int64_t buffer_bytes = 256 << 10;
        const std::int64_t there = std::clamp<std::int64_t>(file_.size() - taken_, 1, buffer_bytes);
        buffer_.resize(static_cast<std::size_t>(there));
        used_ = there; // until they are there
        file_.read(taken_, there, buffer_.data());
        taken_ += there;
        used_ = 0;
    }

    File file_;
    std::string failure_;
    std::vector<std::byte> buffer_;
    std::int64_t used_ = 0;
    std::int64_t taken_ = 0;
    std::int64_t next_ = 0;
    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
};

class PngReader final : public RowReader {
  public:
    explicit PngReader(const std::string& file) : file_(file) {
        check_regular_file(file, what_png);
        lines_.emplace(file);
        content_ = png_content(file);
        check();
        info_.array = {lines_->bits() == 16 ? ElementType::uint16 : ElementType::uint8,
                       {lines_->height(), lines_->width()}};
        if (samples() > 1) {
            info_.array.shape.push_back(samples());
            info_.channels = static_cast<int>(samples());
        }
        info_.storage = "png";
        info_.axes = axes_of_letters(info_.channels ? "yxs" : "yx");
        if (content_.spacing) {
            info_.axes.each[0] = {"y", "m", (*content_.spacing)[0]};
            info_.axes.each[1] = {"x", "m", (*content_.spacing)[1]};
        }
        info_.stored_bytes = File(file, File::Mode::read).size();
        check_declared_bytes(
            {declared_bytes(), info_.stored_bytes, highest_ratio::deflate, "deflate"}, what_png,
            file);
        if (lines_->kind() == PNG_COLOR_TYPE_PALETTE) {
            info_.notes.push_back(format_error({"the elements are no brightness", file,
                                                "they are numbers of a palette's colours",
                                                "They are taken as they are stored"}));
        }
        info_.unkept = content_.unkept;
        info_.notes.insert(info_.notes.end(), content_.notes.begin(), content_.notes.end());
        if (lines_->is_grey_with_alpha()) {
            info_.notes.push_back(format_error({"the alpha of the pixels is left out", file,
                                                "a grey pixel has no place for it",
                                                "Where it matters, save the picture as RGBA"}));
        }
        line_bytes_ = lines_->width() * samples() * size_of(info_.array.type);
        line_.resize(static_cast<std::size_t>(line_bytes_));
    }

    const DatasetInfo& info() const override { return info_; }

    /// Whether all that is stored of a pixel is read.
    bool takes_all() const { return !lines_->is_grey_with_alpha(); }

    const ChunkPlace& data() const { return content_.data; }

    PngPicture picture() const {
        const auto channels = static_cast<unsigned>(samples());
        return {static_cast<std::size_t>(lines_->height()),
                static_cast<std::size_t>(lines_->width()) * channels,
                static_cast<unsigned>(lines_->bits()), channels};
    }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const std::int64_t row = row_bytes(info_.array);
        const std::int64_t end = (first + rows) * row;
        for (std::int64_t at = first * row; at < end;) {
            const std::int64_t within = at % line_bytes_;
            const std::int64_t count = std::min(end - at, line_bytes_ - within);
            std::copy_n(line(at / line_bytes_) + within, count, to);
            to += count;
            at += count;
        }
    }

  private:
    /// The samples of a pixel: colours, and their alpha where there is one.
    std::int64_t samples() const {
        switch (lines_->kind()) {
        case PNG_COLOR_TYPE_RGB: return 3;
        case PNG_COLOR_TYPE_RGB_ALPHA: return 4;
        default: return 1;
        }
    }

    /// What its lines are packed from: each has a byte for its filter.
    std::int64_t declared_bytes() const {
        const std::int64_t stored = lines_->is_grey_with_alpha() ? 2 : samples();
        const std::int64_t bits = lines_->width() * stored * std::int64_t{lines_->bits()};
        return lines_->height() * (1 + (bits + 7) / 8);
    }

    void check() const {
        if (lines_->interlaced()) {
            throw Error(ExitCode::input,
                        {what_png, file_, "it is interlaced", "Save it without that"});
        }
    }

    /// The line's bytes, until the next is asked for.
    const std::byte* line(std::int64_t number) {
        if (number < lines_->next() - 1) {
            lines_.emplace(file_);
        }
        while (lines_->next() <= number) {
            lines_->read(line_.data());
        }
        return line_.data();
    }

    std::string file_;
    std::optional<PngLines> lines_;
    PngContent content_;
    DatasetInfo info_;
    std::int64_t line_bytes_ = 0;
    std::vector<std::byte> line_;
};

/// As much as a reader of chunks keeps.
constexpr std::int64_t largest_picture = GiB;

} // namespace

StoredRows survey_png(const std::string& file) {
    const PngReader reader(file);
    StoredRows stored;
    stored.info = reader.info();
    stored.way = StoredRows::Way::library;
    const Filter filter{filter_id::png, "", picture_parameters(reader.picture())};
    const ChunkPlace place = reader.data();
    const std::int64_t bytes = byte_count(stored.info.array);
    if (!reader.takes_all() || !is_known(filter) || bytes > largest_picture ||
        place.bytes > most_packed_bytes(bytes)) {
        return stored;
    }
    stored.way = StoredRows::Way::chunks;
    stored.info.chunk = stored.info.array.shape;
    stored.filters = {filter};
    stored.chunks = {place};
    return stored;
}

std::unique_ptr<RowReader> open_png_reader(const std::string& file, int /*threads*/) {
    return std::make_unique<PngReader>(file);
}

} // namespace runner
