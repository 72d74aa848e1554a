// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/png_reader.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace runner {
namespace {

using namespace std::string_view_literals;

constexpr std::int64_t signature_bytes = 8;
constexpr std::int64_t around_chunk = 12; ///< its length, name and checksum

/// A chunk of the file.
struct Chunk {
    std::int64_t offset = 0; ///< of its length
    std::int64_t bytes = 0;  ///< of its data
    std::string name = {};
};

class ChunkWalk {
  public:
    explicit ChunkWalk(const std::string& name) : file_(name, File::Mode::read) {}

    PngContent go() {
        for (std::int64_t at = signature_bytes; at <= file_.size() - around_chunk;) {
            const std::string head = text_at(at, 8); // one read: of IDAT there may be very many
            const Chunk chunk{at, number_of(head), head.substr(4)};
            take(chunk);
            at += chunk.bytes + around_chunk;
        }
        add(has_gamma_ && !is_srgb_, "the gamma and the colours of its screen (gAMA, cHRM)");
        return std::move(found_);
    }

  private:
    static std::int64_t number_of(std::string_view bytes) {
        std::int64_t number = 0;
        for (const char byte : bytes.substr(0, 4)) {
            number = number << 8 | static_cast<unsigned char>(byte);
        }
        return number;
    }

    std::int64_t number_at(std::int64_t at) const { return number_of(text_at(at, 4)); }

    /// So many bytes, or those that are left.
    std::string text_at(std::int64_t at, std::int64_t bytes) const {
        std::string text(
            static_cast<std::size_t>(std::clamp<std::int64_t>(file_.size() - at, 0, bytes)), '\0');
        file_.read(at, std::ssize(text), reinterpret_cast<std::byte*>(text.data()));
        return text;
    }

    void add(bool is_there, const char* words) {
        std::vector<std::string>& all = found_.unkept;
        if (is_there && std::find(all.begin(), all.end(), words) == all.end()) {
            all.emplace_back(words);
        }
    }

    void take(const Chunk& chunk) {
        const std::string_view name = chunk.name;
        const std::int64_t data = chunk.offset + 8;
        if (name == "IDAT") {
            take_data(chunk);
        } else if (name == "tEXt" || name == "zTXt" || name == "iTXt") {
            constexpr std::string_view trivial = "Software\0"sv; // with its end
            add(text_at(data, std::ssize(trivial)) != trivial, "its texts");
        } else if (name == "tRNS" && chunk.bytes > 0) {
            note("the transparency of the picture is left out",
                 "it is said for single colours (tRNS)",
                 "Where it matters, save the picture as RGBA");
        } else if (name == "acTL" && chunk.bytes >= 8 && number_at(data) > 1) {
            note("one picture of several is read",
                 fmt::format("it is an animation of {} pictures", number_at(data)),
                 "Save each of the others to a file of its own to read it");
        } else if (name == "gAMA" || name == "cHRM") {
            has_gamma_ = true;
        } else if (name == "sRGB") {
            is_srgb_ = true;
        } else if (name == "pHYs" && chunk.bytes >= 9) {
            take_resolution(text_at(data, 9));
        } else {
            add(name == "iCCP", "the colour profile");
            add(name == "tIME", "the time of its last change");
            add(name == "eXIf", "Exif's data");
            add(name == "sCAL", "the size of pixels (sCAL)");
            add(name == "sBIT", "the number of significant bits (sBIT)");
        }
    }

    /// Pixels a metre along x and y. A whole number of pixels an inch is that of a print or of a
    /// screen, as PNG knows no other way to say it; 72 and 96 write programs that know of none.
    void take_resolution(std::string_view chunk) {
        const auto x = static_cast<double>(number_of(chunk));
        const auto y = static_cast<double>(number_of(chunk.substr(4)));
        if (chunk.substr(8) != "\x01" || x == 0 || y == 0) {
            return;
        }
        constexpr double inch = 0.0254;
        constexpr double most_dots = 1200;
        const double dots = std::round(x * inch);
        if (x != y || dots > most_dots || std::abs(x - dots / inch) >= 1) {
            found_.spacing = {1 / y, 1 / x};
        } else if (dots != 72 && dots != 96) {
            found_.unkept.push_back(fmt::format("the resolution, {:.6g} pixels an inch", dots));
        }
    }

    void take_data(const Chunk& chunk) {
        ChunkPlace& all = found_.data;
        const bool follows = all.bytes == 0 || chunk.offset == all.offset + all.bytes;
        all.offset = all.bytes == 0 ? chunk.offset : all.offset;
        all.bytes +=
            follows ? std::min(chunk.bytes + around_chunk, file_.size() - chunk.offset) : 0;
    }

    void note(const char* failed, const std::string& why, const char* remedy) {
        found_.notes.push_back(format_error({failed, file_.path(), why, remedy}));
    }

    File file_;
    PngContent found_;
    bool has_gamma_ = false;
    bool is_srgb_ = false;
};

} // namespace

PngContent png_content(const std::string& file) { return ChunkWalk(file).go(); }

} // namespace runner
