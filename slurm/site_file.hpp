// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runner::slurm {

/// A site file as a value: what a cluster's hosts have, and how its Slurm is asked for them. If
/// parsing returned one, it is valid in itself. Docs: docs/slurm.md.
struct SiteFile {
    std::string path; ///< as given

    /// What Slurm is told of every job; empty: nothing is.
    std::string partition;
    std::string account;
    std::string qos;
    std::string constraint;
    std::string reservation;
    std::string summary_partition;    ///< for steps without GPUs; empty: the same
    std::vector<std::string> options; ///< further ones of sbatch, each as "--exclusive"

    std::vector<std::string> modules; ///< to load, in this order
    std::string program;              ///< empty: the one that submits
    std::string scratch;              ///< where the job's paths begin; empty: the working folder
    std::string logs = "logs";        ///< the folder for scripts and logs, under `scratch`
    std::vector<std::pair<std::string, std::string>> environment; ///< variables to set

    struct Node {
        int cpus = 1;                ///< that a job may have of it
        std::int64_t memory = 0;     ///< bytes that a job may have of it
        int gpus = 0;                ///< GPUs
        std::int64_t gpu_memory = 0; ///< bytes of one of them, the smallest if they differ
        std::string gpu_type;        ///< as Slurm calls it; empty: any
        bool gres = false;           ///< GPUs are asked for with --gres=gpu, not --gpus-per-node
        std::optional<int> ranks;    ///< nothing: one a GPU, or one without GPUs
    } node;

    struct Launcher {
        enum class Name { srun, mpirun } name = Name::srun;
        std::string mpi = "pmix";         ///< of srun
        std::vector<std::string> options; ///< further ones
    } launcher;

    struct Limits {
        double seconds = 0;           ///< the longest a job may take
        int nodes = 1;                ///< the most a job may have
        int array_tasks = 1000;       ///< the most an array may have
        int requeues = 20;            ///< of one job, after which exit code 75 ends it
        double stop_seconds = 3 * 60; ///< before the limit, when the job is told to stop
    } limits;
};

/// Reads and checks a site file. @throws Error (usage) with every error of the file, a line each:
/// "file:line:column: text".
SiteFile load_site_file(const std::string& path);

/// The same for a text that is at hand, with `name` for its path.
SiteFile parse_site_text(const std::string& text, const std::string& name);

} // namespace runner::slurm
