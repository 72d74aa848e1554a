// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/format_signature.hpp"

#include "base/error.hpp"
#include "io/files/byte_source.hpp"
#include "io/files/file.hpp"
#include "io/files/file_signature.hpp"
#include "io/files/input_rules.hpp"
#include "io/formats/mrc_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t looked_at = 348; // of a NIfTI-1 header, whose magic is at its end

/// The first bytes of a regular file; none of anything else.
std::string first_bytes(const std::string& file) {
    try {
        std::error_code failure;
        if (!std::filesystem::is_regular_file(file, failure)) {
            return {};
        }
        check_regular_file(file, "");
        const File opened(file, File::Mode::read);
        std::string bytes(static_cast<std::size_t>(std::min(opened.size(), looked_at)), '\0');
        opened.read(0, std::ssize(bytes), reinterpret_cast<std::byte*>(bytes.data()));
        return bytes;
    } catch (const Error&) {
        return {}; // whoever reads it tells why it cannot be read
    }
}

/// The ending of the format that a file begins like; "" for none.
std::string_view ending_by_bytes(const std::string& bytes) {
    using namespace std::string_view_literals;
    constexpr std::array begins = {
        std::pair("II*\0"sv, ".tif"sv),           std::pair("MM\0*"sv, ".tif"sv),
        std::pair("II+\0"sv, ".tif"sv),           std::pair("MM\0+"sv, ".tif"sv),
        std::pair("\x93NUMPY"sv, ".npy"sv),       std::pair("\x89PNG\r\n\x1a\n"sv, ".png"sv),
        std::pair("SANDU1"sv, ".sand"sv),         std::pair("PK\x03\x04"sv, ".zarr.zip"sv),
        std::pair("PK\x05\x06"sv, ".zarr.zip"sv),
    };
    for (const auto& [begin, ending] : begins) {
        if (bytes.starts_with(begin)) {
            return ending;
        }
    }
    if (is_mrc(bytes)) {
        return ".mrc";
    }
    constexpr std::size_t nifti_magic = 344;
    return bytes.size() >= nifti_magic + 4 && bytes.substr(nifti_magic, 4) == "n+1\0"sv ? ".nii"sv
                                                                                        : ""sv;
}

/// The first bytes of what a gzip file unpacks to; none where it does not.
std::string unpacked_bytes(const std::string& file) {
    try {
        std::string bytes(static_cast<std::size_t>(looked_at), '\0');
        open_gzip_source(file)->read(0, looked_at, reinterpret_cast<std::byte*>(bytes.data()));
        return bytes;
    } catch (const Error&) {
        return {};
    }
}

} // namespace

std::string_view ending_by_content(const std::string& file) {
    const std::string bytes = first_bytes(file);
    if (bytes.starts_with("\x1f\x8b")) {
        return ending_by_bytes(unpacked_bytes(file)) == ".nii" ? ".nii.gz" : "";
    }
    return ending_by_bytes(bytes);
}

bool begins_as_hdf5(const std::string& file) {
    try {
        std::error_code failure;
        return std::filesystem::is_regular_file(file, failure) &&
               has_hdf5_signature(File(file, File::Mode::read));
    } catch (const Error&) {
        return false; // whoever reads it tells why it cannot be read
    }
}

} // namespace runner
