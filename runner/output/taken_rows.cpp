// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/taken_rows.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/output/own_parts.hpp"

#include <chrono>
#include <cstddef>

namespace runner::output {

TakenRows::TakenRows(const OutputDataset& output, const std::vector<RowHash>& all, int rank,
                     int ranks, int threads) {
    const auto count = std::ssize(all);
    rows_ = {all.begin() + count * rank / ranks, all.begin() + count * (rank + 1) / ranks};
    if (rows_.empty()) {
        done_ = true;
        return;
    }
    test_ = open_row_test(output, threads);
    thread_ = std::thread([this] { look(); });
}

TakenRows::~TakenRows() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    if (thread_.joinable()) {
        thread_.join();
    }
}

void TakenRows::look() {
    std::exception_ptr failure;
    try {
        for (const RowHash& run : rows_) {
            if (const std::lock_guard lock(mutex_); over_) {
                return;
            }
            if (!test_(run)) {
                wrong_.push_back(run);
            }
        }
    } catch (...) {
        failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    done_ = true;
    changed_.notify_all();
}

bool TakenRows::finish(const Stop& stop) {
    constexpr auto between_looks = std::chrono::milliseconds(100);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, between_looks, [&] { return done_; })) {
        if (stop.level() != StopLevel::none) {
            return false;
        }
    }
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    return true;
}

void refuse_wrong_rows(const PreparedJob& prepared, const Beginning& beginning,
                       const std::vector<RowHash>& wrong) {
    if (wrong.empty()) {
        return;
    }
    give_up_rows(prepared, beginning, wrong);
    const RowHash& first = wrong.front();
    throw Error(
        ExitCode::output,
        {"rows of an earlier run have changed on the disk", partial_name(prepared.file.output.file),
         fmt::format("rows {} to {} do not match their checksum, the first of {}", first.first,
                     first.first + first.rows - 1, counted(std::ssize(wrong), "such chunk")),
         "Run the same command again: it computes them"});
}

} // namespace runner::output
