// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a job file, and what follows the first zero byte as a --set: either a list of errors
// or a job, and that job, explained, is a job file that means the same.
#include "base/error.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/job_file/job_sample.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace {

/// A file in memory with one text at a time.
class TextFile {
  public:
    TextFile()
        : descriptor_(::memfd_create("job.toml", 0)),
          path_("/proc/self/fd/" + std::to_string(descriptor_)) {}

    const std::string& with(std::string_view text) const {
        if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, text.data(), text.size(),
                                                         0) != static_cast<ssize_t>(text.size())) {
            std::abort();
        }
        return path_;
    }

  private:
    int descriptor_;
    std::string path_;
};

void expect(bool condition) {
    if (!condition) {
        std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static const TextFile file;
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::string_view text = all.substr(0, all.find('\0'));
    std::vector<std::string> settings;
    if (text.size() < all.size()) {
        settings.emplace_back(all.substr(text.size() + 1));
    }
    std::string explained;
    try {
        explained = explain_job(runner::load_job_file(file.with(text), settings));
    } catch (const runner::Error& error) {
        expect(error.code() == runner::ExitCode::usage && !error.text().what.empty());
        return 0;
    }
    expect(explain_job(runner::load_job_file(file.with(explained), {})) == explained);
    return 0;
}
