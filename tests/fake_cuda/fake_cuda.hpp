// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// A stand-in for the CUDA runtime, for tests where there is no GPU: link `fake_cuda` before the
/// project's libraries and its functions are taken instead of libcudart's. One device, whose memory
/// is the host's. Streams run their copies as late as the waiting allows or in a random order, so
/// that a missing wait shows as wrong bytes. Kernels are accepted and do nothing.
///
/// In a whole program the environment says what fails: FAKE_CUDA_FAIL="cudaMemcpyAsync@7=719", and
/// a violation ends the process with SIGABRT.
namespace fake_cuda {

/// Forgets all failures, counts and violations. The calling thread is the one that drives the code
/// under test: it is never in the middle of a call when another thread's fails.
void reset();

/// The `nth` call of `function` from now, from 1, and with `again` all after it, gives the CUDA
/// error `error`; a release does its work all the same. After an error that ends CUDA for a
/// process, every call gives it again, and is a violation unless it may have been under way: one a
/// thread, none of the thread that got the error or drives.
enum class Again { no, yes };
void fail(const std::string& function, std::int64_t nth, int error, Again again = Again::no);

/// What the device has; more cannot be taken.
void set_device_memory(std::int64_t bytes);

/// From now, until reset(), each call lets random streams do a little of their work.
void run_at_random(unsigned seed);

/// What the calling thread set last; 0 before.
int current_device();

/// Calls of a function so far.
std::int64_t calls(const std::string& function);
/// The functions called so far.
std::vector<std::string> called();

/// Allocations, streams and events that are not given back.
std::int64_t live();

/// Calls after the end, copies from or to memory that was not taken, things given back twice.
std::vector<std::string> violations();

} // namespace fake_cuda
