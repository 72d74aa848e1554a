// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace runner {

/// What the process returns; the numbers are part of the command line's contract
/// (docs/job-file.md).
enum class ExitCode {
    ok = 0,
    defect = 1,   ///< a defect of the program
    usage = 2,    ///< the job file or the command line is wrong, or the plan cannot fit
    input = 3,    ///< input data
    output = 4,   ///< output or storage
    gpu = 5,      ///< GPU
    launch = 6,   ///< launch, MPI, host memory, stall
    differs = 7,  ///< a comparison or verification differs
    stopped = 75, ///< stopped, can be resumed
};

/// The parts of one message to a person: WHAT (WHERE): WHY. TRY
struct ErrorText {
    std::string what;     ///< what could not be done: "cannot open input"
    std::string where;    ///< the file, key, byte, rank or device; may be empty
    std::string why;      ///< the reason, as precise as known
    std::string try_this; ///< what to do about it; may be empty
};

/// The one exception type a person's mistake or a failing device turns into.
/// Anything else that escapes to main is a defect (exit code 1).
class Error : public std::runtime_error {
  public:
    Error(ExitCode code, ErrorText text);

    ExitCode code() const noexcept { return code_; }
    const ErrorText& text() const noexcept { return text_; }

  private:
    ExitCode code_;
    ErrorText text_;
};

/// Memory that could not be taken: of the host (launch) or of a device (gpu). Whoever asked may ask
/// for less.
class OutOfMemory : public Error {
  public:
    using Error::Error;
};

/// What a std::bad_alloc means, with the process' limit where it has one. `where`: what asked, or
/// how much.
OutOfMemory out_of_host_memory(const std::string& where = "");

/// "WHAT (WHERE): WHY. TRY", what() of an Error: no empty parts; all but WHAT by printable().
std::string format_error(const ErrorText& text);

/// The text of an errno value, and for the ones with a usual remedy nothing more.
std::string errno_text(int number);

} // namespace runner
