// SPDX-License-Identifier: BSD-3-Clause
// Metadata worked out by hand from the specifications; whole stores are in
// end_to_end/zarr_inputs.py.
#include "io/zarr/zarr_array.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "io/filters/codec.hpp"
#include "io/rows/file_elements.hpp"
#include "io/zarr/zarr_elements.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

template <class T> T value_of(const std::vector<std::byte>& bytes) {
    T value{};
    EXPECT_EQ(bytes.size(), sizeof(T));
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(T)));
    return value;
}

std::string why_refused(const std::string& text, int version) {
    try {
        (void)(version == 2 ? parse_zarray(text, "here") : parse_zarr_json(text, "here"));
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::input);
        EXPECT_EQ(error.text().where, "here");
        return error.text().why;
    }
    return "";
}

TEST(ZarrArray, Version2) {
    const ZarrArray array = parse_zarray(
        R"({"zarr_format": 2, "shape": [10, 20], "chunks": [3, 4], "dtype": ">i2", "order": "F",
            "fill_value": -2, "filters": null, "compressor": {"id": "zlib", "level": 1},
            "dimension_separator": "/"})",
        "here");
    EXPECT_EQ(array.info.array, (ArrayInfo{ElementType::int16, {10, 20}}));
    EXPECT_TRUE(array.info.big_endian);
    EXPECT_EQ(array.info.chunk, (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(value_of<std::int16_t>(array.fill), -2);
    EXPECT_EQ(array.separator, '/');
    EXPECT_EQ(array.key_prefix, "");
    ASSERT_EQ(array.filters.size(), 2U);
    EXPECT_EQ(array.filters[0].id, filter_id::transpose);
    EXPECT_EQ(array.filters[0].parameters, (std::vector<unsigned>{2, 1, 0, 3, 4}));
    EXPECT_EQ(array.filters[1].id, filter_id::zlib);
}

TEST(ZarrArray, Version3WithShards) {
    const ZarrArray array = parse_zarr_json(
        R"({"zarr_format": 3, "node_type": "array", "shape": [10, 20], "data_type": "float32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8, 8]}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": "Infinity",
            "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 2],
                "index_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"],
                "index_location": "start",
                "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}},
                           {"name": "bytes", "configuration": {"endian": "little"}},
                           {"name": "zstd", "configuration": {"level": 3, "checksum": false}},
                           "crc32c"]}}]})",
        "here");
    EXPECT_EQ(array.file_chunk, (std::vector<std::int64_t>{8, 8}));
    EXPECT_EQ(array.info.chunk, (std::vector<std::int64_t>{4, 2}));
    ASSERT_EQ(array.shards.size(), 1U);
    EXPECT_EQ(array.shards[0].index, ZarrShard::Index::first);
    EXPECT_TRUE(array.shards[0].big_endian);
    EXPECT_TRUE(array.shards[0].has_checksum);
    EXPECT_FALSE(array.info.big_endian);
    EXPECT_EQ(value_of<float>(array.fill), std::numeric_limits<float>::infinity());
    EXPECT_EQ(array.key_prefix, "c");
    EXPECT_EQ(array.separator, '/');
    ASSERT_EQ(array.filters.size(), 3U);
    EXPECT_EQ(array.filters[0].parameters, (std::vector<unsigned>{4, 1, 0, 4, 2}));
    EXPECT_EQ(array.filters[1].id, filter_id::zstd);
    EXPECT_EQ(array.filters[2].id, filter_id::crc32c);
}

TEST(ZarrArray, TransposedAxesOfThree) {
    // Stored axis i is axis order[i]: a second transpose is of what the first one stores.
    const ZarrArray array = parse_zarr_json(
        R"({"zarr_format": 3, "node_type": "array", "shape": [4, 6, 8], "data_type": "uint8",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3, 4]}},
            "chunk_key_encoding": {"name": "v2"}, "fill_value": 0,
            "codecs": [{"name": "transpose", "configuration": {"order": [1, 2, 0]}},
                       {"name": "transpose", "configuration": {"order": [0, 2, 1]}}, "bytes"]})",
        "here");
    ASSERT_EQ(array.filters.size(), 2U);
    EXPECT_EQ(array.filters[0].parameters, (std::vector<unsigned>{1, 1, 2, 0, 2, 3, 4}));
    EXPECT_EQ(array.filters[1].parameters, (std::vector<unsigned>{1, 0, 2, 1, 3, 4, 2}));
    EXPECT_EQ(array.separator, '.');
}

TEST(ZarrArray, RefusesAnOrderThatIsNone) {
    for (const char* order : {"[2, 0]", "[0, 0]", "[0]", "[0, 1, 2]", "[-1, 0]", "{}", "\"F\""}) {
        const std::string text =
            R"({"zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "uint8",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
                "chunk_key_encoding": {"name": "v2"}, "fill_value": 0,
                "codecs": [{"name": "transpose", "configuration": {"order": )" +
            std::string(order) + R"(}}, "bytes"]})";
        EXPECT_NE(why_refused(text, 3).find("the order of"), std::string::npos) << order;
    }
}

TEST(ZarrArray, RefusesWhatIsNoMetadata) {
    for (const int version : {2, 3}) {
        for (const char* text :
             {"", "{", "[]", "null", "7", "\"text\"", "{}", "{\"zarr_format\": {}}"}) {
            EXPECT_NE(why_refused(text, version), "") << text;
        }
    }
}

std::optional<std::vector<std::byte>> fill(const std::string& type, const std::string& text) {
    return zarr_fill(Json::parse(text), *elements_of_data_type(type));
}

TEST(ZarrFill, Numbers) {
    EXPECT_EQ(value_of<std::uint64_t>(*fill("uint64", "18446744073709551615")),
              std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(value_of<std::int64_t>(*fill("int64", "-9223372036854775808")),
              std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(value_of<std::uint8_t>(*fill("uint8", "5.0")), 5);
    EXPECT_EQ(value_of<std::uint8_t>(*fill("bool", "true")), 1);
    EXPECT_EQ(value_of<double>(*fill("float64", "0.1")), 0.1);
    EXPECT_EQ(value_of<std::uint32_t>(*fill("float32", "\"0x7fc00001\"")), 0x7fc00001U);
    EXPECT_TRUE(std::isnan(value_of<float>(*fill("float32", "\"NaN\""))));
    const auto complex = *fill("complex64", R"([1.5, "-Infinity"])");
    ASSERT_EQ(complex.size(), 8U);
    EXPECT_EQ(value_of<float>({complex.begin(), complex.begin() + 4}), 1.5F);
    EXPECT_EQ(value_of<float>({complex.begin() + 4, complex.end()}),
              -std::numeric_limits<float>::infinity());
}

TEST(ZarrFill, RefusesWhatStandsForNoElement) {
    for (const auto& [type, text] :
         std::vector<std::pair<std::string, std::string>>{{"uint8", "256"},
                                                          {"uint8", "-1"},
                                                          {"int8", "1.5"},
                                                          {"uint8", "\"1\""},
                                                          {"uint8", "true"},
                                                          {"bool", "2"},
                                                          {"bool", "\"true\""},
                                                          {"float32", "\"nan\""},
                                                          {"float32", "\"0x7fc0\""},
                                                          {"float32", "\"0x7fc0000g\""},
                                                          {"float64", "[1]"},
                                                          {"float64", "null"},
                                                          {"complex64", "[1]"},
                                                          {"complex64", "[1, 2, 3]"},
                                                          {"complex64", "\"NaN\""},
                                                          {"int64", "9223372036854775808"},
                                                          {"uint64", "18446744073709551616"},
                                                          {"uint64", "1e300"}}) {
        EXPECT_FALSE(fill(type, text)) << type << " " << text;
    }
}

TEST(ZarrElements, ByName) {
    EXPECT_EQ(elements_of_dtype("<u2")->array.type, ElementType::uint16);
    EXPECT_TRUE(elements_of_dtype(">c16")->big_endian);
    EXPECT_TRUE(elements_of_dtype("|b1")->is_boolean);
    for (const char* name : {"", "<", "u2", "|u2", "<U4", "|S3", "|O", "<M8[ns]", "<u16"}) {
        EXPECT_FALSE(elements_of_dtype(name)) << name;
    }
    EXPECT_FALSE(elements_of_data_type("r16"));
}

TEST(HalfBits, AreThoseOfTheNearestNumber) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const double value = half_value({half});
        if (!std::isnan(value)) {
            EXPECT_EQ(half_bits(value), half);
        }
    }
    EXPECT_EQ(half_bits(1.0 + 0x1p-11), 0x3c00); // midway: the even one
    EXPECT_EQ(half_bits(1.0 + 3 * 0x1p-11), 0x3c02);
    EXPECT_EQ(half_bits(65519.0), 0x7bff);
    EXPECT_EQ(half_bits(65520.0), 0x7c00);
    EXPECT_EQ(half_bits(0x1p-25), 0);
    EXPECT_EQ(half_bits(std::nan("")), 0x7e00);
}

} // namespace
} // namespace runner
