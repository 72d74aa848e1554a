// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/peer_memory.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/engines/evolve/halo_way.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/plan/halo_plan.hpp"
#include "runner/ranks/mpi.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace runner::evolve {

/// Under which names a rank's two states can be reached by other processes; empty where they
/// cannot.
struct PeerNames {
    int host_leader = 0;
    std::string older;
    std::string newer;

    static auto members(auto& self) { return std::tie(self.host_leader, self.older, self.newer); }
};

/// Brings the rows that a rank holds of other slabs up to date. Collective, from the main thread.
template <class Q> class HaloExchange {
  public:
    /// `states`: both, each of the held rows; they outlive the object, as do `queue` and `ranks`.
    /// The way is agreed on by all ranks. Takes page-locked memory for the rows where they go
    /// through the host. @throws Error (usage) when `direct` is asked for and not to be had.
    HaloExchange(const Decomposition& d, std::int64_t row_bytes, const Ranks& ranks, Q& queue,
                 const std::array<Buffer, 2>& states, HaloChoice choice);

    HaloWay way() const { return way_; }

    /// For state `which`, 0 or 1, after all work of the queue on it. The rows are there when this
    /// returns, and no other rank needs this one's any more.
    void exchange(int which);

    /// Lets go of the other ranks' memory, which is to happen before they free it. Collective; no
    /// exchange() after it.
    void leave();

    /// Bytes received so far.
    std::int64_t bytes() const { return bytes_; }

  private:
    /// Another rank's states, in this process's addresses.
    struct Peer {
        int rank = 0;
        RowRange held;
        std::array<Buffer, 2> states;
    };

    std::byte* row(int which, std::int64_t row) const {
        return states_[static_cast<std::size_t>(which)].data() +
               (row - plan_.held.first) * row_bytes_;
    }
    std::int64_t size_of(const RowRange& rows) const { return rows.count() * row_bytes_; }
    bool open_peers(const Decomposition& d);
    void trade(int which);
    void trade_staged(int which);
    void pull(int which);
    void meet();

    HaloPlan plan_;
    std::int64_t row_bytes_;
    const Ranks& ranks_;
    Q& queue_;
    const std::array<Buffer, 2>& states_;
    HaloWay way_ = HaloWay::none;
    Buffer staging_;
    std::vector<Peer> peers_;
    std::vector<int> neighbours_;
    std::int64_t bytes_ = 0;
};

template <class Q>
HaloExchange<Q>::HaloExchange(const Decomposition& d, std::int64_t row_bytes, const Ranks& ranks,
                              Q& queue, const std::array<Buffer, 2>& states, HaloChoice choice)
    : plan_(make_halo_plan(d, ranks.rank())), row_bytes_(row_bytes), ranks_(ranks), queue_(queue),
      states_(states) {
    for (const auto* trades : {&plan_.sends, &plan_.receives}) {
        for (const HaloRows& trade : *trades) {
            neighbours_.push_back(trade.rank);
        }
    }
    std::sort(neighbours_.begin(), neighbours_.end());
    neighbours_.erase(std::unique(neighbours_.begin(), neighbours_.end()), neighbours_.end());
    if (d.ranks == 1) {
        return;
    }
    if constexpr (Q::shares_host_memory) {
        way_ = HaloWay::host;
    } else {
        const bool direct = choice != HaloChoice::staged && open_peers(d);
        if (!direct && choice == HaloChoice::direct) {
            refuse_direct_halo();
        }
        way_ = direct ? HaloWay::direct : HaloWay::staged;
        if (!direct) {
            peers_.clear();
            staging_ =
                allocate_staging(queue_, (plan_.sent_rows() + plan_.received_rows()) * row_bytes_);
        }
    }
}

/// Whether every rank can reach all memory that it has rows from.
template <class Q> bool HaloExchange<Q>::open_peers(const Decomposition& d) {
    const std::optional<std::string> first = name_for_peers(queue_, states_[0]);
    const std::optional<std::string> second = name_for_peers(queue_, states_[1]);
    const bool named = first && second;
    const PeerNames mine{ranks_.host_leader(), first.value_or(""), second.value_or("")};
    const std::vector<PeerNames> names = ranks_.gather(mine);
    bool reached = named;
    for (const HaloRows& trade : plan_.receives) {
        const PeerNames& peer = names[static_cast<std::size_t>(trade.rank)];
        if (!reached || peer.host_leader != mine.host_leader || peer.older.empty() ||
            peer.newer.empty()) {
            reached = false;
            break;
        }
        std::optional<Buffer> older = open_peer_memory(queue_, peer.older);
        std::optional<Buffer> newer = open_peer_memory(queue_, peer.newer);
        reached = older && newer;
        if (reached) {
            peers_.push_back({trade.rank,
                              make_halo_plan(d, trade.rank).held,
                              {std::move(*older), std::move(*newer)}});
        }
    }
    return ranks_.least(reached ? 1 : 0) == 1;
}

template <class Q> void HaloExchange<Q>::exchange(int which) {
    if constexpr (Q::shares_host_memory) {
        trade(which);
    } else {
        way_ == HaloWay::direct ? pull(which) : trade_staged(which);
    }
    for (const HaloRows& receive : plan_.receives) {
        bytes_ += size_of(receive.rows);
    }
}

/// From state to state.
template <class Q> void HaloExchange<Q>::trade(int which) {
    std::vector<Message<const std::byte>> sends;
    for (const HaloRows& send : plan_.sends) {
        sends.push_back({send.rank, row(which, send.rows.first), size_of(send.rows)});
    }
    std::vector<Message<std::byte>> receives;
    for (const HaloRows& receive : plan_.receives) {
        receives.push_back({receive.rank, row(which, receive.rows.first), size_of(receive.rows)});
    }
    ranks_.exchange(sends, receives);
}

template <class Q> void HaloExchange<Q>::trade_staged(int which) {
    std::byte* place = staging_.data();
    std::vector<Message<const std::byte>> sends;
    for (const HaloRows& send : plan_.sends) {
        download(queue_, place, row(which, send.rows.first), size_of(send.rows));
        sends.push_back({send.rank, place, size_of(send.rows)});
        place += size_of(send.rows);
    }
    queue_.synchronize();
    std::vector<Message<std::byte>> receives;
    for (const HaloRows& receive : plan_.receives) {
        receives.push_back({receive.rank, place, size_of(receive.rows)});
        place += size_of(receive.rows);
    }
    ranks_.exchange(sends, receives);
    for (std::size_t i = 0; i < receives.size(); ++i) {
        upload(queue_, row(which, plan_.receives[i].rows.first), receives[i].data,
               receives[i].bytes);
    }
    queue_.synchronize(); // the next exchange fills the staging again
}

template <class Q> void HaloExchange<Q>::pull(int which) {
    queue_.synchronize();
    meet(); // what they computed is there
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        const RowRange rows = plan_.receives[i].rows;
        copy_from_peer(queue_, row(which, rows.first),
                       peers_[i].states[static_cast<std::size_t>(which)].data() +
                           (rows.first - peers_[i].held.first) * row_bytes_,
                       size_of(rows));
    }
    queue_.synchronize();
    meet(); // they have what they need: their next generations may write over it
}

template <class Q> void HaloExchange<Q>::leave() {
    peers_.clear();
    if (way_ == HaloWay::direct) {
        ranks_.barrier();
    }
}

/// Waits for the ranks that rows go to or come from.
template <class Q> void HaloExchange<Q>::meet() {
    const std::byte sent{};
    std::vector<std::byte> received(neighbours_.size());
    std::vector<Message<const std::byte>> sends;
    std::vector<Message<std::byte>> receives;
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
        sends.push_back({neighbours_[i], &sent, 1});
        receives.push_back({neighbours_[i], &received[i], 1});
    }
    ranks_.exchange(sends, receives);
}

} // namespace runner::evolve
