// SPDX-License-Identifier: BSD-3-Clause
// The extension module `runner._runner`: jobs on arrays of this process. The package's Python side
// (python/runner) checks and converts arguments; this is a thin layer over MemoryJob.
#include "base/error.hpp"
#include "runner/memory/memory_job.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace runner {
namespace {

using Bytes = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ConstBytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Shape = std::vector<std::int64_t>;
using NamedArray = std::pair<std::string, Shape>; ///< its element type and its extents

/// Python signals and the progress callback are seen to this often.
constexpr std::chrono::milliseconds glance{50};

/// Every type of element; names as numpy's, or "bytes16" for what is only moved.
ElementType type_named(const std::string& name) {
    for (int i = 0; i <= static_cast<int>(ElementType::bytes16); ++i) {
        if (name_of(static_cast<ElementType>(i)) == name) {
            return static_cast<ElementType>(i);
        }
    }
    throw Error(ExitCode::usage, {"there is no such element type", name, "", ""});
}

/// An instance of the exception class in runner.errors for the error's code.
void raise(const Error& error) {
    const ErrorText& text = error.text();
    const nb::object made = nb::module_::import_("runner.errors")
                                .attr("make")(static_cast<int>(error.code()), error.what(),
                                              text.what, text.where, text.why, text.try_this);
    PyErr_SetObject(made.type().ptr(), made.ptr());
}

class ArrayJob {
  public:
    ArrayJob(const std::string& text, const std::string& type, Shape shape,
             std::optional<int> channels)
        : job_(text, "arguments", {type_named(type), std::move(shape)}, channels) {}

    std::vector<NamedArray> outputs() const {
        std::vector<NamedArray> all;
        for (const ArrayInfo& output : job_.outputs()) {
            all.emplace_back(std::string(name_of(output.type)), output.shape);
        }
        return all;
    }

    /// The engine runs in a thread of its own, without the GIL. This one looks at signals.
    void run(const ConstBytes& input, const std::vector<Bytes>& outputs, int backend, int device,
             const nb::object& progress) {
        check_sizes(input, outputs);
        std::vector<std::byte*> to;
        to.reserve(outputs.size());
        for (const Bytes& output : outputs) {
            to.push_back(reinterpret_cast<std::byte*>(output.data()));
        }
        const MemoryJob::Place place{static_cast<BackendChoice>(backend), device};
        const auto* from = reinterpret_cast<const std::byte*>(input.data());
        Stop stop{std::vector<std::string>{}};
        std::future<bool> whole;
        {
            const nb::gil_scoped_release released;
            whole = std::async(std::launch::async, [&] { return job_.run(from, to, place, stop); });
        }
        std::exception_ptr interruption = wait(whole, stop, progress);
        if (interruption) {
            std::rethrow_exception(interruption);
        }
        if (!whole.get()) {
            throw Error(ExitCode::stopped, {"the job was stopped", "", stop.reason(), ""});
        }
    }

  private:
    void check_sizes(const ConstBytes& input, const std::vector<Bytes>& outputs) const {
        bool fit = outputs.size() == job_.outputs().size() &&
                   static_cast<std::int64_t>(input.size()) == byte_count(job_.input());
        for (std::size_t i = 0; fit && i < outputs.size(); ++i) {
            fit = static_cast<std::int64_t>(outputs[i].size()) == byte_count(job_.outputs()[i]);
        }
        if (!fit) {
            throw Error(ExitCode::defect, {"the arrays are not of the job's sizes", "", "", ""});
        }
    }

    /// Until the job has ended. Returns what a signal handler or the callback raised.
    std::exception_ptr wait(const std::future<bool>& whole, Stop& stop,
                            const nb::object& progress) {
        std::exception_ptr raised;
        std::int64_t shown = -1;
        const auto is_over = [&] {
            const nb::gil_scoped_release released;
            return whole.wait_for(glance) == std::future_status::ready;
        };
        for (bool over = false; !over;) {
            over = is_over();
            if (raised) {
                continue;
            }
            try {
                if (PyErr_CheckSignals() != 0) {
                    throw nb::python_error();
                }
                const MemoryJob::Progress now = job_.progress();
                if (!progress.is_none() && now.total > 0 && now.done > shown) {
                    shown = now.done;
                    progress(now.done, now.total);
                }
            } catch (...) {
                raised = std::current_exception();
                stop.ask_to_drop("an exception");
            }
        }
        return raised;
    }

    MemoryJob job_;
};

void define(nb::module_& module) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*payload*/) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Error& error) {
            raise(error);
        }
    });
    nb::class_<ArrayJob>(module, "ArrayJob")
        .def(nb::init<const std::string&, const std::string&, Shape, std::optional<int>>(),
             nb::arg("text"), nb::arg("dtype"), nb::arg("shape"), nb::arg("channels").none())
        .def_prop_ro("outputs", &ArrayJob::outputs)
        .def("run", &ArrayJob::run, nb::arg("input"), nb::arg("outputs"), nb::arg("backend"),
             nb::arg("device"), nb::arg("progress").none());
}

} // namespace
} // namespace runner

NB_MODULE(_runner, module) { runner::define(module); }
