// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// Whether `a` comes before `b` where digits in a row count as one number: slice_2 before slice_10.
/// Names that differ only in leading zeros are ordered by their bytes.
bool natural_less(std::string_view a, std::string_view b);

/// Where names in natural order differ in one number alone and not by the same step each: the first
/// step that is larger than the smallest, "nothing between slice_3.tif and slice_5.tif". Else
/// empty.
std::string first_gap(const std::vector<std::string>& names);

/// What is wrong with the length of an output's name, for "NAME ...": names that are longer by what
/// a run puts beside its output, as OUT.partial.shard-1-0, must fit the file system too. "" where
/// nothing is.
std::string name_length_fault(const std::string& file);

/// Patterns of file names, as a shell has them: `*` stands for any characters of a name, `?` for
/// one, and `**` as a whole part of the path for any folders or none. Names that begin with a dot
/// are matched by no wildcard. Other characters stand for themselves.

bool has_wildcards(std::string_view pattern);

/// Whether the path has the pattern's form; nothing is looked for.
bool matches_pattern(std::string_view pattern, std::string_view path);

/// What a pattern names: sorted by bytes, each once.
struct NamedFiles {
    std::vector<std::string> files;   ///< regular files, and links to such
    std::vector<std::string> missing; ///< links to what is not there or cannot be reached
};

/// Whether a folder of this path is named as a file is, and not gone into.
using IsInputFolder = bool (*)(const std::string& path);

/// `**` goes into no link to a folder, so it comes to an end. Without `is_input` no folder is
/// named. @throws Error (input) for a folder on the way that cannot be listed.
NamedFiles expand_pattern(const std::string& pattern, IsInputFolder is_input = nullptr);

/// What to say of files that are not there, of which the first ones are named: `what` and `where`
/// as given.
ErrorText missing_text(const std::string& what, const std::string& where,
                       const std::vector<std::string>& files);

} // namespace runner
