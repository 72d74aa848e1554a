// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/input_rows.hpp"

#include "io/rows/file_elements.hpp"
#include "runner/probe/served_rows.hpp"

#include <utility>

namespace runner {

std::unique_ptr<RowReader> open_input_rows(const PreparedJob& prepared, int threads) {
    std::unique_ptr<RowReader> rows =
        prepared.rows ? prepared.rows(threads)
                      : open_probed_rows(prepared.layout, prepared.file.input.rules, threads);
    if (prepared.part) {
        rows = open_part(std::move(rows), *prepared.part);
    }
    return prepared.input.array.type == ElementType::float32 ? open_widened_rows(std::move(rows))
                                                             : std::move(rows);
}

} // namespace runner
