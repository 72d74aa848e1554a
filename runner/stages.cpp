// SPDX-License-Identifier: BSD-3-Clause
#include "runner/stages.hpp"

namespace runner {

std::string standing_text(const RunProgress& progress) {
    std::string text;
    for (const Stage stage : {Stage::read, Stage::compute, Stage::hash, Stage::write}) {
        const auto index = static_cast<std::size_t>(stage);
        const std::int64_t begun = progress.begun[index];
        text +=
            std::string(text.empty() ? "" : ", ") + std::string(stage_names[index]) +
            (begun == 0 ? " not begun"
                        : " at " + std::string(progress.unit) + " " + std::to_string(begun - 1));
    }
    return text;
}

} // namespace runner
