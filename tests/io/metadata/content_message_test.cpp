// SPDX-License-Identifier: BSD-3-Clause
// What a process that reads a file says of it for people: whole, or refused.
#include "io/metadata/content_message.hpp"

#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(ContentMessage, CarriesAttributesAndContents) {
    const AttributeList attributes = {{"text", std::string("a\0b", 3)},
                                      {"count", std::int64_t{-7}},
                                      {"ratio", 0.125},
                                      {"texts", std::vector<std::string>{"", "x"}},
                                      {"counts", std::vector<std::int64_t>{1, -1}},
                                      {"ratios", std::vector<double>{0.5}}};
    EXPECT_EQ(decode_attributes(encode_attributes(attributes)), attributes);
    const ScratchFolder folder;
    write_dataset(folder / "a.h5", "/x", {6, 10}, std::vector<std::uint16_t>(60, 7),
                  {{4, 4}, Compression::deflate, 5, true});
    FileContent content = file_content(folder / "a.h5");
    content.attributes = attributes;
    const FileContent back = decode_content(encode_content(content));
    EXPECT_EQ(back.file, content.file);
    EXPECT_EQ(back.format, "HDF5");
    EXPECT_EQ(back.bytes, content.bytes);
    EXPECT_EQ(back.attributes, attributes);
    ASSERT_EQ(back.datasets.size(), 1U);
    EXPECT_EQ(back.datasets[0].path, "/x");
    EXPECT_EQ(back.datasets[0].filters, content.datasets[0].filters);
    EXPECT_EQ(back.datasets[0].shape, content.datasets[0].shape);
}

TEST(ContentMessage, TakesNoMoreMemoryThanItHolds) {
    MessageWriter writer;
    writer.number(INT64_MAX);
    const std::string huge = writer.take();
    EXPECT_THROW((void)decode_attributes(huge), BadMessage);
}

TEST(ContentMessage, IsWholeOrRefused) {
    const std::string whole = encode_attributes({{"texts", std::vector<std::string>{"a", "bc"}}});
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_THROW((void)decode_attributes(std::string_view(whole).substr(0, length)),
                     BadMessage);
    }
    EXPECT_THROW((void)decode_attributes(whole + "x"), BadMessage);
}

} // namespace
} // namespace runner
