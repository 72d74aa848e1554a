// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/mpi.hpp"

#include "base/format.hpp"
#include "runner/ranks/no_delay.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <tuple>

#include <mpi.h>
#include <unistd.h>

namespace runner {
namespace {

void check(int status, const char* call) {
    if (status == MPI_SUCCESS) {
        return;
    }
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    (void)MPI_Error_string(status, text.data(), &length);
    throw Error(ExitCode::launch, {"MPI failed", call, text.data(), ""});
}

/// A rank's error on its way to the others.
struct Failure {
    ExitCode code = ExitCode::ok;
    std::string what;
    std::string where;
    std::string why;
    std::string try_this;

    static auto members(auto& self) {
        return std::tie(self.code, self.what, self.where, self.why, self.try_this);
    }
};

// Message lengths are int: cut long messages into pieces of this size.
constexpr std::int64_t piece_bytes = std::int64_t{1} << 30;

template <class Byte, class Post>
void post_pieces(const Message<Byte>& message, std::vector<MPI_Request>& requests, Post post) {
    for (std::int64_t begin = 0; begin < message.bytes; begin += piece_bytes) {
        MPI_Request request = MPI_REQUEST_NULL;
        const auto count = static_cast<int>(std::min(piece_bytes, message.bytes - begin));
        post(message.data + begin, count, message.rank, &request);
        requests.push_back(request);
    }
}

/// Open MPI takes a process that a launcher of another MPI starts for the only one of its job: each
/// would do the whole job.
void check_launcher(int size) {
    const char* const started = std::getenv("PMI_SIZE");
    if (started != nullptr && size == 1 && std::atoi(started) > 1) {
        throw Error(
            ExitCode::launch,
            {"the launcher and the program use different MPI libraries", "",
             fmt::format("the launcher has started {} processes, and each is alone", started),
             "Use mpirun of Open MPI, srun --mpi=pmix, or runner -n"});
    }
}

/// Ends the process when MPI does not come up: a rank that is killed while it starts leaves the
/// others, and mpirun, waiting for it without end (Open MPI 4.1.4).
class StartGuard {
  public:
    StartGuard() : thread_([](const std::stop_token& over) { wait(over); }) {}

  private:
    static constexpr std::chrono::seconds limit{120};

    static void wait(const std::stop_token& over) {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        wake.wait_for(lock, over, limit, [] { return false; });
        if (!over.stop_requested()) {
            (void)std::fputs(
                "runner: error: MPI does not start (MPI_Init): a rank has not come for "
                "two minutes. Check the hosts of the job, then start it again\n",
                stderr);
            ::_exit(static_cast<int>(ExitCode::launch));
        }
    }

    std::jthread thread_;
};

} // namespace

bool Ranks::started_by_launcher() {
    // Open MPI's mpirun sets the first two, srun with PMIx or PMI the others.
    static constexpr std::array names = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK",
                                         "PMI_SIZE"};
    return std::any_of(names.begin(), names.end(),
                       [](const char* name) { return std::getenv(name) != nullptr; });
}

void Ranks::choose_transport() {
    const char* const all = std::getenv("OMPI_COMM_WORLD_SIZE");
    const char* const here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (all != nullptr && here != nullptr && std::string_view(all) == here) {
        // Open MPI 4.1.4 of Debian 12 otherwise waits 0.2 s for a network that psm2 looks for.
        (void)::setenv("OMPI_MCA_pml", "ob1", 0);
    }
}

Ranks::Ranks() : launched_(started_by_launcher()) {
    if (!launched_) {
        return;
    }
    int provided = 0;
    {
        const StartGuard guard;
        check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    }
    send_without_delay();
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    if (provided < MPI_THREAD_FUNNELED) {
        throw Error(ExitCode::launch, {"this MPI library cannot be used with threads", "",
                                       "it offers no MPI_THREAD_FUNNELED",
                                       "Use an Open MPI built with thread support"});
    }
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
    check_launcher(size_);
    MPI_Comm host = MPI_COMM_NULL;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host),
          "MPI_Comm_split_type");
    check(MPI_Comm_rank(host, &local_rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(host, &local_size_), "MPI_Comm_size");
    host_leader_ = rank_;
    check(MPI_Bcast(&host_leader_, 1, MPI_INT, 0, host), "MPI_Bcast");
    check(MPI_Comm_free(&host), "MPI_Comm_free");
}

void Ranks::barrier() const {
    if (launched_) {
        check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    }
}

std::int64_t Ranks::least(std::int64_t value) const {
    std::int64_t result = value;
    if (launched_) {
        check(MPI_Allreduce(&value, &result, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD),
              "MPI_Allreduce");
    }
    return result;
}

void Ranks::add_up(std::span<std::uint64_t> values) const {
    if (launched_) {
        check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                            MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD),
              "MPI_Allreduce");
    }
}

std::vector<std::string> Ranks::gather_bytes(const std::string& bytes) const {
    if (!launched_) {
        return {bytes};
    }
    const auto count = static_cast<std::size_t>(size_);
    const int length = static_cast<int>(bytes.size());
    std::vector<int> lengths(count);
    check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD),
          "MPI_Allgather");
    std::vector<int> starts(count);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < count; ++i) {
        starts[i] = static_cast<int>(total);
        total += lengths[i];
    }
    if (total > std::numeric_limits<int>::max()) {
        throw Error(ExitCode::launch, {"the ranks' values are too long to gather", "", "", ""});
    }
    std::string all(static_cast<std::size_t>(total), '\0');
    check(MPI_Allgatherv(bytes.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(),
                         MPI_CHAR, MPI_COMM_WORLD),
          "MPI_Allgatherv");
    std::vector<std::string> values;
    for (std::size_t i = 0; i < count; ++i) {
        values.push_back(
            all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
    }
    return values;
}

void Ranks::exchange(std::span<const Message<const std::byte>> sends,
                     std::span<const Message<std::byte>> receives) const {
    std::vector<MPI_Request> requests;
    for (const Message<std::byte>& message : receives) {
        post_pieces(message, requests, [](std::byte* data, int count, int rank, MPI_Request* out) {
            check(MPI_Irecv(data, count, MPI_BYTE, rank, 0, MPI_COMM_WORLD, out), "MPI_Irecv");
        });
    }
    for (const Message<const std::byte>& message : sends) {
        post_pieces(
            message, requests, [](const std::byte* data, int count, int rank, MPI_Request* out) {
                check(MPI_Isend(data, count, MPI_BYTE, rank, 0, MPI_COMM_WORLD, out), "MPI_Isend");
            });
    }
    if (!requests.empty()) {
        check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
    }
}

void Ranks::agree(const std::optional<Error>& failure) const {
    if (!launched_) {
        if (failure) {
            throw AgreedError(failure->code(), failure->text());
        }
        return;
    }
    const std::int64_t none = size_;
    const std::int64_t failed = least(failure ? rank_ : none);
    if (failed == none) {
        return;
    }
    const ErrorText text = failure ? failure->text() : ErrorText{};
    const Failure mine{failure ? failure->code() : ExitCode::ok, text.what, text.where, text.why,
                       text.try_this};
    Failure agreed = gather(mine)[static_cast<std::size_t>(failed)];
    throw AgreedError(agreed.code, {std::move(agreed.what), std::move(agreed.where),
                                    std::move(agreed.why), std::move(agreed.try_this)});
}

void Ranks::finalize() {
    if (launched_) {
        launched_ = false;
        check(MPI_Finalize(), "MPI_Finalize");
    }
}

void Ranks::abort(ExitCode code) const {
    if (launched_) {
        (void)MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
    }
    ::_exit(static_cast<int>(code));
}

std::string Ranks::library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    (void)MPI_Get_library_version(text.data(), &length);
    const std::string all(text.data(), static_cast<std::size_t>(length));
    return all.substr(0, all.find(','));
}

} // namespace runner
