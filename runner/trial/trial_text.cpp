// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/trial_text.hpp"

#include "base/array_info.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "jobs/toml_text.hpp"
#include "runner/page/report_numbers.hpp"

#include <algorithm>

namespace runner::trial {
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
    if (command.halve) { // both ends are the sweep that the halving begins with
        const HalvedKey key = parse_halved_key(*command.halve);
        settings.push_back(
            fmt::format("sweep.{}=[{}, {}]", key.key, key.text(key.weak), key.text(key.strong)));
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

std::string part_line(const TriedJob& job, const TriedPart& part) {
    constexpr double percent = 100;
    const auto whole = static_cast<double>(checked_product(job.whole.shape));
    return fmt::format(
               "Part {} of {}: {} elements, {} % of the input.", part.box.text(),
               shape_text(job.whole.shape), part.box.elements(),
               decimal_text(percent * static_cast<double>(part.box.elements()) / whole, 3)) +
           (job.generations() > 0
                ? fmt::format(" Generations: {} of {}.", part.generations, job.generations())
                : "");
}

std::string exact_line(const TriedJob& job, const TriedPart& part,
                       const std::optional<Box>& exact) {
    if (!job.why_inexact.empty()) {
        return "Not equal to the whole job's output: " + job.why_inexact + ".";
    }
    if (!exact) {
        return "Not equal to the whole job's output: all of the part lies within reach of the "
               "cut.";
    }
    if (part.generations < job.generations()) {
        return fmt::format("The state after {} is, to the byte, that which the whole job passes "
                           "through.",
                           counted(part.generations, "generation"));
    }
    return "Input elements " + exact->text() +
           " become what the whole job makes of them, to the byte" +
           (*exact == part.box ? "." : "; the others were computed with the border of the cut.");
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

std::string choice_text(const TryCommand& command, const HalvedKey& key,
                        const Bisection& bisection) {
    if (bisection.chosen() == key.weak && bisection.too_strong() == key.strong) {
        return "No choice: the search ended before the first answer\n";
    }
    const std::string chosen = key.setting(bisection.chosen());
    std::string write = "runner try " + shell_word(command.job) + " --sweep " + shell_word(chosen);
    for (const std::string& setting : command.settings) {
        write += " --set " + shell_word(setting);
    }
    return "Chosen: " + chosen + "; " + key.text(bisection.too_strong()) + " is too strong\n" +
           whole_job_line(command, {chosen}) + "\n" + write + " --pick 1\n" +
           "  writes it into the job file\n";
}

std::string no_choice_text(bool is_too_strong, const HalvedKey& key) {
    return is_too_strong ? "No choice: " + key.setting(key.weak) +
                               " removes structure already. Begin with a weaker value\n"
                         : "No choice: up to " + key.setting(key.strong) +
                               " the job removes noise alone. End with a stronger value\n";
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

} // namespace runner::trial
