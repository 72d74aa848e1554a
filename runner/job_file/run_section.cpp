// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/job_sections.hpp"

#include "runner/job_file/job_file.hpp"
#include "runner/job_file/table_values.hpp"

#include <array>
#include <limits>

namespace runner {
namespace {

constexpr std::int64_t most_lanes = 64;
constexpr std::int64_t most_io_threads = 256;
constexpr std::int64_t most_halo_depth = 65536;

} // namespace

JobFile::Run parse_run(TableReader& top) {
    JobFile::Run run;
    std::optional<TableReader> table = top.table("run");
    if (!table) {
        return run;
    }
    constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
    const std::optional<std::size_t> backend =
        table->choice("backend", {backend_names.begin(), backend_names.end()});
    run.backend = static_cast<BackendChoice>(backend.value_or(0));
    run.host_memory = parse_memory(*table, "host_memory");
    run.device_memory = parse_memory(*table, "device_memory");
    run.chunk_rows = parse_count(*table, "chunk_rows", any);
    run.lanes = parse_count(*table, "lanes", most_lanes);
    run.io_threads = parse_count(*table, "io_threads", most_io_threads);
    run.halo_depth = parse_count(*table, "halo_depth", most_halo_depth);
    const std::optional<std::size_t> halo =
        table->choice("halo_exchange", {"auto", "direct", "staged"});
    run.halo_exchange =
        std::array{HaloChoice::automatic, HaloChoice::direct, HaloChoice::staged}.at(
            halo.value_or(0));
    const std::optional<std::size_t> resume =
        table->choice("resume", {resume_names.begin(), resume_names.end()});
    run.resume = static_cast<ResumeChoice>(resume.value_or(0));
    const std::optional<std::size_t> check = table->choice("resume_check", {"few", "all"});
    run.resume_check = check == 1 ? RowCheck::all : RowCheck::few;
    run.commit_seconds = parse_seconds(*table, "commit_seconds", run.commit_seconds);
    run.stall_seconds = parse_seconds(*table, "stall_seconds", run.stall_seconds);
    table->finish();
    return run;
}

} // namespace runner
