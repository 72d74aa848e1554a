// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/open_rows.hpp"
#include "io/output/assemble_output.hpp"
#include "io/output/create_output.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/shards.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace runner {

/// Makes a file with one dataset of these values.
template <class T>
void write_dataset(const std::string& file, const std::string& dataset,
                   const std::vector<std::int64_t>& shape, const std::vector<T>& values,
                   const OutputLayout& layout = {}) {
    const OutputDataset output{file, dataset, {element_type_of<T>(), shape}, layout};
    create_output(output);
    const auto writer = open_output_rows(output, 0, 1);
    writer->write(0, row_count(output.array), reinterpret_cast<const std::byte*>(values.data()));
    writer->finish(RowWriter::Sync::no);
    assemble_output(output);
    remove_shards(output);
}

/// All values of a dataset, which must be of that type.
template <class T>
std::vector<T> read_dataset(const std::string& file, const std::string& dataset) {
    const auto reader = open_rows(file, dataset, 1);
    const ArrayInfo& array = reader->info().array;
    std::vector<T> values(static_cast<std::size_t>(element_count(array)));
    reader->read(0, row_count(array), reinterpret_cast<std::byte*>(values.data()));
    return values;
}

} // namespace runner
