// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/raw_rows.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <utility>

namespace runner {

std::unique_ptr<RowReader> open_raw_rows(const std::string& file, DenseLayout layout, int threads) {
    constexpr const char* what = "cannot read the raw file";
    std::unique_ptr<ByteSource> source = open_plain_source(file);
    check_readable_shape(layout.array, file, what);
    layout.storage = "raw";
    const std::int64_t rest = *source->size() - layout.offset;
    if (const std::int64_t bytes = byte_count(layout.array); bytes < rest) {
        layout.notes.push_back(
            format_error({"more follows the elements", file,
                          fmt::format("{} bytes after the {} of {} {}", rest - bytes, bytes,
                                      name_of(layout.array.type), shape_text(layout.array.shape)),
                          "If that is not what you expect, check --shape, --dtype and --offset"}));
    }
    return open_dense_rows(std::move(source), file, what, std::move(layout), threads);
}

} // namespace runner
