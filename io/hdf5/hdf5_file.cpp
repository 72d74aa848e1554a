// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/hdf5_file.hpp"

#include "io/files/file.hpp"
#include "io/files/file_signature.hpp"
#include "io/files/input_rules.hpp"

#include <cerrno>
#include <string_view>

namespace runner {
namespace {

/// The number behind `name = ` in HDF5's text, or an empty one.
std::string number_behind(const std::string& text, std::string_view name) {
    auto at = text.find(std::string(name) + " = ");
    if (at == std::string::npos) {
        return "";
    }
    at += name.size() + 3;
    const auto end = text.find_first_not_of("0123456789", at);
    return text.substr(at, end == std::string::npos ? end : end - at);
}

[[noreturn]] void explain_failed_open(const std::string& file, const std::string& reason) {
    const File plain(file, File::Mode::read);
    const std::string what = "cannot open the file";
    if (!has_hdf5_signature(plain)) {
        const std::string like = looks_like(plain);
        throw Error(ExitCode::input,
                    {what, file, "it is not an HDF5 file: " + like,
                     like.ends_with("classic netCDF file")
                         ? "Make a netCDF-4 file of it, as nccopy -k nc4 FILE NEW.nc does"
                         : "Name an HDF5 file; raw elements become one by runner convert FILE "
                           "NEW.h5 --shape Z,Y,X --dtype TYPE"});
    }
    // " eof" with the space: "stored_eof" holds the same letters.
    const std::string has = number_behind(reason, " eof");
    const std::string should = number_behind(reason, "stored_eof");
    if (reason.find("truncated") != std::string::npos && !should.empty()) {
        throw Error(ExitCode::input,
                    {what, file, "it is truncated: it has " + has + " of " + should + " bytes",
                     "Copy it again, or make it again"});
    }
    if (reason.find("already open for write") != std::string::npos ||
        reason.find("consistency flag") != std::string::npos) {
        throw Error(ExitCode::input,
                    {what, file, "it is still marked as open for writing",
                     "Wait for the program that writes it; if it crashed, 'h5clear -s' on a copy"});
    }
    if (reason == errno_text(EAGAIN)) {
        throw Error(ExitCode::input,
                    {what, file, "another process has it locked for writing",
                     "Wait for that process; on a file system whose locks are broken "
                     "set HDF5_USE_FILE_LOCKING=FALSE"});
    }
    const std::string remedy = newer_format_remedy(reason);
    throw Error(ExitCode::input, {what, file, "HDF5 says: " + reason,
                                  remedy.empty() ? "Check it with h5ls" : remedy});
}

enum class Locking { no, where_there_is };

/// An open file, or HDF5's reason why not.
struct Opened {
    FileHandle handle;
    std::string reason;
};

Opened open_as(const std::string& file, unsigned mode, Locking locking) {
    const PropertyHandle access(hdf5_must(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate"));
    hdf5_must(H5Pset_file_locking(access.get(), locking != Locking::no, true),
              "H5Pset_file_locking");
    constexpr int most_tries = 100; // then it is no chance that a signal came
    for (int tries = 1;; ++tries) {
        FileHandle handle(H5Fopen(file.c_str(), mode, access.get()));
        std::string reason = handle.valid() ? "" : hdf5_error_text();
        if (reason != errno_text(EINTR) || tries == most_tries) {
            return {std::move(handle), std::move(reason)};
        }
    }
}

/// Whether a file system without locks was the reason; ENOSYS HDF5 knows itself.
bool tells_of_no_locks(const std::string& reason) {
    constexpr int not_supported = 524; // the kernel's own ENOTSUPP, as some NFS servers say it
    // The last where this process has opened the file without locking already.
    return reason == errno_text(ENOLCK) || reason == errno_text(not_supported) ||
           reason.find("file locking flag values don't match") != std::string::npos;
}

} // namespace

FileHandle open_hdf5(const std::string& file) {
    start_hdf5();
    check_regular_file(file, "cannot open the file");
    { const File readable(file, File::Mode::read); }
    Opened opened = open_as(file, H5F_ACC_RDONLY, Locking::where_there_is);
    if (!opened.handle.valid() && tells_of_no_locks(opened.reason)) {
        opened = open_as(file, H5F_ACC_RDONLY, Locking::no);
    }
    if (!opened.handle.valid()) {
        explain_failed_open(file, opened.reason);
    }
    return std::move(opened.handle);
}

FileHandle update_hdf5(const std::string& file) {
    start_hdf5();
    { const File writable(file, File::Mode::update); }
    // The output has a lock of its own, and some file systems have none.
    Opened opened = open_as(file, H5F_ACC_RDWR, Locking::no);
    if (!opened.handle.valid()) {
        throw Error(ExitCode::output, {"cannot open the output", file, opened.reason,
                                       "Clear that, then run the same command again"});
    }
    return std::move(opened.handle);
}

void close_hdf5(FileHandle handle, const std::string& file) {
    if (!handle.close() && !is_interrupted_closing()) {
        throw_hdf5(ExitCode::output, "cannot store the file's structure", file,
                   "Check the space on that file system, then start again");
    }
}

} // namespace runner
