// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/table.hpp"

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace runner {

// The values of a job file's tables, as its parser makes them.
inline TableValue of(auto data) { return {std::move(data), {}, {}}; }

inline TableValue list(std::initializer_list<double> numbers) {
    TableArray array;
    for (const double number : numbers) {
        array.push_back(of(number));
    }
    return of(array);
}

inline TableValue integers(std::initializer_list<std::int64_t> numbers) {
    TableArray array;
    for (const std::int64_t number : numbers) {
        array.push_back(of(number));
    }
    return of(array);
}

inline TableValue table(std::initializer_list<TableEntry> entries) {
    return of(TableEntries(entries));
}

using ParseKind = std::unique_ptr<KindParameters> (*)(TableReader& table);

/// The table's parameters; they must parse.
inline std::unique_ptr<KindParameters> parsed(const std::string& kind, ParseKind parse,
                                              const TableEntries& entries) {
    Diagnostics diagnostics;
    TableReader reader(entries, {1, 1}, kind, diagnostics);
    std::unique_ptr<KindParameters> parameters = parse(reader);
    reader.finish();
    for (const Diagnostics::Entry& entry : diagnostics.entries()) {
        ADD_FAILURE() << entry.text;
    }
    return parameters;
}

/// What is wrong with the table, in order.
inline std::vector<std::string> complaints_of(const std::string& kind, ParseKind parse,
                                              const TableEntries& entries) {
    Diagnostics diagnostics;
    TableReader reader(entries, {1, 1}, kind, diagnostics);
    (void)parse(reader);
    reader.finish();
    std::vector<std::string> texts;
    for (const Diagnostics::Entry& entry : diagnostics.entries()) {
        texts.push_back(entry.text);
    }
    return texts;
}

} // namespace runner
