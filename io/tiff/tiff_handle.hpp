// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct tiff;

namespace runner {

/// A tag of a directory as the file has it.
struct RawTag {
    std::int64_t count = 0;   ///< of values; 0 without the tag
    std::uint64_t offset = 0; ///< of the first value
};

/// A TIFF file opened for reading by libtiff, which reads it through `File`. What libtiff or the
/// storage complain of becomes an Error. libtiff's warnings are kept for refuse_guesses(). No
/// single piece of memory that it takes is larger than 1 GiB.
///
/// A tag may also be taken as the file has it: libtiff leaves out some that it does not know.
class TiffHandle {
  public:
    /// At its first page. @throws Error (input).
    explicit TiffHandle(const std::string& file);
    TiffHandle(const TiffHandle&) = delete;
    TiffHandle& operator=(const TiffHandle&) = delete;
    ~TiffHandle();

    tiff* get() const { return tiff_; }
    const File& file() const { return file_; }
    std::int64_t size() const { return size_; } ///< of the file

    /// A tag of the page, or its default; 0 where it has none.
    std::uint32_t number(std::uint32_t tag) const;
    std::uint16_t short_number(std::uint32_t tag) const;

    /// An integer of the file, in its byte order; nothing where the file ends before it.
    std::optional<std::uint64_t> integer_at(std::uint64_t offset, int bytes) const;
    /// A tag of the page, of values of so many bytes.
    RawTag raw_tag(std::uint16_t tag, std::int64_t bytes) const;

    /// @throws Error (input): at `where`, what was complained of last, or where nothing was, `why`;
    /// and that the file is too short, where libtiff looked for bytes behind its end.
    [[noreturn]] void fail(const std::string& where, const std::string& why) const;

    /// Forgets complaints and warnings: a call follows whose failure fail() is to explain.
    void clear() {
        complaint_.clear();
        warning_.clear();
        wanted_end_ = 0;
    }

    /// To be called after elements were unpacked. libtiff only warns where it drops or makes up
    /// elements ("Discarding 3 bytes", "Corrupt JPEG data"), and continues.
    /// @throws Error (input) at `where` if it has warned since clear().
    void refuse_guesses(const std::string& where) const;

  private:
    struct Calls;

    /// Fills `to` with bytes of the file, all of them in it.
    void read_at(std::uint64_t offset, std::span<std::byte> to) const;
    /// The number that so many bytes are in the file's byte order.
    std::uint64_t integer_of(std::span<const std::byte> bytes) const;

    /// The bytes from position_ on, all of them in the file. libtiff asks for a few at a time.
    void read(std::int64_t bytes, std::byte* to);

    File file_;
    std::int64_t size_ = 0; ///< as the file was opened
    std::int64_t position_ = 0;
    std::int64_t wanted_end_ = 0;       ///< the last byte behind the file's end that was asked for
    std::vector<std::byte> read_ahead_; ///< of the file's bytes from read_from_ on
    std::int64_t read_from_ = 0;
    std::string complaint_;
    std::string warning_;
    tiff* tiff_ = nullptr;
};

} // namespace runner
