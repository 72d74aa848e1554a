// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/own_files.hpp"

#include "io/formats/rows_format.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/object_names.hpp"
#include "io/hdf5/record_facts.hpp"
#include "io/input/open_rows.hpp"

namespace runner {

DatasetLayout OwnFiles::layout(const std::string& file, const std::string& dataset) {
    return inspect_layout(file, dataset);
}

bool OwnFiles::has_dataset(const std::string& file, const std::string& dataset) {
    if (rows_format_of(file) != nullptr) {
        return false;
    }
    return has_link(open_hdf5(file), dataset);
}

std::vector<std::string> OwnFiles::object_names(const std::string& file) {
    return runner::object_names(file);
}

AttributeList OwnFiles::root_attributes(const std::string& file) {
    return runner::root_attributes(file);
}

std::string OwnFiles::record_facts(const std::string& file,
                                   const std::vector<std::string>& elsewhere) {
    return runner::record_facts(file, elsewhere);
}

FileContent OwnFiles::content(const std::string& file, const std::string& dataset) {
    if (dataset.empty()) {
        return file_content(file);
    }
    FileContent content;
    content.file = file;
    content.datasets.push_back(dataset_content(file, dataset));
    return content;
}

std::unique_ptr<RowReader> OwnFiles::open(const DatasetLayout& layout, int threads) {
    if (auto reader = open_layout_rows(layout, threads)) {
        return reader;
    }
    return open_rows(layout.file, layout.dataset, threads);
}

void OwnFiles::store_chunks(const std::string& file, const std::string& dataset,
                            const std::vector<PackedChunk>& chunks) {
    store_packed_chunks(file, dataset, chunks);
}

std::unique_ptr<RowReader> open_rows_of(FileAccess& files, const std::string& file,
                                        const std::string& dataset, int threads) {
    return files.open(files.layout(file, dataset), threads);
}

} // namespace runner
