// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/files/input_rules.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace runner {

/// Which other files an input may send its reader to. A name in a file is not to be trusted: it may
/// lead to any file that the user may read.
class OutsideFiles {
  public:
    /// `file`: the input, which is there.
    OutsideFiles(const std::string& file, const InputRules& rules);

    /// Where HDF5 looks for a file that is named in `folder`'s file, in its order.
    static std::vector<std::filesystem::path> places(const std::string& named,
                                                     const std::filesystem::path& folder);

    /// Adds the first of these places that is there and those before it, which would count if
    /// they were.
    static void add_marks(FileMarks& marks, const std::string& named,
                          const std::filesystem::path& folder);

    /// The places() of `named` that are there. @throws Error (input) if one of them is not allowed,
    /// with `where` as the place of the name: a device, a pipe, a file of /proc, a URL; a file in
    /// another folder where the rules say so.
    std::vector<std::filesystem::path> allowed(const std::string& named,
                                               const std::filesystem::path& folder,
                                               const std::string& where) const;

  private:
    bool is_beside(const std::filesystem::path& real) const;

    InputRules rules_;
    std::vector<std::filesystem::path> folders_;
};

/// Throws Error (input), saying what it is, unless `file` is a regular file of a file system that
/// keeps files: reading others may block for ever or do things. One that is not there passes.
void check_regular_file(const std::string& file, const std::string& what);

} // namespace runner
