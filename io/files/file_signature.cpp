// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/file_signature.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace runner {

namespace {

/// Whether every byte is ASCII that is printed or moves on. Plain numbers of 16 bits have such
/// bytes too where all are large, but hardly half of them letters, digits and blanks.
bool is_text(std::string_view text) {
    std::ptrdiff_t words = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 32 && c != '\n' && c != '\r' && c != '\t') || byte >= 127) {
            return false;
        }
        words += std::isalnum(byte) != 0 || std::isspace(byte) != 0 ? 1 : 0;
    }
    return 2 * words > std::ssize(text);
}

} // namespace

std::string looks_like(const File& file) {
    std::array<std::byte, 512> head{};
    const std::int64_t size = std::min<std::int64_t>(file.size(), head.size());
    if (size == 0) {
        return "it is empty";
    }
    file.read(0, size, head.data());
    const std::string_view text(reinterpret_cast<const char*>(head.data()),
                                static_cast<std::size_t>(size));
    struct Signature {
        std::string_view bytes;
        const char* name;
    };
    using namespace std::string_view_literals;
    static constexpr std::array signatures = {Signature{"\x89PNG"sv, "a PNG picture"},
                                              Signature{"\xff\xd8\xff"sv, "a JPEG picture"},
                                              Signature{"II*\0"sv, "a TIFF picture"},
                                              Signature{"MM\0*"sv, "a TIFF picture"},
                                              Signature{"II+\0"sv, "a BigTIFF picture"},
                                              Signature{"\x1f\x8b"sv, "gzip-compressed"},
                                              Signature{"\x28\xb5\x2f\xfd"sv, "zstd-compressed"},
                                              Signature{"\xfd"
                                                        "7zXZ"sv,
                                                        "xz-compressed"},
                                              Signature{"BZh"sv, "bzip2-compressed"},
                                              Signature{"PK\x03\x04"sv, "a ZIP archive"},
                                              Signature{"\x93NUMPY"sv, "a numpy .npy file"},
                                              Signature{"CDF\x01"sv, "a classic netCDF file"},
                                              Signature{"CDF\x02"sv, "a classic netCDF file"},
                                              Signature{"CDF\x05"sv, "a classic netCDF file"},
                                              Signature{"SIMPLE  ="sv, "a FITS file"},
                                              Signature{"\x0e\x03\x13\x01"sv, "an HDF4 file"},
                                              Signature{"SAND"sv, "a .sand file"},
                                              Signature{"%PDF"sv, "a PDF"},
                                              Signature{"\x7f"
                                                        "ELF"sv,
                                                        "a program"}};
    for (const auto& [bytes, name] : signatures) {
        if (text.starts_with(bytes)) {
            return std::string("it looks like ") + name;
        }
    }
    return is_text(text) ? "it looks like text" : "it does not begin as an HDF5 file does";
}

bool has_hdf5_signature(const File& file) {
    constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
    std::array<char, signature.size()> bytes{};
    const std::int64_t last = file.size() - std::ssize(bytes);
    for (std::int64_t at = 0; at <= last; at = at == 0 ? 512 : 2 * at) {
        file.read(at, std::ssize(bytes), reinterpret_cast<std::byte*>(bytes.data()));
        if (std::string_view(bytes.data(), bytes.size()) == signature) {
            return true;
        }
        if (at > last / 2) {
            break;
        }
    }
    return false;
}

} // namespace runner
