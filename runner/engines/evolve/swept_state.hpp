// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/format.hpp"
#include "runner/engines/evolve/evolving_state.hpp"
#include "runner/engines/evolve/state_store.hpp"
#include "runner/engines/evolve/state_transfer.hpp"
#include "runner/engines/evolve/store_exchange.hpp"
#include "runner/engines/evolve/sweeper.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <unistd.h>

namespace runner::evolve {

/// A state that is kept in host memory or in a scratch file, and passes through the device in
/// sweeps. Nothing else is done during a sweep.
template <class Q> class SweptState final : public EvolvingState {
  public:
    /// Takes all memory, and the space on the disk. @throws OutOfMemory; Error (output) if the disk
    /// has no room; Error (usage) if ranks are to exchange rows from GPU to GPU.
    explicit SweptState(const StateMaking& making)
        : run_(making.run), plan_(making.plan), recorder_(making.recorder), times_(making.times),
          queue_(making.make_queue()), own_(std::get<Q>(queue_)), slab_(making.slab()),
          store_(make_store()), tables_(allocate_device(own_, plan_.table_bytes)),
          sweeper_({plan_, run_.job, slab_, store_, tables_.data(), times_, recorder_},
                   making.make_queue),
          exchange_(halo(), store_, allocate_staging(own_, exchange_bytes()), run_.ranks),
          snapshots_(make_snapshots<Q>(making, &store_)) {
        if (!Q::shares_host_memory && run_.ranks.size() > 1 && run_.halo == HaloChoice::direct) {
            refuse_direct_halo();
        }
        make_tables(run_, queue_, tables_.data());
    }

    void load(std::uint64_t generation) override {
        transfer().fill(run_, recorder_, times_, generation);
    }
    void exchange() override { exchange_.exchange(); }
    std::int64_t most_generations() const override { return plan_.sweep.depth; }
    void advance(std::uint64_t generation, std::int64_t generations) override {
        sweeper_.sweep(generation, generations);
    }
    void synchronize() override {} // a sweep ends with its rows in the store
    void take_snapshot(std::int64_t index) override { snapshots_->write_stored(index); }
    void drain() override { snapshots_->drain(); }
    void save(output::CheckpointWriter& checkpoint, RunProgress& progress) override {
        transfer().save(checkpoint, progress);
    }
    void leave() override {}

    StateHome home() const override { return plan_.home; }
    HaloWay halo_way() const override {
        return run_.ranks.size() == 1 ? HaloWay::none : HaloWay::host;
    }
    std::int64_t bytes_received() const override { return exchange_.bytes(); }
    std::int64_t device_bytes() const override {
        return tables_.size() + snapshots_->device_bytes() + sweeper_.device_bytes();
    }

  private:
    HaloPlan halo() const { return make_halo_plan(plan_.decomposition, run_.ranks.rank()); }
    std::int64_t exchange_bytes() const {
        return StoreExchange::staging_bytes(halo(), plan_.shape.state_row_bytes);
    }
    StateStore make_store() {
        const std::int64_t bytes = plan_.store_bytes(run_.ranks.rank());
        const RowRange held = halo().held;
        if (plan_.home == StateHome::host) {
            return {allocate_staging(own_, bytes), held, plan_.sweep.depth,
                    plan_.shape.state_row_bytes};
        }
        const std::string path =
            run_.commits != nullptr
                ? fmt::format("{}/scratch-{}", run_.journal, run_.ranks.rank())
                : fmt::format("{}/runner-scratch-{}-{}",
                              std::filesystem::temp_directory_path().string(), ::getpid(),
                              std::chrono::steady_clock::now().time_since_epoch().count());
        return {make_scratch_file(path, bytes), held, plan_.sweep.depth,
                plan_.shape.state_row_bytes};
    }
    StateTransfer<Q> transfer() { return {plan_, slab_, snapshots_->idle_lanes(), store_}; }

    const Evolution& run_;
    const EvolvePlan& plan_;
    StageRecorder& recorder_;
    RunTimes& times_;
    Queue queue_;
    Q& own_;
    RowRange slab_;
    StateStore store_;
    Buffer tables_;
    Sweeper<Q> sweeper_;
    StoreExchange exchange_;
    std::unique_ptr<SnapshotWriter<Q>> snapshots_;
};

} // namespace runner::evolve
