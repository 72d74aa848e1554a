// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

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
        throw Error(ExitCode::output, error.text());
    }
}

} // namespace runner
