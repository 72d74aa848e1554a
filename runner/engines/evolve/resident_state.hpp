// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/evolve/evolving_state.hpp"
#include "runner/engines/evolve/halo_exchange.hpp"
#include "runner/engines/evolve/state_transfer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

namespace runner::evolve {

/// A state that stays on the device: its slab and the halo's rows, twice.
template <class Q> class ResidentState final : public EvolvingState {
  public:
    /// Takes all memory. Collective. @throws OutOfMemory
    explicit ResidentState(const StateMaking& making)
        : run_(making.run), plan_(making.plan), recorder_(making.recorder), times_(making.times),
          queue_(making.make_queue()), own_(std::get<Q>(queue_)), slab_(making.slab()),
          held_(make_halo_plan(plan_.decomposition, run_.ranks.rank()).held),
          states_{allocate_device(own_, held_.count() * plan_.shape.state_row_bytes),
                  allocate_device(own_, held_.count() * plan_.shape.state_row_bytes)},
          tables_(allocate_device(own_, plan_.table_bytes)),
          snapshots_(make_snapshots<Q>(making, nullptr)),
          halo_(plan_.decomposition, plan_.shape.state_row_bytes, run_.ranks, own_, states_,
                run_.halo) {
        make_tables(run_, queue_, tables_.data());
    }

    void load(std::uint64_t generation) override {
        transfer().fill(run_, recorder_, times_, generation);
    }
    void exchange() override { halo_.exchange(current_); }
    std::int64_t most_generations() const override { return plan_.decomposition.halo; }
    void advance(std::uint64_t generation, std::int64_t generations) override {
        if (!held_.empty()) {
            const auto from = static_cast<std::size_t>(current_);
            run_.job.advance(queue_, {held_.first, held_.count()}, generation, generations,
                             states_[from].data(), states_[1 - from].data(), tables_.data());
        }
        current_ = 1 - current_;
    }
    void synchronize() override { own_.synchronize(); }
    void take_snapshot(std::int64_t index) override { snapshots_->take(own_, slab_rows(), index); }
    void drain() override { snapshots_->drain(); }
    void save(output::CheckpointWriter& checkpoint, RunProgress& progress) override {
        transfer().save(checkpoint, progress);
    }
    void leave() override { halo_.leave(); }

    StateHome home() const override { return StateHome::device; }
    HaloWay halo_way() const override { return halo_.way(); }
    std::int64_t bytes_received() const override { return halo_.bytes(); }
    std::int64_t device_bytes() const override {
        return 2 * states_[0].size() + tables_.size() + snapshots_->device_bytes();
    }

  private:
    std::byte* slab_rows() const {
        return states_[static_cast<std::size_t>(current_)].data() +
               (slab_.first - held_.first) * plan_.shape.state_row_bytes;
    }
    StateTransfer<Q> transfer() { return {plan_, slab_, snapshots_->idle_lanes(), slab_rows()}; }

    const Evolution& run_;
    const EvolvePlan& plan_;
    StageRecorder& recorder_;
    RunTimes& times_;
    Queue queue_;
    Q& own_;
    RowRange slab_;
    RowRange held_;
    std::array<Buffer, 2> states_;
    Buffer tables_;
    std::unique_ptr<SnapshotWriter<Q>> snapshots_;
    HaloExchange<Q> halo_;
    int current_ = 0; ///< of states_
};

} // namespace runner::evolve
