// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/format.hpp"
#include "jobs/evolve_job.hpp"
#include "kernels/queue/devices.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/engines/awaited.hpp"
#include "runner/engines/channel.hpp"
#include "runner/engines/evolve/state_store.hpp"
#include "runner/engines/stage_recorder.hpp"
#include "runner/engines/stage_threads.hpp"
#include "runner/engines/take_memory.hpp"
#include "runner/plan/evolve_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace runner::evolve {

/// What a sweeper works on; everything outlives it.
struct SweepTarget {
    const EvolvePlan& plan;
    const EvolveJob& job;
    RowRange slab;
    StateStore& store;
    const std::byte* tables; ///< on the device
    RunTimes& times;
    StageRecorder& recorder;
};

/// Advances the rows of a slab from generation to generation, band by band through the device. One
/// thread fetches bands from the store, the caller's thread hands them to the device, and another
/// puts them back. Each band in flight has a lane of its own.
template <class Q> class Sweeper {
  public:
    /// Takes its memory. @throws OutOfMemory
    Sweeper(const SweepTarget& target, const QueueMaker& make_queue);
    Sweeper(const Sweeper&) = delete;
    Sweeper& operator=(const Sweeper&) = delete;
    ~Sweeper() = default;

    /// Advances the slab's rows by at most plan.sweep.depth generations. The store has the rows
    /// around them as they are at `generation`. @throws what the threads failed with.
    void sweep(std::uint64_t generation, std::int64_t generations);

    std::int64_t device_bytes() const { return device_bytes_; }

  private:
    /// The memory of a band in flight, and its queue.
    struct Lane {
        Queue queue;
        Buffer staging; ///< of the host, between device and file; else empty
        Buffer older;   ///< two states of a band's window, on the device
        Buffer newer;
        typename Q::Event uploaded;
        typename Q::Event computed;
        typename Q::Event done;

        Q& own() { return std::get<Q>(queue); }
    };

    /// A band on its way.
    struct Band {
        std::uint64_t generation = 0;
        std::int64_t generations = 0;
        RowRange rows;
        RowRange window; ///< the rows that it needs
        std::size_t lane = 0;
        const std::byte* source = nullptr; ///< the window's rows
        std::byte* result = nullptr;       ///< in the store, or where the store takes it from
    };

    void fetch_stage();
    void put_stage();
    void compute(Band& band);
    std::byte* advance(const Band& band, Lane& lane) const;
    std::int64_t row_bytes() const { return target_.plan.shape.state_row_bytes; }
    void cut();
    std::string place(Stage stage) const;

    SweepTarget target_;
    std::deque<Lane> lanes_;
    std::int64_t device_bytes_ = 0;
    std::size_t last_lane_ = 0; ///< of the band that was handed in last
    Channel<std::size_t> free_lanes_;
    Channel<Band> wanted_;
    Channel<Band> fetched_;
    Channel<Band> computed_;
    Awaited<std::size_t> bands_left_; ///< of the sweep under way
    Band fetching_;                   ///< and putting_: what each thread works on
    Band putting_;
    StageThreads threads_;
};

template <class Q>
Sweeper<Q>::Sweeper(const SweepTarget& target, const QueueMaker& make_queue)
    : target_(target), threads_([this] { cut(); }, [this](Stage stage) { return place(stage); }) {
    const EvolvePlan& plan = target.plan;
    for (int i = 0; i < plan.sweep.lanes; ++i) {
        Queue queue = make_queue();
        Q& own = std::get<Q>(queue);
        Buffer staging;
        if (!Q::shares_host_memory && target.store.is_file()) {
            staging = allocate_staging(own, plan.window_bytes());
        }
        Buffer older = allocate_device(own, plan.window_bytes());
        Buffer newer = allocate_device(own, plan.window_bytes());
        device_bytes_ += older.size() + newer.size();
        typename Q::Event uploaded(own);
        typename Q::Event computed(own);
        typename Q::Event done(own);
        lanes_.push_back({std::move(queue), std::move(staging), std::move(older), std::move(newer),
                          std::move(uploaded), std::move(computed), std::move(done)});
        free_lanes_.push(static_cast<std::size_t>(i));
    }
    threads_.start(Stage::read, [this] { fetch_stage(); });
    threads_.start(Stage::write, [this] { put_stage(); });
}

template <class Q> void Sweeper<Q>::cut() {
    free_lanes_.cut();
    wanted_.cut();
    fetched_.cut();
    computed_.cut();
    bands_left_.wake();
}

template <class Q> std::string Sweeper<Q>::place(Stage stage) const {
    const Band& band = stage == Stage::read ? fetching_ : putting_;
    return fmt::format("the state at generation {}, rows {} to {}", band.generation,
                       band.rows.first, band.rows.last - 1);
}

template <class Q> void Sweeper<Q>::sweep(std::uint64_t generation, std::int64_t generations) {
    std::vector<RowRange> bands = bands_of(target_.slab, target_.plan.sweep.band_rows);
    if (target_.store.order() == StateStore::Order::last_to_first) {
        std::reverse(bands.begin(), bands.end());
    }
    bands_left_.change([&](std::size_t& left) { left = bands.size(); });
    for (const RowRange& rows : bands) {
        wanted_.push({generation, generations, rows,
                      band_window(rows, generations, target_.plan.shape.rows)});
    }
    for (std::size_t i = 0; i < bands.size(); ++i) {
        std::optional<Band> band = fetched_.pop();
        if (!band) {
            break;
        }
        compute(*band);
        computed_.push(*band);
    }
    bands_left_.wait(threads_, [](std::size_t left) { return left == 0; });
    target_.store.turn();
}

template <class Q> void Sweeper<Q>::fetch_stage() {
    while (const std::optional<Band> band = wanted_.pop()) {
        const std::optional<std::size_t> lane = free_lanes_.pop();
        if (!lane) {
            return;
        }
        fetching_ = *band;
        fetching_.lane = *lane;
        Lane& own = lanes_[*lane];
        const double begin = target_.recorder.now();
        fetching_.source = target_.store.fetch(
            fetching_.window, Q::shares_host_memory ? own.older.data() : own.staging.data());
        if (target_.store.is_file()) {
            target_.recorder.add(Stage::read, fetching_.generation, *lane, begin,
                                 target_.recorder.now(), target_.store.bytes_of(fetching_.window));
        }
        fetched_.push(fetching_);
    }
}

/// Hands a band to the device.
template <class Q> void Sweeper<Q>::compute(Band& band) {
    const ProfileRange range("sweep");
    Lane& lane = lanes_[band.lane];
    const std::int64_t bytes = target_.store.bytes_of(band.window);
    upload(lane.own(), lane.older.data(), band.source, bytes);
    if constexpr (!Q::shares_host_memory) {
        target_.times[Stage::upload].bytes += bytes;
    }
    // Bands are computed one after the other. Side by side they would end together and leave the
    // device idle while both move (0.58 x the speed of a state on an H200). A band's rows come back
    // to where those before it were read from, so these must have been uploaded by then: they are.
    lanes_[last_lane_].computed.hold(lane.own());
    lane.uploaded.record(lane.own());
    last_lane_ = band.lane;
    std::byte* const rows = advance(band, lane);
    lane.computed.record(lane.own());
    std::byte* const space = Q::shares_host_memory ? rows : lane.staging.data();
    band.result = target_.store.place(StateStore::Version::next, band.rows, space);
    download(lane.own(), band.result, rows, target_.store.bytes_of(band.rows));
    lane.done.record(lane.own());
}

/// Computes the band's rows. @returns where they are.
template <class Q> std::byte* Sweeper<Q>::advance(const Band& band, Lane& lane) const {
    // Rows at the sides are of no use as soon as they are wrong: every so many generations those
    // are left out, three launches of the CUDA kernel of sand.
    constexpr std::int64_t most_at_once = 24;
    StateBand right{band.window.first, band.window.count()};
    std::byte* older = lane.older.data();
    std::byte* newer = lane.newer.data();
    const auto at = [&](std::byte* state, std::int64_t row) {
        return state + (row - band.window.first) * row_bytes();
    };
    for (std::int64_t done = 0; done < band.generations;) {
        const std::int64_t step = std::min(most_at_once, band.generations - done);
        target_.job.advance(lane.queue, right, band.generation + static_cast<std::uint64_t>(done),
                            step, at(older, right.first), at(newer, right.first), target_.tables);
        done += step;
        const std::int64_t last = right.first + right.rows;
        const std::int64_t right_last = last == target_.plan.shape.rows ? last : last - step;
        right.first += right.first == 0 ? 0 : step;
        right.rows = right_last - right.first;
        std::swap(older, newer);
    }
    return at(older, band.rows.first);
}

template <class Q> void Sweeper<Q>::put_stage() {
    while (const std::optional<Band> band = computed_.pop()) {
        putting_ = *band;
        Lane& lane = lanes_[band->lane];
        lane.done.wait();
        const double end = target_.recorder.now();
        const double computed = end - lane.done.seconds_since(lane.computed);
        const double uploaded = computed - lane.computed.seconds_since(lane.uploaded);
        const std::int64_t bytes = target_.store.bytes_of(band->rows);
        target_.recorder.add(Stage::compute, band->generation, band->lane, uploaded, computed, 0);
        if constexpr (!Q::shares_host_memory) {
            target_.recorder.add(Stage::download, band->generation, band->lane, computed, end,
                                 bytes);
        }
        target_.store.put(StateStore::Version::next, band->rows, band->result);
        if (target_.store.is_file()) {
            target_.recorder.add(Stage::write, band->generation, band->lane, end,
                                 target_.recorder.now(), bytes);
        }
        free_lanes_.push(band->lane);
        bands_left_.change([](std::size_t& left) { --left; });
    }
}

} // namespace runner::evolve
