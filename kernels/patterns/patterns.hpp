// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/queue/cpu_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {

/// Synthetic contents. Each element depends on its position, the array's shape and the seed alone.
enum class Pattern {
    /// Uniform and independent of the shape. With s bytes an element, element i takes its bits from
    /// word w = i·s / 8 of a stream of 64-bit words, where word w is the splitmix64 finaliser of
    /// key + (w + 1)·0x9e3779b97f4a7c15 and key that of the seed; the lower elements of a word take
    /// its lower bits. Integers are these bits: their type's full range. float64 is their upper 53
    /// times 2^-53, float32 their upper 24 times 2^-24: in [0, 1).
    noise,
    /// The element's linear index, modulo 2^bits for integers, rounded to the nearest for floats.
    index,
    /// Along the diagonal of the last two axes (rows × columns; one axis is one row), every frame
    /// alike: with k = row + column and K = rows + columns - 2, floats are k / K, integers the
    /// type's least plus floor(k · (2^bits - 1) / K). All are 0 (the least) where K is 0.
    gradient,
    /// Start states of the sand automaton (kernels/sand/sand_samples.hpp), every frame alike. Along
    /// the
    /// last two axes they repeat where the array is larger than they are and are cut where it is
    /// smaller.
    sample_1, ///< 400 × 400
    sample_2, ///< 400 × 400
    sample_3, ///< 1080 rows × 1920 columns
    sample_4, ///< 2160 rows × 3840 columns
    /// A random scene for the sand automaton: 60 % empty, 15 % water, 22 % sand, 3 % wall. The cell
    /// is what the element's byte of `noise` of uint8 falls into when 0 … 255 is cut at 154, 192
    /// and
    /// 248.
    sand_noise,
    /// The Shepp–Logan head in the last three axes, every volume alike, and counts of photons that
    /// got through it (kernels/patterns/phantom.hpp).
    phantom,
    xray,
    /// A tomographic scan of that head, with its dark and flat frames and what is wrong with the
    /// camera (fill_scan() of phantom.hpp); three axes, three frames at least.
    tomo_scan,
    /// The same in a coherent beam, with fringes along edges and stripes (fill_phase_scan()).
    phase_scan,
    /// What such scans would show of the head without a camera: its density along each line
    /// (fill_shadows() of phantom.hpp); three axes.
    shadows,
};

inline constexpr std::array<std::pair<std::string_view, Pattern>, 13> all_patterns = {
    {{"noise", Pattern::noise},
     {"index", Pattern::index},
     {"gradient", Pattern::gradient},
     {"sample-1", Pattern::sample_1},
     {"sample-2", Pattern::sample_2},
     {"sample-3", Pattern::sample_3},
     {"sample-4", Pattern::sample_4},
     {"sand-noise", Pattern::sand_noise},
     {"phantom", Pattern::phantom},
     {"xray", Pattern::xray},
     {"tomo-scan", Pattern::tomo_scan},
     {"phase-scan", Pattern::phase_scan},
     {"shadows", Pattern::shadows}}};

/// Photons that `xray` sends through a voxel and that a pixel of a scan gets, by default.
inline constexpr double usual_counts = 1000;
inline constexpr double most_counts = 1e9;

/// The pattern of that name, if there is one.
std::optional<Pattern> pattern_named(std::string_view name);

/// Whether it makes cells of the sand automaton, in any element type.
bool is_sand_pattern(Pattern pattern);

/// The extents that a pattern has by itself, one frame; nothing where any will do.
std::optional<std::vector<std::int64_t>> usual_shape(Pattern pattern);

/// Whether it is made of photons.
constexpr bool takes_counts(Pattern pattern) {
    return pattern == Pattern::xray || pattern == Pattern::tomo_scan ||
           pattern == Pattern::phase_scan;
}

/// Whether it has dark and flat frames and an image_key.
constexpr bool is_scan_pattern(Pattern pattern) {
    return pattern == Pattern::tomo_scan || pattern == Pattern::phase_scan;
}

/// All names, for messages: "noise, index, …".
std::string pattern_names();

/// Fills `out` (host memory, aligned to its elements) with elements
/// [first_element, first_element + count) of an array of that shape, counted in row-major order.
/// The same bytes for every way to cut the array. `counts`: where takes_counts(), above 0,
/// most_counts at most.
void fill_pattern(CpuQueue& queue, Pattern pattern, ElementType type,
                  std::span<const std::int64_t> shape, std::uint64_t seed,
                  std::int64_t first_element, std::int64_t count, std::byte* out,
                  double counts = usual_counts);

} // namespace runner
