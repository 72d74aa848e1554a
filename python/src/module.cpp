// SPDX-License-Identifier: BSD-3-Clause
// The extension module `runner._runner`: jobs on arrays of this process. The package's Python side
// (python/runner) checks and converts arguments; this is a thin layer over runner/memory.
#include "base/error.hpp"
#include "python/src/jobs.hpp"

#include <exception>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace runner {
namespace {

/// An instance of the exception class in runner.errors for the error's code.
void raise(const Error& error) {
    const ErrorText& text = error.text();
    const nb::object made = nb::module_::import_("runner.errors")
                                .attr("make")(static_cast<int>(error.code()), error.what(),
                                              text.what, text.where, text.why, text.try_this);
    PyErr_SetObject(made.type().ptr(), made.ptr());
}

void define(nb::module_& module) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*payload*/) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Error& error) {
            raise(error);
        }
    });
    define_array_job(module);
    define_device_job(module);
}

} // namespace
} // namespace runner

NB_MODULE(_runner, module) { runner::define(module); }
