// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// The names of an output that is a set of files, one a slice, as "scan/slice_*.tif" and
/// "slice_%05d.png" stand for them. Slices are numbered from 0.
class SliceNames {
  public:
    /// Nothing where the name stands for one file, or has a slices_fault().
    static std::optional<SliceNames> of(const std::string& file);

    /// The folder that holds them, with a slash behind it; "" for the working folder.
    const std::string& folder() const { return folder_; }

    /// The name in the folder of slice `index` of `count`. `*` takes as many digits as the last
    /// one has, `%05d` at least five.
    std::string name(std::int64_t index, std::int64_t count) const;

    /// Whether a slice of any set with this name may have that name in the folder.
    bool has(std::string_view name) const;

    /// The names in the folder of all slices that are there, in ascending order; of files, links
    /// and whatever else has one.
    std::vector<std::string> there() const;

  private:
    std::string folder_;
    std::string before_; ///< the number
    std::string behind_;
    std::size_t digits_ = 0; ///< at least
    bool fits_ = false;      ///< `*`
};

/// What is wrong with the name of an output that has `*` or a number as printf writes it, for
/// "NAME ...": its format is none of slices, or it has several of these. "" where nothing is.
std::string slices_fault(const std::string& file);

/// What stands for the numbers of slices in the last part of the path: `*`, or a number as printf
/// writes one, `%04d`; "" where nothing does.
std::string slices_mark(std::string_view path);

/// Whether a file of the output is there: it itself, or one of its slices.
bool is_output_there(const std::string& file);

/// mark_of_tree() of an output, without its record; of one in slices the bytes of all and the
/// latest of their times.
FileMark mark_of_output(const std::string& file);

} // namespace runner
