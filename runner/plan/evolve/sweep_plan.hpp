// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/queue.hpp"
#include "runner/plan/row_set.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace runner {

/// Where a rank's share of a state is between two generations.
enum class StateHome {
    device, ///< in device memory, twice
    host,   ///< in host memory; it passes through the device in sweeps
    disk,   ///< in a scratch file; likewise
};

/// "device", "host" or "disk", for JSON.
std::string_view name_of(StateHome home);

/// How a state that is not kept on the device passes through it: a sweep takes band after band to
/// the device with `depth` rows more at either side, and brings its rows back `depth` generations
/// later.
struct Sweep {
    std::int64_t depth = 0;     ///< generations of a sweep at most
    std::int64_t band_rows = 0; ///< rows that come back at once
    int lanes = 0;              ///< bands in flight
};

/// Bands in flight: one is computed while the others are copied, read and written.
int sweep_lanes(Backend backend, StateHome home);

/// The depths to choose from, ascending: all at most `most`, and `most` itself where it is small.
std::vector<std::int64_t> sweep_depths(std::int64_t most);

/// The largest band that is of use for a slab of so many rows: enough bands that copies overlap
/// computing, and evenly cut. `fitting`: rows for which there is memory, ≥ 1.
std::int64_t useful_band(Backend backend, std::int64_t depth, std::int64_t fitting,
                         std::int64_t slab_rows, std::int64_t row_bytes);

/// Estimated time of a generation, 1 for one of a state on the device: computing the rows at the
/// sides of a band again, or moving the state, whichever takes longer.
double sweep_cost(Backend backend, StateHome home, const Sweep& sweep, std::int64_t slab_rows);

/// Rows [slab.first, slab.last) in bands of `band_rows`, from the first to the last.
std::vector<RowRange> bands_of(RowRange slab, std::int64_t band_rows);

/// The rows that a band needs for so many generations, of a state of `rows` rows.
RowRange band_window(RowRange band, std::int64_t generations, std::int64_t rows);

} // namespace runner
