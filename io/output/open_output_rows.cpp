// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/open_output_rows.hpp"

#include "base/error.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/sand_writer.hpp"
#include "io/output/create_output.hpp"
#include "io/writers/row_writers.hpp"
#include "io/writers/shards.hpp"

#include <string>

namespace runner {

std::unique_ptr<RowWriter> open_output_rows(const OutputDataset& output, int rank, int threads,
                                            std::int64_t generation) {
    if (output.layout.format == FileFormat::sand) {
        return open_sand_writer(output, threads);
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
    const RowsFormat* format = rows_format_of(output.file);
    if (format != nullptr && format->make != nullptr) {
        return format->make(output, threads);
    }
    if (format != nullptr && output.layout.format != FileFormat::sand) {
        throw Error(ExitCode::usage, {"cannot make the file", output.file,
                                      std::string(format->name) + " files are not made so",
                                      "Make an HDF5 file and use runner convert"});
    }
    create_output(output);
    return open_output_rows(output, 0, threads);
}

} // namespace runner
