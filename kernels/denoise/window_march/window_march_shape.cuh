// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace runner::window_march {

/// A block has references of 32 places along x, `rows` along y and some layers. It makes the means
/// of those in the middle: sums over patches take two away on either side, where the volume goes
/// on.
inline constexpr int lanes = 32;
inline constexpr int warps = 8;
inline constexpr int threads = lanes * warps;
inline constexpr int rows = 4 * warps;
inline constexpr int patch = 3;

/// A thread has a quad, two rows of two places along x, of all layers. A warp's lanes from `wide`
/// on have quads of another row, half the block's rows further.
inline constexpr int wide = lanes / 2;
inline constexpr int quads = rows / 2; ///< one above the other
inline constexpr int quad = 4;

/// Layers of means, of references and of voxels.
inline constexpr int layers = 7;
inline constexpr int references = layers + patch - 1;
inline constexpr int span = references + patch - 1;
/// A chunk of the march has so many layers of references.
inline constexpr int chunk = 3;
inline constexpr int chunks = references / chunk;
static_assert(references % chunk == 0 && chunks == 3); // as many as are under way

/// The block copies all voxels that its window reaches, even and odd places along x apart, so that
/// lanes read successive ones. The other half of a warp reads from the other 16 banks.
inline constexpr int most_half = 5;
constexpr int copied_pitch() {
    int pitch = (lanes + 2 * most_half) / 2;
    while (pitch * (rows / 2) % 32 != 16) {
        ++pitch;
    }
    return pitch;
}
inline constexpr int pitch = copied_pitch();
inline constexpr int copied_plane = (rows + 2 * most_half) * pitch; ///< of even or of odd places
inline constexpr int copied_layer = 2 * copied_plane;
constexpr int copied_floats(int half_z) { return (span + 2 * half_z) * copied_layer; }

/// What threads hand to each other: a quad of each layer of references. One more is behind the
/// last.
inline constexpr int handed_layer = (quads + 1) * wide;
inline constexpr int handed_chunk = chunk * handed_layer;
inline constexpr int handed_floats = chunks * handed_chunk * quad;

} // namespace runner::window_march
