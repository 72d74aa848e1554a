// SPDX-License-Identifier: BSD-3-Clause
#include "slurm/sbatch.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "io/files/descriptor.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace runner::slurm {
namespace {

[[noreturn]] void refuse_sbatch(const std::string& why, const std::string& try_this) {
    throw Error(ExitCode::launch, {"cannot submit the job", "sbatch", why, try_this});
}

/// What a program writes, held in memory: unlike a pipe it takes all of it while nobody reads.
class Capture {
  public:
    explicit Capture(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {
        if (descriptor_ < 0) {
            refuse_sbatch(errno_text(errno), "");
        }
    }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    ~Capture() { ::close(descriptor_); }

    int descriptor() const { return descriptor_; }

    /// Without white space at its end.
    std::string text() const {
        constexpr std::size_t most = 65536;
        std::string text(most, '\0');
        const ssize_t bytes =
            uninterrupted([&] { return ::pread(descriptor_, text.data(), text.size(), 0); });
        text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
        text.resize(text.find_last_not_of(" \r\n\t") + 1);
        return text;
    }

  private:
    int descriptor_;
};

/// What is to be done with descriptors between fork and exec.
class FileActions {
  public:
    FileActions() { check(::posix_spawn_file_actions_init(&actions_)); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

    void replace(int descriptor, int with) {
        check(::posix_spawn_file_actions_adddup2(&actions_, with, descriptor));
    }
    void close_input() {
        check(
            ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
    }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    static void check(int failure) {
        if (failure != 0) {
            refuse_sbatch(errno_text(failure), "");
        }
    }

    posix_spawn_file_actions_t actions_{};
};

int wait_for(pid_t child) {
    int status = 0;
    if (uninterrupted([&] { return ::waitpid(child, &status, 0); }) < 0) {
        refuse_sbatch(errno_text(errno), "");
    }
    return status;
}

/// On one line, however the program said it.
std::string one_line(const std::string& text) {
    std::string line;
    for (const char c : text) {
        line += c == '\n' ? std::string("; ") : std::string(1, c);
    }
    return printable(line);
}

} // namespace

std::string run_sbatch(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"sbatch"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    const Capture output("sbatch output");
    const Capture errors("sbatch errors");
    FileActions actions;
    actions.close_input();
    actions.replace(STDOUT_FILENO, output.descriptor());
    actions.replace(STDERR_FILENO, errors.descriptor());
    pid_t child = 0;
    const int failure = ::posix_spawnp(&child, words.front().c_str(), actions.get(), nullptr,
                                       pointers.data(), environ);
    if (failure != 0) {
        refuse_sbatch(failure == ENOENT ? "it is not on the PATH" : errno_text(failure),
                      "Submit where Slurm is; --dry-run prints the script");
    }
    const int status = wait_for(child);
    const std::string said = errors.text();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        refuse_sbatch(said.empty() ? "it failed and said nothing" : one_line(said),
                      "Check the site file; --dry-run prints the script");
    }
    if (!said.empty()) { // a warning, or what the site tells its users
        (void)std::fputs((printable_lines(said) + "\n").c_str(), stderr);
    }
    // With several clusters "number;cluster".
    const std::string id = output.text();
    std::string number = id.substr(0, id.find(';'));
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) {
        refuse_sbatch("it did not tell the job's number but " + one_line(id), "");
    }
    return number;
}

} // namespace runner::slurm
