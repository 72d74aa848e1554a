// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/served_rows.hpp"

#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/rows.hpp"
#include "runner/probe/ordered_rows.hpp"
#include "runner/probe/probe_process.hpp"
#include "runner/probe/probe_words.hpp"
#include "runner/probe/row_window.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <sstream>
#include <utility>

namespace runner {
namespace {

/// The parent's side: asks for rows, copies them out of the window.
class ServedReader final : public RowReader {
  public:
    ServedReader(const DatasetLayout& layout, const InputRules& rules)
        : info_(layout.info), where_(file_and_dataset(layout.file, layout.dataset)),
          limits_(row_server_limits(layout.file, layout.info)), window_(RowWindow::of(info_.array)),
          process_(
              {"runner", std::string(serve_rows_verb), layout.file, layout.dataset, to_text(rules)},
              ProbeProcess::Input::pipe, window_.descriptor()) {
        // What it opens is what was reported: the file may have been exchanged since.
        if (take_answer() != window_text(info_.array)) {
            throw Error(ExitCode::input, {"the input changed while it was read", where_,
                                          "its type or shape is another than before",
                                          "Let nothing write to it, then start again"});
        }
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const std::int64_t row = row_bytes(info_.array);
        for (const std::int64_t end = first + rows; first < end;) {
            const std::int64_t count = std::min(window_.rows(), end - first);
            ask(first, count);
            std::memcpy(to, window_.data(), static_cast<std::size_t>(count * row));
            to += count * row;
            first += count;
        }
    }

  private:
    void ask(std::int64_t first, std::int64_t rows) {
        const std::array<std::int64_t, 2> request = {first, rows};
        const bool sent = process_.send(
            {reinterpret_cast<const char*>(request.data()), sizeof(std::int64_t) * request.size()});
        if (!sent || !take_answer().empty()) {
            explain_end();
        }
    }

    /// What the next answer holds. @throws Error: what it says is wrong; the end of the process.
    std::string take_answer() {
        const auto deadline = ProbeProcess::Clock::now() + std::chrono::seconds(limits_.seconds);
        const std::string head = read(deadline, message_head_bytes);
        int status = 0;
        std::size_t bytes = 0;
        std::istringstream(head) >> status >> bytes;
        const std::string answer = read(deadline, std::min(bytes, most_answer_bytes));
        if (const std::optional<Error> told = error_of(answer)) {
            throw Error(*told);
        }
        const std::optional<std::string> reply = reply_of(answer);
        if (!reply) {
            explain_end();
        }
        return *reply;
    }

    std::string read(ProbeProcess::Clock::time_point deadline, std::size_t bytes) {
        std::optional<std::string> text = process_.read_before(deadline, bytes, drops_chunks);
        if (!text) {
            throw_too_slow(where_, limits_);
        }
        if (text->size() != bytes) {
            explain_end();
        }
        return *std::move(text);
    }

    [[noreturn]] void explain_end() {
        const auto soon = ProbeProcess::Clock::now() + std::chrono::seconds(1);
        const std::optional<int> status = process_.end_before(soon);
        if (!status) {
            throw_damaged(where_, "the process that reads its rows gave an answer that is none");
        }
        explain_probe_end(where_, *status, limits_);
    }

    static constexpr std::size_t most_answer_bytes = 65536;
    static constexpr int drops_chunks = 2; ///< signals: the first lets those in flight be finished

    DatasetInfo info_;
    std::string where_;
    ProbeLimits limits_;
    RowWindow window_;
    ProbeProcess process_;
};

} // namespace

std::unique_ptr<RowReader> open_probed_rows(const DatasetLayout& layout, const InputRules& rules,
                                            int threads) {
    if (auto reader = open_layout_rows(layout, threads)) {
        return reader;
    }
    return std::make_unique<ServedReader>(layout, rules);
}

std::unique_ptr<RowReader> open_input_rows(const PreparedJob& prepared, int threads,
                                           std::int64_t kept_lines) {
    std::unique_ptr<RowReader> rows =
        prepared.rows ? prepared.rows(threads)
                      : open_probed_rows(prepared.layout, prepared.file.input.rules, threads);
    if (prepared.part) {
        rows = open_part(std::move(rows), *prepared.part);
    }
    if (prepared.input.array.type == ElementType::float32) {
        rows = open_widened_rows(std::move(rows));
    }
    if (prepared.mask) {
        const auto open = [&](const DatasetLayout& layout) {
            return open_probed_rows(layout, prepared.file.input.rules, threads);
        };
        rows = open_masked_rows(std::move(rows), *prepared.mask, open, threads);
    }
    if (const auto order = prepared.job->row_order()) {
        rows = open_ordered_rows(std::move(rows), *order, kept_lines, threads);
    }
    return rows;
}

} // namespace runner
