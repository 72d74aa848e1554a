// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report/job_counts.hpp"

#include "base/error.hpp"
#include "jobs/counted_rows.hpp"
#include "jobs/stream_job.hpp"

#include <charconv>
#include <memory>
#include <sstream>
#include <variant>

namespace runner {

namespace {

bool is_of_nans(const std::string& name) { return name.find(nan_values) != std::string::npos; }

} // namespace

std::vector<std::string> doubts_of(const std::vector<JobCount>& counts) {
    std::vector<std::string> doubts;
    for (const auto& [name, value] : counts) {
        if (is_of_nans(name)) {
            doubts.push_back(format_error(
                {"whole projections are NaN in the output of phase", name,
                 "it has " + std::to_string(value) +
                     " elements that are NaN, since each of these projections has an element that "
                     "is NaN or infinite",
                 "Replace these before: NaN by a step of kind fill with rest, and input.invalid = "
                 "\"nan\""}));
        }
    }
    return doubts;
}

std::string counts_text(const std::vector<JobCount>& counts) {
    std::string text;
    for (const auto& [name, value] : counts) {
        text += name + " = " + std::to_string(value) + "\n";
    }
    return text;
}

std::vector<JobCount> counts_in(const AttributeList& attributes) {
    std::vector<JobCount> counts;
    for (const auto& [name, value] : attributes) {
        const auto* text = std::get_if<std::string>(&value);
        if (name != counts_attribute || text == nullptr) {
            continue;
        }
        std::istringstream lines(*text);
        for (std::string line; std::getline(lines, line);) {
            const std::size_t mark = line.find(" = ");
            if (mark == std::string::npos) {
                continue;
            }
            JobCount count{line.substr(0, mark)};
            const char* const last = line.data() + line.size();
            const auto [end, failure] = std::from_chars(line.data() + mark + 3, last, count.value);
            if (failure == std::errc() && end == last) {
                counts.push_back(std::move(count));
            }
        }
    }
    return counts;
}

std::vector<JobCount> all_counts(const Job& job, const std::vector<const RunTimes*>& ranks,
                                 std::vector<JobCount> before, std::int64_t earlier_rows) {
    for (JobCount& count : job.known_counts()) {
        before.push_back(std::move(count));
    }
    const auto* stream = dynamic_cast<const StreamJob*>(&job);
    if (stream == nullptr) {
        return before;
    }
    const std::vector<std::string> names = stream->counted();
    const std::shared_ptr<const StreamJob> part = stream->counting_part();
    const std::size_t complete = earlier_rows == 0 ? names.size()
                                 : part            ? part->counted().size()
                                                   : 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        JobCount sum{names[i] + (i < complete ? "" : "_of_last_run")};
        for (const RunTimes* rank : ranks) {
            sum.value += i < rank->counts.size() ? rank->counts[i] : 0;
        }
        if (sum.value != 0 || !is_of_nans(sum.name)) {
            before.push_back(std::move(sum));
        }
    }
    return before;
}

} // namespace runner
