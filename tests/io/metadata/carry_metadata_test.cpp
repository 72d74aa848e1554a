// SPDX-License-Identifier: BSD-3-Clause
// What is still true of an output, of metadata worked by hand. Whole jobs are in
// tests/end_to_end/metadata.py.
#include "io/metadata/axis_metadata.hpp"
#include "io/metadata/carry_metadata.hpp"

#include "tests/io/metadata/metadata_values.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

using Values = Likeness::Values;
using Names = std::vector<std::string>;

Names names_of(const std::vector<NamedValue>& values) {
    Names names;
    for (const NamedValue& each : values) {
        names.push_back(each.name);
    }
    return names;
}

/// The attribute's value; one of no kind where it is not there.
PlainValue value_of(const std::vector<NamedValue>& values, const std::string& name) {
    for (const NamedValue& each : values) {
        if (each.name == name) {
            return each.value;
        }
    }
    return text("not there");
}

/// Metadata of 4 frames of 3 x 5, with coordinates of each axis: y has edges.
Metadata volume() {
    Metadata made;
    made.shape = {4, 3, 5};
    made.group = {{"title", text("a scan")}};
    made.axes = {"t", "y", "x"};
    made.coordinates = {{"t", 0, numbers<std::int32_t>({10, 20, 40, 80}), {}},
                        {"y", 1, numbers<double>({0, 1, 3, 6}), {{"units", text("mm")}}},
                        {"x", 2, numbers<float>({1, 2, 4, 8, 16}), {}}};
    return made;
}

/// The volume's with these attributes of the dataset.
Metadata with(std::vector<NamedValue> attributes) {
    Metadata made = volume();
    made.dataset = std::move(attributes);
    return made;
}

/// In blocks of 3 x 2 elements of a frame.
const Likeness binned{Values::alike, {{0, 1}, {1, 3}, {2, 2}}, {4, 1, 3}};

/// Frames and columns change places.
const Likeness transposed{Values::same, {{2, 1}, {1, 1}, {0, 1}}, {5, 3, 4}};

/// The volume as a scan.
Metadata scan() {
    Metadata made = volume();
    made.scan = {{"instrument/detector", "NXdetector", {}, {}, ScanItem::Kind::group},
                 {"instrument/detector/image_key",
                  "",
                  numbers<std::int32_t>({2, 0, 0, 0}),
                  {},
                  ScanItem::Kind::of_frames},
                 {"instrument/detector/x_pixel_size", "", scalar(2.0), {}, ScanItem::Kind::fixed},
                 {"instrument/detector/y_pixel_size", "", scalar(0.5F), {}, ScanItem::Kind::fixed},
                 {"instrument/detector/x_rotation_axis_pixel_position",
                  "",
                  scalar(1.0),
                  {},
                  ScanItem::Kind::fixed},
                 {"sample/rotation_angle",
                  "",
                  numbers<double>({0, 10, 20, 40}),
                  {},
                  ScanItem::Kind::of_frames}};
    return made;
}

TEST(CarriedMetadata, OfAScanIsThatOfItsFrames) {
    const Metadata part = metadata_of_part(scan(), {{0, 0, 0}, {2, 3, 5}, {1, 3}});
    ASSERT_EQ(part.scan.size(), 6U);
    EXPECT_EQ(part.scan[1].value, numbers<std::int32_t>({0, 0}));
    EXPECT_EQ(part.scan[5].value, numbers<double>({10, 40}));
    EXPECT_EQ(part.scan[2].value, scalar(2.0));
    // Rows in blocks of 3, columns of 2.
    const Metadata small = carried_metadata(scan(), binned);
    ASSERT_EQ(small.scan.size(), 5U);
    EXPECT_EQ(small.scan[2].value, scalar(4.0));
    EXPECT_EQ(small.scan[3].value, scalar(1.5F));
    EXPECT_EQ(small.left_out, Names{"instrument/detector/x_rotation_axis_pixel_position: columns "
                                    "are joined"});
    Metadata whole_numbers = scan();
    whole_numbers.scan[2].value = scalar(std::int8_t{100}); // 200 is none of the type
    whole_numbers.scan[3].value = scalar(std::uint8_t{60});
    const std::int64_t nanoseconds = (std::int64_t{1} << 60) + 1; // no float64 has it
    whole_numbers.scan[5] = {"start", "", scalar(nanoseconds), {}, ScanItem::Kind::fixed};
    const Metadata counted = carried_metadata(whole_numbers, binned);
    ASSERT_EQ(counted.scan.size(), 4U);
    EXPECT_EQ(counted.scan[2].value, scalar(std::uint8_t{180}));
    EXPECT_EQ(counted.scan[3].value, scalar(nanoseconds));

    EXPECT_TRUE(carried_metadata(scan(), transposed).scan.empty());
}

TEST(CarriedMetadata, OfAScanInBlocksOfFramesIsTheirMeans) {
    const Likeness pairs{Values::alike, {{0, 2}, {1, 1}, {2, 1}}, {2, 3, 5}};
    EXPECT_TRUE(carried_metadata(scan(), pairs).scan.empty()); // a dark and a projection
    Metadata projections = scan();
    projections.scan[1].value = numbers<std::int32_t>({0, 0, 0, 0});
    const Metadata joined = carried_metadata(projections, pairs);
    ASSERT_EQ(joined.scan.size(), 6U);
    EXPECT_EQ(joined.scan[1].value, numbers<std::int32_t>({0, 0}));
    EXPECT_EQ(joined.scan[5].value, numbers<double>({5, 30}));
}

TEST(CarriedMetadata, OfHalvesJoinedIsThatOfTheFirst) {
    // Frames are joined in pairs, to twice the columns but one, of which four are before the first.
    const Likeness joined{Values::alike, {{0, 1}, {1, 1}, {2, 1, -4}}, {2, 3, 9}};
    Metadata half = scan();
    half.scan.push_back(
        {"instrument/detector/field_of_view", "", text("Half"), {}, ScanItem::Kind::fixed});
    half.dataset = {{"origin", numbers<double>({0, 0, 1})}, {"units", text("counts")}};
    half.placement = axes_of_letters("zyx");
    half.placement.each[2].spacing = 0.5;
    half.placement.each[2].origin = 10;
    const Metadata whole = carried_metadata(half, joined);
    ASSERT_EQ(whole.scan.size(), 6U);
    EXPECT_EQ(whole.scan[1].value, numbers<std::int32_t>({2, 0}));
    EXPECT_EQ(whole.scan[2].value, scalar(2.0));
    EXPECT_EQ(whole.scan[4].value, numbers<double>({0, 10}));
    EXPECT_EQ(whole.scan[5].value, text("Full"));
    ASSERT_EQ(whole.coordinates.size(), 2U);
    EXPECT_EQ(whole.coordinates[0].values, numbers<std::int32_t>({10, 20}));
    EXPECT_EQ(whole.left_out,
              (Names{"x: the axis is longer than the input's",
                     "instrument/detector/x_rotation_axis_pixel_position: columns are joined"}));
    EXPECT_EQ(names_of(whole.dataset), Names{"units"});
    EXPECT_EQ(whole.placement.each[2].origin, 8.0);
    EXPECT_EQ(whole.placement.each[2].spacing, 0.5);
    half.coordinates[2].values = numbers<float>({1, 2, 3, 4, 5}); // go on as evenly
    half.coordinates[1] = {"edges", 2, numbers<std::uint8_t>({0, 2, 4, 6, 8, 10}), {}};
    const Metadata even = carried_metadata(half, joined);
    ASSERT_EQ(even.coordinates.size(), 3U);
    EXPECT_EQ(even.coordinates[1].values, numbers<double>({-8, -6, -4, -2, 0, 2, 4, 6, 8, 10}));
    EXPECT_EQ(even.coordinates[2].values, numbers<float>({-3, -2, -1, 0, 1, 2, 3, 4, 5}));
}

TEST(CarriedMetadata, IsAllOfItForTheSameElements) {
    const Metadata input = with({{"units", text("counts")}, {"valid_max", scalar(3.0)}});
    EXPECT_EQ(carried_metadata(input, Likeness::in_place(Values::same, input.shape)), input);
}

TEST(CarriedMetadata, IsLessTheLessTheValuesAreAlike) {
    const Metadata input = with({{"long_name", text("n")},
                                 {"units", text("counts")},
                                 {"scale_factor", scalar(2.0)},
                                 {"valid_max", scalar(3.0)},
                                 {"actual_range", numbers<double>({0, 3})}});
    const std::vector<std::pair<Values, std::size_t>> kept = {
        {Values::foreign, 0}, {Values::other, 1}, {Values::scaled, 2},
        {Values::alike, 3},   {Values::coded, 4}, {Values::same, 5}};
    for (const auto& [values, count] : kept) {
        const Metadata output = carried_metadata(input, Likeness::in_place(values, input.shape));
        const std::vector<NamedValue> first(input.dataset.begin(),
                                            input.dataset.begin() + std::ptrdiff_t(count));
        EXPECT_EQ(output.dataset, first) << count;
        EXPECT_EQ(output.group, input.group) << count;
        EXPECT_EQ(output.coordinates, input.coordinates) << count;
        // Elements that stand for others were taken as they are stored.
        const bool names_factor = values > Values::foreign && values < Values::alike;
        EXPECT_EQ(output.left_out.size(), names_factor ? 1U : 0U) << count;
    }
    const Metadata none = carried_metadata(input, {Values::none, {}, {7}});
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.shape, std::vector<std::int64_t>{7});
}

TEST(CarriedMetadata, OfBlocksHasMeansOfCoordinates) {
    const Metadata output = carried_metadata(volume(), binned);
    EXPECT_EQ(output.shape, (std::vector<std::int64_t>{4, 1, 3}));
    EXPECT_EQ(output.axes, (Names{"t", "y", "x"}));
    ASSERT_EQ(output.coordinates.size(), 3U);
    EXPECT_EQ(output.coordinates[0], volume().coordinates[0]);
    EXPECT_EQ(output.coordinates[1].values, numbers<double>({0, 6})); // edges of the one block
    EXPECT_EQ(output.coordinates[1].attributes, volume().coordinates[1].attributes);
    EXPECT_EQ(output.coordinates[2].values, numbers<float>({1.5, 6, 16})); // the last of one
}

TEST(CarriedMetadata, OfBlocksHasMeansOfIntegersAsFloat64) {
    const Metadata output =
        carried_metadata(volume(), {Values::alike, {{0, 3}, {1, 1}, {2, 1}}, {2, 3, 5}});
    EXPECT_EQ(output.coordinates[0].values, numbers<double>({70.0 / 3, 80}));
}

TEST(CarriedMetadata, OfBlocksKeepsEdgesWithinTheAxis) {
    Metadata input = volume();
    input.coordinates = {{"x", 2, numbers<std::int16_t>({0, 10, 20, 30, 40, 50}), {}}};
    EXPECT_EQ(carried_metadata(input, binned).coordinates[0].values,
              numbers<std::int16_t>({0, 20, 40, 50}));
}

TEST(CarriedMetadata, GoesWithTheAxes) {
    const Metadata output = carried_metadata(volume(), transposed);
    EXPECT_EQ(output.axes, (Names{"x", "y", "t"}));
    ASSERT_EQ(output.coordinates.size(), 3U);
    EXPECT_EQ(output.coordinates[0].name, "x");
    EXPECT_EQ(output.coordinates[0].axis, 0);
    EXPECT_EQ(output.coordinates[2].name, "t");
    EXPECT_EQ(output.coordinates[2].axis, 2);
    EXPECT_EQ(output.coordinates[2].values, volume().coordinates[0].values);
}

TEST(CarriedMetadata, HasNothingForANewAxis) {
    const Metadata output =
        carried_metadata(volume(), {Values::other, {{-1, 1}, {1, 1}, {2, 1}}, {9, 3, 5}});
    EXPECT_EQ(output.axes, (Names{".", "y", "x"}));
    EXPECT_EQ(output.coordinates.size(), 2U);
    EXPECT_TRUE(carried_metadata(volume(), {Values::other, {{-1, 1}}, {9}}).axes.empty());
}

TEST(CarriedMetadata, ForgetsNamesWithoutNumbers) {
    Metadata input = volume();
    input.coordinates.erase(input.coordinates.begin());
    EXPECT_EQ(carried_metadata(input, Likeness::in_place(Values::same, input.shape)).axes,
              (Names{".", "y", "x"}));
    input.coordinates.clear();
    EXPECT_TRUE(
        carried_metadata(input, Likeness::in_place(Values::same, input.shape)).axes.empty());
}

TEST(CarriedMetadata, HasSizesOfPixelsForEachAxis) {
    const Metadata input = with({{"element_size_um", numbers<float>({8, 2, 0.5})},
                                 {"DIMENSION_LABELS", texts({"T", "Y", "X"})},
                                 {"voxel_size", numbers<std::uint8_t>({1, 100, 3})}});
    const auto blocks = carried_metadata(input, binned).dataset;
    EXPECT_EQ(value_of(blocks, "element_size_um"), numbers<float>({8, 6, 1}));
    EXPECT_EQ(value_of(blocks, "DIMENSION_LABELS"), texts({"T", "Y", "X"}));
    EXPECT_EQ(value_of(blocks, "voxel_size"), numbers<std::uint8_t>({1, 44, 6})); // 300 - 256
    const auto others = carried_metadata(input, transposed).dataset;
    EXPECT_EQ(value_of(others, "element_size_um"), numbers<float>({0.5, 2, 8}));
    EXPECT_EQ(value_of(others, "DIMENSION_LABELS"), texts({"X", "Y", "T"}));
    const auto added =
        carried_metadata(input, {Values::other, {{-1, 1}, {1, 1}, {2, 1}}, {9, 3, 5}}).dataset;
    EXPECT_EQ(names_of(added), Names{"DIMENSION_LABELS"});
    EXPECT_EQ(value_of(added, "DIMENSION_LABELS"), texts({"", "Y", "X"}));
}

TEST(CarriedMetadata, DropsPlacesAndSizesThatNoLongerHold) {
    const Metadata input = with({{"detector_pixel_size_mm", scalar(0.5)},
                                 {"origin", numbers<double>({0, 0, 0})},
                                 {"pixel_size", scalar(2.0)}});
    const auto same = carried_metadata(input, Likeness::in_place(Values::same, input.shape));
    EXPECT_EQ(same.dataset, input.dataset);
    for (const Likeness& change : {binned, transposed}) {
        const Metadata output = carried_metadata(input, change);
        EXPECT_TRUE(output.dataset.empty());
        EXPECT_TRUE(output.left_out.empty()); // it is known that they do not hold
    }
}

TEST(CarriedMetadata, TellsWhatMayBelongToTheAxes) {
    const Metadata input = with({{"exposures", numbers<double>({1, 2, 3, 4})}, // one a frame
                                 {"three", numbers<double>({1, 2, 3})},        // one an axis
                                 {"two", numbers<double>({1, 2})}});
    const Metadata output = carried_metadata(input, transposed);
    EXPECT_EQ(names_of(output.dataset), Names{"two"});
    EXPECT_EQ(output.left_out,
              (Names{"the dataset@exposures: its values may belong to the axes, which change",
                     "the dataset@three: its values may belong to the axes, which change"}));
    const Metadata kept = carried_metadata(input, Likeness::in_place(Values::same, input.shape));
    EXPECT_EQ(kept.dataset, input.dataset);
}

/// Frames 1 and 2, rows 0 and 1, columns 2 to 4.
const DatasetPart box{{1, 0, 2}, {2, 2, 3}};

TEST(MetadataOfPart, IsCutAsThePartIs) {
    const Metadata part = metadata_of_part(volume(), box);
    EXPECT_EQ(part.shape, (std::vector<std::int64_t>{2, 2, 3}));
    EXPECT_EQ(part.axes, (Names{"t", "y", "x"}));
    EXPECT_EQ(part.group, volume().group);
    ASSERT_EQ(part.coordinates.size(), 3U);
    EXPECT_EQ(part.coordinates[0].values, numbers<std::int32_t>({20, 40}));
    EXPECT_EQ(part.coordinates[1].values, numbers<double>({0, 1, 3})); // edges of two
    EXPECT_EQ(part.coordinates[1].attributes, volume().coordinates[1].attributes);
    EXPECT_EQ(part.coordinates[2].values, numbers<float>({4, 8, 16}));
}

TEST(MetadataOfPart, HasTheCoordinatesOfItsFrames) {
    Metadata whole = volume();
    whole.coordinates.push_back({"bins", 0, numbers<double>({0, 1, 2, 3, 4}), {}});
    const Metadata part = metadata_of_part(whole, {{0, 0, 0}, {2, 3, 5}, {0, 3}});
    ASSERT_EQ(part.coordinates.size(), 3U);
    EXPECT_EQ(part.coordinates[0].values, numbers<std::int32_t>({10, 80}));
    EXPECT_EQ(part.coordinates[1], volume().coordinates[1]);
    EXPECT_EQ(part.left_out, Names{"bins: its bins lie side by side, and the elements do not"});
}

TEST(MetadataOfPart, DropsWhereTheWholeBegan) {
    const Metadata whole = with({{"origin", numbers<double>({0, 0, 0})},
                                 {"element_size_um", numbers<double>({1, 2, 3})},
                                 {"units", text("counts")},
                                 {"exposures", numbers<double>({1, 2, 3, 4})}});
    const Metadata part = metadata_of_part(whole, box);
    EXPECT_EQ(names_of(part.dataset), (Names{"element_size_um", "units"}));
    EXPECT_EQ(part.left_out.size(), 1U); // exposures: four, of which two belong to the part
    const Metadata first = metadata_of_part(whole, {{0, 0, 0}, {4, 3, 2}});
    EXPECT_EQ(first.dataset, whole.dataset);
}

TEST(MetadataOfPart, HasNoAxesThatItDrops) {
    // Frames 0 and 2, row 1 alone, every second column.
    const DatasetPart some{{0, 1, 0}, {2, 1, 3}, {0, 2}, {1, 1, 2}, {1}};
    const Metadata whole = with({{"element_size_um", numbers<double>({1, 2, 3})},
                                 {"DIMENSION_LABELS", texts({"T", "Y", "X"})},
                                 {"pixel_size", scalar(2.0)}});
    const Metadata part = metadata_of_part(whole, some);
    EXPECT_EQ(part.shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(part.axes, (Names{"t", "x"}));
    ASSERT_EQ(part.coordinates.size(), 2U);
    EXPECT_EQ(part.coordinates[0].values, numbers<std::int32_t>({10, 40}));
    EXPECT_EQ(part.coordinates[1].values, numbers<float>({1, 4, 16}));
    EXPECT_EQ(part.coordinates[1].axis, 1);
    EXPECT_EQ(names_of(part.dataset), (Names{"element_size_um", "DIMENSION_LABELS"}));
    EXPECT_EQ(value_of(part.dataset, "element_size_um"), numbers<double>({2, 6}));
    EXPECT_EQ(value_of(part.dataset, "DIMENSION_LABELS"), texts({"T", "X"}));
}

TEST(SetAxes, ReplacesSizesAndNames) {
    Metadata metadata = with({{"voxel_size", numbers<double>({1, 2, 3})}, {"title", text("a")}});
    Axes axes = axes_of_letters("zyx");
    axes.each[1].spacing = 0.5;
    axes.each[1].unit = "um";
    set_axes(metadata, axes);
    EXPECT_EQ(names_of(metadata.dataset),
              (Names{"title", "DIMENSION_LABELS", "spacing", "spacing_units", "placement"}));
    EXPECT_EQ(value_of(metadata.dataset, "DIMENSION_LABELS").texts, (Names{"z", "y", "x"}));
    EXPECT_EQ(value_of(metadata.dataset, "spacing_units").texts, (Names{"", "um", ""}));
    Metadata none = with({{"voxel_size", numbers<double>({1, 2, 3})}});
    set_axes(none, {});
    EXPECT_EQ(names_of(none.dataset), Names{"voxel_size"});
}

} // namespace
} // namespace runner
