// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fill/fill_means.hpp"

#include "tests/support/element_bytes.hpp"
#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace runner {
namespace {

using Extents = std::array<std::int64_t, 3>;
using Lost = std::function<bool(std::int64_t, std::int64_t, std::int64_t)>;

constexpr Extents extents = {7, 11, 13};

std::size_t place(std::int64_t z, std::int64_t y, std::int64_t x) {
    return static_cast<std::size_t>((z * extents[1] + y) * extents[2] + x);
}

/// As the definition has it: the cube grows by one until it has a valid element.
template <class T>
std::vector<T> reference(const std::vector<T>& in, const Fill& fill,
                         const std::function<bool(T)>& is_invalid) {
    std::vector<T> out = in;
    const std::int64_t farthest = *std::max_element(fill.reach.begin(), fill.reach.end());
    for (std::int64_t i = 0; i < std::ssize(in); ++i) {
        const Extents at = {i / extents[2] / extents[1], i / extents[2] % extents[1],
                            i % extents[2]};
        if (!is_invalid(in[static_cast<std::size_t>(i)])) {
            continue;
        }
        double sum = 0;
        int count = 0;
        for (std::int64_t r = 1; r <= farthest && count == 0; ++r) {
            Extents low{};
            Extents high{};
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const std::int64_t far = std::min<std::int64_t>(r, fill.reach[axis]);
                low[axis] = std::max<std::int64_t>(0, at[axis] - far);
                high[axis] = std::min(extents[axis] - 1, at[axis] + far);
            }
            for (std::int64_t z = low[0]; z <= high[0]; ++z) {
                for (std::int64_t y = low[1]; y <= high[1]; ++y) {
                    for (std::int64_t x = low[2]; x <= high[2]; ++x) {
                        const T element = in[place(z, y, x)];
                        sum += is_invalid(element) ? 0 : static_cast<double>(element);
                        count += is_invalid(element) ? 0 : 1;
                    }
                }
            }
        }
        const double mean = sum / std::max(count, 1);
        T& made = out[static_cast<std::size_t>(i)];
        made = count == 0                    ? static_cast<T>(*fill.rest)
               : std::is_floating_point_v<T> ? static_cast<T>(mean)
                                             : static_cast<T>(std::nearbyint(mean));
    }
    return out;
}

/// Whole numbers, whose sums are exact, of which some are `invalid`.
template <class T> std::vector<T> elements(const Lost& lost, T invalid) {
    std::mt19937 random(9);
    std::vector<T> values(place(extents[0], 0, 0));
    for (std::int64_t z = 0; z < extents[0]; ++z) {
        for (std::int64_t y = 0; y < extents[1]; ++y) {
            for (std::int64_t x = 0; x < extents[2]; ++x) {
                const auto value = static_cast<T>(random() % 100);
                values[place(z, y, x)] = lost(z, y, x) ? invalid : value;
            }
        }
    }
    return values;
}

template <class Q> class FillMeans : public QueueTest<Q> {
  protected:
    /// Compares what is made of blocks of `layers` with the definition.
    template <class T> void compare(const Lost& lost, Fill fill, T invalid, std::int64_t layers) {
        fill.type = std::is_same_v<T, float> ? ElementType::float32 : ElementType::int16;
        fill.method = Fill::Method::mean;
        fill.layers = extents[0];
        fill.rows = extents[1];
        fill.columns = extents[2];
        fill.invalid = static_cast<double>(invalid);
        fill.rest = 7;
        const std::vector<T> in = elements<T>(lost, invalid);
        const std::vector<T> right = reference<T>(in, fill, [invalid](T element) {
            return element == invalid || std::isnan(static_cast<double>(element));
        });
        auto& queue = this->queue();
        const std::int64_t layer = extents[1] * extents[2];
        for (std::int64_t first = 0; first < extents[0]; first += layers) {
            const std::int64_t last = std::min(extents[0], first + layers);
            const std::int64_t in_first = std::max<std::int64_t>(0, first - fill.reach[0]);
            const std::int64_t in_last = std::min(extents[0], last + fill.reach[0]);
            const RowBlock block{1, in_first * extents[1], (in_last - in_first) * extents[1],
                                 first * extents[1], (last - first) * extents[1]};
            const std::vector<T> part(in.begin() + in_first * layer, in.begin() + in_last * layer);
            const Buffer scratch = allocate_device(queue, fill_means_scratch(fill, block));
            const std::vector<std::byte> made = made_on(
                queue, bytes_of(part), static_cast<std::size_t>((last - first) * layer) * sizeof(T),
                [&](const std::byte* from, std::byte* to) {
                    fill_means(queue, fill, block, from, to, scratch.data());
                    queue.synchronize();
                });
            const std::vector<T> wanted(right.begin() + first * layer,
                                        right.begin() + last * layer);
            EXPECT_EQ(values_of<T>(made), wanted) << "layers from " << first << " on";
        }
    }
};
TYPED_TEST_SUITE(FillMeans, TestQueues);

TYPED_TEST(FillMeans, AreThoseOfGrowingCubes) {
    std::mt19937 random(3);
    std::vector<unsigned> drawn(place(extents[0], 0, 0));
    std::generate(drawn.begin(), drawn.end(), [&] { return random() % 100U; });
    const auto share = [&](unsigned percent) {
        return [&drawn, percent](std::int64_t z, std::int64_t y, std::int64_t x) {
            return drawn[place(z, y, x)] < percent;
        };
    };
    const std::vector<Lost> all = {
        share(0),
        share(1),
        share(34),
        share(97),
        share(100),
        [](std::int64_t z, std::int64_t y, std::int64_t /*x*/) { return z == 3 || y == 5; },
        [](std::int64_t z, std::int64_t y, std::int64_t x) { return z > 0 && y > 0 && x > 0; }};
    for (const Lost& lost : all) {
        for (const std::array<int, 3>& reach :
             {std::array{9, 9, 9}, {2, 2, 2}, {0, 4, 4}, {1, 3, 0}, {3, 0, 2}, {0, 0, 12}}) {
            Fill fill;
            fill.reach = reach;
            this->template compare<float>(lost, fill, std::numeric_limits<float>::quiet_NaN(), 7);
            this->template compare<float>(lost, fill, -1, 3);
            this->template compare<std::int16_t>(lost, fill, -1, 1);
        }
    }
}

/// 1 2 ? ? 5 6 and ? : the second of the two takes 5 alone, the first 2.
TYPED_TEST(FillMeans, OfALineByHand) {
    Fill fill;
    fill.type = ElementType::float32;
    fill.method = Fill::Method::mean;
    fill.rows = 2;
    fill.columns = 6;
    fill.invalid = std::numeric_limits<double>::quiet_NaN();
    fill.reach = {0, 1, 5};
    fill.rest = 0;
    const float n = std::numeric_limits<float>::quiet_NaN();
    auto& queue = this->queue();
    const RowBlock block{1, 0, 2, 0, 2};
    const Buffer scratch = allocate_device(queue, fill_means_scratch(fill, block));
    const std::vector<std::byte> made =
        made_on(queue, bytes_of(std::vector<float>{1, 2, n, n, 5, 6, n, n, n, n, n, n}), 48,
                [&](const std::byte* in, std::byte* out) {
                    fill_means(queue, fill, block, in, out, scratch.data());
                    queue.synchronize();
                });
    EXPECT_EQ((std::vector<float>{1, 2, 2, 5, 5, 6, 1.5F, 1.5F, 2, 5, 5.5F, 5.5F}),
              values_of<float>(made));
}

} // namespace
} // namespace runner
