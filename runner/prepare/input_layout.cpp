// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/input_layout.hpp"

#include "io/input/stack.hpp"
#include "io/rows/dense_rows.hpp"

#include <utility>
#include <vector>

namespace runner {
namespace {

DatasetLayout raw_layout(const std::string& file, const std::string& dataset,
                         const DenseLayout& raw) {
    DatasetLayout layout{file, dataset, file, {}, DatasetLayout::Way::positions};
    add_mark(layout.files, file);
    layout.info = open_raw_rows(file, raw, 1)->info();
    return layout;
}

} // namespace

DatasetLayout input_layout(const JobFile::Input& input, FileAccess& files) {
    if (!input.raw) {
        return files.layout(input.file, input.dataset);
    }
    if (!is_stack(input.file)) {
        return raw_layout(input.file, input.dataset, *input.raw);
    }
    std::vector<DatasetLayout> frames;
    for (const std::string& file : stack_files(input.file)) {
        frames.push_back(raw_layout(file, input.dataset, *input.raw));
    }
    return join_stack(input.file, input.dataset, std::move(frames));
}

} // namespace runner
