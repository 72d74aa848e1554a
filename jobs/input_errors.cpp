// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/input_errors.hpp"

#include "base/text.hpp"

#include "base/text.hpp"

#include <filesystem>

namespace runner {

Error empty_input(const std::vector<std::int64_t>& shape, const std::string& try_this) {
    return {ExitCode::input,
            {"the input holds no elements", "input.dataset", "its shape is " + shape_text(shape),
             try_this}};
}

void refuse_empty(const std::vector<std::int64_t>& shape, const std::string& try_this) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
        throw empty_input(shape, try_this);
    }
}

std::string convert_command(const InputDataset& source, const std::string& suffix) {
    const std::filesystem::path file(source.file);
    const std::filesystem::path made =
        file.parent_path() / (file.stem().string() + "-" + suffix + ".h5");
    const std::string dataset =
        source.dataset.starts_with('/') ? source.dataset : "/" + source.dataset;
    return "runner convert " + shell_word(source.file + ":" + dataset) + " " +
           shell_word(made.string() + ":" + dataset);
}

std::string convert_hint(const InputDataset& source, const std::string& type) {
    return source.file.empty()
               ? "Generate it as " + type
               : "Convert it: " + convert_command(source, type) + " --dtype " + type;
}

} // namespace runner
