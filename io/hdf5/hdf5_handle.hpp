// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <string>
#include <utility>

#include <hdf5.h>

namespace runner {

/// Makes HDF5 ready for the calling thread; to be called before its first HDF5 call. HDF5 prints no
/// errors (the setting is per thread), registers no handler at exit (which crashes after a failed
/// close) and knows the filters that are
/// undone here.
void start_hdf5();

/// What the calling thread's last failing HDF5 call says of itself, the innermost cause alone.
std::string hdf5_error_text();

/// Whether the calling thread's last HDF5 call failed by a signal in close() alone. Linux has
/// closed the file all the same, after HDF5 had written everything.
bool is_interrupted_closing();

/// Whether a checksum of HDF5's own structures has not matched in a call of this thread, even one
/// whose failure nobody looked at: HDF5 leaves the damaged block out where the object is opened
/// once more, and what it tells then is not what the file held.
bool found_damaged_structure();

/// The report of such a failure.
Error damaged_structure(const std::string& where);

/// What to do about a reason that newer versions of the format are the cause of; "" for others.
std::string newer_format_remedy(const std::string& reason);

/// Throws what the last failing HDF5 call says, with newer_format_remedy() where there is one.
[[noreturn]] void throw_hdf5(ExitCode code, std::string what, std::string where,
                             std::string try_this = {});

/// The same for an object that is open, whose file the message names.
[[noreturn]] void throw_hdf5_of(hid_t object, ExitCode code, std::string what,
                                std::string try_this = {});

/// Owns one HDF5 identifier; move-only.
template <herr_t (*Close)(hid_t)> class Hdf5Handle {
  public:
    Hdf5Handle() = default;
    explicit Hdf5Handle(hid_t id) noexcept : id_(id) {}
    Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
    Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    Hdf5Handle(const Hdf5Handle&) = delete;
    Hdf5Handle& operator=(const Hdf5Handle&) = delete;
    /// Where the result of closing matters (a file written to), call close() before.
    ~Hdf5Handle() {
        if (valid()) {
            (void)Close(id_);
        }
    }

    bool valid() const noexcept { return id_ >= 0; }
    hid_t get() const noexcept { return id_; }

    /// Closes now; false when HDF5 says that it failed.
    bool close() noexcept { return Close(std::exchange(id_, H5I_INVALID_HID)) >= 0; }

  private:
    hid_t id_ = H5I_INVALID_HID;
};

using FileHandle = Hdf5Handle<H5Fclose>;
using DatasetHandle = Hdf5Handle<H5Dclose>;
using SpaceHandle = Hdf5Handle<H5Sclose>;
using TypeHandle = Hdf5Handle<H5Tclose>;
using PropertyHandle = Hdf5Handle<H5Pclose>;
using AttributeHandle = Hdf5Handle<H5Aclose>;
using ObjectHandle = Hdf5Handle<H5Oclose>;

/// Throws (defect) unless `result` is HDF5's "good": for calls that fail only by our mistake or for
/// lack of memory.
template <class Result> Result hdf5_must(Result result, const char* call) {
    if (result < 0) {
        throw_hdf5(ExitCode::defect, std::string("HDF5's ") + call + " failed", "");
    }
    return result;
}

/// Makes HDF5 undo the filters of io/filters/ that it has none for itself, before any plugin: it
/// needs them for datasets that it alone can read, and to create compressed ones, whose chunks come
/// packed. @throws Error (defect).
void register_filters();

/// What `step` returns. The output is inspected and read by what reads inputs: where that fails the
/// Error is one of output here.
template <class Step> auto of_output(Step step) {
    try {
        return step();
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
        throw Error(ExitCode::output, error.text());
    }
}

/// Throws `code` unless `result` is HDF5's "good": for calls that read from the file of `object`,
/// whose disk may fail.
template <class Result> Result hdf5_read(Result result, hid_t object, ExitCode code) {
    if (result < 0) {
        throw_hdf5_of(object, code, "cannot read the file's structure", "Check it with h5ls -r");
    }
    return result;
}

} // namespace runner
