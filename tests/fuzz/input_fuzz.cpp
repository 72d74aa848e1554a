// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files with some bytes changed, probed and read as a job's input is, in a child process as
// there. What is fuzzed is the changes, so that almost every file is still one: the first byte
// picks a file of the folder in RUNNER_FUZZ_FILES, and each three bytes more are a place and what
// is laid over it (a place from 0xff00 on cuts the file off).
//
// HDF5 1.10 crashes and loops on damaged files (docs/adr/0014); that is what the process that reads
// their structure is for, and no finding there. Findings are
// - crashes and sanitizer reports of it where the code nearest to them is ours,
// - any crash, endless loop, sanitizer report, or exception other than an Error of the input, in
//   what a run does with the layout that it hands over, and layouts that contradict themselves.
#include "base/error.hpp"
#include "io/input/check_dataset.hpp"
#include "io/input/layout_message.hpp"
#include "io/input/open_rows.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/rows/rows.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// Clang's counters of what code ran, by names that the linker gives them (CMakeLists.txt).
extern "C" unsigned char counters_begin;
extern "C" unsigned char counters_end;

namespace {

enum Outcome : int {
    refused = 10,
    read_whole = 11,
    too_large = 12,
    by_hdf5 = 13,
    fault_of_hdf5 = 20,
    ours = 21
};

/// Whether the probe has let the file pass, in this child.
bool& passed() {
    static bool value = false;
    return value;
}

/// What the child's counters say reaches the fuzzer, in its parent, through shared memory.
class SharedCounters {
  public:
    SharedCounters()
        : count_(static_cast<std::size_t>(&counters_end - &counters_begin)),
          shared_(
              ::mmap(nullptr, count_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        if (shared_ == MAP_FAILED) {
            std::abort();
        }
    }

    static const SharedCounters& of_process() {
        static const SharedCounters counters;
        return counters;
    }

    void give() const { std::memcpy(shared_, &counters_begin, count_); }
    void take() const { std::memcpy(&counters_begin, shared_, count_); }

  private:
    std::size_t count_;
    void* shared_;
};

[[noreturn]] void end_child(Outcome outcome) {
    if (outcome == fault_of_hdf5 && passed()) {
        (void)std::fputs("input_fuzz: HDF5 fails over a file that the probe let pass\n", stderr);
        outcome = ours;
    }
    SharedCounters::of_process().give();
    ::_exit(outcome);
}

bool is_hdf5(const char* module) { return std::strstr(module, "libhdf5") != nullptr; }
/// Ours, by its name, which the linker keeps (CMakeLists.txt): the sanitizer's functions, which lie
/// in the same program, and the C library's stand for whoever called them.
bool is_ours(const Dl_info& info) {
    return info.dli_sname != nullptr && std::strstr(info.dli_sname, "6runner") != nullptr;
}

/// Whose code a signal hit.
void judge_signal(int) {
    std::array<void*, 64> frames{};
    const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
    for (int i = 2; i < count; ++i) { // past backtrace() and this function
        Dl_info info{};
        if (::dladdr(frames[static_cast<std::size_t>(i)], &info) == 0) {
            continue;
        }
        if (is_ours(info)) {
            ::backtrace_symbols_fd(frames.data(), count, 2);
            end_child(ours);
        }
        if (is_hdf5(info.dli_fname)) {
            end_child(fault_of_hdf5);
        }
    }
    end_child(fault_of_hdf5); // a stack that HDF5 has spoilt
}

/// The same of a sanitizer's report: HDF5 among the innermost frames of its first stack.
void judge_report(const char* report) {
    std::string_view text(report);
    const std::size_t first = text.find("#0 ");
    text = text.substr(std::min(first, text.size()), text.find("\n\n", first) - first);
    const std::size_t fourth = text.find("#4 ");
    if (text.substr(0, fourth).find("libhdf5") != std::string_view::npos) {
        end_child(fault_of_hdf5);
    }
    (void)std::fputs(report, stderr);
    end_child(ours);
}

void judge_death() { end_child(ours); }

void become_child() {
    (void)::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO); // the probe lists chunks there
    __sanitizer_set_death_callback(judge_death);
    __asan_set_error_report_callback(judge_report);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        (void)std::signal(number, judge_signal);
    }
    (void)std::signal(SIGXCPU, SIG_DFL);
    (void)std::signal(SIGALRM, [](int) { end_child(fault_of_hdf5); });
    const struct rlimit seconds = {1, 2};
    (void)::setrlimit(RLIMIT_CPU, &seconds);
    (void)::alarm(5);
}

void expect(bool condition, const char* text) {
    if (!condition) {
        (void)std::fprintf(stderr, "input_fuzz: not so: %s\n", text);
        end_child(ours);
    }
}

Outcome look_and_read(const std::string& file) {
    const std::string message = runner::encode_layout(runner::check_dataset(file, "/d", {}));
    passed() = true;
    runner::DatasetLayout layout = runner::decode_layout(message);
    layout.file = file;
    layout.dataset = "/d";
    runner::check_layout(layout, {});
    const std::unique_ptr<runner::RowReader> reader = runner::open_layout_rows(layout, 1);
    if (!reader) {
        return by_hdf5; // in a process of its own again
    }
    const runner::DatasetInfo& info = reader->info();
    const std::int64_t bytes = byte_count(info.array);
    expect(!info.array.shape.empty() && bytes > 0, "it has elements");
    expect(info.chunk.empty() || info.chunk.size() == info.array.shape.size(), "a chunk's axes");
    expect(!info.offset || *info.offset >= 0, "an offset is one");
    expect(runner::reader_bytes(info, 1) >= 0, "memory is counted");
    if (bytes > 1 << 20) {
        return too_large;
    }
    std::vector<std::byte> all(static_cast<std::size_t>(bytes));
    const auto rows =
        bytes / (info.array.shape.size() > 1
                     ? info.array.shape.back() * static_cast<std::int64_t>(size_of(info.array.type))
                     : static_cast<std::int64_t>(size_of(info.array.type)));
    reader->read(0, rows, all.data());
    return read_whole;
}

[[noreturn]] void run_child(const std::string& file) {
    become_child();
    try {
        end_child(look_and_read(file));
    } catch (const runner::Error& error) {
        expect(error.code() == runner::ExitCode::input && !error.text().what.empty(), error.what());
        end_child(refused);
    } catch (const std::exception& error) {
        expect(false, error.what());
    }
    end_child(ours);
}

} // namespace

extern "C" const char* __asan_default_options() { // NOLINT(bugprone-reserved-identifier)
    return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:"
           "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1024";
}

namespace {

std::vector<std::string> read_files() {
    const char* folder = std::getenv("RUNNER_FUZZ_FILES");
    if (folder == nullptr) {
        (void)std::fputs("input_fuzz: set RUNNER_FUZZ_FILES (scripts/fuzz does)\n", stderr);
        std::exit(2);
    }
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> files;
    for (const auto& path : paths) {
        std::ifstream stream(path, std::ios::binary);
        files.emplace_back(std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>());
    }
    try {
        (void)runner::inspect_dataset(paths.at(0), "/none"); // HDF5 starts once, not in each child
    } catch (const runner::Error&) {
        return files;
    }
    return files;
}

/// How the children ended, told at the end, so that it shows what was fuzzed.
class Tally {
  public:
    Tally() = default;
    Tally(const Tally&) = delete;
    Tally& operator=(const Tally&) = delete;
    ~Tally() {
        (void)std::fprintf(stderr,
                           "input_fuzz: %ld refused, %ld read whole, %ld larger than 1 MiB, "
                           "%ld left to HDF5, %ld faults of HDF5, %ld out of time\n",
                           counts_[0], counts_[1], counts_[2], counts_[3], counts_[4], counts_[5]);
    }

    void count(int status) {
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        ++counts_[code == refused         ? 0
                  : code == read_whole    ? 1
                  : code == too_large     ? 2
                  : code == by_hdf5       ? 3
                  : code == fault_of_hdf5 ? 4
                                          : 5];
    }

  private:
    std::array<long, 6> counts_{};
};

/// One file on disk (HDF5 wants a real path), gone at the end.
class InputFile {
  public:
    InputFile() : path_("/dev/shm/input_fuzz_XXXXXX"), descriptor_(::mkstemp(path_.data())) {}
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile() { (void)::unlink(path_.c_str()); }

    const std::string& with(const std::string& bytes) const {
        if (::ftruncate(descriptor_, 0) != 0 ||
            ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) != std::ssize(bytes)) {
            std::abort();
        }
        return path_;
    }

  private:
    std::string path_;
    int descriptor_;
};

std::string changed_file(std::span<const unsigned char> changes) {
    static const std::vector<std::string> files = read_files();
    std::string file = files[changes.empty() ? 0 : changes[0] % files.size()];
    for (std::size_t i = 1; i + 2 < changes.size(); i += 3) {
        const std::size_t place = changes[i] + 256U * changes[i + 1];
        if (place < file.size()) {
            file[place] = static_cast<char>(changes[i + 2]);
        } else if (place >= 0xff00U) {
            file.resize(std::min<std::size_t>(file.size(), 32U * changes[i + 2]));
        }
    }
    return file;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static const InputFile input;
    const std::string& file = input.with(changed_file({data, size}));
    SharedCounters::of_process().give();
    const pid_t child = ::fork();
    if (child == 0) {
        run_child(file);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) {
        std::abort();
    }
    SharedCounters::of_process().take();
    static Tally tally;
    tally.count(status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == ours) {
        std::abort();
    }
    return 0;
}
