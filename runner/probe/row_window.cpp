// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/row_window.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/files/descriptor.hpp"
#include "io/input/open_rows.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace runner {
namespace {

constexpr std::int64_t window_bytes = 16 * MiB;

[[noreturn]] void fail(const char* call, int number) {
    throw Error(ExitCode::launch, {"cannot share memory with the process that reads the input",
                                   call, errno_text(number), "See 'ulimit -a'"});
}

std::int64_t rows_of_window(const ArrayInfo& array) {
    return std::clamp<std::int64_t>(window_bytes / row_bytes(array), 1, row_count(array));
}

} // namespace

RowWindow::RowWindow(const ArrayInfo& array, int descriptor)
    : descriptor_(descriptor), rows_(rows_of_window(array)), bytes_(rows_ * row_bytes(array)) {}

RowWindow RowWindow::of(const ArrayInfo& array) {
    RowWindow window(array, ::memfd_create("rows", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    // Sealed, or the other process could cut it off under our hands: that would be a SIGBUS here.
    if (window.descriptor_ < 0 ||
        uninterrupted([&] { return ::ftruncate(window.descriptor_, window.bytes_); }) != 0 ||
        ::fcntl(window.descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        fail("memfd_create", errno);
    }
    void* const at = ::mmap(nullptr, static_cast<std::size_t>(window.bytes_), PROT_READ, MAP_SHARED,
                            window.descriptor_, 0);
    if (at == MAP_FAILED) {
        fail("mmap", errno);
    }
    window.data_ = static_cast<std::byte*>(at);
    return window;
}

RowWindow RowWindow::given(const ArrayInfo& array) {
    RowWindow window(array, served_descriptor);
    void* const at = ::mmap(nullptr, static_cast<std::size_t>(window.bytes_),
                            PROT_READ | PROT_WRITE, MAP_SHARED, window.descriptor_, 0);
    if (at == MAP_FAILED) {
        fail("mmap", errno);
    }
    window.data_ = static_cast<std::byte*>(at);
    return window;
}

RowWindow::RowWindow(RowWindow&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), rows_(other.rows_), bytes_(other.bytes_),
      data_(std::exchange(other.data_, nullptr)) {}

RowWindow::~RowWindow() {
    if (data_ != nullptr) {
        (void)::munmap(data_, static_cast<std::size_t>(bytes_));
    }
    if (descriptor_ >= 0) {
        (void)::close(descriptor_);
    }
}

std::string window_text(const ArrayInfo& array) {
    return type_text(array) + " " + shape_text(array.shape);
}

ProbeLimits row_server_limits(const std::string& file, const DatasetInfo& info) {
    constexpr std::int64_t slowest = 4 * MiB; // bytes a second, unpacked
    ProbeLimits limits = probe_limits(file);
    const std::int64_t kept = reader_bytes(info, 1);
    const std::int64_t window = rows_of_window(info.array) * row_bytes(info.array);
    limits.memory += kept + 2 * window;
    limits.cpu_seconds = std::numeric_limits<int>::max(); // it may live as long as a run
    limits.seconds += (kept + window) / slowest;
    return limits;
}

} // namespace runner
