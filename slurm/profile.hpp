// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/job_plan.hpp"

#include <string>

namespace runner::slurm {

/// The work of a job, for comparing two of one kind.
struct Work {
    double bytes = 0;   ///< read and written
    double updates = 0; ///< of cells, where a state evolves

    /// How many times `other`'s work this is, by what there is more of.
    double over(const Work& other) const;

    void add(const Work& other) {
        bytes += other.bytes;
        updates += other.updates;
    }
};

Work work_of(const JobPlan& plan);

/// How long a job took: measured.
struct Profile {
    std::string path; ///< where it is from
    std::string kind;
    Work work;
    int ranks = 1;
    double start_seconds = 0; ///< of `seconds`; does not grow with the work
    double seconds = 0;
};

/// From a report that a run wrote (--report), or from the state folder of a batch: the work and the
/// seconds of all its datasets that are done, as if one rank had done them one after the other.
/// @throws Error (input) for anything else, and where nothing is done.
Profile read_profile(const std::string& path);

/// How long to ask for, for this work on so many ranks: twice what the profile lets expect, and a
/// minute. More ranks than the profile's are not counted on to be faster: what limits may be the
/// storage, which they share.
double expected_seconds(const Profile& profile, const Work& work, int ranks);

/// The same for datasets that ranks run side by side, `largest` being the work of one: they are as
/// fast together as they are many.
double expected_batch_seconds(const Profile& profile, const Work& work, const Work& largest,
                              int ranks);

} // namespace runner::slurm
