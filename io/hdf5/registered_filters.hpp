// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace runner {

/// Makes HDF5 undo the filters of io/filters/ that it has none for itself, before any plugin: it
/// needs them for datasets that it alone can read, and to create compressed ones, whose chunks come
/// packed. @throws Error (defect).
void register_filters();

} // namespace runner
