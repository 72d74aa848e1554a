// SPDX-License-Identifier: BSD-3-Clause
#include "views/inspect.hpp"

#include "io/hdf5/attributes.hpp"
#include "io/input/open_rows.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"
#include "views/frame_angles.hpp"

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace runner {
namespace {

OwnFiles& own_files() {
    static OwnFiles files;
    return files;
}

TEST(Inspect, TellsADatasetInTextAndJson) {
    const ScratchFolder folder;
    const std::string file = folder / "a.h5";
    write_dataset<std::uint16_t>(file, "/in/x", {4, 6}, std::vector<std::uint16_t>(24),
                                 {{2, 6}, Compression::deflate, 3, true});
    write_attributes(file, {{"kind", "convolve"},
                            {"long", std::string(1000, 'a') + "\n"},
                            {"ranks", std::int64_t{4}},
                            {"seconds", 1.5}});
    const std::string text = inspect_text(own_files(), file, "");
    for (const char* part :
         {"1 dataset\n", "    @kind = \"convolve\"\n", "    @ranks = 4\n", "    @seconds = 1.5\n",
          "aaa\" … (1001 bytes)\n", "/in/x  uint16 [4, 6]  48 B\n",
          "    chunked in [2, 6], shuffle(2), deflate(3), "}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
    }
    const auto json = nlohmann::json::parse(inspect_json(own_files(), file, ""));
    EXPECT_EQ(json["file"], file);
    EXPECT_EQ(json["bytes"], std::filesystem::file_size(file));
    EXPECT_EQ(json["attributes"]["kind"], "convolve");
    EXPECT_EQ(json["attributes"]["ranks"], 4);
    EXPECT_EQ(json["attributes"]["seconds"], 1.5);
    EXPECT_EQ(json["attributes"]["long"], std::string(1000, 'a') + "\n");
    ASSERT_EQ(json["datasets"].size(), 1);
    const auto& dataset = json["datasets"][0];
    EXPECT_EQ(dataset["path"], "/in/x");
    EXPECT_EQ(dataset["type"], "uint16");
    EXPECT_EQ(dataset["shape"], (std::vector<int>{4, 6}));
    EXPECT_EQ(dataset["chunk"], (std::vector<int>{2, 6}));
    EXPECT_EQ(dataset["filters"], (std::vector<std::string>{"shuffle(2)", "deflate(3)"}));
    EXPECT_EQ(nlohmann::json::parse(inspect_json(own_files(), file, "in/x")), dataset);
}

TEST(Inspect, TellsWherePlainElementsLie) {
    const ScratchFolder folder;
    const std::string file = folder / "a.h5";
    write_dataset<double>(file, "x", {1000}, std::vector<double>(1000));
    const auto offset = inspect_dataset(file, "x").offset.value();
    EXPECT_NE(inspect_text(own_files(), file, "x")
                  .find("contiguous, 7.81 KiB stored from byte " + std::to_string(offset) + "\n"),
              std::string::npos)
        << inspect_text(own_files(), file, "x");
    EXPECT_EQ(nlohmann::json::parse(inspect_json(own_files(), file, "x"))["offset"], offset);
}

TEST(Inspect, TellsAnglesOfFrames) {
    const auto said = [](std::vector<double> angles, std::int64_t frames, const char* name) {
        Metadata metadata;
        metadata.shape = {frames, 5, 7};
        PlainValue values;
        values.space = PlainValue::Space::simple;
        values.shape = {std::ssize(angles)};
        values.type = ElementType::float64;
        const auto bytes = std::as_bytes(std::span(angles));
        values.bytes.assign(bytes.begin(), bytes.end());
        PlainValue unit;
        unit.kind = PlainValue::Kind::text;
        unit.texts = {"deg"};
        metadata.coordinates = {{name, 0, values, {{"units", unit}}}};
        const std::optional<FrameAngles> found = frame_angles(metadata);
        return found ? to_text(*found) : "";
    };
    EXPECT_EQ(said({0, 0.5, 90}, 3, "rotation_angle"), "3 from 0 to 90 deg");
    EXPECT_EQ(said({90, 0.5, -1}, 3, "theta"), "3 from 90 to -1 deg");
    EXPECT_EQ(said({0, 180, -5, 20}, 4, "theta"), "4 from 0 to 20 deg, between -5 and 180");
    EXPECT_EQ(said({0, std::numeric_limits<double>::quiet_NaN(), 7}, 3, "theta"),
              "3 from 0 to 7 deg");
    EXPECT_EQ(said({std::numeric_limits<double>::quiet_NaN()}, 1, "theta"), "");
    EXPECT_EQ(said({0, 1}, 2, "y"), "");
    EXPECT_EQ(said({0, 1, 2}, 2, "theta"), ""); // edges are no angles of frames
}

TEST(Inspect, SaysWhatIsMissing) {
    const ScratchFolder folder;
    const auto error = error_of([&] { (void)inspect_text(own_files(), folder / "none.h5", ""); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::input);
}

} // namespace
} // namespace runner
