// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/verb_parser.hpp"
#include "io/rows/output_layout.hpp"

#include <string>

namespace runner::cli {

/// --chunk, --shard, --compression, --level, --shuffle and the options of OME-Zarr, of the verbs
/// that make files, with the names, defaults and conditions that these keys have in a job file.
class LayoutOptions {
  public:
    /// Declares them; lives until the arguments are parsed.
    explicit LayoutOptions(VerbParser& parser);
    LayoutOptions(const LayoutOptions&) = delete;
    LayoutOptions& operator=(const LayoutOptions&) = delete;
    ~LayoutOptions() = default;

    /// What they ask for. @throws Error (usage) for options that do not go together, and for any of
    /// them where `file`, to be made, is of another format than HDF5.
    OutputLayout layout(const std::string& file) const;

  private:
    const VerbParser& parser_;
    std::string chunk_;
    std::string shard_;
    std::string compression_;
    std::string level_;
    bool shuffle_ = false;
    std::string levels_;
    std::string level_factors_;
    std::string downsample_;
    std::string ngff_;
    bool pyramid_ = false;
    std::string tile_;
};

} // namespace runner::cli
