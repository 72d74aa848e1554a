// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/phase/phase_tables.hpp"

#include <cstring>

namespace runner {
namespace {

constexpr std::int64_t alignment = 256;
constexpr double pi = 3.14159265358979323846;

/// The filter's term of an angular frequency, k of n.
double term_of(const PaganinFilter& phase, std::int64_t k, std::int64_t n) {
    if (phase.method == PaganinFilter::Method::pixel) {
        return phase.strength * 2 * (1 - unit_root(k, n).re);
    }
    const double omega = 2 * pi * static_cast<double>(std::min(k, n - k)) / static_cast<double>(n);
    return phase.strength * (omega * omega);
}

/// Where the parts of the tables begin.
struct Places {
    std::int64_t row_factors = 0;
    std::int64_t column_factors;
    std::int64_t down;
    std::int64_t along;
    std::int64_t bytes;

    explicit Places(const PhaseView& view) {
        const auto after = [](std::int64_t begin, std::int64_t count, std::size_t size) {
            return begin + round_up(count * static_cast<std::int64_t>(size), alignment);
        };
        column_factors = after(row_factors, view.padded_columns, sizeof(ComplexFloat));
        down = after(column_factors, view.padded_rows, sizeof(ComplexFloat));
        along = after(down, view.padded_rows, sizeof(float));
        bytes = after(along, view.pitch, sizeof(float));
    }
};

PhaseView view_without_tables(const PaganinFilter& phase) {
    PhaseView view{};
    view.rows = static_cast<int>(phase.rows);
    view.columns = static_cast<int>(phase.columns);
    view.padded_rows = static_cast<int>(phase.padded_rows);
    view.padded_columns = static_cast<int>(phase.padded_columns);
    view.top = (view.padded_rows - view.rows) / 2;
    view.left = (view.padded_columns - view.columns) / 2;
    view.half = view.padded_columns / 2 + 1;
    view.pitch = static_cast<int>(round_up(view.half, 16));
    // Half, because the two rows of a line are taken apart without a division.
    view.scale = static_cast<float>(
        0.5 / (static_cast<double>(phase.padded_rows) * static_cast<double>(phase.padded_columns)));
    view.takes_log = phase.takes_log;
    view.floor = phase.floor;
    return view;
}

template <class Value>
void put(std::vector<std::byte>& bytes, std::int64_t place, const std::vector<Value>& values) {
    if (!values.empty()) {
        std::memcpy(bytes.data() + place, values.data(), values.size() * sizeof(Value));
    }
}

} // namespace

PhaseView phase_view(const PaganinFilter& phase, const std::byte* tables) {
    PhaseView view = view_without_tables(phase);
    const Places places(view);
    view.row_factors = reinterpret_cast<const ComplexFloat*>(tables + places.row_factors);
    view.column_factors = reinterpret_cast<const ComplexFloat*>(tables + places.column_factors);
    view.down = reinterpret_cast<const float*>(tables + places.down);
    view.along = reinterpret_cast<const float*>(tables + places.along);
    return view;
}

std::vector<std::byte> phase_tables(const PaganinFilter& phase) {
    const PhaseView view = view_without_tables(phase);
    const Places places(view);
    std::vector<float> down;
    for (std::int64_t k = 0; k < phase.padded_rows; ++k) {
        down.push_back(static_cast<float>(1 + term_of(phase, k, phase.padded_rows)));
    }
    std::vector<float> along;
    for (std::int64_t k = 0; k < view.half; ++k) {
        along.push_back(static_cast<float>(term_of(phase, k, phase.padded_columns)));
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(places.bytes));
    put(bytes, places.row_factors, fourier_factors(fourier_passes(phase.padded_columns)));
    put(bytes, places.column_factors, fourier_factors(fourier_passes(phase.padded_rows)));
    put(bytes, places.down, down);
    put(bytes, places.along, along);
    return bytes;
}

std::int64_t phase_scratch_bytes(const PaganinFilter& phase, std::int64_t frames) {
    const PhaseView view = view_without_tables(phase);
    return phase_frames_at_once(view, frames) * phase_spectrum_bytes(view);
}

double phase_operations(const PaganinFilter& phase, std::int64_t frames) {
    const PhaseView view = view_without_tables(phase);
    return static_cast<double>(frames) *
           (2 * view.pairs() * fourier_operations(phase.padded_columns) +
            2 * view.half * fourier_operations(phase.padded_rows));
}

} // namespace runner
