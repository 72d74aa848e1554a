// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "kernels/queue/queue.hpp"
#include "python/src/job_arguments.hpp"
#include "python/src/jobs.hpp"
#include "runner/memory/in_core_job.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace runner {
namespace {

std::byte* pointer(std::uintptr_t address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): Python has addresses as numbers
    return reinterpret_cast<std::byte*>(address);
}

/// On a stream of a GPU. Device -1 is the host itself, for tests where there is no GPU.
Queue queue_on(int device, std::uintptr_t stream) {
    if (device < 0) {
        const auto threads = static_cast<int>(std::thread::hardware_concurrency());
        return make_queue(Backend::cpu, 0, std::max(1, threads));
    }
    return borrow_stream(device, stream);
}

/// The Python side answers for the addresses: they are of `device`, of the job's sizes, aligned and
/// apart, and what they hold lives until the stream has passed.
class DeviceJob {
  public:
    DeviceJob(const std::string& text, const std::string& type, Shape shape,
              std::optional<int> channels, const std::vector<ArrayArgument>& arrays)
        : job_(text, "arguments", {type_named(type), std::move(shape)}, channels,
               named_arrays(arrays)) {}
    DeviceJob(const DeviceJob&) = delete;
    DeviceJob& operator=(const DeviceJob&) = delete;
    ~DeviceJob() = default;

    std::vector<TypeAndShape> outputs() const { return described(job_.outputs()); }

    void run(std::uintptr_t input, const std::vector<std::uintptr_t>& outputs, int device,
             std::uintptr_t stream, const nb::callable& take) const {
        if (outputs.size() != job_.outputs().size()) {
            throw Error(ExitCode::defect, {"the arrays are not the job's", "", "", ""});
        }
        std::vector<std::byte*> to;
        to.reserve(outputs.size());
        for (const std::uintptr_t output : outputs) {
            to.push_back(pointer(output));
        }
        const nb::gil_scoped_release released;
        const CurrentDeviceKeeper keeper;
        Queue queue = queue_on(device, stream);
        job_.run(queue, pointer(input), to, [&](std::int64_t bytes) {
            const nb::gil_scoped_acquire acquired;
            return pointer(nb::cast<std::uintptr_t>(take(bytes)));
        });
    }

  private:
    InCoreJob job_;
};

/// What a DLPack capsule says of an array; keeps the array.
class DeviceView {
  public:
    explicit DeviceView(nb::ndarray<nb::ro> array) : array_(std::move(array)) {}

    std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(array_.data()); }
    int device() const { return array_.device_id(); }
    std::int64_t itemsize() const { return static_cast<std::int64_t>(array_.itemsize()); }

    Shape shape() const {
        Shape extents;
        for (std::size_t axis = 0; axis < array_.ndim(); ++axis) {
            extents.push_back(static_cast<std::int64_t>(array_.shape(axis)));
        }
        return extents;
    }

    /// DLPack's code and bits of an element; code 255 of what has lanes.
    std::pair<int, int> element() const {
        constexpr int none = 255;
        const nb::dlpack::dtype type = array_.dtype();
        return {type.lanes == 1 ? int{type.code} : none, int{type.bits}};
    }

    bool is_dense() const {
        std::int64_t dense = 1;
        for (std::size_t axis = array_.ndim(); axis-- > 0;) {
            const auto extent = static_cast<std::int64_t>(array_.shape(axis));
            if (extent != 1 && array_.stride(axis) != dense) {
                return false;
            }
            dense *= extent;
        }
        return true;
    }

  private:
    nb::ndarray<nb::ro> array_;
};

/// New memory of a device, for the arrays of libraries that have no way to make one to write into.
nb::ndarray<> device_array(int code, int bits, const Shape& shape, int device) {
    const nb::dlpack::dtype element{static_cast<std::uint8_t>(code),
                                    static_cast<std::uint8_t>(bits), 1};
    const std::int64_t bytes = checked_product(shape) * (bits / 8);
    auto memory = std::make_unique<Buffer>();
    {
        const nb::gil_scoped_release released;
        const CurrentDeviceKeeper keeper;
        Queue queue = queue_on(device, 0);
        std::visit([&](auto& backend) { *memory = allocate_device(backend, bytes); }, queue);
    }
    const std::vector<std::size_t> extents(shape.begin(), shape.end());
    std::byte* const data = memory->data();
    const nb::capsule owner(memory.release(), [](void* held) noexcept {
        const CurrentDeviceKeeper keeper;
        delete static_cast<Buffer*>(held); // NOLINT(cppcoreguidelines-owning-memory)
    });
    return nb::ndarray<>(data, extents.size(), extents.data(), owner, nullptr, element,
                         device < 0 ? nb::device::cpu::value : nb::device::cuda::value,
                         std::max(0, device));
}

/// Waits for all work in a stream.
void synchronize(int device, std::uintptr_t stream) {
    const nb::gil_scoped_release released;
    const CurrentDeviceKeeper keeper;
    const Queue queue = queue_on(device, stream);
    std::visit([](const auto& backend) { backend.synchronize(); }, queue);
}

} // namespace

void define_device_job(nb::module_& module) {
    module.attr("has_cuda") = has_cuda();
    nb::class_<DeviceJob>(module, "DeviceJob")
        .def(nb::init<const std::string&, const std::string&, Shape, std::optional<int>,
                      const std::vector<ArrayArgument>&>(),
             nb::arg("text"), nb::arg("dtype"), nb::arg("shape"), nb::arg("channels").none(),
             nb::arg("arrays"))
        .def_prop_ro("outputs", &DeviceJob::outputs)
        .def("run", &DeviceJob::run, nb::arg("input"), nb::arg("outputs"), nb::arg("device"),
             nb::arg("stream"), nb::arg("take"));
    nb::class_<DeviceView>(module, "DeviceView")
        .def(nb::init<nb::ndarray<nb::ro>>(), nb::arg("capsule"))
        .def_prop_ro("address", &DeviceView::address)
        .def_prop_ro("device", &DeviceView::device)
        .def_prop_ro("element", &DeviceView::element)
        .def_prop_ro("itemsize", &DeviceView::itemsize)
        .def_prop_ro("shape", &DeviceView::shape)
        .def_prop_ro("is_dense", &DeviceView::is_dense);
    module.def("device_array", &device_array, nb::arg("code"), nb::arg("bits"), nb::arg("shape"),
               nb::arg("device"));
    module.def("synchronize", &synchronize, nb::arg("device"), nb::arg("stream"));
}

} // namespace runner
