// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>

namespace runner {

/// Makes a system call again for as long as a signal interrupts it. Not for close(): after EINTR
/// Linux has closed the descriptor, and another thread may have taken its number.
/// @returns what `call` did: negative, with errno, for any other failure.
template <class Call> auto uninterrupted(Call call) {
    for (;;) {
        const auto result = call();
        if (result >= 0 || errno != EINTR) {
            return result;
        }
    }
}

} // namespace runner
