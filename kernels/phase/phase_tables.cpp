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

    explicit Places(const PhaseCall& call) {
        const auto after = [](std::int64_t begin, std::int64_t count, std::size_t size) {
            return begin + round_up(count * static_cast<std::int64_t>(size), alignment);
        };
        column_factors = after(row_factors, call.padded_columns, sizeof(ComplexFloat));
        down = after(column_factors, call.padded_rows, sizeof(ComplexFloat));
        along = after(down, call.padded_rows, sizeof(float));
        bytes = after(along, call.pitch, sizeof(float));
    }
};

PhaseCall call_without_tables(const PaganinFilter& phase) {
    PhaseCall call{};
    call.rows = static_cast<int>(phase.rows);
    call.columns = static_cast<int>(phase.columns);
    call.padded_rows = static_cast<int>(phase.padded_rows);
    call.padded_columns = static_cast<int>(phase.padded_columns);
    call.top = (call.padded_rows - call.rows) / 2;
    call.left = (call.padded_columns - call.columns) / 2;
    call.half = call.padded_columns / 2 + 1;
    call.pitch = static_cast<int>(round_up(call.half, 16));
    // Half, because the two rows of a line are taken apart without a division.
    call.scale = static_cast<float>(
        0.5 / (static_cast<double>(phase.padded_rows) * static_cast<double>(phase.padded_columns)));
    call.takes_log = phase.takes_log;
    call.floor = phase.floor;
    return call;
}

template <class Value>
void put(std::vector<std::byte>& bytes, std::int64_t place, const std::vector<Value>& values) {
    if (!values.empty()) {
        std::memcpy(bytes.data() + place, values.data(), values.size() * sizeof(Value));
    }
}

} // namespace

PhaseCall phase_call(const PaganinFilter& phase, const std::byte* tables) {
    PhaseCall call = call_without_tables(phase);
    const Places places(call);
    call.row_factors = reinterpret_cast<const ComplexFloat*>(tables + places.row_factors);
    call.column_factors = reinterpret_cast<const ComplexFloat*>(tables + places.column_factors);
    call.down = reinterpret_cast<const float*>(tables + places.down);
    call.along = reinterpret_cast<const float*>(tables + places.along);
    return call;
}

std::vector<std::byte> phase_tables(const PaganinFilter& phase) {
    const PhaseCall call = call_without_tables(phase);
    const Places places(call);
    std::vector<float> down;
    for (std::int64_t k = 0; k < phase.padded_rows; ++k) {
        down.push_back(static_cast<float>(1 + term_of(phase, k, phase.padded_rows)));
    }
    std::vector<float> along;
    for (std::int64_t k = 0; k < call.half; ++k) {
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
    const PhaseCall call = call_without_tables(phase);
    return phase_frames_at_once(call, frames) * phase_spectrum_bytes(call);
}

double phase_operations(const PaganinFilter& phase, std::int64_t frames) {
    const PhaseCall call = call_without_tables(phase);
    return static_cast<double>(frames) *
           (2 * call.pairs() * fourier_operations(phase.padded_columns) +
            2 * call.half * fourier_operations(phase.padded_rows));
}

} // namespace runner
