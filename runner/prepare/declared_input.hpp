// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/input/dataset_layout.hpp"
#include "io/input/file_access.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/rows.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/prepare/input_mask.hpp"

#include <memory>
#include <optional>
#include <string>

namespace runner {

/// Takes the last axis of a job's dataset as input.colour says. @throws Error (usage) where it
/// cannot be colour.
void declare_colour(const JobFile& job, DatasetInfo& whole);

/// Checks what the job takes of the dataset `whole`. Where nothing says whether its last axis is
/// colour, and it may be, `input` gets a note, unless neither the kind nor the output heeds it.
/// @throws Error (usage) where it is colour without rows and columns, which a kind that heeds
/// neighbours would take the samples for.
void check_colour(const JobFile& job, const ArrayInfo& whole, DatasetInfo& input);

/// Gives `input` a note if its pixels have four samples, and the job computes the fourth, which may
/// be alpha, as the others.
void note_alpha(const JobFile& file, const Job& job, DatasetInfo& input);

/// Sets which elements of a job's `input` are invalid, as input.invalid says; returns the mask that
/// marks them, or null. `input`: the `part` of the dataset of `layout`. Where the file says so and
/// the kind takes them as values, it gets a note. @throws Error (usage) where the input's type has
/// no such element, or the kind takes them as values though the job names them; (input) for a mask
/// that cannot be read or does not fit.
std::shared_ptr<const InputMask> declare_invalid(const JobFile& job, const DatasetLayout& layout,
                                                 const std::optional<DatasetPart>& part,
                                                 DatasetInfo& input, FileAccess& files);

/// An invalid element of an array of this type, for people: "NaN", "65535".
std::string invalid_text(ElementType type, double value);

} // namespace runner
