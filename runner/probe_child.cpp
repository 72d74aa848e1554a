// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe.hpp"

#include "base/sizes.hpp"
#include "io/check_dataset.hpp"
#include "io/file_content.hpp"
#include "runner/probe_limits.hpp"
#include "runner/probe_words.hpp"

#include <cerrno>
#include <new>
#include <optional>

#include <unistd.h>

namespace runner {
namespace {

constexpr const char* get_again = "Get it again from where it was made";

void look(const std::string& way, const std::string& file, const std::string& dataset,
          const InputRules& rules) {
    if (way == "read") {
        return check_dataset(file, dataset, rules);
    }
    check_way(file, dataset, rules);
    if (dataset.empty()) {
        (void)file_content(file);
    } else {
        (void)dataset_content(file, dataset);
    }
}

/// What is wrong with the input; nothing when it is good.
std::optional<Error> finding(std::span<const std::string> arguments) {
    const std::string& file = arguments[2];
    const std::string& dataset = arguments[3];
    const std::string where = dataset.empty() ? file : file + ":" + dataset;
    const ProbeLimits limits = probe_limits(file);
    try {
        enter_limits(limits);
        look(arguments[1], file, dataset, rules_from_text(arguments[4]));
        return std::nullopt;
    } catch (const Error& error) {
        if (error.code() != ExitCode::defect) {
            return error;
        }
        // Calls that HDF5 refuses for no fault but the file's.
        return Error(ExitCode::input, {"the input file is damaged", where,
                                       error.text().what + ": " + error.text().why, get_again});
    } catch (const std::bad_alloc&) {
        return Error(ExitCode::input,
                     {"the input file is damaged or malicious", where,
                      "looking at it takes more than " + size_text(limits.memory) + " of memory",
                      get_again});
    } catch (const std::exception& error) {
        return Error(ExitCode::input, {"cannot look at the input", where, error.what(), get_again});
    }
}

} // namespace

bool is_probe(std::span<const std::string> arguments) {
    return arguments.size() == 5 && arguments[0] == probe_verb;
}

ExitCode answer_probe(std::span<const std::string> arguments) {
    const std::string answer = answer_text(finding(arguments));
    for (std::size_t done = 0; done < answer.size();) {
        const ssize_t written = ::write(STDOUT_FILENO, answer.data() + done, answer.size() - done);
        if (written < 0 && errno != EINTR) {
            return ExitCode::launch;
        }
        done += written < 0 ? 0 : static_cast<std::size_t>(written);
    }
    return ExitCode::ok;
}

} // namespace runner
