// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_handle.hpp"

#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/files/input_rules.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <span>

#include <tiffio.h>

namespace runner {
namespace {

constexpr const char* what = "cannot read the TIFF file";

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
    std::string said = printable(why);
    while (said.ends_with('.')) {
        said.pop_back();
    }
    throw Error(ExitCode::input,
                {what, where, said, "The file may be damaged: get it again, or see tiffinfo"});
}

} // namespace

/// What libtiff calls. No exception passes through its C code: it is kept as text.
struct TiffHandle::Calls {
    static TiffHandle& of(thandle_t handle) { return *static_cast<TiffHandle*>(handle); }

    static tmsize_t read(thandle_t handle, void* to, tmsize_t bytes) {
        TiffHandle& tiff = of(handle);
        try {
            const std::int64_t there =
                std::clamp<std::int64_t>(tiff.size_ - tiff.position_, 0, bytes);
            if (there < bytes) {
                tiff.wanted_end_ = std::max(tiff.wanted_end_, tiff.position_ + bytes);
            }
            if (there == 0) {
                return 0;
            }
            tiff.read(there, static_cast<std::byte*>(to));
            tiff.position_ += there;
            return there;
        } catch (const std::exception& error) {
            keep(tiff.complaint_, error.what());
            return -1;
        }
    }

    static tmsize_t write(thandle_t /*handle*/, void* /*from*/, tmsize_t /*bytes*/) { return -1; }

    static toff_t seek(thandle_t handle, toff_t offset, int from) {
        TiffHandle& tiff = of(handle);
        const auto to = static_cast<std::int64_t>(offset);
        switch (from) {
        case SEEK_CUR: tiff.position_ += to; break;
        case SEEK_END: tiff.position_ = static_cast<std::int64_t>(size(handle)) + to; break;
        default: tiff.position_ = to;
        }
        return static_cast<toff_t>(tiff.position_);
    }

    static int close(thandle_t /*handle*/) { return 0; }

    static toff_t size(thandle_t handle) { return static_cast<toff_t>(of(handle).size_); }

    static int complain(TIFF* /*tiff*/, void* handle, const char* /*module*/, const char* format,
                        va_list arguments) {
        keep(of(handle).complaint_, formatted(format, arguments).data());
        return 1;
    }

    static int warn(TIFF* /*tiff*/, void* handle, const char* /*module*/, const char* format,
                    va_list arguments) {
        keep(of(handle).warning_, formatted(format, arguments).data());
        return 1;
    }

    static std::array<char, 512> formatted(const char* format, va_list arguments) {
        std::array<char, 512> text{};
        (void)std::vsnprintf(text.data(), text.size(), format, arguments);
        return text;
    }

    /// The first is the cause of those that follow.
    static void keep(std::string& kept, const char* text) {
        try {
            if (kept.empty()) {
                kept = text;
            }
        } catch (const std::bad_alloc&) {
            kept.clear();
        }
    }
};

TiffHandle::TiffHandle(const std::string& file) : file_(file, File::Mode::read) {
    check_regular_file(file, what);
    size_ = file_.size();
    TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
    if (options == nullptr) {
        throw out_of_host_memory();
    }
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, GiB);
    TIFFOpenOptionsSetErrorHandlerExtR(options, Calls::complain, this);
    TIFFOpenOptionsSetWarningHandlerExtR(options, Calls::warn, this);
    // "m": not by mapping, where a file that gets shorter would end the program.
    tiff_ = TIFFClientOpenExt(file.c_str(), "rm", this, Calls::read, Calls::write, Calls::seek,
                              Calls::close, Calls::size, nullptr, nullptr, options);
    TIFFOpenOptionsFree(options);
    if (tiff_ == nullptr) {
        fail(file, "libtiff does not say why");
    }
}

TiffHandle::~TiffHandle() {
    if (tiff_ != nullptr) {
        TIFFClose(tiff_);
    }
}

void TiffHandle::read(std::int64_t bytes, std::byte* to) {
    constexpr std::int64_t ahead = 8192; // the directory of most pages, and what it points to
    if (bytes > ahead / 2) {
        return file_.read(position_, bytes, to);
    }
    const std::int64_t held = read_from_ + std::ssize(read_ahead_);
    if (position_ < read_from_ || position_ + bytes > held) {
        read_ahead_.resize(static_cast<std::size_t>(std::min(ahead, size_ - position_)));
        read_from_ = position_;
        try {
            file_.read(position_, std::ssize(read_ahead_), read_ahead_.data());
        } catch (...) {
            read_ahead_.clear();
            throw;
        }
    }
    std::copy_n(read_ahead_.data() + (position_ - read_from_), bytes, to);
}

std::uint32_t TiffHandle::number(std::uint32_t tag) const {
    std::uint32_t value = 0;
    return TIFFGetFieldDefaulted(tiff_, tag, &value) == 1 ? value : 0;
}

std::uint16_t TiffHandle::short_number(std::uint32_t tag) const {
    std::uint16_t value = 0;
    return TIFFGetFieldDefaulted(tiff_, tag, &value) == 1 ? value : std::uint16_t{0};
}

void TiffHandle::read_at(std::uint64_t offset, std::span<std::byte> to) const {
    const auto first = static_cast<std::int64_t>(offset);
    if (first >= read_from_ && first + std::ssize(to) <= read_from_ + std::ssize(read_ahead_)) {
        std::copy_n(read_ahead_.data() + (first - read_from_), to.size(), to.data());
    } else {
        file_.read(first, std::ssize(to), to.data());
    }
}

std::uint64_t TiffHandle::integer_of(std::span<const std::byte> bytes) const {
    const bool is_little = TIFFIsBigEndian(tiff_) == 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::byte byte = bytes[is_little ? bytes.size() - 1 - i : i];
        value = value << 8U | std::to_integer<std::uint64_t>(byte);
    }
    return value;
}

std::optional<std::uint64_t> TiffHandle::integer_at(std::uint64_t offset, int bytes) const {
    const auto size = static_cast<std::uint64_t>(size_);
    if (offset > size || static_cast<std::uint64_t>(bytes) > size - offset) {
        return std::nullopt;
    }
    std::array<std::byte, 8> buffer{};
    const auto used = std::span(buffer).first(static_cast<std::size_t>(bytes));
    read_at(offset, used);
    return integer_of(used);
}

RawTag TiffHandle::raw_tag(std::uint16_t tag, std::int64_t bytes) const {
    const bool big = TIFFIsBigTIFF(tiff_) != 0;
    const std::size_t word = big ? 8 : 4;
    const std::uint64_t first = TIFFCurrentDirOffset(tiff_) + (big ? 8 : 2);
    const std::uint64_t entries = std::min<std::uint64_t>(
        integer_at(TIFFCurrentDirOffset(tiff_), big ? 8 : 2).value_or(0), 65536);
    const std::size_t entry = 4 + 2 * word;
    const auto size = static_cast<std::uint64_t>(size_);
    // One reading for all: a file may have many directories.
    std::vector<std::byte> all(
        std::min<std::uint64_t>(entries * entry, size - std::min(first, size)) / entry * entry);
    read_at(first, all);
    for (std::size_t at = 0; at < all.size(); at += entry) {
        const auto part = std::span(all).subspan(at, entry);
        if (integer_of(part.first(2)) == tag) {
            RawTag found{static_cast<std::int64_t>(
                             std::min<std::uint64_t>(integer_of(part.subspan(4, word)), INT32_MAX)),
                         first + at + 4 + word};
            if (found.count * bytes > static_cast<std::int64_t>(word)) {
                found.offset = integer_of(part.subspan(4 + word, word));
            }
            return found;
        }
    }
    return {};
}

void TiffHandle::fail(const std::string& where, const std::string& why) const {
    const std::string cause = complaint_.empty() ? why : "libtiff says: " + complaint_;
    refuse(where, wanted_end_ <= size_
                      ? cause
                      : fmt::format("the file has {} bytes and should have at least {}: it was cut "
                                    "off, or a number in it is wrong ({})",
                                    size_, wanted_end_, cause));
}

void TiffHandle::refuse_guesses(const std::string& where) const {
    if (!warning_.empty()) {
        refuse(where, "libtiff warns: " + warning_);
    }
}

} // namespace runner
