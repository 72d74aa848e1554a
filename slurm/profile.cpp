// SPDX-License-Identifier: BSD-3-Clause
#include "slurm/profile.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/sizes.hpp"
#include "runner/batch/batch_events.hpp"
#include "runner/batch/batch_state.hpp"
#include "runner/job_file/job_text.hpp"

#include <algorithm>
#include <filesystem>

namespace runner::slurm {
namespace {

constexpr double margin = 2;
constexpr double least_seconds = 60;

[[noreturn]] void refuse_report(const std::string& path, const std::string& why) {
    throw Error(ExitCode::input,
                {"cannot tell from the profile how long the job takes", path, why,
                 "Name a report that a run of such a job wrote (--report), the state folder of a "
                 "batch, or give --time"});
}

double bytes_of(const Json& plan) {
    return plan.at("bytes_read").get<double>() + plan.at("bytes_written").get<double>();
}

Profile profile_of_report(const std::string& path) {
    constexpr std::int64_t most_bytes = 256 * MiB;
    const std::string text = read_user_text(path, "the profile", most_bytes);
    Profile profile;
    profile.path = path;
    try {
        const Json json = Json::parse(text);
        const Json& plan = json.at("plan");
        profile.kind = json.at("job").at("kind").get<std::string>();
        profile.work.bytes = bytes_of(plan);
        if (const Json* const passes = json.find("passes")) { // the plan is the last one's
            profile.work.bytes = 0;
            for (const Json& pass : passes->values()) {
                profile.work.bytes += bytes_of(pass);
            }
        }
        profile.work.updates = plan.value("cells", 0.0) * plan.value("generations", 0.0);
        profile.ranks = static_cast<int>(json.at("ranks").values().size());
        profile.start_seconds = json.at("start_seconds").get<double>();
        profile.seconds = json.at("wall_seconds").get<double>();
    } catch (const JsonError& failure) {
        refuse_report(path, std::string("it is no report of a run: ") + failure.what());
    }
    if (!(profile.work.bytes > 0) || profile.ranks < 1 || !(profile.seconds > 0)) {
        refuse_report(path, "that run did nothing");
    }
    return profile;
}

Profile profile_of_batch(const std::string& path) {
    const batch::DatasetList list = batch::read_list(path);
    const batch::History history = batch::read_history(path);
    Profile profile;
    profile.path = path;
    profile.kind = list.kind;
    for (const batch::ListedDataset& dataset : list.datasets) {
        const auto found = history.last_done.find(dataset.output);
        if (found != history.last_done.end()) {
            profile.work.bytes += static_cast<double>(dataset.bytes);
            profile.seconds += found->second.seconds;
        }
    }
    if (!(profile.work.bytes > 0) || !(profile.seconds > 0)) {
        refuse_report(path, "no dataset of that batch is done");
    }
    return profile;
}

} // namespace

double Work::over(const Work& other) const {
    double most = 0;
    if (other.bytes > 0) {
        most = bytes / other.bytes;
    }
    if (other.updates > 0) {
        most = std::max(most, updates / other.updates);
    }
    return most;
}

Work work_of(const JobPlan& plan) {
    return {static_cast<double>(plan.bytes_to_read()) + static_cast<double>(plan.bytes_to_write()),
            plan.updates()};
}

Profile read_profile(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored) ? profile_of_batch(path)
                                                        : profile_of_report(path);
}

double expected_seconds(const Profile& profile, const Work& work, int ranks) {
    const double fewer = std::max(1.0, static_cast<double>(profile.ranks) / ranks);
    const double seconds = profile.start_seconds + (profile.seconds - profile.start_seconds) *
                                                       work.over(profile.work) * fewer;
    return margin * seconds + least_seconds;
}

double expected_batch_seconds(const Profile& profile, const Work& work, const Work& largest,
                              int ranks) {
    const double of_one_rank = profile.seconds * profile.ranks;
    const double seconds =
        of_one_rank * (work.over(profile.work) / ranks + largest.over(profile.work));
    return margin * seconds + least_seconds;
}

} // namespace runner::slurm
