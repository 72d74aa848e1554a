// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/dataset_layout.hpp"

#include "io/formats/rows_format.hpp"
#include "io/input/chunk_reader.hpp"
#include "io/input/positional_reader.hpp"
#include "io/input/source_rows.hpp"

namespace runner {

std::unique_ptr<RowReader> open_layout_rows(const DatasetLayout& layout, int threads) {
    switch (layout.way) {
    case DatasetLayout::Way::positions: return open_positional_reader(layout, threads);
    case DatasetLayout::Way::chunks: return open_chunk_reader(layout, threads);
    case DatasetLayout::Way::format:
        return rows_format_of(layout.holder)->open(layout.holder, threads);
    case DatasetLayout::Way::library: return nullptr;
    case DatasetLayout::Way::sources:
        return open_source_reader(layout, threads, [](const DatasetLayout& source) {
            return open_layout_rows(source, 1);
        });
    }
    return nullptr;
}

} // namespace runner
