// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/certificate.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

namespace runner::verify {
namespace {

constexpr std::size_t row_digits = 16;
constexpr std::size_t checksum_digits = 32;

bool is_hex(std::string_view text, std::size_t digits) {
    return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
    throw Error(ExitCode::usage, {"cannot use the certificate", name, why,
                                  "Make one: runner certify OUT.h5 > certificate.json"});
}

std::uint64_t parse_row_checksum(const Json& json) {
    const auto text = json.get<std::string>();
    if (!is_hex(text, row_digits)) {
        throw JsonError(fmt::format("a row checksum is not {} hexadecimal digits", row_digits));
    }
    std::uint64_t value = 0;
    constexpr int base = 16;
    (void)std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

std::vector<std::int64_t> parse_shape(const Json& json) {
    constexpr std::size_t most_axes = 32; // of an HDF5 dataset
    std::vector<std::int64_t> shape;
    for (const Json& extent : json.values()) {
        shape.push_back(extent.get<std::int64_t>());
    }
    // A row's bytes are counted too, of elements of up to 16.
    constexpr std::int64_t most_elements = std::int64_t{1} << 58U;
    std::int64_t elements = 1;
    for (const std::int64_t extent : shape) {
        if (extent < 1 || extent > most_elements / elements) {
            throw JsonError("an extent of the shape is below 1, or there are too many elements");
        }
        elements *= extent;
    }
    if (!json.is_array() || shape.empty() || shape.size() > most_axes) {
        throw JsonError("the shape is not an array of 1 to 32 extents");
    }
    return shape;
}

DatasetDigest parse_dataset(const Json& json) {
    DatasetDigest digest;
    digest.dataset = json.at("dataset").get<std::string>();
    digest.type = json.at("type").get<std::string>();
    digest.shape = parse_shape(json.at("shape"));
    digest.checksum = json.at("checksum").get<std::string>();
    digest.rows_per_checksum = json.at("rows_per_checksum").get<std::int64_t>();
    if (digest.dataset.empty() || digest.dataset.find('\0') != std::string::npos) {
        throw JsonError("the name of a dataset is empty or contains a zero byte");
    }
    if (!is_hex(digest.checksum, checksum_digits)) {
        throw JsonError(fmt::format("checksum is not {} hexadecimal digits", checksum_digits));
    }
    if (digest.rows_per_checksum < 1) {
        throw JsonError("rows_per_checksum is below 1");
    }
    const Json& rows = json.at("row_checksums");
    const std::int64_t needed = (digest.rows() - 1) / digest.rows_per_checksum + 1;
    if (!rows.is_array() || std::ssize(rows.values()) != needed) {
        throw JsonError(fmt::format("row_checksums are not the {} of its shape", needed));
    }
    for (const Json& each : rows.values()) {
        digest.row_checksums.push_back(parse_row_checksum(each));
    }
    return digest;
}

std::vector<DatasetDigest> parse_list(const Json& list) {
    std::vector<DatasetDigest> datasets;
    std::set<std::string> names;
    for (const Json& each : list.values()) {
        datasets.push_back(parse_dataset(each));
        names.insert(datasets.back().dataset);
    }
    if (!list.is_array() || datasets.empty() || names.size() != datasets.size()) {
        throw JsonError("datasets is not an array of one or more datasets of different names");
    }
    return datasets;
}

CertifiedElements parse_elements(const Json& json) {
    if (json.at("certificate").get<std::int64_t>() != certificate_version) {
        throw JsonError(
            fmt::format("its version is not {}, which this program reads", certificate_version));
    }
    CertifiedElements elements{parse_list(json.at("datasets")), {}};
    if (const Json* const levels = json.find("levels")) {
        elements.levels = parse_list(*levels);
    }
    return elements;
}

} // namespace

Json datasets_json(const std::vector<DatasetDigest>& datasets) {
    Json list = Json::array();
    for (const DatasetDigest& digest : datasets) {
        Json rows = Json::array();
        for (const std::uint64_t checksum : digest.row_checksums) {
            rows.push_back(fmt::format("{:016x}", checksum));
        }
        list.push_back({{"dataset", digest.dataset},
                        {"type", digest.type},
                        {"shape", digest.shape},
                        {"checksum", digest.checksum},
                        {"rows_per_checksum", digest.rows_per_checksum},
                        {"row_checksums", std::move(rows)}});
    }
    return list;
}

CertifiedElements parse_certificate(const std::string& name, const std::string& text) {
    try {
        return parse_elements(Json::parse(text));
    } catch (const JsonError& error) {
        refuse(name, error.what());
    }
}

} // namespace runner::verify
