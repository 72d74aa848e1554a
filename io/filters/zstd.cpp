// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/zstd.hpp"

#include "base/error.hpp"

#include <zstd.h>
#include <zstd_errors.h>

namespace runner {

std::size_t pack_zstd(Bytes from, std::span<std::byte> to, ZSTD_CCtx_s& context, int level) {
    const std::size_t bytes =
        ZSTD_compressCCtx(&context, to.data(), to.size(), from.data(), from.size(), level);
    if (ZSTD_getErrorCode(bytes) == ZSTD_error_memory_allocation) {
        throw out_of_host_memory("zstd");
    }
    if (ZSTD_isError(bytes) != 0) {
        throw Error(ExitCode::defect,
                    {"cannot compress a chunk", "zstd", ZSTD_getErrorName(bytes), ""});
    }
    return bytes;
}

} // namespace runner
