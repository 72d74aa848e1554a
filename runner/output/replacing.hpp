// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/probe/prober.hpp"

#include <optional>
#include <span>
#include <string>

namespace runner::output {

/// `output.overwrite` replaces a whole file. An HDF5 file may hold more than the output of a job:
/// somebody may have put datasets, groups or attributes beside it. These are never deleted.

/// @throws Error (output) where `file` holds anything that this program did not put there as part
/// of an output, naming the first, or cannot be read, so that nobody knows what would be lost.
/// Returns quietly where there is no file, or one that is not HDF5.
void check_replaceable(const std::string& file, Prober& prober);

/// The same for the parts of set `parts_set`, of the output under this name; none where it is no
/// output in parts.
void check_replaceable_parts(const std::string& output, std::optional<int> parts_set,
                             Prober& prober);

/// What a run makes at a place.
enum class PlaceOf { file, folder };

/// @throws Error (output) where something else has the name, such as a folder where a file goes:
/// nothing that a run could do removes it.
void check_place(const std::string& path, PlaceOf kind);

/// The same for an output's own name, or those of its slices.
void check_output_place(const std::string& output);

/// The same for all names that a run of the output's job writes to, but for the output's own; and
/// where a file that is no record has the record's name.
void check_places_beside(const std::string& output);

/// The attribute of what a pass stores for the next: the name, without folder, of the job's output.
inline constexpr const char* between_attribute = "between_passes_of";

/// Whether this program stored the file, which holds nothing else, between passes of some job with
/// the output `of_job`. @throws Error (launch).
bool is_between_passes_of(const std::string& of_job, const std::string& file, Prober& prober);

/// The first of object_names() that is not among the lines of `made`, the output's record of them;
/// nothing where all are. The record itself counts as made.
std::optional<std::string> first_foreign_object(std::span<const std::string> names,
                                                const std::string& made);

} // namespace runner::output
