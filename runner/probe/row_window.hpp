// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "runner/probe/probe_limits.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace runner {

/// Memory that a process that serves rows shares with the one that asks for them: the first writes
/// rows into it, the second reads them. Its size cannot be changed by either.
class RowWindow {
  public:
    /// Where the process that serves finds its descriptor.
    static constexpr int served_descriptor = 3;

    /// A new one, for rows of this array: some MiB of them, one at least. @throws Error (launch).
    static RowWindow of(const ArrayInfo& array);
    /// The one that this process was given. @throws Error (launch).
    static RowWindow given(const ArrayInfo& array);

    RowWindow(RowWindow&& other) noexcept;
    RowWindow& operator=(RowWindow&&) = delete;
    RowWindow(const RowWindow&) = delete;
    RowWindow& operator=(const RowWindow&) = delete;
    ~RowWindow();

    int descriptor() const noexcept { return descriptor_; }
    std::int64_t rows() const noexcept { return rows_; } ///< that it holds
    std::byte* data() const noexcept { return data_; }

  private:
    RowWindow(const ArrayInfo& array, int descriptor);

    int descriptor_ = -1;
    std::int64_t rows_ = 1;
    std::int64_t bytes_ = 0;
    std::byte* data_ = nullptr;
};

/// What both sides must have the same of an array.
std::string window_text(const ArrayInfo& array);

/// What a process that serves rows of this dataset may take: as a probe of the file, and what HDF5
/// keeps of unpacked chunks; its time counts from one request to its answer.
ProbeLimits row_server_limits(const std::string& file, const DatasetInfo& info);

} // namespace runner
