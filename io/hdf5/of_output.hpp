// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <string>
#include <utility>

namespace runner {

/// What `step` returns. The output is inspected and read by what reads inputs: where that fails the
/// Error is one of output here.
template <class Step> auto of_output(Step step) {
    try {
        return step();
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
        ErrorText text = error.text();
        if (const std::size_t at = text.what.find("the input"); at != std::string::npos) {
            text.what.replace(at, 9, "the output");
        }
        throw Error(ExitCode::output, std::move(text));
    }
}

} // namespace runner
