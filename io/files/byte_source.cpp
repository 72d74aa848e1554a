// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/byte_source.hpp"

#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/files/input_rules.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <zlib.h>

namespace runner {
namespace {

class PlainSource final : public ByteSource {
  public:
    explicit PlainSource(const std::string& file) : file_(file, File::Mode::read) {}

    void read(std::int64_t offset, std::int64_t bytes, std::byte* to) override {
        file_.read(offset, bytes, to);
    }
    std::optional<std::int64_t> size() const override { return file_.size(); }
    std::int64_t stored_bytes() const override { return file_.size(); }
    Access access() const override { return Access::anywhere; }

  private:
    File file_;
};

/// zlib's state, taken and given back.
class Inflater {
  public:
    Inflater() {
        constexpr int gzip_of_any_window = 15 + 16;
        if (inflateInit2(&stream_, gzip_of_any_window) != Z_OK) {
            throw out_of_host_memory();
        }
    }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater() { (void)inflateEnd(&stream_); }

    z_stream& stream() { return stream_; }

  private:
    z_stream stream_{};
};

class GzipSource final : public ByteSource {
  public:
    explicit GzipSource(const std::string& file) : file_(file, File::Mode::read) {}

    void read(std::int64_t offset, std::int64_t bytes, std::byte* to) override {
        if (offset < position_) {
            start_again();
        }
        while (position_ < offset) {
            skipped_.resize(static_cast<std::size_t>(buffer_bytes));
            unpack(std::min(buffer_bytes, offset - position_), skipped_.data());
        }
        unpack(bytes, to);
        check_end();
    }
    std::optional<std::int64_t> size() const override { return std::nullopt; }
    std::int64_t stored_bytes() const override { return file_.size(); }
    Access access() const override { return Access::in_order; }

  private:
    static constexpr std::int64_t buffer_bytes = 256 << 10;

    void start_again() {
        (void)inflateReset(&inflater_.stream());
        inflater_.stream().avail_in = 0;
        taken_ = 0;
        position_ = 0;
        within_member_ = false;
    }

    void unpack(std::int64_t bytes, std::byte* to) {
        z_stream& stream = inflater_.stream();
        while (bytes > 0) {
            if (stream.avail_in == 0) {
                refill();
            }
            const auto room = static_cast<uInt>(
                std::min<std::int64_t>(bytes, std::numeric_limits<std::int32_t>::max()));
            stream.next_out = reinterpret_cast<Bytef*>(to);
            stream.avail_out = room;
            const int result = inflate(&stream, Z_NO_FLUSH);
            const auto got = static_cast<std::int64_t>(room - stream.avail_out);
            to += got;
            bytes -= got;
            position_ += got;
            take_result(result);
        }
    }

    /// Where the member has no more to give its checksum is compared, which no further read may ask
    /// for.
    void check_end() {
        z_stream& stream = inflater_.stream();
        Bytef none = 0;
        while (within_member_) {
            if (stream.avail_in == 0) {
                refill();
            }
            stream.next_out = &none;
            stream.avail_out = 0;
            const int result = inflate(&stream, Z_NO_FLUSH);
            take_result(result);
            if (stream.avail_in > 0) {
                return;
            }
        }
    }

    void take_result(int result) {
        z_stream& stream = inflater_.stream();
        within_member_ = result != Z_STREAM_END;
        if (result == Z_STREAM_END) {
            (void)inflateReset(&stream); // another member may follow
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            refuse(stream.msg == nullptr ? fmt::format("zlib's error {}", result)
                                         : std::string("zlib says: ") + stream.msg);
        }
    }

    void refill() {
        const std::int64_t count = std::min(buffer_bytes, file_.size() - taken_);
        if (count <= 0) {
            refuse(within_member_ ? "the compressed data are cut off there"
                                  : fmt::format("it unpacks to {} bytes only, and more are needed",
                                                position_));
        }
        packed_.resize(static_cast<std::size_t>(buffer_bytes));
        file_.read(taken_, count, packed_.data());
        taken_ += count;
        inflater_.stream().next_in = reinterpret_cast<Bytef*>(packed_.data());
        inflater_.stream().avail_in = static_cast<uInt>(count);
    }

    [[noreturn]] void refuse(const std::string& why) {
        const std::int64_t byte = taken_ - inflater_.stream().avail_in;
        throw Error(ExitCode::input,
                    {"cannot unpack the gzip file", fmt::format("{}, byte {}", file_.path(), byte),
                     why, "Copy it again, and test it with gzip -t"});
    }

    File file_;
    Inflater inflater_;
    std::vector<std::byte> packed_;
    std::vector<std::byte> skipped_;
    std::int64_t taken_ = 0;    ///< of the file
    std::int64_t position_ = 0; ///< of what it unpacks to
    bool within_member_ = false;
};

} // namespace

std::unique_ptr<ByteSource> open_plain_source(const std::string& file) {
    check_regular_file(file, "cannot read the file");
    return std::make_unique<PlainSource>(file);
}

std::unique_ptr<ByteSource> open_gzip_source(const std::string& file) {
    check_regular_file(file, "cannot read the file");
    return std::make_unique<GzipSource>(file);
}

} // namespace runner
