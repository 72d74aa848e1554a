// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"

#include <new>
#include <system_error>
#include <utility>

namespace runner {

std::string format_error(const ErrorText& text) {
    std::string line = text.what;
    if (!text.where.empty()) {
        line += " (" + text.where + ")";
    }
    if (!text.why.empty()) {
        line += ": " + text.why;
    }
    if (!text.try_this.empty()) {
        line += (line.ends_with('.') ? " " : ". ") + text.try_this;
    }
    return line;
}

Error::Error(ExitCode code, ErrorText text)
    : std::runtime_error(format_error(text)), code_(code), text_(std::move(text)) {}

Error as_error(const std::exception& exception) {
    if (const auto* error = dynamic_cast<const Error*>(&exception)) {
        return *error;
    }
    if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr) {
        return {ExitCode::launch,
                {"host memory ran out", "", "the system gave no more",
                 "Set run.host_memory lower, or give the job more"}};
    }
    return {ExitCode::defect, {"a defect of the program", "", exception.what(), ""}};
}

std::string errno_text(int number) { return std::generic_category().message(number); }

} // namespace runner
