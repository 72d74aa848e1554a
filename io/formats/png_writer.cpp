// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/png_writer.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/own_file.hpp"

#include <algorithm>
#include <csetjmp>
#include <limits>
#include <new>
#include <span>
#include <string_view>

#include <png.h>

namespace runner {
namespace {

constexpr std::int64_t most_pixels = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t flush_bytes = 1 << 20;

/// The chunk that says which program made a picture, with its length and checksum; where it is.
constexpr std::string_view made_by("\0\0\0\x16tEXtSoftware\0runner render\x0f\xec\x06\x60", 34);
constexpr std::size_t behind_header = 33;

/// libpng's way to fail: back to guarded(), past its own frames, which know no exceptions.
[[noreturn]] void fail(png_structp png, png_const_charp message) {
    auto* kept = static_cast<std::string*>(png_get_error_ptr(png));
    try {
        *kept = message;
    } catch (const std::bad_alloc&) {
        kept->clear();
    }
    png_longjmp(png, 1);
}

void ignore(png_structp /*png*/, png_const_charp /*message*/) {}

void append(png_structp png, png_bytep data, std::size_t count) {
    auto* packed = static_cast<std::vector<std::byte>*>(png_get_io_ptr(png));
    bool taken = true;
    try {
        const auto* bytes = reinterpret_cast<const std::byte*>(data);
        packed->insert(packed->end(), bytes, bytes + count);
    } catch (const std::bad_alloc&) {
        taken = false;
    }
    if (!taken) {
        png_error(png, "out of memory");
    }
}

void keep(png_structp /*png*/) {}

[[noreturn]] void refuse(const std::string& file, const Picture& picture, const std::string& why) {
    throw Error(ExitCode::usage,
                {"cannot make the picture", file,
                 fmt::format("{} x {} pixels: {}", picture.width, picture.height, why),
                 "Ask for a smaller one"});
}

/// `file`: for errors.
std::vector<std::byte> encode(const std::string& file, const Picture& picture) {
    const auto bytes = static_cast<std::int64_t>(picture.pixels.size());
    if (picture.width < 1 || picture.height < 1 ||
        bytes >= std::numeric_limits<std::int32_t>::max() ||
        bytes != picture.width * picture.height * picture.channels) {
        refuse(file, picture, "no picture, or one of 2 GiB or more");
    }
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(picture.width);
    image.height = static_cast<png_uint_32>(picture.height);
    image.format = picture.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    png_alloc_size_t size = 0;
    std::vector<std::byte> memory;
    // Asked without memory it says how much it takes.
    for (int pass = 0; pass < 2; ++pass) {
        if (png_image_write_to_memory(&image, memory.empty() ? nullptr : memory.data(), &size, 0,
                                      picture.pixels.data(), 0, nullptr) == 0) {
            refuse(file, picture, image.message);
        }
        memory.resize(size);
    }
    return memory;
}

} // namespace

/// Runs libpng's calls; what they make stays in memory. `call` owns nothing: a failure jumps over
/// its end.
template <class Call> void PngWriter::guarded(const Call& call) {
    if (setjmp(png_jmpbuf(png_)) != 0) {
        throw Error(ExitCode::output, {"cannot make the picture", file_.path(),
                                       "libpng says: " + failure_, "Ask for another format"});
    }
    call();
}

PngWriter::PngWriter(const std::string& file, const PngFormat& format)
    : file_(file, File::Mode::create),
      line_bytes_(format.width * format.channels * format.bits / 8), lines_left_(format.height) {
    if (std::min(format.width, format.height) < 1 ||
        std::max(format.width, format.height) > most_pixels) {
        throw Error(ExitCode::usage,
                    {"cannot make the picture", file,
                     fmt::format("{} x {} pixels, and PNG has room for 1 to 2^31 - 1 a side",
                                 format.width, format.height),
                     "Ask for a smaller one"});
    }
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &failure_, fail, ignore);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) {
        png_destroy_write_struct(&png_, nullptr);
        throw out_of_host_memory();
    }
    try {
        begin(format);
    } catch (...) {
        png_destroy_write_struct(&png_, &info_);
        throw;
    }
}

PngWriter::~PngWriter() { png_destroy_write_struct(&png_, &info_); }

void PngWriter::begin(const PngFormat& format) {
    const bool indexed = !format.palette.empty();
    constexpr int index_bits = 2;
    std::array<png_color, 4> palette{};
    for (std::size_t i = 0; i < std::min(palette.size(), format.palette.size()); ++i) {
        const Colour& colour = format.palette[i];
        palette[i] = {colour[0], colour[1], colour[2]};
    }
    const int kind = indexed                ? PNG_COLOR_TYPE_PALETTE
                     : format.channels == 4 ? PNG_COLOR_TYPE_RGB_ALPHA
                     : format.channels == 3 ? PNG_COLOR_TYPE_RGB
                                            : PNG_COLOR_TYPE_GRAY;
    guarded([&] {
        png_set_write_fn(png_, &packed_, append, keep);
        png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        png_set_IHDR(png_, info_, static_cast<png_uint_32>(format.width),
                     static_cast<png_uint_32>(format.height), indexed ? index_bits : format.bits,
                     kind, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                     PNG_FILTER_TYPE_DEFAULT);
        if (indexed) {
            png_set_PLTE(png_, info_, palette.data(), static_cast<int>(format.palette.size()));
        }
        png_write_info(png_, info_);
        png_set_packing(png_);
        png_set_swap(png_); // a PNG is big-endian
    });
}

void PngWriter::write(const std::uint8_t* pixels, std::int64_t lines) {
    for (std::int64_t line = 0; line < lines; ++line, --lines_left_) {
        guarded([&] { png_write_row(png_, pixels + line * line_bytes_); });
        if (packed_.size() >= flush_bytes) {
            flush();
        }
    }
}

void PngWriter::finish() {
    if (lines_left_ != 0) {
        throw Error(ExitCode::defect, {"a picture lacks lines", file_.path(),
                                       fmt::format("{} are missing", lines_left_), ""});
    }
    guarded([&] { png_write_end(png_, info_); });
    flush();
    file_.close();
}

void PngWriter::flush() {
    file_.write(written_, std::ssize(packed_), packed_.data());
    written_ += std::ssize(packed_);
    packed_.clear();
}

std::vector<std::byte> png_bytes(const Picture& picture) { return encode("", picture); }

void write_png(const std::string& file, const Picture& picture) {
    std::vector<std::byte> bytes = encode(file, picture);
    const auto mark = std::as_bytes(std::span(made_by));
    bytes.insert(bytes.begin() + behind_header, mark.begin(), mark.end());
    replace_file(file, bytes, Durable::yes); // torn, it would be nobody's for check_picture_name()
}

void check_picture_name(const std::string& file) {
    if (is_of_others(file, made_by)) {
        throw Error(ExitCode::output,
                    {"cannot replace the picture", file, "render did not make it",
                     "Name another picture, the last of the names, or move this one away"});
    }
}

} // namespace runner
