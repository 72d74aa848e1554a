// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "base/sizes.hpp"
#include "kernels/queue/staging_pool.hpp"
#include "python/src/job_arguments.hpp"
#include "python/src/jobs.hpp"
#include "runner/memory/memory_job.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace runner {
namespace {

/// Python signals and the progress callback are seen to this often.
constexpr std::chrono::milliseconds glance{50};

/// A transposition takes as much: four lanes of two boxes of 256 MiB.
constexpr std::int64_t most_kept = 2 * GiB;

/// The page-locked memory that calls hand on to later ones.
struct StagingMemory {
    std::shared_ptr<StagingPool> pool = std::make_shared<StagingPool>(most_kept);
};

class ArrayJob {
  public:
    ArrayJob(const std::string& text, const std::string& type, Shape shape,
             std::optional<int> channels, std::vector<ArrayArgument> arrays)
        : arrays_(std::move(arrays)), job_(text, "arguments", {type_named(type), std::move(shape)},
                                           channels, named_arrays(arrays_)) {}

    std::vector<TypeAndShape> outputs() const { return described(job_.outputs()); }
    std::vector<std::string> notes() const { return job_.notes(); }

    /// The engine runs in a thread of its own, without the GIL. This one looks at signals.
    void run(const ConstBytes& input, const std::vector<Bytes>& outputs, int backend, int device,
             const nb::object& progress, const StagingMemory& staging) {
        check_sizes(input, outputs);
        std::vector<std::byte*> to;
        to.reserve(outputs.size());
        for (const Bytes& output : outputs) {
            to.push_back(reinterpret_cast<std::byte*>(output.data()));
        }
        const MemoryJob::Place place{static_cast<BackendChoice>(backend), device, staging.pool};
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
                job_.drop(); // a pass may begin after the last look
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
                job_.drop();
            }
        }
        return raised;
    }

    std::vector<ArrayArgument> arrays_; ///< that the job reads from
    MemoryJob job_;
};

} // namespace

void define_array_job(nb::module_& module) {
    nb::class_<StagingMemory>(module, "StagingMemory")
        .def(nb::init<>())
        .def("clear", [](const StagingMemory& memory) { memory.pool->clear(); })
        .def_prop_ro("bytes",
                     [](const StagingMemory& memory) { return memory.pool->kept_bytes(); });
    nb::class_<ArrayJob>(module, "ArrayJob")
        .def(nb::init<const std::string&, const std::string&, Shape, std::optional<int>,
                      std::vector<ArrayArgument>>(),
             nb::arg("text"), nb::arg("dtype"), nb::arg("shape"), nb::arg("channels").none(),
             nb::arg("arrays"))
        .def_prop_ro("outputs", &ArrayJob::outputs)
        .def_prop_ro("notes", &ArrayJob::notes)
        .def("run", &ArrayJob::run, nb::arg("input"), nb::arg("outputs"), nb::arg("backend"),
             nb::arg("device"), nb::arg("progress").none(), nb::arg("staging"));
}

} // namespace runner
