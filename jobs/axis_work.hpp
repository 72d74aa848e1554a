// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/inspect/scan_setup.hpp"
#include "io/rows/axes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace runner {

class Job;

/// What a job does along an axis where an element does not depend on its neighbours.
inline constexpr const char* each_by_itself = "each by itself";

/// What a job does along one axis of its input, for people.
struct AxisWork {
    std::string axis; ///< its name; "rows", "columns", "depth" or "axis 0" where nothing says one
    std::string work; ///< "filtered"

    bool operator==(const AxisWork&) const = default;
};

/// What a kind does along its axes z, y and x, which are the last ones before the samples of
/// colour; nothing: each element by itself, as along all other axes.
using WorkAlongFrame = std::array<std::string, 3>;

/// The same for each of so many axes of the input, of which the last has the samples where there
/// are several channels.
std::vector<std::string> work_along(const WorkAlongFrame& frame, std::size_t axes, int channels);

/// What the job does along each axis of its input. `axes`: of the input; they may say nothing.
std::vector<AxisWork> work_of(const Job& job, const ArrayInfo& input, const Axes& axes);

/// "y, x: filtered · z: filtered · c: each by itself".
std::string work_text(const std::vector<AxisWork>& work);

/// The axes of what the job makes of an input with these; they say nothing of axes that are new.
Axes axes_after(const Job& job, Axes axes);

/// Which axis of its input's source each axis of what the job makes is, as JobInput's; `axes`: the
/// same of its input.
std::vector<std::int64_t> source_axes_after(const Job& job, std::vector<std::int64_t> axes);

/// What is still true of a scan's setup for what the job makes of its frames.
ScanSetup setup_after(const Job& job, ScanSetup setup);

} // namespace runner
