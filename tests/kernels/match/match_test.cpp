// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match.hpp"
#include "kernels/match/voxels.hpp"

#include "tests/support/match_cases.hpp"

namespace runner {
namespace {

template <class Q> class MatchTest : public QueueTest<Q> {
  protected:
    void expect_right(const Match& match, const std::vector<float>& volume) {
        const MatchLayers all = match_layers(match, 0, match.volume[0]);
        ASSERT_EQ("", first_difference(match, match_reference::match(match, volume),
                                       match_on(this->queue(), match, all, volume)));
    }
};

TYPED_TEST_SUITE(MatchTest, TestQueues);

TYPED_TEST(MatchTest, AFewVoxelsByHand) {
    const Match match = make_match({1, 1, 5}, {1, 1, 1}, {1, 1, 3}, 2);
    const std::vector<float> volume = {1, 1, 4, 3, 3};
    const auto lists = match_on(this->queue(), match, match_layers(match, 0, 1), volume);
    EXPECT_EQ(lists.index, (std::vector<std::uint64_t>{0, 1, 0, 1, 2, 3, 3, 4, 3, 4}));
    EXPECT_EQ(lists.distance, (std::vector<float>{0, 0, 0, 0, 0, 1, 0, 0, 0, 0}));
    EXPECT_EQ(lists.count, (std::vector<std::int32_t>{2, 2, 2, 2, 2}));
}

TYPED_TEST(MatchTest, PatchesAreMeansAndRowsMayTurnAround) {
    Match match = make_match({1, 1, 4}, {1, 1, 2}, {1, 1, 5}, 4);
    match.order = MatchOrder::nearest_last;
    const auto lists = match_on(this->queue(), match, match_layers(match, 0, 1), {0, 2, 0, 4});
    const std::uint64_t none = ~std::uint64_t{0};
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(lists.index,
              (std::vector<std::uint64_t>{1, 2, 0, none, 2, 0, 1, none, 1, 0, 2, none}));
    EXPECT_EQ(lists.distance,
              (std::vector<float>{4, 2, 0, infinity, 10, 4, 0, infinity, 10, 2, 0, infinity}));
    EXPECT_EQ(lists.count, (std::vector<std::int32_t>{3, 3, 3}));
}

TYPED_TEST(MatchTest, EveryPatchInEveryMethod) {
    MatchCases cases(1);
    for (int p = 1; p <= 8; ++p) {
        for (const std::int64_t step : {1, 3}) {
            Match match = make_match({p + 3, p + 4, p + 21}, {p, p, p}, {3, 5, 7}, 6, step);
            this->expect_right(match, cases.rough(match));
            match.patch = {p, 1, 9 - p};
            this->expect_right(match, cases.rough(match));
            match.patch = {1, p, 2};
            this->expect_right(match, cases.rough(match));
        }
    }
}

TYPED_TEST(MatchTest, UsualPatchesWithListsOfAnyLength) {
    MatchCases cases(12);
    for (const auto& patch : usual_patches) {
        for (const int count : {1, 8, 9, 16, 17, 32, 33, 64}) {
            Match match = make_match({patch[0] + 2, patch[1] + 9, 45}, patch, {3, 3, 7}, count);
            this->expect_right(match, cases.rough(match));
            match.threshold = 1;
            this->expect_right(match, cases.ties(match, 3));
        }
    }
}

TYPED_TEST(MatchTest, DistancesThatDifferInTheirLastBits) {
    MatchCases cases(13);
    for (const auto& patch : usual_patches) {
        for (const int count : {1, 8, 9, 16, 17, 64}) {
            Match match = make_match({patch[0] + 4, patch[1] + 5, 41}, patch, {5, 5, 7}, count);
            for (const float apart : {1e-6F, 1e-5F, 1e-4F}) {
                std::vector<float> volume = cases.ties(match, 3);
                for (float& voxel : volume) {
                    voxel += apart * static_cast<float>(cases.number(0, 9));
                }
                this->expect_right(match, volume);
                match.threshold = match.threshold == 0.25F ? 1.0F : 0.25F;
                this->expect_right(match, volume);
            }
        }
    }
}

TYPED_TEST(MatchTest, EqualDistancesThatAreNoShortNumbers) {
    MatchCases cases(14);
    for (const auto& patch : usual_patches) {
        const Match match = make_match({patch[0] + 4, patch[1] + 5, 41}, patch, {5, 5, 7}, 11);
        std::vector<float> ramp = cases.constant(match, 0);
        for (std::size_t i = 0; i < ramp.size(); ++i) {
            ramp[i] = 0.1F * static_cast<float>(i % 41);
        }
        this->expect_right(match, ramp);
        // 2^-71: distances of one and of two bits differ in what a short key leaves out.
        for (const float scale : {1e-40F, 0x1p-72F, 0x1p-71F, 0x1p-70F, 1e-18F, 1e17F, 3e19F}) {
            std::vector<float> volume = cases.ties(match, 3);
            for (float& voxel : volume) {
                voxel *= scale;
            }
            this->expect_right(match, volume);
        }
    }
}

/// A thread goes through a window along z in cycles of four or six steps, from layer to layer.
TYPED_TEST(MatchTest, UsualPatchesInDeepWindows) {
    MatchCases cases(16);
    for (const auto& patch : usual_patches) {
        for (const std::int64_t deep : {7, 9, 11, 13, 15}) {
            const int count = static_cast<int>(deep) - 3;
            Match match = make_match({patch[0] + 9, patch[1] + 3, 37}, patch, {deep, 3, 5}, count);
            match.order = deep % 4 == 1 ? MatchOrder::nearest_last : MatchOrder::nearest_first;
            this->expect_right(match, cases.rough(match));
            match.threshold = 1;
            this->expect_right(match, cases.ties(match, 3));
        }
    }
}

/// Where the last references of a line need at most half a warp, warps take two lines there.
TYPED_TEST(MatchTest, UsualPatchesAtTheEndsOfLines) {
    MatchCases cases(17);
    for (const auto& patch : usual_patches) {
        const bool image = patch[0] == 1;
        const std::int64_t deep = image ? 1 : patch[0] + 2;
        const std::int64_t high = patch[1] + (image ? 75 : 13);
        for (const int lanes : {1, 16, 17, 48}) {
            // The lanes that only help with sums are those of a patch beside the references.
            const std::int64_t wide = std::max(lanes - (lanes > 32 ? patch[2] - 1 : 0), patch[2]);
            Match match = make_match({deep, high, wide}, patch, {3, 3, 5}, 7);
            std::vector<float> volume = cases.ties(match, 3);
            for (float& voxel : volume) {
                voxel += 1e-6F * static_cast<float>(cases.number(0, 9));
            }
            this->expect_right(match, volume);
            match.order = MatchOrder::nearest_last;
            match.count = 24;
            this->expect_right(match, cases.rough(match));
        }
    }
}

TYPED_TEST(MatchTest, WindowsOfManyCandidates) {
    MatchCases cases(15);
    const Match match = make_match({1, 70, 75}, {1, 3, 3}, {1, 121, 121}, 16);
    this->expect_right(match, cases.rough(match));
    this->expect_right(match, cases.ties(match, 3));
}

TYPED_TEST(MatchTest, PublishedSelectionsChooseTheSame) {
    MatchCases cases(31);
    for (int i = 0; i < 20; ++i) {
        Match match = cases.any();
        const std::vector<float> volume = cases.any_volume(match);
        for (const auto selection : {MatchSelection::serial, MatchSelection::min_and_swap}) {
            match.selection = selection;
            this->expect_right(match, volume);
        }
    }
}

TYPED_TEST(MatchTest, RowsOfListsSideBySide) {
    MatchCases cases(32);
    for (const int count : {1, 2, 7}) {
        const Match match = make_match({3, 5, 9}, {1, 2, 2}, {3, 3, 3}, count);
        const MatchLayers all = match_layers(match, 0, 3);
        const std::int64_t rows = match_rows(match, all);
        const MatchBuffers<TypeParam> buffers(this->queue(), match, all, cases.rough(match));
        const DeviceBytes<TypeParam> packed(
            this->queue(),
            std::vector<std::byte>(static_cast<std::size_t>(rows * match_row_bytes(count))));
        match_patches(this->queue(), match, all, buffers.volume(), buffers.lists());
        pack_match_rows(this->queue(), rows, count, buffers.lists(), packed.data());
        const auto lists = buffers.fetch();
        const auto bytes = packed.fetch();
        const auto each = static_cast<std::size_t>(count);
        for (std::size_t row = 0; row < lists.count.size(); ++row) {
            const std::byte* at =
                bytes.data() + row * static_cast<std::size_t>(match_row_bytes(count));
            EXPECT_EQ(0, std::memcmp(at, lists.index.data() + row * each, 8 * each));
            EXPECT_EQ(0, std::memcmp(at + 8 * each, lists.distance.data() + row * each, 4 * each));
            EXPECT_EQ(0, std::memcmp(at + 12 * each, lists.count.data() + row, 4));
        }
    }
}

TYPED_TEST(MatchTest, VoxelsAreScaledByPowersOfTwo) {
    const std::vector<float> values = {0, -1.5F, 3.25e-30F, 0x1.fffffep127F, -7, 0x1p-126F};
    std::vector<std::byte> bytes(values.size() * 4);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    for (const int exponent : {-200, -3, 0, 1, 90, 149}) {
        const DeviceBytes<TypeParam> floats(this->queue(), bytes);
        auto* both = reinterpret_cast<float*>(floats.data());
        scale_voxels(this->queue(), std::ssize(values), both, exponent, both);
        const auto made = floats.fetch();
        for (std::size_t i = 0; i < values.size(); ++i) {
            float value = 0;
            std::memcpy(&value, made.data() + 4 * i, 4);
            EXPECT_EQ(value, std::ldexp(values[i], exponent)) << values[i] << ' ' << exponent;
        }
    }
}

TYPED_TEST(MatchTest, VoxelsBecomeFloatsAndBack) {
    const auto change = [&]<class T>(const std::vector<float>& values,
                                     const std::vector<T>& right) {
        std::vector<std::byte> bytes(values.size() * 4);
        std::memcpy(bytes.data(), values.data(), bytes.size());
        const DeviceBytes<TypeParam> floats(this->queue(), bytes);
        const DeviceBytes<TypeParam> voxels(this->queue(),
                                            std::vector<std::byte>(right.size() * sizeof(T)));
        const auto count = std::ssize(values);
        voxels_from_float(this->queue(), element_type_of<T>(), count,
                          reinterpret_cast<const float*>(floats.data()), voxels.data());
        const auto made = voxels.fetch();
        EXPECT_EQ(0, std::memcmp(made.data(), right.data(), right.size() * sizeof(T)));
        voxels_to_float(this->queue(), element_type_of<T>(), count, voxels.data(),
                        reinterpret_cast<float*>(floats.data()));
        const auto back = floats.fetch();
        for (std::size_t i = 0; i < right.size(); ++i) {
            float value = 0;
            std::memcpy(&value, back.data() + 4 * i, 4);
            EXPECT_EQ(value, static_cast<float>(right[i]));
        }
    };
    const std::vector<float> values = {-3, -0.4F, 0.5F, 1.5F, 2.5F, 254.5F, 255.5F, 65534.4F, 1e9F};
    change(values, std::vector<std::uint8_t>{0, 0, 0, 2, 2, 254, 255, 255, 255});
    change(values, std::vector<std::uint16_t>{0, 0, 0, 2, 2, 254, 256, 65534, 65535});
    change(values, values);
}

TYPED_TEST(MatchTest, ManyEqualDistances) {
    MatchCases cases(2);
    for (const int count : {1, 2, 7, 8, 9, 16, 17, 64}) {
        for (const std::int64_t step : {1, 2}) {
            const Match match = make_match({7, 8, 25}, {2, 3, 2}, {5, 5, 7}, count, step);
            this->expect_right(match, cases.ties(match, 2));
            this->expect_right(match, cases.constant(match, 0));
            this->expect_right(match, cases.constant(match, -7.5F));
        }
    }
}

TYPED_TEST(MatchTest, MoreWantedThanThereAre) {
    MatchCases cases(3);
    for (const std::int64_t step : {1, 4}) {
        const Match match = make_match({3, 4, 20}, {2, 2, 3}, {3, 3, 3}, 64, step);
        this->expect_right(match, cases.rough(match));
        const Match alone = make_match({3, 4, 20}, {2, 2, 3}, {1, 1, 1}, 5, step);
        this->expect_right(alone, cases.rough(alone));
        const Match one = make_match({2, 3, 4}, {2, 3, 4}, {11, 11, 11}, 3, step);
        this->expect_right(one, cases.rough(one));
    }
}

TYPED_TEST(MatchTest, Thresholds) {
    MatchCases cases(4);
    for (const std::int64_t step : {1, 2}) {
        Match match = make_match({5, 6, 23}, {2, 2, 2}, {3, 5, 5}, 12, step);
        for (const float threshold : {0.0F, 0.25F, 0.5F, 1.0F, 1e9F}) {
            match.threshold = threshold;
            this->expect_right(match, cases.ties(match, 3));
        }
        match.threshold = 500000;
        this->expect_right(match, cases.rough(match));
        // A distance that D's last bit decides: a third of it is rounded.
        match.patch = {1, 1, 3};
        match.threshold = 1.0F / 3;
        this->expect_right(match, cases.ties(match, 2));
        match.threshold = 0.33333331F;
        this->expect_right(match, cases.ties(match, 2));
    }
}

TYPED_TEST(MatchTest, WindowsReachOverEveryFaceEdgeAndCorner) {
    MatchCases cases(5);
    for (const std::int64_t step : {1, 2}) {
        for (const std::array<std::int64_t, 3>& window : {std::array<std::int64_t, 3>{9, 1, 1},
                                                          {1, 9, 1},
                                                          {1, 1, 9},
                                                          {9, 9, 1},
                                                          {9, 1, 9},
                                                          {1, 9, 9},
                                                          {9, 9, 9},
                                                          {99, 99, 99}}) {
            const Match match = make_match({6, 7, 9}, {2, 2, 2}, window, 9, step);
            this->expect_right(match, cases.rough(match));
            this->expect_right(match, cases.ties(match, 3));
        }
    }
}

TYPED_TEST(MatchTest, StepsThatMissTheBorder) {
    MatchCases cases(6);
    for (const std::int64_t step : {2, 3, 4, 5, 7, 100}) {
        for (std::int64_t extent = 4; extent <= 9; ++extent) {
            const Match match =
                make_match({extent, extent + 1, extent + 2}, {3, 2, 4}, {3, 3, 5}, 5, step);
            this->expect_right(match, cases.rough(match));
        }
    }
}

TYPED_TEST(MatchTest, Images) {
    MatchCases cases(7);
    for (const std::int64_t step : {1, 3}) {
        for (const int p : {1, 3, 8}) {
            const Match match = make_match({1, 29, 41}, {1, p, p}, {1, 11, 11}, 10, step);
            this->expect_right(match, cases.rough(match));
            this->expect_right(match, cases.ties(match, 2));
        }
        const Match line = make_match({1, 1, 300}, {1, 1, 5}, {1, 1, 21}, 10, step);
        this->expect_right(line, cases.rough(line));
        const Match column = make_match({1, 300, 1}, {1, 5, 1}, {1, 21, 1}, 10, step);
        this->expect_right(column, cases.rough(column));
        const Match tower = make_match({200, 1, 1}, {5, 1, 1}, {21, 1, 1}, 10, step);
        this->expect_right(tower, cases.rough(tower));
    }
}

TYPED_TEST(MatchTest, VolumesOfSeveralTiles) {
    MatchCases cases(8);
    const Match match = make_match({11, 39, 141}, {3, 3, 3}, {3, 5, 5}, 16);
    this->expect_right(match, cases.rough(match));
    const Match sparse = make_match({16, 30, 70}, {4, 4, 4}, {5, 5, 11}, 16, 3);
    this->expect_right(sparse, cases.rough(sparse));
}

TYPED_TEST(MatchTest, StepsWithPatchesAndWindowsOfEveryShape) {
    MatchCases cases(13);
    int count = 5;
    for (const std::int64_t step : {2, 3, 5}) {
        for (const std::array<int, 3>& patch :
             {std::array<int, 3>{4, 4, 4}, {1, 4, 4}, {3, 5, 7}, {8, 2, 1}}) {
            for (const std::array<std::int64_t, 3>& window :
                 {std::array<std::int64_t, 3>{11, 11, 11}, {1, 13, 9}, {5, 1, 39}, {99, 7, 3}}) {
                Match match = make_match({11, 13, 23}, patch, window, count, step);
                this->expect_right(match, cases.rough(match));
                if (step == 2) {
                    match.threshold = 1;
                    this->expect_right(match, cases.ties(match, 2));
                }
                count = (count + 13) % 64 + 1;
            }
        }
    }
}

// On a GPU a block's shared memory does not hold all that these need at once.
TYPED_TEST(MatchTest, WindowsLargerThanSharedMemory) {
    MatchCases cases(14);
    for (const int count : {24, 64}) {
        const Match match = make_match({37, 41, 43}, {2, 1, 3}, {65, 71, 85}, count, 40);
        this->expect_right(match, cases.rough(match));
        this->expect_right(match, cases.ties(match, 2));
        this->expect_right(match, cases.constant(match, 1));
        const Match image = make_match({1, 211, 223}, {1, 3, 2}, {1, 401, 301}, count, 90);
        this->expect_right(image, cases.rough(image));
        const Match line = make_match({1, 1, 70001}, {1, 1, 2}, {1, 1, 99999}, count, 40000);
        this->expect_right(line, cases.ties(line, 3));
    }
}

// On a GPU products of halves bound the distances of these patches; what they leave open is summed.
TYPED_TEST(MatchTest, PatchesOfFourWhoseHalvesRound) {
    MatchCases cases(16);
    int count = 1;
    for (const std::int64_t step : {1, 2, 3}) {
        for (const std::array<std::int64_t, 3>& window :
             {std::array<std::int64_t, 3>{11, 11, 11}, {9, 11, 7}, {7, 9, 11}, {11, 5, 11}}) {
            const Match match = make_match({13, 14, 17}, {4, 4, 4}, window, count, step);
            std::vector<float> volume = cases.rough(match);
            this->expect_right(match, volume);
            // A faint noise beside an edge: the bounds say little there.
            for (const float scale : {1e-2F, 1e-4F, 1e-6F}) {
                for (std::size_t i = 0; i < volume.size(); ++i) {
                    volume[i] = volume[i] * scale + (i % 17 < 8 ? 100.0F : -3.0F);
                }
                this->expect_right(match, volume);
            }
            count = (count + 15) % 64 + 1;
        }
    }
}

TYPED_TEST(MatchTest, PatchesOfFourInVolumesThatHalvesDoNotHold) {
    MatchCases cases(17);
    for (const int count : {1, 16, 17, 64}) {
        Match match = make_match({13, 14, 15}, {4, 4, 4}, {11, 11, 11}, count, 3);
        this->expect_right(match, cases.constant(match, 0));
        this->expect_right(match, cases.constant(match, 1e30F));
        this->expect_right(match, cases.ties(match, 2));
        this->expect_right(match, cases.ties(match, 4000));
        std::vector<float> volume = cases.rough(match);
        volume[volume.size() / 2] = 1e9F;
        this->expect_right(match, volume);
        for (const float scale : {1e-44F, 1e-18F, 1e-10F, 1e12F, 1e17F, 3e38F / 1000}) {
            volume = cases.rough(match);
            for (float& voxel : volume) {
                voxel *= scale;
            }
            this->expect_right(match, volume);
        }
        // Half of it is the same everywhere.
        volume = cases.rough(match);
        std::fill_n(volume.begin(), volume.size() / 2, 5.0F);
        this->expect_right(match, volume);
        match.threshold = 1e5F;
        match.order = MatchOrder::nearest_last;
        this->expect_right(match, cases.rough(match));
    }
}

TYPED_TEST(MatchTest, PatchesOfFourInSeveralBlocksAndLayers) {
    MatchCases cases(18);
    for (const std::int64_t step : {2, 3}) {
        const Match match = make_match({31, 22, 37}, {4, 4, 4}, {7, 9, 11}, 16, step);
        const std::vector<float> volume = cases.rough(match);
        const match_reference::Lists expected = match_reference::match(match, volume);
        match_reference::Lists found;
        for (std::int64_t first = 0; first < match.volume[0]; first += 8) {
            const auto part = match_on(this->queue(), match, match_layers(match, first, 8), volume);
            found.index.insert(found.index.end(), part.index.begin(), part.index.end());
            found.distance.insert(found.distance.end(), part.distance.begin(), part.distance.end());
            found.count.insert(found.count.end(), part.count.begin(), part.count.end());
        }
        ASSERT_EQ("", first_difference(match, expected, found));
    }
}

TYPED_TEST(MatchTest, DistancesThatOverflowAndUnderflow) {
    MatchCases cases(9);
    for (const std::int64_t step : {1, 2}) {
        const Match match = make_match({3, 4, 21}, {2, 2, 2}, {3, 3, 5}, 20, step);
        for (const float scale : {1e16F, 3e38F / 1000, 1e-22F, 1e-25F}) {
            std::vector<float> volume = cases.rough(match);
            for (float& value : volume) {
                value *= scale;
            }
            this->expect_right(match, volume);
        }
    }
}

TYPED_TEST(MatchTest, RangesOfLayersMakeTheWhole) {
    MatchCases cases(10);
    for (int i = 0; i < 25; ++i) {
        Match match = cases.any();
        match.volume[0] += 6;
        const std::vector<float> volume = cases.any_volume(match);
        const match_reference::Lists expected = match_reference::match(match, volume);
        match_reference::Lists found;
        std::int64_t first = 0;
        while (first < match.volume[0]) {
            const std::int64_t layers = cases.number(1, 5);
            MatchLayers part = match_layers(match, first, layers);
            // More layers than are needed do no harm.
            if (part.in_layers > 0 && part.in_first > 0 && cases.number(0, 1) == 0) {
                --part.in_first;
                ++part.in_layers;
            }
            const auto lists = match_on(this->queue(), match, part, volume);
            found.index.insert(found.index.end(), lists.index.begin(), lists.index.end());
            found.distance.insert(found.distance.end(), lists.distance.begin(),
                                  lists.distance.end());
            found.count.insert(found.count.end(), lists.count.begin(), lists.count.end());
            first += layers;
        }
        ASSERT_EQ("", first_difference(match, expected, found));
    }
}

TYPED_TEST(MatchTest, RandomMatches) {
    MatchCases cases(11);
    for (int i = 0; i < 60; ++i) {
        Match match = cases.any();
        const std::vector<float> volume = cases.any_volume(match);
        this->expect_right(match, volume);
    }
}

} // namespace
} // namespace runner
