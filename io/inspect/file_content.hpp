// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/input_rules.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace runner {

/// An attribute's value; a text that describes it where it is long or of another type.
using AttributeValue = std::variant<std::string, std::int64_t, double, std::vector<std::string>,
                                    std::vector<std::int64_t>, std::vector<double>>;
using AttributeList = std::vector<std::pair<std::string, AttributeValue>>;

/// What a file says of one dataset, whether or not runner can read it.
struct DatasetContent {
    std::string path;
    std::string type; ///< "float64", "big-endian int16", "compound of 2 members"
    std::vector<std::int64_t> shape;
    std::int64_t bytes = 0;        ///< of all elements
    std::int64_t stored_bytes = 0; ///< in the file
    std::string storage;           ///< as DatasetInfo's
    std::vector<std::int64_t> chunk;
    std::vector<std::string> filters; ///< "shuffle(4)", "deflate(6)", "32013 (zfp), not installed"
    std::optional<std::int64_t> offset; ///< of the elements in the file, when contiguous
    AttributeList attributes;
};

/// A soft or external link of an HDF5 file.
struct LinkContent {
    std::string path;
    std::string kind;     ///< "soft link", "external link", or "link" of another kind
    std::string target;   ///< as the file says it: "/group/dataset", "other.h5:/dataset"
    std::string leads_to; ///< "uint16 [4, 5]", "group", or "dangling" with the reason
    bool is_dataset = false;
};

/// What is in an HDF5 file, or in one of rows_formats().
struct FileContent {
    std::string file;
    std::string format; ///< "HDF5", or the name of a RowsFormat
    std::int64_t bytes = 0;
    AttributeList attributes; ///< of the root
    std::vector<DatasetContent> datasets;
    std::vector<LinkContent> links;
};

/// The attributes of a file's root; none of another format than HDF5. @throws Error (input).
AttributeList root_attributes(const std::string& file);

/// Reads no elements. The rules are for the files of a folder. @throws Error (input).
FileContent file_content(const std::string& file, const InputRules& rules = {});
DatasetContent dataset_content(const std::string& file, const std::string& dataset,
                               const InputRules& rules = {});

} // namespace runner
