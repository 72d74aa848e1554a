// SPDX-License-Identifier: BSD-3-Clause
#include "runner/launch.hpp"

#include "runner/messages.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/host_memory.hpp"
#include "runner/watch/stop.hpp"

#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <thread>

namespace runner {

bool is_first_process() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char* rank = std::getenv(name)) {
            return std::string_view(rank) == "0";
        }
    }
    return true;
}

ExitCode on_all_ranks(BackendChoice backend, const std::function<ExitCode(const Ranks&)>& part) {
    take_signals_over();
    std::jthread driver;
    if (Ranks::started_by_launcher() && backend != BackendChoice::cpu) {
        // Beside MPI's start: each takes a good part of a second.
        driver = std::jthread(start_driver);
    }
    Ranks ranks;
    if (driver.joinable()) {
        driver.join();
    }
    ExitCode code = ExitCode::ok;
    try {
        code = part(ranks);
    } catch (const AgreedError& error) {
        if (ranks.first()) {
            tell_error(error.what());
        }
        ranks.finalize();
        return error.code();
    } catch (const std::bad_alloc&) {
        const OutOfMemory error = out_of_host_memory();
        tell_error(error.what());
        ranks.abort(error.code());
    } catch (const std::exception& error) {
        // Only this rank knows: tell it here and end the others, who may wait for this one.
        const auto* known = dynamic_cast<const Error*>(&error);
        tell_error((known == nullptr ? "a defect of the program: " : "") +
                   std::string(error.what()));
        ranks.abort(known == nullptr ? ExitCode::defect : known->code());
    }
    ranks.finalize();
    return code;
}

} // namespace runner
