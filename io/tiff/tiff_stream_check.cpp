// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_stream_check.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include <isa-l.h>
#include <tiffio.h>
#include <zstd.h>

namespace runner {
namespace {

constexpr std::int64_t piece_bytes = 256 << 10;

[[noreturn]] void refuse_stream(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input, {"cannot read the TIFF file", where, why,
                                  "The file is damaged: get it again, or make it again"});
}

/// The bytes of one strip or tile as they are stored, a piece at a time.
class PackedBytes {
  public:
    PackedBytes(const TiffHandle& tiff, std::uint32_t number, std::vector<std::byte>& buffer,
                const std::string& where)
        : file_(tiff.file()), buffer_(buffer),
          is_reversed_(tiff.short_number(TIFFTAG_FILLORDER) == FILLORDER_LSB2MSB) {
        const std::uint64_t offset = TIFFGetStrileOffset(tiff.get(), number);
        const std::uint64_t bytes = TIFFGetStrileByteCount(tiff.get(), number);
        const auto size = static_cast<std::uint64_t>(file_.size());
        if (offset > size || bytes > size - offset) {
            refuse_stream(
                where,
                fmt::format("its {} bytes from byte {} on pass the end of the file, which has {}",
                            bytes, offset, size));
        }
        at_ = static_cast<std::int64_t>(offset);
        left_ = static_cast<std::int64_t>(bytes);
        buffer_.resize(static_cast<std::size_t>(piece_bytes));
    }

    /// Empty at the end.
    std::span<std::byte> next() {
        const std::int64_t bytes = std::min(left_, piece_bytes);
        file_.read(at_, bytes, buffer_.data());
        if (is_reversed_) {
            TIFFReverseBits(reinterpret_cast<std::uint8_t*>(buffer_.data()), bytes);
        }
        at_ += bytes;
        left_ -= bytes;
        return std::span(buffer_).first(static_cast<std::size_t>(bytes));
    }

  private:
    const File& file_;
    std::vector<std::byte>& buffer_;
    bool is_reversed_;
    std::int64_t at_ = 0;
    std::int64_t left_ = 0;
};

class Inflater {
  public:
    Inflater() {
        isal_inflate_init(state_.get());
        state_->crc_flag = ISAL_ZLIB;
    }

    bool is_over() const { return state_->block_state == ISAL_BLOCK_FINISH; }
    bool wants_input() const { return state_->avail_in == 0; }

    void feed(std::span<std::byte> packed) {
        state_->next_in = reinterpret_cast<std::uint8_t*>(packed.data());
        state_->avail_in = static_cast<std::uint32_t>(packed.size());
    }

    /// How many bytes came out; nothing for a damaged stream.
    std::optional<std::int64_t> step(std::span<std::byte> out) {
        state_->next_out = reinterpret_cast<std::uint8_t*>(out.data());
        state_->avail_out = static_cast<std::uint32_t>(out.size());
        if (isal_inflate(state_.get()) != ISAL_DECOMP_OK) {
            return std::nullopt;
        }
        return std::ssize(out) - static_cast<std::int64_t>(state_->avail_out);
    }

  private:
    // Some 80 KiB.
    std::unique_ptr<inflate_state> state_ = std::make_unique<inflate_state>();
};

class ZstdInflater {
  public:
    ZstdInflater() : stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
        if (stream_ == nullptr) {
            throw out_of_host_memory();
        }
    }

    bool is_over() const { return is_over_; }
    bool wants_input() const { return in_.pos == in_.size; }
    void feed(std::span<std::byte> packed) { in_ = {packed.data(), packed.size(), 0}; }

    std::optional<std::int64_t> step(std::span<std::byte> out) {
        ZSTD_outBuffer to{out.data(), out.size(), 0};
        const std::size_t left = ZSTD_decompressStream(stream_.get(), &to, &in_);
        if (ZSTD_isError(left) != 0) {
            return std::nullopt;
        }
        is_over_ = left == 0;
        return static_cast<std::int64_t>(to.pos);
    }

  private:
    std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
    ZSTD_inBuffer in_{};
    bool is_over_ = false;
};

/// Unpacks all of it, to the end that the stream itself says.
template <class Stream>
void check_stream(PackedBytes packed, std::vector<std::byte>& unpacked,
                  TiffStreamCheck::Length length, const std::string& where) {
    Stream stream;
    unpacked.resize(static_cast<std::size_t>(piece_bytes));
    std::int64_t total = 0;
    while (!stream.is_over()) {
        bool at_end = false;
        if (stream.wants_input()) {
            const std::span<std::byte> piece = packed.next();
            at_end = piece.empty();
            stream.feed(piece);
        }
        const std::optional<std::int64_t> bytes = stream.step(unpacked);
        if (!bytes) {
            refuse_stream(where, "its bytes do not unpack, or do not fit their checksum");
        }
        total += *bytes;
        if (total > length.most) {
            refuse_stream(where, fmt::format("it unpacks to more than its {} bytes", length.least));
        }
        if (at_end && *bytes == 0 && !stream.is_over()) {
            refuse_stream(where, "its bytes end before the end of what they unpack to");
        }
    }
    if (total < length.least) {
        refuse_stream(where,
                      fmt::format("it unpacks to {} bytes and should to {}", total, length.least));
    }
}

} // namespace

void TiffStreamCheck::check(const TiffHandle& tiff, std::uint32_t number, Length length,
                            const std::string& where) {
    switch (tiff.short_number(TIFFTAG_COMPRESSION)) {
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
        return check_stream<Inflater>({tiff, number, packed_, where}, unpacked_, length, where);
    case COMPRESSION_ZSTD:
        return check_stream<ZstdInflater>({tiff, number, packed_, where}, unpacked_, length, where);
    default: return;
    }
}

} // namespace runner
