// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/row_writers.hpp"

#include "base/error.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/rows/dense_rows.hpp"

namespace runner {

std::unique_ptr<RowWriter> open_contiguous_writer(const OutputDataset& output, int threads) {
    const DatasetInfo info =
        of_output([&] { return inspect_dataset(output.file, output.dataset); });
    if (!info.offset || info.array != output.array) {
        refuse_changed_output(output.file);
    }
    return open_plain_writer(output, *info.offset, threads);
}

} // namespace runner
