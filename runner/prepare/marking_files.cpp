// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/marking_files.hpp"

namespace runner {

DatasetLayout MarkingFiles::layout(const std::string& file, const std::string& dataset) {
    DatasetLayout layout = files_.layout(file, dataset);
    marks_.insert(layout.files.begin(), layout.files.end());
    return layout;
}

bool MarkingFiles::has_dataset(const std::string& file, const std::string& dataset) {
    return files_.has_dataset(file, dataset);
}

std::vector<std::string> MarkingFiles::object_names(const std::string& file) {
    return files_.object_names(file);
}

AttributeList MarkingFiles::root_attributes(const std::string& file) {
    return files_.root_attributes(file);
}

std::string MarkingFiles::record_facts(const std::string& file,
                                       const std::vector<std::string>& elsewhere) {
    return files_.record_facts(file, elsewhere);
}

FileContent MarkingFiles::content(const std::string& file, const std::string& dataset) {
    return files_.content(file, dataset);
}

std::unique_ptr<RowReader> MarkingFiles::open(const DatasetLayout& layout, int threads) {
    return files_.open(layout, threads);
}

void MarkingFiles::store_chunks(const std::string& file, const std::string& dataset,
                                const std::vector<PackedChunk>& chunks) {
    files_.store_chunks(file, dataset, chunks);
}

} // namespace runner
