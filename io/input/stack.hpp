// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/files/input_rules.hpp"
#include "io/input/dataset_layout.hpp"
#include "io/inspect/file_content.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace runner {

/// A stack is one dataset of several files, each a frame of it: a name with wildcards
/// (io/files/file_names.hpp) that is no file itself stands for all files that it matches, in
/// natural order; in that of their planes if they say which of an image they have (plane_set.hpp).
/// They are of one format beside HDF5, or raw.

bool is_stack(const std::string& file);

/// The files of a stack that are there, in the order of its frames. @throws Error (input) where
/// there are none.
std::vector<std::string> stack_files(const std::string& stack);

/// What to say of links among the files of a stack that lead to nothing; "" where there are none.
/// @throws Error (input) that names the first ones, unless they are to be skipped.
std::string broken_links_note(const std::string& stack, InputRules::Missing missing);

/// Calls `work` for the number of each of so many files, by a few threads at once. Of failures the
/// one of the first file is thrown.
void for_each_file(std::int64_t files, const std::function<void(std::int64_t)>& work);

/// The layout of [files, …] made of those of the files, in their order, at least one.
/// @throws Error (input) naming the first that is unlike the first one.
DatasetLayout join_stack(const std::string& stack, const std::string& dataset,
                         std::vector<DatasetLayout> files);

/// Surveys every file of a stack, in this process, which may be lost over them where a library does
/// it. @throws Error (input).
DatasetLayout stack_layout(const std::string& stack, const std::string& dataset,
                           InputRules::Missing missing = InputRules::Missing::fail);

/// What is in a stack, for people.
FileContent stack_content(const DatasetLayout& layout);

/// The bytes of all files of a stack, and the latest time; else the file's. `bytes` is -1 where
/// there is none.
FileMark mark_of_input(const std::string& file);

} // namespace runner
