// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match.hpp"
#include "tests/reference/match_reference.hpp"
#include "tests/support/queues.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace runner {

/// Patches for which there are kernels of their own.
inline constexpr std::array<std::array<int, 3>, 5> usual_patches = {
    {{3, 3, 3}, {5, 5, 5}, {1, 3, 3}, {1, 5, 5}, {1, 7, 7}}};

/// Volumes and matches from a seed.
class MatchCases {
  public:
    explicit MatchCases(unsigned seed) : random_(seed) {}

    std::int64_t number(std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
    }

    /// Floats whose sums round.
    std::vector<float> rough(const Match& match) {
        return fill(match, [&] {
            return static_cast<float>(std::uniform_real_distribution<double>(-1000, 1000)(random_));
        });
    }

    /// A few small whole numbers: most distances occur often.
    std::vector<float> ties(const Match& match, int values) {
        return fill(match, [&] { return static_cast<float>(number(0, values - 1)); });
    }

    std::vector<float> constant(const Match& match, float value) {
        return fill(match, [&] { return value; });
    }

    /// Any match in a volume of few voxels.
    Match any() {
        Match match;
        const bool usual = number(0, 1) == 0;
        const std::array<int, 3> patch = usual_patches.at(static_cast<std::size_t>(number(0, 4)));
        for (std::size_t i = 0; i < 3; ++i) {
            const auto any_extent = static_cast<int>(number(1, number(0, 2) == 0 ? 8 : 4));
            match.patch[i] = usual ? patch[i] : any_extent;
            match.volume[i] = match.patch[i] + number(0, i == 2 ? 20 : 6);
            match.window[i] = 2 * number(0, 4) + 1;
        }
        match.count = static_cast<int>(number(1, number(0, 3) == 0 ? 64 : 18));
        match.step = number(0, 1) == 0 ? 1 : number(2, 5);
        match.order = number(0, 1) == 0 ? MatchOrder::nearest_first : MatchOrder::nearest_last;
        return match;
    }

    /// Values of any of these kinds, and a threshold that drops some candidates or none.
    std::vector<float> any_volume(Match& match) {
        const bool smooth = number(0, 1) == 0;
        if (number(0, 1) == 0) {
            match.threshold = smooth ? static_cast<float>(number(0, 2))
                                     : static_cast<float>(number(100000, 800000));
        }
        return smooth ? ties(match, static_cast<int>(number(1, 4))) : rough(match);
    }

  private:
    template <class Make> std::vector<float> fill(const Match& match, const Make& make) {
        std::vector<float> volume(
            static_cast<std::size_t>(match.volume[0] * match.volume[1] * match.volume[2]));
        for (float& value : volume) {
            value = make();
        }
        return volume;
    }

    std::mt19937 random_;
};

inline Match make_match(const std::array<std::int64_t, 3>& volume, const std::array<int, 3>& patch,
                        const std::array<std::int64_t, 3>& window, int count,
                        std::int64_t step = 1) {
    Match match;
    match.volume = volume;
    match.patch = patch;
    match.window = window;
    match.count = count;
    match.step = step;
    return match;
}

inline std::string describe(const Match& match) {
    std::ostringstream text;
    const auto three = [&](const char* name, const auto& values) {
        text << name << ' ' << values[0] << 'x' << values[1] << 'x' << values[2] << ", ";
    };
    three("volume", match.volume);
    three("patch", match.patch);
    three("window", match.window);
    text << "count " << match.count << ", step " << match.step << ", threshold " << match.threshold
         << ", order " << static_cast<int>(match.order);
    return text.str();
}

/// "" or where two lists differ first.
inline std::string first_difference(const Match& match, const match_reference::Lists& expected,
                                    const match_reference::Lists& found) {
    const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    const auto count = static_cast<std::size_t>(match.count);
    std::ostringstream text;
    if (expected.count.size() != found.count.size()) {
        text << expected.count.size() << " rows expected, not " << found.count.size();
        return text.str();
    }
    for (std::size_t row = 0; row < expected.count.size(); ++row) {
        if (expected.count[row] != found.count[row]) {
            text << "row " << row << " has " << found.count[row] << " matches, not "
                 << expected.count[row] << ": " << describe(match);
            return text.str();
        }
        for (std::size_t i = row * count; i < (row + 1) * count; ++i) {
            if (expected.index[i] != found.index[i] ||
                bits(expected.distance[i]) != bits(found.distance[i])) {
                text << "row " << row << ", match " << i - row * count << " is "
                     << found.distance[i] << " at " << found.index[i] << ", not "
                     << expected.distance[i] << " at " << expected.index[i] << ": "
                     << describe(match);
                return text.str();
            }
        }
    }
    return "";
}

/// Device memory for the lists of some layers, filled with what no list holds.
template <class Q> class MatchBuffers {
  public:
    MatchBuffers(Q& queue, const Match& match, const MatchLayers& layers,
                 const std::vector<float>& volume)
        : rows_(static_cast<std::size_t>(match_rows(match, layers))),
          each_(rows_ * static_cast<std::size_t>(match.count)),
          volume_(queue, cut(match, layers, volume)),
          index_(queue, std::vector<std::byte>(8 * each_ + 8, std::byte{0x5A})),
          distance_(queue, std::vector<std::byte>(4 * each_ + 8, std::byte{0x5A})),
          count_(queue, std::vector<std::byte>(4 * rows_ + 8, std::byte{0x5A})) {}

    const float* volume() const { return reinterpret_cast<const float*>(volume_.data()); }

    MatchLists lists() const {
        return {reinterpret_cast<std::uint64_t*>(index_.data()),
                reinterpret_cast<float*>(distance_.data()),
                reinterpret_cast<std::int32_t*>(count_.data())};
    }

    match_reference::Lists fetch() const {
        match_reference::Lists lists{std::vector<std::uint64_t>(each_), std::vector<float>(each_),
                                     std::vector<std::int32_t>(rows_)};
        take(index_, lists.index);
        take(distance_, lists.distance);
        take(count_, lists.count);
        return lists;
    }

  private:
    static std::vector<std::byte> cut(const Match& match, const MatchLayers& layers,
                                      const std::vector<float>& volume) {
        const auto layer = static_cast<std::size_t>(match.volume[1] * match.volume[2]);
        const std::size_t held = 4 * static_cast<std::size_t>(layers.in_layers) * layer;
        std::vector<std::byte> bytes(std::max<std::size_t>(held, 1));
        std::memcpy(bytes.data(), volume.data() + static_cast<std::size_t>(layers.in_first) * layer,
                    held);
        return bytes;
    }

    /// What lies past the last element must be as it was.
    template <class T> static void take(const DeviceBytes<Q>& memory, std::vector<T>& values) {
        const auto bytes = memory.fetch();
        if (!values.empty()) {
            std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
        }
        for (std::size_t i = values.size() * sizeof(T); i < bytes.size(); ++i) {
            EXPECT_EQ(bytes[i], std::byte{0x5A}) << "written past the lists";
        }
    }

    std::size_t rows_;
    std::size_t each_;
    DeviceBytes<Q> volume_;
    DeviceBytes<Q> index_;
    DeviceBytes<Q> distance_;
    DeviceBytes<Q> count_;
};

/// The lists of some layers, as the kernels make them.
template <class Q>
match_reference::Lists match_on(Q& queue, const Match& match, const MatchLayers& layers,
                                const std::vector<float>& volume) {
    const MatchBuffers<Q> buffers(queue, match, layers, volume);
    match_patches(queue, match, layers, buffers.volume(), buffers.lists());
    return buffers.fetch();
}

} // namespace runner
