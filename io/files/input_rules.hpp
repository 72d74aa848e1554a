// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"
#include "io/files/file_mark.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Elements that a file tells of and does not hold, which read as the fill value, may have so many
/// bytes without anyone's word for it.
inline constexpr std::int64_t most_unstored_bytes = 1024 * GiB;

/// What an input file may ask of its reader.
struct InputRules {
    /// The most bytes of all elements of a dataset; nothing: any that are stored, and
    /// most_unstored_bytes that are not.
    std::optional<std::int64_t> max_logical_bytes;

    /// Where other files may lie that its links, external and virtual datasets name.
    enum class Outside {
        beside,   ///< in the file's folder and the folders below it
        anywhere, ///< wherever there is a regular file
    } outside = Outside::beside;

    /// What becomes of a stack, or a batch, of which a link leads to a file that is not there, and
    /// of a virtual dataset whose sources are not all there, or shorter than is mapped of them.
    enum class Missing {
        fail, ///< nothing is read
        skip, ///< of a stack or a batch it is left out, with a warning; a virtual dataset: fail
        fill  ///< such elements are the fill value, with a warning; a stack or a batch: fail
    } missing = Missing::fail;

    /// What becomes of chunks whose place or size in the index cannot be right: of an input nothing
    /// is read then; of a finished output it is to be told which rows are damaged, so that reading
    /// those alone fails (ChunkPlace::bytes is 0).
    enum class BadChunks { refuse, mark } bad_chunks = BadChunks::refuse;
};

/// Which other files an input may send its reader to. A name in a file is not to be trusted: it may
/// lead to any file that the user may read.
class OutsideFiles {
  public:
    /// `file`: the input, which is there.
    OutsideFiles(const std::string& file, const InputRules& rules);

    /// Where a file is looked for that is named in `holder`: beside it under the name by which it
    /// was opened, beside the file itself where that name is a symbolic link, in the working
    /// folder.
    static std::vector<std::filesystem::path> places(const std::string& named,
                                                     const std::string& holder);

    /// Adds the first of these places that is there and those before it, which would count if
    /// they were.
    static void add_marks(FileMarks& marks, const std::string& named, const std::string& holder);

    /// The first of places() that is there, which alone is read. @throws Error (input) if it is not
    /// allowed, with `where` as the place of the name: a device, a pipe, a file of /proc, a URL; a
    /// file in another folder where the rules say so.
    std::optional<std::filesystem::path>
    allowed(const std::string& named, const std::string& holder, const std::string& where) const;

    /// HDF5 itself looks in the working folder before it looks beside the file that a symbolic link
    /// leads to. @throws Error (input) where it would read another file than allowed() has found.
    static void refuse_clash(const std::string& named, const std::string& holder,
                             const std::string& where);

  private:
    bool is_beside(const std::filesystem::path& real) const;

    InputRules rules_;
    std::vector<std::filesystem::path> folders_;
};

/// Throws Error (input), saying what it is, unless `file` is a regular file of a file system that
/// keeps files: reading others may block for ever or do things. One that is not there passes.
void check_regular_file(const std::string& file, const std::string& what);

} // namespace runner
