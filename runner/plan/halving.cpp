// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/halving.hpp"

#include "base/format.hpp"
#include "base/text.hpp"

namespace runner {

void add_halving(const OutOfMemory& failure, std::int64_t chunk_rows, int lanes,
                 std::vector<Halving>& halvings) {
    halvings.push_back(
        {format_error({failure.text().what, failure.text().where, failure.text().why, ""}),
         chunk_rows, lanes});
}

std::string halving_text(int rank, const std::vector<Halving>& halvings) {
    const Halving& last = halvings.back();
    return fmt::format("rank {}: {}; continues with chunks of {} in {}\n", rank,
                       halvings.front().reason, counted(last.chunk_rows, "row"),
                       counted(last.lanes, "lane"));
}

void report_halvings(int rank, const std::vector<Halving>& halvings,
                     const std::function<void(const std::string& line)>& say) {
    if (say && !halvings.empty()) {
        say(halving_text(rank, halvings));
    }
}

} // namespace runner
