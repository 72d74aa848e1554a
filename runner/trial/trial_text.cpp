// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/trial_text.hpp"

#include "base/array_info.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "jobs/toml_text.hpp"
#include "runner/page/report_numbers.hpp"

#include <algorithm>

namespace runner {
namespace {

/// Whether a setting leaves out the last steps of a pipeline.
bool leaves_out_steps(const std::string& setting) { return setting.starts_with("until"); }

} // namespace

std::vector<std::string> settings_of(const TryCommand& command) {
    std::vector<std::string> settings = command.settings;
    if (command.backend) {
        settings.push_back("run.backend=" + toml_text(name_of(*command.backend)));
    }
    for (const std::string& sweep : command.sweep) {
        const std::size_t equals = std::min(sweep.find('='), sweep.size());
        const std::string values = sweep.substr(std::min(equals + 1, sweep.size()));
        settings.push_back("sweep." + sweep.substr(0, equals) + "=[" + values + "]");
    }
    return settings;
}

std::size_t first_swept_step(const JobFile& file) {
    if (!file.pipeline || file.sweep.empty()) {
        return 0;
    }
    const std::vector<StepParameters>& steps = file.pipeline->steps();
    std::size_t first = steps.size();
    for (const JobFile::SweptKey& swept : file.sweep) {
        const std::string place = swept.key.substr(swept.key.find('.') + 1);
        const std::string name = place.substr(0, place.find('.'));
        const auto found = std::find_if(steps.begin(), steps.end(), [&](const auto& step) {
            return step.name == name || std::to_string(step.number) == name;
        });
        first = std::min(first, static_cast<std::size_t>(found - steps.begin()));
    }
    return first < steps.size() ? first : 0;
}

std::string part_line(const TriedJob& job, const Box& part) {
    constexpr double percent = 100;
    const auto whole = static_cast<double>(checked_product(job.whole.shape));
    return fmt::format("Part {} of {}: {} elements, {} % of the input.", part.text(),
                       shape_text(job.whole.shape), part.elements(),
                       decimal_text(percent * static_cast<double>(part.elements()) / whole, 3));
}

std::string exact_line(const TriedJob& job, const Box& part, const std::optional<Box>& exact) {
    if (!job.why_inexact.empty()) {
        return "Not equal to the whole job's output: " + job.why_inexact + ".";
    }
    if (!exact) {
        return "Not equal to the whole job's output: all of the part lies within reach of the "
               "cut.";
    }
    return "Input elements " + exact->text() +
           " become what the whole job makes of them, to the byte" +
           (*exact == part ? "." : "; the others were computed with the border of the cut.");
}

std::string whole_job_line(const TryCommand& command, const std::vector<std::string>& combination) {
    std::string line = "runner " + shell_word(command.job);
    const auto add = [&](const std::vector<std::string>& settings) {
        for (const std::string& setting : settings) {
            line += leaves_out_steps(setting) ? "" : " --set " + shell_word(setting);
        }
    };
    add(command.settings);
    add(combination);
    if (command.backend) {
        line += fmt::format(" --backend {}", name_of(*command.backend));
    }
    return line;
}

std::string what_is_predicted(const TryCommand& command) {
    return std::any_of(command.settings.begin(), command.settings.end(), leaves_out_steps)
               ? "whole input up to that step"
               : "whole job";
}

std::string sweep_heading(const std::vector<std::string>& combination) {
    std::string text;
    for (const std::string& setting : combination) {
        text += (text.empty() ? "" : ", ") + setting;
    }
    return text;
}

} // namespace runner
