// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/phase/phase.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/fourier/fourier_lanes.hpp"
#include "kernels/phase/phase_tables.hpp"
#include "kernels/queue/parts.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include <oneapi/tbb/enumerable_thread_specific.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/phase/phase.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/correct/negative_log-inl.hpp"
#include "kernels/fourier/fourier_lanes-inl.hpp"

#ifndef RUNNER_PHASE_ONCE
#define RUNNER_PHASE_ONCE
namespace runner {

/// The CPU has the spectrum of a row as `pitch` real parts and then as many imaginary ones.
struct PhaseSpectra {
    const PhaseCall* call;
    float* first; ///< of a frame

    float* re(std::int64_t row) const { return first + row * 2 * call->pitch; }
    float* im(std::int64_t row) const { return re(row) + call->pitch; }
};

/// Pairs of rows of a frame, a pair in each lane.
struct PhasePairs {
    const PhaseCall* call;
    int first;
    int count; ///< up to fourier_lanes

    int row(int lane) const { return 2 * (first + lane); }
    bool has_second(int lane) const { return row(lane) + 1 < call->rows; }
};

/// Values of a line that are moved between rows and lanes before those of the next lane are: they
/// stay in the first cache.
inline constexpr int phase_moved = 64;

/// Calls move(lane, first, last) until all of `count` values of all lanes are moved.
template <class Move> void move_lanes(int lanes, int count, const Move& move) {
    for (int first = 0; first < count; first += phase_moved) {
        for (int lane = 0; lane < lanes; ++lane) {
            move(lane, first, std::min(count, first + phase_moved));
        }
    }
}

inline void load_pairs(const PhasePairs& pairs, const float* frame, const FourierLanes& lanes) {
    const PhaseCall& call = *pairs.call;
    move_lanes(pairs.count, call.padded_columns, [&](int lane, int first, int last) {
        const float* const row = frame + std::int64_t{pairs.row(lane)} * call.columns;
        const float* const second = row + call.columns;
        const bool has_second = pairs.has_second(lane);
        for (int i = first; i < last; ++i) {
            const int x = call.column(i);
            lanes.re(i, lane) = row[x];
            lanes.im(i, lane) = has_second ? second[x] : 0;
        }
    });
}

/// Takes the transforms of pairs apart into twice the spectra of the rows. Columns behind these, up
/// to whole vectors, become 0.
inline void store_spectra(const PhasePairs& pairs, const FourierLanes& lanes,
                          const PhaseSpectra& spectra) {
    const PhaseCall& call = *pairs.call;
    move_lanes(pairs.count, call.half, [&](int lane, int first, int last) {
        const int row = pairs.row(lane);
        const bool has_second = pairs.has_second(lane);
        for (int k = first; k < last; ++k) {
            const int mirrored = k == 0 ? 0 : call.padded_columns - k;
            const float re = lanes.re(k, lane);
            const float im = lanes.im(k, lane);
            const float other_re = lanes.re(mirrored, lane);
            const float other_im = lanes.im(mirrored, lane);
            spectra.re(row)[k] = re + other_re;
            spectra.im(row)[k] = im - other_im;
            if (has_second) {
                spectra.re(row + 1)[k] = im + other_im;
                spectra.im(row + 1)[k] = other_re - re;
            }
        }
    });
    for (int row = pairs.row(0); row < std::min(call.rows, pairs.row(pairs.count)); ++row) {
        std::fill(spectra.re(row) + call.half, spectra.im(row), 0.0F);
        std::fill(spectra.im(row) + call.half, spectra.re(row + 1), 0.0F);
    }
}

/// Joins the spectra of two rows to the transform of one line, with its parts exchanged.
inline void load_spectra(const PhasePairs& pairs, const PhaseSpectra& spectra,
                         const FourierLanes& lanes) {
    const PhaseCall& call = *pairs.call;
    move_lanes(pairs.count, call.half, [&](int lane, int first, int last) {
        const int row = pairs.row(lane);
        const bool has_second = pairs.has_second(lane);
        for (int k = first; k < last; ++k) {
            const float re = spectra.re(row)[k];
            const float im = spectra.im(row)[k];
            const float second_re = has_second ? spectra.re(row + 1)[k] : 0;
            const float second_im = has_second ? spectra.im(row + 1)[k] : 0;
            lanes.im(k, lane) = re - second_im;
            lanes.re(k, lane) = im + second_re;
            const int mirrored = call.padded_columns - k;
            if (k > 0 && mirrored >= call.half) {
                lanes.im(mirrored, lane) = re + second_im;
                lanes.re(mirrored, lane) = second_re - im;
            }
        }
    });
}

inline void store_pairs(const PhasePairs& pairs, const FourierLanes& lanes, float* frame) {
    const PhaseCall& call = *pairs.call;
    move_lanes(pairs.count, call.columns, [&](int lane, int first, int last) {
        float* const row = frame + std::int64_t{pairs.row(lane)} * call.columns;
        float* const second = row + call.columns;
        const bool has_second = pairs.has_second(lane);
        for (int x = first; x < last; ++x) {
            row[x] = lanes.im(call.left + x, lane);
            if (has_second) {
                second[x] = lanes.re(call.left + x, lane);
            }
        }
    });
}

} // namespace runner
#endif

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {

void make_spectra(const PhasePairs& pairs, const FourierPasses& passes, const float* frame,
                  const PhaseSpectra& spectra, FourierLanes lanes) {
    load_pairs(pairs, frame, lanes);
    transform_lanes(passes, pairs.call->row_factors, lanes);
    store_spectra(pairs, lanes, spectra);
}

/// Multiplies lines, the columns from `column` on, by the filter, and exchanges their parts.
HWY_INLINE void filter_lanes(const PhaseCall& call, std::int64_t column,
                             const FourierLanes& lanes) {
    const FourierTag d;
    for (std::int64_t lane = 0; lane < fourier_lanes;
         lane += static_cast<std::int64_t>(hn::Lanes(d))) {
        const auto along = hn::LoadU(d, call.along + column + lane);
        for (int k = 0; k < call.padded_rows; ++k) {
            const auto gain =
                hn::Div(hn::Set(d, call.scale), hn::Add(hn::Set(d, call.down[k]), along));
            const auto re = hn::LoadU(d, &lanes.re(k, lane));
            const auto im = hn::LoadU(d, &lanes.im(k, lane));
            hn::StoreU(hn::Mul(im, gain), d, &lanes.re(k, lane));
            hn::StoreU(hn::Mul(re, gain), d, &lanes.im(k, lane));
        }
    }
}

void filter_columns(const PhaseCall& call, const FourierPasses& passes, std::int64_t column,
                    const PhaseSpectra& spectra, FourierLanes lanes) {
    constexpr std::size_t bytes = fourier_lanes * sizeof(float);
    for (int i = 0; i < call.padded_rows; ++i) {
        const int row = call.row(i);
        std::memcpy(&lanes.re(i, 0), spectra.re(row) + column, bytes);
        std::memcpy(&lanes.im(i, 0), spectra.im(row) + column, bytes);
    }
    transform_lanes(passes, call.column_factors, lanes);
    filter_lanes(call, column, lanes);
    transform_lanes(passes, call.column_factors, lanes);
    for (int row = 0; row < call.rows; ++row) {
        std::memcpy(spectra.re(row) + column, &lanes.im(call.top + row, 0), bytes);
        std::memcpy(spectra.im(row) + column, &lanes.re(call.top + row, 0), bytes);
    }
}

PhaseCounts make_rows(const PhasePairs& pairs, const FourierPasses& passes,
                      const PhaseSpectra& spectra, float* frame, FourierLanes lanes) {
    const PhaseCall& call = *pairs.call;
    load_spectra(pairs, spectra, lanes);
    transform_lanes(passes, call.row_factors, lanes);
    store_pairs(pairs, lanes, frame);
    const std::int64_t first = std::int64_t{pairs.row(0)} * call.columns;
    const std::int64_t end =
        std::int64_t{std::min(call.rows, pairs.row(pairs.count))} * call.columns;
    PhaseCounts counts;
    if (call.takes_log) {
        for (std::int64_t i = first; i < end; ++i) {
            const bool is_below = frame[i] < call.floor;
            counts.raised += is_below ? 1 : 0;
            frame[i] = is_below ? call.floor : frame[i];
        }
        log_all(frame + first, end - first);
    }
    for (std::int64_t i = first; i < end; ++i) {
        const bool is_nan = std::isnan(frame[i]);
        counts.nans += is_nan ? 1 : 0;
        frame[i] = is_nan ? std::numeric_limits<float>::quiet_NaN() : frame[i];
    }
    return counts;
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(make_spectra);
HWY_EXPORT(filter_columns);
HWY_EXPORT(make_rows);

namespace {

/// Filters frames of float32 whose spectra fit the scratch memory at once, in place.
PhaseCounts filter_frames(CpuQueue& queue, const PhaseCall& call, std::int64_t frames,
                          double operations, float* values, float* scratch) {
    const FourierPasses row_passes = fourier_passes(call.padded_columns);
    const FourierPasses column_passes = fourier_passes(call.padded_rows);
    constexpr int lanes = static_cast<int>(fourier_lanes);
    tbb::enumerable_thread_specific<FourierLanesMemory> memory;
    std::atomic<std::uint64_t> raised = 0;
    std::atomic<std::uint64_t> nans = 0;
    const auto frame = [&](std::int64_t i) {
        return values + i * std::int64_t{call.rows} * call.columns;
    };
    const auto spectra = [&](std::int64_t i) {
        return PhaseSpectra{&call, scratch + i * std::int64_t{call.rows} * 2 * call.pitch};
    };
    const std::int64_t groups = ceil_divide(call.pairs(), lanes);
    const auto pairs = [&](std::int64_t group) {
        const int first = static_cast<int>(group) * lanes;
        return PhasePairs{&call, first, std::min(lanes, call.pairs() - first)};
    };
    for_parts(queue, frames * groups, operations / 4, [&](std::int64_t part) {
        HWY_DYNAMIC_DISPATCH(make_spectra)
        (pairs(part % groups), row_passes, frame(part / groups), spectra(part / groups),
         memory.local().lanes(call.padded_columns));
    });
    const std::int64_t tiles = ceil_divide(call.half, lanes);
    for_parts(queue, frames * tiles, operations / 2, [&](std::int64_t part) {
        HWY_DYNAMIC_DISPATCH(filter_columns)
        (call, column_passes, part % tiles * lanes, spectra(part / tiles),
         memory.local().lanes(call.padded_rows));
    });
    for_parts(queue, frames * groups, operations / 4, [&](std::int64_t part) {
        const PhaseCounts counts = HWY_DYNAMIC_DISPATCH(make_rows)(
            pairs(part % groups), row_passes, spectra(part / groups), frame(part / groups),
            memory.local().lanes(call.padded_columns));
        raised += counts.raised;
        nans += counts.nans;
    });
    return {raised, nans};
}

} // namespace

void retrieve_phase(CpuQueue& queue, const PaganinFilter& phase, std::int64_t frames,
                    const std::byte* in, float* out, const std::byte* tables, std::byte* scratch,
                    PhaseCounts* counts) {
    const PhaseCall call = phase_call(phase, tables);
    const std::int64_t at_once = phase_frames_at_once(call, frames);
    const std::int64_t pixels = phase.rows * phase.columns;
    for (std::int64_t first = 0; first < frames; first += at_once) {
        const std::int64_t count = std::min(at_once, frames - first);
        float* const to = out + first * pixels;
        const std::byte* const from = in + first * pixels * size_of(phase.in_type);
        for_parts(queue, count * phase.rows, 0, [&](std::int64_t row) {
            load_elements(phase.in_type, from + row * phase.columns * size_of(phase.in_type),
                          phase.columns, to + row * phase.columns);
        });
        const PhaseCounts made = filter_frames(queue, call, count, phase_operations(phase, count),
                                               to, reinterpret_cast<float*>(scratch));
        counts->raised += made.raised;
        counts->nans += made.nans;
    }
}

} // namespace runner
#endif
