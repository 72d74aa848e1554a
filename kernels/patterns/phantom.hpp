// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/queue/cpu_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace runner {

/// The Shepp–Logan head of three axes with the contrasts usual today, 0 … 1: ten ellipsoids that
/// add up. Coordinates go from −1 to 1, x to the right along columns, y upward against rows, z
/// along layers; the middle layer is the head of two axes.
double phantom_value(double z, double y, double x);

/// Fills `out` (host memory, aligned to its elements) with elements [first_element, first_element +
/// count) of a phantom in the last three axes of that shape (missing ones have extent 1), at the
/// voxels' middles. Integers are the value times their type's most, rounded. The same bytes for
/// every way to cut the array.
void fill_phantom(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
                  std::int64_t first_element, std::int64_t count, std::byte* out);

/// The same for photons that got through the phantom: each element is drawn from the Poisson
/// distribution of mean counts · exp(−phantom), by its position and the seed alone. Integers hold
/// their type's most at most. 0 < counts ≤ 1e9.
void fill_xray(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
               std::uint64_t seed, double counts, std::int64_t first_element, std::int64_t count,
               std::byte* out);

/// The density along a line through the phantom, in the plane of this z: the line is at distance s
/// from the z axis, on the side of the angle whose cosine and sine these are, and across it. Not
/// clamped where ellipsoids overlap.
double phantom_shadow(double cosine, double sine, double z, double s);

/// What each frame of a tomographic scan is, as an image_key says it (0 a projection, 1 a flat, 2 a
/// dark frame): one frame in twenty is dark, as many are flat, at least one each; the others are
/// projections. At least three frames.
std::vector<std::int32_t> scan_keys(std::int64_t frames);

/// The same for a scan of the phantom by a camera of rows × columns, the last two axes of three:
/// dark frames, flat frames, then projections over half a turn. Each element is a Poisson number by
/// its position and the seed, of mean
///   counts · (0.02 + 0.02 · u + beam · exp(−shadow)), beam = gain · (1 − 0.4 · (x² + y²))
/// where u in (0, 1) and gain in (0.9, 1.1) are of the pixel alone, x and y go from −1 to 1, dark
/// frames have no beam and flat frames no shadow. A pixel in a thousand is dead: always 0. One
/// element in five thousand of a projection has 4 · counts more.
void fill_scan(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
               std::uint64_t seed, double counts, std::int64_t first_element, std::int64_t count,
               std::byte* out);

/// The beam and the camera of fill_phase_scan(), and the head's material.
struct PhaseScanBeam {
    double energy = 30;      ///< keV
    double distance = 0.04;  ///< metres from the head to the camera
    double pixel_size = 5;   ///< micrometres
    double delta_beta = 200; ///< δ / β of the refractive index 1 − δ + iβ

    /// What a phase retrieval by these numbers divides by is 1 + strength · ω², with ω in radians a
    /// pixel: δ/β · λ · distance / (4π · pixel_size²).
    double strength() const;
};
inline constexpr PhaseScanBeam phase_scan_beam;

/// The same as fill_scan() in the coherent beam of phase_scan_beam. Between the head and the camera
/// it becomes fringes along edges: instead of exp(−shadow) a pixel gets
///   max(0, t − strength · (t above + t below + t left + t right − 4 t)), t = exp(−shadow),
/// with t at the middles of the pixel and its four neighbours: the transport of intensity of one
/// material. And one column in 25 is a stripe: it has 0.9 … 1.1 of the light in projections alone.
void fill_phase_scan(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
                     std::uint64_t seed, double counts, std::int64_t first_element,
                     std::int64_t count, std::byte* out);

/// The shadows that both scans have in their projections: the density along the line through each
/// pixel's middle. Three axes: projections over half a turn, rows and columns. Integers are the
/// value times their type's most, rounded, the most at most.
void fill_shadows(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
                  std::int64_t first_element, std::int64_t count, std::byte* out);

} // namespace runner
