// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/decomposition.hpp"
#include "runner/plan/job_plan.hpp"

#include <cstdint>
#include <string>

namespace runner {

/// Parts of JobPlan::text() that plans have in common.

inline constexpr int most_listed_ranks = 16;

/// "7 rows". `pixels`: rows of the dataset that make a row of an image, which are its pixels; what
/// is not whole rows of the image is "30 pixels". The functions below take it likewise.
std::string rows_text(std::int64_t rows, std::int64_t pixels);

/// "cpu, 4 lanes, 2 I/O threads\n"; `chunks`: also "chunks of 64 rows, ", before the lanes.
enum class ChunkText { no, yes };
std::string means_text(const JobPlan& plan, ChunkText chunks, std::int64_t pixels = 1);

/// A line for each of the first ranks: its slab and how many chunks it is.
std::string slabs_text(const Decomposition& d, std::int64_t pixels = 1);

/// What a rank takes of its memory, a line.
std::string memory_text(const JobPlan& plan);

/// What is read and written in all, a line.
std::string bytes_text(const JobPlan& plan);

} // namespace runner
