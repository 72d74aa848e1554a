// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/served_rows.hpp"

#include "base/sizes.hpp"
#include "io/input/check_dataset.hpp"
#include "io/input/open_rows.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/rows.hpp"
#include "runner/probe/probe_child.hpp"
#include "runner/probe/probe_words.hpp"
#include "runner/probe/row_window.hpp"

#include <array>
#include <cstdint>
#include <new>
#include <optional>

#include <unistd.h>

namespace runner {
namespace {

/// What `step` returns as an answer, or its failure.
template <class Step>
std::string answer_of(const std::string& where, const ProbeLimits& limits, Step step) {
    try {
        const std::string reply = step();
        const std::optional<Error> damage = structure_damage(where);
        return damage ? answer_text(*damage) : answer_text(reply);
    } catch (const std::exception& error) {
        return answer_text(as_fault_of_file(error, where, limits));
    }
}

bool give(const std::string& answer) {
    return write_all(STDOUT_FILENO, answer_head(0, answer.size()) + answer);
}

/// The first row and the number of rows that are asked for next; nothing at the end.
std::optional<std::array<std::int64_t, 2>> read_rows_request() {
    std::array<std::int64_t, 2> request{};
    return read_all(STDIN_FILENO, reinterpret_cast<char*>(request.data()), sizeof(request))
               ? std::optional(request)
               : std::nullopt;
}

} // namespace

bool is_row_server(std::span<const std::string> arguments) {
    return arguments.size() == 4 && arguments[0] == serve_rows_verb;
}

ExitCode serve_rows(std::span<const std::string> arguments) {
    const std::string& file = arguments[1];
    const std::string& dataset = arguments[2];
    const std::string where = file_and_dataset(file, dataset);
    std::unique_ptr<RowReader> reader;
    std::optional<RowWindow> window;
    ProbeLimits limits = probe_limits(file);
    const std::string opened = answer_of(where, limits, [&] {
        ::alarm(static_cast<unsigned>(limits.seconds));
        const DatasetLayout layout = check_dataset(file, dataset, rules_from_text(arguments[3]));
        const DatasetInfo& info = layout.info;
        limits = row_server_limits(file, info);
        enter_limits(limits);
        reader = open_rows_by_library(layout);
        window.emplace(RowWindow::given(info.array));
        return window_text(info.array);
    });
    bool heard = give(opened);
    while (heard && window) {
        ::alarm(0); // the next request may take its time
        const auto request = read_rows_request();
        if (!request) {
            break;
        }
        ::alarm(static_cast<unsigned>(limits.seconds) + 5);
        heard = give(answer_of(where, limits, [&] {
            const auto [first, rows] = *request;
            if (rows > window->rows()) {
                throw Error(ExitCode::defect, {"more rows than the window holds", where, "", ""});
            }
            reader->read(first, rows, window->data());
            return std::string();
        }));
    }
    return ExitCode::ok;
}

} // namespace runner
