// SPDX-License-Identifier: BSD-3-Clause
#include "cli/plan_reading.hpp"

#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/rows/row_geometry.hpp"
#include "jobs/input_errors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner::cli {
namespace {

/// The chunk rows that are whole stored chunks, where those of the plan are not and memory allows.
std::optional<std::int64_t> better_chunk_rows(const PreparedJob& prepared, const JobPlan& plan) {
    const std::optional<std::int64_t> whole = rows_of_whole_chunks(prepared.layout);
    const ArrayInfo& input = prepared.input.array;
    if (!whole || prepared.part || plan.piece_name() != "chunks" || plan.cells() > 0 ||
        prepared.job->row_order() || plan.chunk_rows() % *whole == 0 ||
        plan.chunk_rows() >= row_count(input)) {
        return std::nullopt;
    }
    constexpr std::int64_t buffers = 16; // of input, output and what is between, about
    const std::int64_t limit =
        plan.host_memory / buffers / std::max<std::int64_t>(row_bytes(input), 1);
    const std::int64_t more = (plan.chunk_rows() / *whole + 1) * *whole;
    return more <= limit ? std::optional(more) : std::nullopt;
}

} // namespace

std::vector<std::string> advice_on(const PreparedJob& prepared, const JobPlan& plan,
                                   const ReadingCost& cost) {
    constexpr double worth_a_copy = 1.5;
    const JobFile::Input& input = prepared.file.input;
    if (prepared.input_is_missing || prepared.place.origin) {
        return {};
    }
    const std::string copy = convert_command({input.file, input.dataset}, "plain");
    std::vector<std::string> advice;
    if (prepared.layout.way == DatasetLayout::Way::library) {
        advice.push_back("a copy is read in place by all cores: " + copy);
    } else if (cost.amplification() >= worth_a_copy &&
               prepared.layout.way != DatasetLayout::Way::positions) {
        advice.push_back("stored chunks lie across what is read at once; a copy does not: " + copy);
    }
    if (const std::optional<std::int64_t> rows = better_chunk_rows(prepared, plan)) {
        advice.push_back(fmt::format("run.chunk_rows = {} would be whole stored chunks, which are "
                                     "unpacked without another copy",
                                     *rows));
    }
    return advice;
}

std::string reading_text(const ReadingCost& cost, const std::vector<std::string>& advice) {
    std::string text =
        fmt::format("  reading: {}; {}{} stored, {} unpacked, {:.2f} times what the job takes\n",
                    printable(cost.way), cost.exact ? "" : "about ", size_text(cost.stored),
                    size_text(cost.unpacked), cost.amplification());
    for (const std::string& line : advice) {
        text += "    " + printable(line) + "\n";
    }
    return text;
}

} // namespace runner::cli
