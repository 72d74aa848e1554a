// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace runner {

/// Adds the class ArrayJob: jobs on arrays of the host, streamed through the engines.
void define_array_job(nanobind::module_& module);

/// Adds the class DeviceJob and what it takes: jobs on arrays that other libraries have on a GPU.
void define_device_job(nanobind::module_& module);

} // namespace runner
