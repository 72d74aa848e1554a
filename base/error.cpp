// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"

#include "base/limits.hpp"
#include "base/text.hpp"

#include <system_error>
#include <utility>

namespace runner {

std::string format_error(const ErrorText& text) {
    std::string line = printable_lines(text.what);
    if (!text.where.empty()) {
        line += " (" + printable(text.where) + ")";
    }
    if (!text.why.empty()) {
        line += ": " + printable(text.why);
    }
    if (!text.try_this.empty()) {
        line += (line.ends_with('.') ? " " : ". ") + printable(text.try_this);
    }
    return line;
}

Error::Error(ExitCode code, ErrorText text)
    : std::runtime_error(format_error(text)), code_(code), text_(std::move(text)) {}

OutOfMemory out_of_host_memory(const std::string& where) {
    return {ExitCode::launch,
            {"cannot take host memory", where,
             memory_limit_text().empty() ? "the machine or the process' limit has no more"
                                         : "the machine has no more, or " + memory_limit_text(),
             "Set run.host_memory lower, or ask for more memory"}};
}

std::string errno_text(int number) { return std::generic_category().message(number); }

} // namespace runner
