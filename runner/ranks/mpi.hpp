// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "base/limits.hpp"
#include "io/files/packed.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace runner {

/// What a rank's main thread lets those who look after it know, from any thread.
struct RankStanding {
    std::atomic<const char*> doing{"starting"}; ///< for messages: "looking at the input"
    std::atomic<double> stall_seconds{600};     ///< run.stall_seconds, once that is read; 0: never
    std::atomic<bool> attended{false};          ///< an Attendant ends it at signals
    std::atomic<bool> ends{false};              ///< one of those has told why all ranks end
};

/// A failure that every rank knows of and has thrown.
class AgreedError : public Error {
  public:
    using Error::Error;
};

/// Bytes of one message between two ranks.
template <class Byte> struct Message {
    int rank = 0;
    Byte* data = nullptr;
    std::int64_t bytes = 0;
};

/// The job's ranks. A program started without mpirun or srun is one rank and does not touch MPI, so
/// it starts at once and needs no working MPI installation.
/// Collective calls are for all ranks, from the main thread.
class Ranks {
  public:
    /// Keeps MPI from asking for networks where all ranks are on one host, unless the user has
    /// chosen a transport. Before the process has threads: it writes to the environment.
    static void choose_transport();

    /// Joins the job the launcher started. @throws Error (launch).
    Ranks();

    /// One rank by itself, whatever a launcher started: its calls communicate with none. For work
    /// that ranks do side by side; `abort` ends this process, and by that the job.
    struct Alone {};
    explicit Ranks(Alone /*mark*/) {}
    /// The same for this rank of `all`, whose watch goes on.
    Ranks(Alone /*mark*/, const Ranks& all) : standing_(all.standing_) {}

    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    /// Leaves nothing to communicate: `finalize` ends the job well; without it (an exception is
    /// under way) the process just ends, and the launcher ends the other ranks.
    ~Ranks() = default;

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }
    /// Among the ranks that share memory with this one.
    int local_rank() const noexcept { return local_rank_; }
    int local_size() const noexcept { return local_size_; }
    /// The first rank of this host: the same for the ranks that share memory, and for no others.
    int host_leader() const noexcept { return host_leader_; }
    bool first() const noexcept { return rank_ == 0; }

    /// What this rank lets those know who look after it.
    RankStanding& standing() const noexcept { return *standing_; }
    /// What it does from now on, for messages: "looking at the input".
    void note(const char* doing) const noexcept { standing_->doing = doing; }

    void barrier() const;
    /// The least of all ranks' values.
    std::int64_t least(std::int64_t value) const;
    /// The sums of all ranks' values, place by place, in their place.
    void add_up(std::span<std::uint64_t> values) const;
    /// Every rank's value, in rank order, on every rank. T: as packed() takes it.
    template <class T> std::vector<T> gather(const T& value) const {
        std::vector<T> values;
        for (const std::string& bytes : gather_bytes(packed(value))) {
            values.push_back(unpacked<T>(bytes));
        }
        return values;
    }
    /// Rank 0's value, on every rank.
    template <class T> T broadcast(const T& value) const {
        return unpacked<T>(gather_bytes(first() ? packed(value) : std::string()).front());
    }

    /// Sends and receives all at once. Both sides list the messages between two ranks in one order.
    void exchange(std::span<const Message<const std::byte>> sends,
                  std::span<const Message<std::byte>> receives) const;

    /// Agrees on a step's outcome: returns if no rank failed, else throws the error of the first
    /// rank that did as an AgreedError, on every rank alike: one tells it, and all end.
    void agree(const std::optional<Error>& failure) const;

    /// Does a step that does not communicate on every rank and agrees on its outcome.
    template <class Step> auto together(Step step) const {
        using Result = decltype(step());
        std::optional<Error> failure;
        if constexpr (std::is_void_v<Result>) {
            caught([&] { step(); }, failure);
            agree(failure);
        } else {
            std::optional<Result> result;
            caught([&] { result.emplace(step()); }, failure);
            agree(failure);
            return std::move(*result);
        }
    }

    /// The same for a step that only the first rank does.
    template <class Step> void first_alone(Step step) const {
        together([&] {
            if (first()) {
                step();
            }
        });
    }

    /// Ends the job when all ranks are done.
    void finalize();

    /// Ends all ranks at once with this exit code.
    [[noreturn]] void abort(ExitCode code) const;

    /// Whether a launcher started this process as one of its ranks.
    static bool started_by_launcher();

    /// "Open MPI 4.1.4", or that there is none in use.
    static std::string library_version();

  private:
    template <class Step> static void caught(Step step, std::optional<Error>& failure) {
        try {
            step();
        } catch (const std::exception& error) {
            failure = system_failure(error);
            if (!failure) {
                failure = Error(ExitCode::defect, {"an unexpected failure", "", error.what(), ""});
            }
        }
    }

    std::vector<std::string> gather_bytes(const std::string& bytes) const;

    bool launched_ = false;
    int rank_ = 0;
    int size_ = 1;
    int local_rank_ = 0;
    int local_size_ = 1;
    int host_leader_ = 0;
    std::shared_ptr<RankStanding> standing_ = std::make_shared<RankStanding>();
};

} // namespace runner
