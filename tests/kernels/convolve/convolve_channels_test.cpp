// SPDX-License-Identifier: BSD-3-Clause
// Colour is what its channels are, each an image of its own.
#include "kernels/convolve/convolve.hpp"

#include "tests/reference/convolve_reference.hpp"
#include "tests/support/convolve_cases.hpp"
#include "tests/support/queues.hpp"

#include <algorithm>

namespace runner {
namespace {

template <class Q> class ConvolveChannelsTest : public QueueTest<Q> {};

TYPED_TEST_SUITE(ConvolveChannelsTest, TestQueues);

/// The samples of one channel of dense pixels.
std::vector<std::byte> channel_of(const std::vector<std::byte>& pixels, int channel, int channels,
                                  ElementType type) {
    const auto size = static_cast<std::size_t>(size_of(type));
    const auto count = static_cast<std::size_t>(channels);
    std::vector<std::byte> plane;
    plane.reserve(pixels.size() / count);
    for (std::size_t at = static_cast<std::size_t>(channel) * size; at < pixels.size();
         at += count * size) {
        plane.insert(plane.end(), pixels.begin() + static_cast<std::ptrdiff_t>(at),
                     pixels.begin() + static_cast<std::ptrdiff_t>(at + size));
    }
    return plane;
}

TYPED_TEST(ConvolveChannelsTest, AreFilteredEachOnItsOwn) {
    ConvolveCases cases(41);
    for (int i = 0; i < 120; ++i) {
        const int channels = 3 + i % 2;
        const bool equal_radii = i % 3 == 0;
        const std::int64_t radius = cases.number(0, i % 7 == 0 ? 60 : 12);
        const ElementType in = convolution_types[static_cast<std::size_t>(i) % 4];
        const ElementType out =
            equal_radii ? in : convolution_types[static_cast<std::size_t>(i / 4) % 4];
        Convolution grey =
            cases.convolution(in, out, cases.number(1, 40), cases.number(1, i % 5 == 0 ? 900 : 60),
                              radius, equal_radii ? radius : cases.number(0, 12),
                              all_boundaries[static_cast<std::size_t>(i) % 5]);
        Convolution colour = grey;
        colour.columns *= channels;
        colour.channels = channels;
        const std::int64_t frames = i % 3;
        const std::int64_t held = std::max<std::int64_t>(1, frames);
        const auto pixels = cases.image(in, held * colour.frame_rows * colour.columns);
        const RowBlock block = whole_image(colour, held);
        const auto made = convolve_on(this->queue(), colour, block, pixels);
        for (int channel = 0; channel < channels; ++channel) {
            const auto expected =
                convolve_reference(grey, channel_of(pixels, channel, channels, in));
            ASSERT_EQ("", first_difference(out, expected, channel_of(made, channel, channels, out)))
                << describe(colour, block) << ", channel " << channel;
        }
    }
}

TYPED_TEST(ConvolveChannelsTest, AnyCutIntoBlocksGivesTheSameBytes) {
    ConvolveCases cases(43);
    for (int i = 0; i < 20; ++i) {
        Convolution colour =
            cases.convolution(ElementType::uint16, ElementType::uint16, cases.number(2, 60),
                              3 * cases.number(1, 50), cases.number(0, 9), 4, Boundary::reflect);
        colour.channels = 3;
        const auto pixels = cases.image(colour.in_type, colour.frame_rows * colour.columns);
        const auto whole = convolve_on(this->queue(), colour, whole_image(colour, 1), pixels);
        const std::int64_t middle = cases.number(1, colour.frame_rows - 1);
        std::vector<std::byte> joined;
        for (const auto& [begin, end] :
             {std::pair{std::int64_t{0}, middle}, std::pair{middle, colour.frame_rows}}) {
            const std::int64_t first = std::max<std::int64_t>(0, begin - colour.column_radius());
            const std::int64_t last = std::min(colour.frame_rows, end + colour.column_radius());
            const std::int64_t row = colour.columns * size_of(colour.in_type);
            const std::vector<std::byte> part(pixels.begin() + first * row,
                                              pixels.begin() + last * row);
            const auto made = convolve_on(this->queue(), colour,
                                          {1, first, last - first, begin, end - begin}, part);
            joined.insert(joined.end(), made.begin(), made.end());
        }
        ASSERT_EQ(whole, joined) << describe(colour, whole_image(colour, 1));
    }
}

} // namespace
} // namespace runner
