// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/take_names.hpp"

#include "base/error.hpp"
#include "io/output/own_parts.hpp"
#include "io/output/publish_output.hpp"
#include "runner/output/output_standing.hpp"

namespace runner {

void complete_publishing(const std::string& file, const FileLock& lock, Prober& prober) {
    const std::string partial = partial_name(file);
    if (!is_half_published(partial, file)) {
        return;
    }
    std::string why = lock.foreign(partial);
    if (why.empty() && !has_left_parts(file, lock)) {
        why = "neither a journal nor a lock says that this program gave it both";
    }
    // Only what is complete gets a second name, and it says so in its attributes or its record.
    if (why.empty() && !says_how_it_was_made(file, prober)) {
        why = "it is no finished output of this program";
    }
    if (!why.empty()) {
        throw Error(ExitCode::output,
                    {"one file has the output's name and that of the unfinished output",
                     file + ", " + partial, why, "Remove the name that is wrong"});
    }
    finish_publishing(partial, file);
}

void take_names(const std::string& file, const FileLock& lock, Prober& prober) {
    complete_publishing(file, lock, prober);
    check_own_parts(file, lock);
}

} // namespace runner
