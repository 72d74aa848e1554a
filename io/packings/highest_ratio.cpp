// SPDX-License-Identifier: BSD-3-Clause
#include "io/packings/highest_ratio.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

namespace runner {

void check_declared_bytes(const DeclaredBytes& declared, const std::string& what,
                          const std::string& file) {
    // Divided, since the product may be beyond 2^63.
    if ((declared.unpacked - 1) / declared.ratio < declared.stored) {
        return;
    }
    throw Error(
        ExitCode::input,
        {what, file,
         fmt::format("it declares {} bytes, and its {} make {} of them at most ({}:1 by {})",
                     declared.unpacked, declared.stored, declared.stored * declared.ratio,
                     declared.ratio, declared.packing),
         "It is damaged or malicious: get it again from where it was made"});
}

} // namespace runner
