// SPDX-License-Identifier: BSD-3-Clause
#include "runner/memory/memory_job.hpp"

#include "base/error.hpp"
#include "io/rows/row_geometry.hpp"
#include "kernels/queue/devices.hpp"
#include "runner/engines/survey_input.hpp"
#include "runner/memory/memory_files.hpp"
#include "runner/probe/served_rows.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/host_memory.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

namespace runner {
namespace {

RankBinding bind_memory(const MemoryJob::Place& place) {
    RankBinding binding;
    binding.limits.cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    binding.limits.host_memory = available_host_memory().bytes;
    const std::vector<DeviceInfo> devices =
        place.backend == BackendChoice::cpu ? std::vector<DeviceInfo>{} : visible_devices();
    if (place.backend == BackendChoice::cuda || !devices.empty()) {
        if (place.device < 0 || place.device >= std::ssize(devices)) {
            throw Error(ExitCode::gpu,
                        {"there is no GPU to run on", "device " + std::to_string(place.device),
                         "CUDA sees " + std::to_string(devices.size()) + " devices",
                         "Use backend \"cpu\", or another device"});
        }
        binding.backend = Backend::cuda;
        binding.device = devices[static_cast<std::size_t>(place.device)];
        binding.limits.device_memory = free_device_memory(place.device);
    }
    return binding;
}

/// The bytes of an array that one pass makes for the next. They are not set to zero.
using Intermediate = std::unique_ptr<std::byte[]>;

/// The prepared job with its rows read from memory.
PreparedJob in_memory(PreparedJob prepared, const std::byte* input) {
    prepared.layout.way = DatasetLayout::Way::positions;
    prepared.rows = [info = prepared.input, input](int threads) {
        return open_memory_rows(info, input, threads);
    };
    return prepared;
}

} // namespace

MemoryJob::MemoryJob(const std::string& text, const std::string& name, const ArrayInfo& input,
                     std::optional<int> channels, std::vector<NamedArray> arrays)
    : input_(memory_info(input, channels)), arrays_(std::move(arrays)) {
    MemoryFiles files(input_, arrays_);
    passes_ = passes_of(parse_array_job(text, name), files, RowOrders::are_passes);
    const PreparedJob last = prepare_pass(passes_.back(), files);
    const std::vector<OutputField> fields = last.job->fields();
    for (const OutputField& field : fields) {
        outputs_.push_back(field.array);
    }
    if (fields.empty()) {
        outputs_.push_back(last.output());
    }
}

bool MemoryJob::run(const std::byte* input, std::span<std::byte* const> outputs, const Place& place,
                    Stop& stop) {
    Intermediate from;
    notes_.clear();
    for (std::size_t i = 0; i < passes_.size(); ++i) {
        std::vector<MemoryField> fields;
        Intermediate to;
        if (i + 1 == passes_.size()) {
            for (std::size_t n = 0; n < outputs.size(); ++n) {
                fields.push_back({row_bytes(outputs_[n]), outputs[n]});
            }
        } else {
            const ArrayInfo& made = passes_[i + 1].input.array;
            to = std::make_unique_for_overwrite<std::byte[]>(
                static_cast<std::size_t>(byte_count(made)));
            fields.push_back({row_bytes(made), to.get()});
        }
        if (!run_pass(passes_[i], from ? from.get() : input, fields, place, stop)) {
            return false;
        }
        from = std::move(to);
        const std::lock_guard lock(mutex_);
        ++passes_done_;
    }
    return true;
}

bool MemoryJob::run_pass(const JobPass& pass, const std::byte* input,
                         std::span<const MemoryField> fields, const Place& place, Stop& stop) {
    MemoryFiles files(input_, arrays_);
    const PreparedJob unsurveyed = in_memory(prepare_pass(pass, files), input);
    const RankBinding binding = bind_memory(place);
    const Ranks ranks{Ranks::Alone{}};
    const PlanPtr plan = plan_job(unsurveyed, binding.backend, 1, binding.limits);
    OpenRun open;
    const std::optional<PreparedJob> surveyed = survey_input(
        unsurveyed, ranks,
        {binding.limits.cores, plan->io_threads, stop, open.progress, ProgressStyle::silent});
    if (!surveyed) {
        return false;
    }
    const PreparedJob& prepared = *surveyed;
    for (std::string& note : prepared.job->notes()) {
        notes_.push_back(std::move(note));
    }
    open.reader = open_input_rows(prepared, plan->io_threads, plan->kept_lines);
    open.writer = open_memory_writer(fields, plan->io_threads);
    const output::Beginning beginning;
    const RunContext context{prepared, ranks, beginning, open, stop};
    const std::unique_ptr<EngineRun> engine = engine_of(*prepared.job).start(*plan, context);
    engine->exchange();
    show(engine.get(), &open.progress.in_flight);
    const auto hide = [this](const EngineRun* /*engine*/) { show(nullptr, nullptr); };
    const std::unique_ptr<const EngineRun, decltype(hide)> shown(engine.get(), hide);
    const auto make = [&] {
        return make_queue(binding.backend, binding.device.index, binding.limits.cores,
                          place.staging);
    };
    (void)engine->run({make, nullptr, [](const std::string& /*line*/) {}});
    return !engine->agree_on_stop();
}

void MemoryJob::show(const EngineRun* engine, InFlight* in_flight) {
    const Progress last = progress();
    const std::lock_guard lock(mutex_);
    last_ = last;
    engine_ = engine;
    in_flight_ = in_flight;
}

void MemoryJob::drop() {
    const std::lock_guard lock(mutex_);
    if (in_flight_ != nullptr) {
        in_flight_->drop();
    }
}

MemoryJob::Progress MemoryJob::progress() const {
    const std::lock_guard lock(mutex_);
    if (engine_ == nullptr) {
        return last_;
    }
    const ProgressSnapshot now = engine_->snapshot();
    // Passes count alike: how many rows the later ones have is known when they begin.
    const auto passes = static_cast<std::int64_t>(passes_.size());
    return {static_cast<std::int64_t>(passes_done_) * now.rows_total +
                static_cast<std::int64_t>(now.rows_done),
            passes * now.rows_total};
}

} // namespace runner
