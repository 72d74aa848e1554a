// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/part_run.hpp"

#include "base/format.hpp"
#include "base/json.hpp"
#include "base/sizes.hpp"
#include "io/files/text_file.hpp"
#include "runner/engines/survey_input.hpp"
#include "runner/messages.hpp"
#include "runner/page/report_check.hpp"
#include "runner/watch/stop.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace runner::trial {
namespace {

[[noreturn]] void fail_start(int number) {
    throw Error(ExitCode::launch, {"cannot start the run on a part", "posix_spawn",
                                   errno_text(number), "See 'ulimit -u' and 'ulimit -n'"});
}

/// Sends a child's standard output and error to a file, and gives it no input.
class Redirection {
  public:
    explicit Redirection(const std::string& file) {
        int failure = ::posix_spawn_file_actions_init(&actions_);
        const auto add = [&](int result) { failure = failure == 0 ? result : failure; };
        constexpr int mode = 0600;
        add(::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
        add(::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, file.c_str(),
                                               O_WRONLY | O_CREAT | O_TRUNC, mode));
        add(::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO));
        if (failure != 0) {
            fail_start(failure);
        }
    }
    Redirection(const Redirection&) = delete;
    Redirection& operator=(const Redirection&) = delete;
    ~Redirection() { ::posix_spawn_file_actions_destroy(&actions_); }

    const posix_spawn_file_actions_t* actions() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_{};
};

pid_t start(std::vector<std::string> words, const std::string& messages) {
    const Redirection redirection(messages);
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    pid_t child = 0;
    const int failure = ::posix_spawn(&child, "/proc/self/exe", redirection.actions(), nullptr,
                                      pointers.data(), environ);
    if (failure != 0) {
        fail_start(failure);
    }
    return child;
}

/// Waits for the child and returns its exit code. Passes on signals that this process gets.
ExitCode wait_for(pid_t child) {
    int status = 0;
    int passed_on = 0;
    for (;;) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) {
            break;
        }
        if (!signal_received(passed_on + 1).empty()) {
            ++passed_on;
            ::kill(child, SIGTERM);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (!signal_received(1).empty()) {
        return ExitCode::stopped;
    }
    if (WIFSIGNALED(status)) { // it could not say why itself
        throw Error(ExitCode::launch,
                    {"the run on a part was killed", "signal " + std::to_string(WTERMSIG(status)),
                     "another process or the system killed it",
                     "See the system's log; if memory ran out, lower run.host_memory"});
    }
    return static_cast<ExitCode>(WEXITSTATUS(status));
}

/// A pass, or the only rank of a run of one pass.
MeasuredPass read_pass(const Json& json) {
    MeasuredPass pass;
    pass.stream_seconds = json.at("stream_seconds").get<double>();
    for (std::size_t i = 0; i < stage_count; ++i) {
        if (const Json* const stage = json.at("stages").find(stage_names.at(i))) {
            pass.busy_seconds.at(i) = stage->at("busy_seconds").get<double>();
        }
    }
    return pass;
}

/// What the run did beside its streams.
void read_rest(const Json& report, MeasuredRun& run) {
    double before = 0; // until the first stream
    double all = 0;
    double waited = 0; // for surveys
    bool is_before = true;
    for (const Json& phase : report.at("phases").values()) {
        const auto name = phase.at("phase").get<std::string>();
        const double seconds = phase.at("seconds").get<double>();
        all += seconds;
        is_before = is_before && name != "stream";
        if (name == survey_phase) {
            waited += seconds;
        } else if (is_before) {
            before += seconds;
        }
    }
    run.start_seconds = before;
    run.survey_seconds = std::max(waited, report.value("survey_seconds", 0.0));
    run.survey_hidden_seconds = run.survey_seconds - waited;
    run.finish_seconds = all - before - waited;
    for (const MeasuredPass& pass : run.passes) {
        run.finish_seconds -= pass.stream_seconds;
    }
    run.finish_seconds = std::max(0.0, run.finish_seconds);
}

PartReport read_report(const std::string& file) {
    constexpr std::int64_t most_bytes = 256 * MiB;
    try {
        const Json report = Json::parse(read_text_file(file, most_bytes));
        const Json& rank = report.at("ranks").at(0);
        const Json& memory = report.at("plan").at("memory_per_rank");
        PartReport part;
        const bool is_cuda = report.at("plan").at("backend").get<std::string>() == "cuda";
        part.backend = is_cuda ? Backend::cuda : Backend::cpu;
        part.device = rank.at("device").get<std::string>();
        part.device_limit = memory.value("device_limit_bytes", std::int64_t{0});
        const Json* const passes = report.find("passes");
        if (passes != nullptr && passes->values().size() > 1) {
            for (const Json& pass : passes->values()) {
                part.run.passes.push_back(read_pass(pass));
            }
        } else {
            part.run.passes.push_back(read_pass(rank));
        }
        read_rest(report, part.run);
        return part;
    } catch (const JsonError& error) {
        throw no_report_in(file, error.what());
    }
}

} // namespace

PartReport PartRunner::run(const std::vector<std::string>& settings) {
    const std::string report = folder_.file("report.json");
    const std::string messages = folder_.file("messages.txt");
    std::vector<std::string> words = {"runner", "run", job_, "--quiet", "--report", report};
    for (const std::string& setting : settings) {
        words.emplace_back("--set");
        words.push_back(setting);
    }
    const ExitCode code = wait_for(start(std::move(words), messages));
    if (code == ExitCode::stopped) {
        say("stopped: nothing is kept of the trial\n");
        throw PartFailed(code);
    }
    std::istringstream lines(read_text_file(messages, 16 * MiB));
    for (std::string line; std::getline(lines, line);) {
        if (printed_.insert(line).second) {
            say(line + "\n");
        }
    }
    if (code != ExitCode::ok) {
        throw PartFailed(code);
    }
    return read_report(report);
}

} // namespace runner::trial
