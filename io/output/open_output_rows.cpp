// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/open_output_rows.hpp"

#include "io/formats/rows_format.hpp"
#include "io/output/create_output.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/row_writers.hpp"
#include "io/writers/shards.hpp"

#include <string>

namespace runner {

std::unique_ptr<RowWriter> open_output_rows(const OutputDataset& output, int rank, int threads,
                                            std::int64_t generation) {
    if (!output.layout.is_hdf5()) {
        return output.layout.format->open_writer(output, threads);
    }
    if (output.parts.several()) {
        return open_parts_writer(output, threads);
    }
    if (!output.fields.empty()) {
        return open_fields_writer(output, threads);
    }
    if (output.layout.chunk.empty()) {
        return open_contiguous_writer(output, threads);
    }
    return output.layout.compression == Compression::none
               ? open_chunk_writer(output, threads)
               : open_packed_writer(output, threads, shard_path(output, rank, generation));
}

std::unique_ptr<RowWriter> make_rows(const OutputDataset& output, int threads) {
    OutputDataset made = output;
    made.layout.format = written_format_of(output.file);
    create_output(made);
    return open_output_rows(made, 0, threads);
}

} // namespace runner
