// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/files/input_rules.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/inspect/file_content.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// The groups and datasets of an open HDF5 file by their paths, each opened after its links are
/// checked: none leads further than `outside` allows. In a process that may be lost. Its arguments
/// outlive it. Each call: @throws Error (input) for such a link.
class NexusFile {
  public:
    NexusFile(const FileHandle& handle, const std::string& file, const OutsideFiles& outside)
        : handle_(handle), file_(file), outside_(outside) {}

    /// Not valid where there is none.
    ObjectHandle open(const std::string& path) const;
    bool is_dataset(const std::string& path) const;
    bool is_group(const std::string& path) const;
    /// The extents of a dataset.
    std::vector<std::int64_t> shape_of(const std::string& path) const;
    /// An attribute of an object; nothing where there is none.
    std::optional<AttributeValue> attribute(const std::string& path, const std::string& name) const;
    /// An attribute that is one text.
    std::optional<std::string> text(const std::string& path, const std::string& name) const;
    /// A dataset that is one text.
    std::optional<std::string> dataset_text(const std::string& path) const;
    /// The names in a group in their order, of very many the first ones; none of what is no group.
    std::vector<std::string> names_in(const std::string& group) const;
    /// The paths of the groups in a group that have this NX_class, but for those behind a link that
    /// cannot be followed.
    std::vector<std::string> groups_of_class(const std::string& group,
                                             const std::string& nx_class) const;
    /// Where the object is itself, as far as links led to it; "" where it is in another file.
    std::string real_path(const std::string& path) const;
    /// The other files that links lead through to it.
    FileMarks files_of(const std::string& path) const;
    /// Whether two paths lead to one object.
    bool is_same(const std::string& a, const std::string& b) const;

    const std::string& file() const { return file_; }

  private:
    const FileHandle& handle_;
    const std::string& file_;
    const OutsideFiles& outside_;
};

/// The path of `name` in a group; an absolute name stands for itself.
std::string path_below(const std::string& group, const std::string& name);

/// The group that a path lies in: "/" of "/data".
std::string group_of_path(const std::string& path);

/// signal = 1, as a number or a text, by which older files mark a signal.
bool is_first_signal(const std::optional<AttributeValue>& value);

} // namespace runner
