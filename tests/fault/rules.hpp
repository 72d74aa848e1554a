// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

namespace fault {

/// What a rule does to the call it picks.
enum class Action {
    none,
    fail,  ///< the call does nothing and says an errno value
    half,  ///< a read or write moves half of its bytes
    eof,   ///< a read finds the file's end
    torn,  ///< a write moves half of its bytes, then the process is killed
    kill,  ///< the process is killed before the call
    stop,  ///< the process is stopped before the call (SIGSTOP) and runs on when continued
    delay, ///< the call comes some microseconds later
    hold,  ///< the call waits until a test lets it go; other threads run
    log,   ///< only FAULT_LOG tells
};

/// The rules come from the environment:
///
///   FAULT=RULE;RULE…   RULE is FUNCTION,FUNCTION…:ACTION@WHEN, and :WHERE if need be
///
/// FUNCTION  read, pread, write, pwrite, fsync, fdatasync, close, open, rename, link, unlink,
///           mkdir, fallocate, ftruncate, mmap, lock, spawn, malloc. Variants belong to them:
///           openat to open, renameat2 to rename, flock and fcntl's locks to lock. Two are parts of
///           others: create, each open that may make the file; rename_new, each renameat2 with
///           flags.
/// ACTION    the name of an errno value (ENOSPC), or short, eof, torn, kill, stop, log, delay=µS,
///           hold=FILE: creates FILE.PID and waits until that is removed
/// WHEN      17: the 17th of the calls that the rule is for; 17+: it and all later ones; /3: every
///           third; *: all
/// WHERE     a part of the file's path (of malloc: of the library that calls it), then, or alone,
///           >=BYTES: only calls that are about as many bytes
///
///   FAULT_RANK=N       only in the process that Open MPI or Slurm started as rank N
///   FAULT_LOG=FILE     gets a line for each call that a rule picked: "FUNCTION ACTION K PATH"
///
/// Each process counts by itself. A rule that cannot be understood ends the process.
struct Rule {
    std::string_view functions;
    std::string_view action_text;
    Action action = Action::none;
    long number = 0;            ///< errno value or microseconds
    std::string_view hold_file; ///< of a hold: the path before .PID
    long first = 1;
    long every = 0; ///< 1: all from the first on
    std::string_view path;
    std::size_t least_bytes = 0;
    std::atomic<long> calls = 0;
};

/// The rules of this process, read once; none in ranks they are not for.
std::array<Rule, 8>& rules();

/// The rule that picks this call, if any, once it is logged; a process to be killed or stopped has
/// been. `descriptor` names the file where `path` is null. Neither may be there.
const Rule* pick(std::string_view function, const char* path, int descriptor, std::size_t bytes);

/// SIGKILL for this process, at once.
[[noreturn]] void kill_process();

/// The absolute path of an open file; empty where there is none. At most 4095 characters.
std::string_view path_of(int descriptor, std::array<char, 4096>& buffer);

} // namespace fault
