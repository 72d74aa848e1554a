// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/plan_request.hpp"

#include "base/sizes.hpp"
#include "io/input/open_rows.hpp"
#include "io/output/output_size.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/output_parts.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/row_order.hpp"
#include "io/rows/written_format.hpp"
#include "runner/plan/stream_plan.hpp"

#include <algorithm>

namespace runner {
namespace {

constexpr double default_share = 0.8;

/// Written in some 10 ms; below, making the files takes as long.
constexpr std::int64_t least_part_bytes = 64 * MiB;

/// What the job file allows of the memory available; a size above that is the user's word.
std::int64_t limit(const std::optional<MemorySize>& wanted, std::int64_t available) {
    return wanted.value_or(MemorySize{0, default_share}).of(available);
}

/// What reading rows in another order takes: no more than the input has.
std::int64_t scattered_bytes(const PreparedJob& prepared) {
    const ArrayInfo& input = prepared.input.array;
    return prepared.job->row_order()
               ? std::min(std::max(scattered_rows_bytes, row_bytes(input)), byte_count(input))
               : 0;
}

/// Rows of the output of a chunk in another order for which some 128 KiB lie side by side in the
/// input: a read of less takes a disk or a network as long. 1 where rows come in their own order.
std::int64_t rows_to_order(const PreparedJob& prepared) {
    constexpr std::int64_t piece = 128 * KiB;
    const std::optional<RowOrder> order = prepared.job->row_order();
    const auto* const stream = dynamic_cast<const StreamJob*>(prepared.job.get());
    if (!order || stream == nullptr) {
        return 1;
    }
    const std::int64_t rows = order->first * ((piece - 1) / row_bytes(prepared.input.array) + 1);
    const OutputRows made = stream->shape().made;
    return std::max<std::int64_t>(1, rows / made.layer * made.each);
}

/// Whether chunks of the input are unpacked by the threads that read it.
bool unpacks(const DatasetLayout& layout) {
    return layout.way == DatasetLayout::Way::chunks && !layout.filters.empty();
}

/// The lines of the stored chunks of an input that is read in another order.
InputLines lines_of_chunks(const PreparedJob& prepared) {
    const std::optional<RowOrder> order = prepared.job->row_order();
    const DatasetInfo& stored = prepared.layout.info;
    if (!order || order->first == 1 || prepared.part ||
        prepared.layout.way != DatasetLayout::Way::chunks || stored.chunk.size() < 3 ||
        stored.array.shape[0] != order->first) {
        return {};
    }
    return {std::min(stored.chunk[1], order->second),
            order->first * row_bytes(prepared.input.array)};
}

/// Threads that pack rows keep a core each busy; those that only move bytes wait for half of it.
int packing_threads(int cores) {
    constexpr int most = 32; // each has a packer's memory
    return std::clamp(cores, 1, most);
}

/// Rows for which each thread packs several parts between two waits for the slowest. With this and
/// packing_threads() jobs take 0.65 to 0.82 of the time (bench/results/tiff-2026-11-27-h200.txt).
std::int64_t rows_to_pack(const ArrayInfo& output, const OutputLayout& layout, int threads) {
    constexpr std::int64_t parts_a_thread = 4;
    constexpr std::int64_t most_bytes = 32 * MiB;
    const std::int64_t parts = ChunkGrid(output, layout).part_bytes() * parts_a_thread * threads;
    return std::max<std::int64_t>(1, std::min(parts, most_bytes) / row_bytes(output));
}

} // namespace

PlanRequest plan_request(const PreparedJob& prepared, Backend backend, int ranks,
                         const RankLimits& limits, const BegunOutput& begun) {
    const JobFile::Run& run = prepared.file.run;
    const ArrayInfo output = prepared.output();
    PlanRequest request;
    request.backend = backend;
    request.ranks = ranks;
    request.cores = limits.cores;
    request.host_memory = limit(run.host_memory, limits.host_memory);
    request.device_memory = limit(run.device_memory, limits.device_memory);
    if (!prepared.job->row_order()) {
        request.input_shape = prepared.input.array.shape;
        request.input_channels = prepared.input.channels.value_or(1);
    }
    request.alignment = row_alignment(output, prepared.file.output.layout);
    request.chunk_rows = run.chunk_rows;
    request.lanes = run.lanes;
    const bool packs = is_packed(prepared.file.output.layout);
    request.io_threads = run.io_threads;
    // A job on a GPU leaves the cores to them: with 16 in place of 8 it takes 0.80 of the time
    // where it reads, and 0.70 where it unpacks (bench/results/zarr-reading-2026-11-29-h200.txt).
    if (!request.io_threads && (packs || unpacks(prepared.layout) || backend == Backend::cuda)) {
        request.io_threads = packing_threads(limits.cores);
    }
    request.done = begun.done;
    const bool has_fields = !prepared.fields().empty();
    const PartLayout parts =
        begun.parts ? *begun.parts : planned_parts(prepared, ranks, limits.cores);
    // Compressed rows go to one file a rank until they are assembled.
    const bool dealt =
        parts.several() && prepared.file.output.layout.compression == Compression::none;
    request.write_rows = std::max({dealt ? rows_for_all_parts(output, parts) : 1,
                                   packs ? rows_to_pack(output, prepared.file.output.layout,
                                                        static_cast<int>(*request.io_threads))
                                         : 1,
                                   rows_to_order(prepared)});
    request.lines = lines_of_chunks(prepared);
    request.storage_bytes = [&prepared, output, has_fields, parts, dealt](int threads) {
        return layout_reader_bytes(prepared.layout, threads) + scattered_bytes(prepared) +
               (prepared.mask ? prepared.mask->bytes(threads) : 0) +
               (has_fields ? threads * std::max(fields_block_bytes, row_bytes(output))
                           : writer_bytes(output, prepared.file.output.layout,
                                          dealt ? part_threads(parts, threads) : threads));
    };
    request.halo_depth = run.halo_depth;
    return request;
}

std::int64_t automatic_parts(std::int64_t bytes, int ranks, int cores) {
    const std::int64_t writers = automatic_io_threads(cores) * std::int64_t{ranks};
    return std::clamp<std::int64_t>(bytes / least_part_bytes, 1, std::min(writers, most_parts));
}

std::vector<StepFacts> with_memory(const PreparedJob& prepared, const JobPlan& plan,
                                   std::vector<StepFacts> steps) {
    const auto* job = dynamic_cast<const StreamJob*>(prepared.job.get());
    const auto* stream = dynamic_cast<const StreamPlan*>(&plan);
    if (job == nullptr || stream == nullptr) {
        return steps;
    }
    const std::vector<StepMemory> memory =
        job->step_memory(plan.backend, stream->decomposition.largest_block());
    auto next = memory.begin();
    for (StepFacts& step : steps) {
        if (step.is_order || next == memory.end()) {
            continue;
        }
        step.memory = *next++;
        step.memory->carried_rows = stream->carries ? step.memory->carried_rows : 0;
        step.memory->carried_bytes = stream->carries ? step.memory->carried_bytes : 0;
    }
    return steps;
}

PartLayout planned_parts(const PreparedJob& prepared, int ranks, int cores) {
    const JobFile::Output& output = prepared.file.output;
    const ArrayInfo array = prepared.output();
    const bool can_have = output.layout.is_hdf5() && prepared.fields().empty();
    // Each rank assembles compressed chunks with one thread that calls HDF5.
    const int writers = output.layout.compression == Compression::none ? cores : 1;
    const std::int64_t wanted =
        !can_have ? 1 : output.parts.value_or(automatic_parts(byte_count(array), ranks, writers));
    PartLayout parts = choose_part_layout(array, output.layout, wanted, ranks);
    parts.folder = parts_folder(output.file);
    return parts;
}

} // namespace runner
