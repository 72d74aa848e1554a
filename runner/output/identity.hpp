// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare/prepare.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace runner::output {

/// What makes a job's output the one it is, a line a fact, "key = value": the job without what only
/// says how to run it, the input (path, size, time, shape, type, a checksum of samples of its
/// bytes) and the computation's version. Two runs of one identity make the same bytes. The input
/// must be there. @throws Error (input).
std::string job_identity(const PreparedJob& prepared);

/// A journal's or an output's identity without its last line, which tells where the elements lie
/// in the file and is not of the job: as job_identity() gives it.
std::string without_layout(const std::string& identity);

/// The line of an output with coarser levels, which leave this number's elements out:
/// OutputDataset::invalid_value. Levels of outputs without it, as of earlier versions, have all.
inline constexpr const char* levels_invalid_key = "output.levels.invalid";

/// The value of one of its lines; nothing where it has no such line.
std::optional<std::string> identity_value(const std::string& identity, std::string_view key);

/// The files that an identity tells of beside the input's own: input.source "NAME".bytes and
/// .modified.
FileMarks sources_of(const std::string& identity);

/// How two identities differ, for a person: "kind was convolve, is sand; convolve.fill was 0, is
/// not set; and 5 more". The first three differences in the order of the lines, long values cut,
/// times as dates in UTC. Empty when they do not differ.
std::string identity_difference(const std::string& was, const std::string& is);

/// Whether they differ in facts of the input only.
bool only_input_differs(const std::string& was, const std::string& is);

} // namespace runner::output
