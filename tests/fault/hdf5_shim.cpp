// SPDX-License-Identifier: BSD-3-Clause
// Laid over HDF5 with LD_PRELOAD: notes in the file HDF5_SHIM_LOG which file HDF5 opens or makes, a
// line each: "open run /path" or "create run /path", and "probe" in place of "run" in a process
// that the program has started to read files for it.
#include <array>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace {

/// HDF5's hid_t.
using Id = std::int64_t;

void note(const char* what, const char* file) {
    const char* const log = std::getenv("HDF5_SHIM_LOG");
    std::array<char, PATH_MAX> folder{};
    if (log == nullptr || ::getcwd(folder.data(), folder.size()) == nullptr) {
        return;
    }
    std::array<char, 3 * PATH_MAX> line{};
    const bool is_whole = file[0] == '/';
    const int bytes = std::snprintf(line.data(), line.size(), "%s %s %s%s%s\n", what,
                                    std::getenv("RUNNER_PROBE") == nullptr ? "run" : "probe",
                                    is_whole ? "" : folder.data(), is_whole ? "" : "/", file);
    const int descriptor = ::open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0 ||
        ::write(descriptor, line.data(), static_cast<std::size_t>(bytes)) != bytes) {
        std::abort(); // a test that misses an opening would pass for nothing
    }
    (void)::close(descriptor);
}

template <class Function> Function next(const char* name) {
    Function function = nullptr;
    void* const found = ::dlsym(RTLD_NEXT, name);
    std::memcpy(&function, &found, sizeof(function));
    return function;
}

} // namespace

extern "C" {

Id H5Fopen(const char* name, unsigned flags, Id access) { // NOLINT(readability-identifier-naming)
    note("open", name);
    return next<Id (*)(const char*, unsigned, Id)>("H5Fopen")(name, flags, access);
}

// NOLINTNEXTLINE(readability-identifier-naming)
Id H5Fcreate(const char* name, unsigned flags, Id creation, Id access) {
    note("create", name);
    return next<Id (*)(const char*, unsigned, Id, Id)>("H5Fcreate")(name, flags, creation, access);
}

int H5Fis_hdf5(const char* name) { // NOLINT(readability-identifier-naming)
    note("open", name);
    return next<int (*)(const char*)>("H5Fis_hdf5")(name);
}
}
