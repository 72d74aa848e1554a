// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/bm4d_job.hpp"

#include "base/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "jobs/match/match_job.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace runner {
namespace {

/// A window's reach along z, no more than there is.
std::int64_t half_window(const Match& match) {
    return std::min(match.window[0] / 2, match.volume[0] - match.patch[0]);
}

} // namespace

/// A block's scratch.
struct Bm4dJob::Memory {
    float* volume = nullptr; ///< where the input is not what is matched
    float* first = nullptr;  ///< the first pass' result
    float* result = nullptr; ///< where the output is not what was averaged
    Bm4dSums sums;           ///< of one pass, then of the other
    MatchLists lists;
    std::int64_t bytes = 0;

    Memory(const Bm4dJob& job, const BlockLayers& block, const ListBatch& batch,
           std::byte* memory) {
        Pieces pieces(memory);
        const std::int64_t layer = job.volume_.layer_voxels();
        const HeldLayers held{0, job.first_pass(block.layers)};
        volume = pieces.take<float>(block.in_layers * layer);
        first = pieces.take<float>(held.layers * layer);
        if (job.noise_.changes_output()) {
            result = pieces.take<float>(block.layers * layer);
        }
        sums.values = pieces.take<std::int64_t>(held.layers * layer);
        sums.weights = pieces.take<std::int64_t>(bm4d_weights(job.match_, held));
        lists = take_lists(pieces, job.match_, batch);
        bytes = pieces.bytes();
    }
};

/// One of the two, in a block.
struct Bm4dJob::Pass {
    HeldLayers held;    ///< of its result
    const float* noisy; ///< from layer noisy_first on
    const float* first; ///< the first pass' result from layer first_first on, or null
    std::int64_t noisy_first;
    std::int64_t first_first;
    ListBatch batch;
    float* result;
};

Bm4dJob::Bm4dJob(Volume volume, const Bm4dKeys& keys, std::vector<std::int64_t> shape)
    : volume_(std::move(volume)), match_(keys.match), noise_(volume_, keys.noise) {
    match_.order = MatchOrder::nearest_first;
    match_.count = bm4d_group(match_.count);
    shape_.output = {keys.noise.out_type, std::move(shape)};
    shape_.rows = volume_.rows();
    shape_.in_row_bytes = volume_.row_bytes();
    shape_.out_row_bytes = volume_.shape[2] * size_of(keys.noise.out_type);
    const std::int64_t halo = std::min(2 * bm4d_reach(match_), volume_.shape[0]);
    shape_.halo = halo * volume_.shape[1];
    shape_.made.layer = volume_.shape[1];
    shape_.made.each = volume_.shape[1];
    // Little of what is computed twice then: about 1.5 halos of references in the first pass.
    shape_.wanted_rows = std::max(10 * halo, 4 * batch_layers) * volume_.shape[1];
    // A quarter more work than without: the halo counts once, half of it in each pass.
    shape_.enough_rows = std::min(shape_.wanted_rows, 4 * std::max<std::int64_t>(1, shape_.halo));
    shape_.rows_between = batch_layers * volume_.shape[1];
}

std::vector<Attribute> Bm4dJob::attributes() const { return {{"sigma", noise_.input_sigma()}}; }

std::unique_ptr<Job> Bm4dJob::surveyed(const Findings& findings) const {
    auto job = std::make_unique<Bm4dJob>(*this);
    job->noise_.learn(findings);
    job->match_.threshold = job->noise_.threshold();
    return job;
}

void Bm4dJob::check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const {
    (void)checked_magnitude(volume_, first, rows, in);
}

HeldLayers Bm4dJob::first_pass(const HeldLayers& result) const {
    const std::int64_t reach = bm4d_reach(match_);
    const std::int64_t first = std::max<std::int64_t>(0, result.first - reach);
    return {first, std::min(result.first + result.layers + reach, volume_.shape[0]) - first};
}

std::int64_t Bm4dJob::first_pass(std::int64_t layers) const {
    return std::min(layers + 2 * bm4d_reach(match_), volume_.shape[0]);
}

ListBatch Bm4dJob::batch(Backend backend, std::int64_t layers) const {
    return list_batch(match_, backend, first_pass(layers) + bm4d_reach(match_));
}

std::int64_t Bm4dJob::scratch_bytes(Backend backend, const RowBlock& block) const {
    const BlockLayers layers = block_layers(volume_, block);
    return Memory(*this, layers, batch(backend, layers.layers), nullptr).bytes;
}

HeldLayers Bm4dJob::references(const HeldLayers& held) const {
    const std::int64_t half = half_window(match_);
    const std::int64_t before = half + match_.patch[0] - 1;
    const std::int64_t first = std::max<std::int64_t>(0, held.first - before);
    return {first, std::min(held.first + held.layers + half, volume_.shape[0]) - first};
}

double Bm4dJob::operations(const RowBlock& block) const {
    const BlockLayers layers = block_layers(volume_, block);
    const HeldLayers held{layers.first, layers.layers};
    double operations = 0;
    for (const HeldLayers& pass : {first_pass(held), held}) {
        const HeldLayers all = references(pass);
        const MatchLayers part = match_layers(match_, all.first, all.layers);
        operations += match_operations(match_, part) + bm4d_operations(match_, part);
    }
    return operations;
}

template <class Q> void Bm4dJob::run_pass(Q& queue, const Pass& pass, const Memory& memory) const {
    const Bm4d bm4d = make_bm4d(match_, noise_.sigma(), noise_.magnitude());
    const std::int64_t layer = volume_.layer_voxels();
    clear_bm4d_sums(queue, match_, pass.held, memory.sums);
    const HeldLayers all = references(pass.held);
    const std::int64_t end = all.first + all.layers;
    for_each_batch(match_, pass.batch, all.first, end, [&](const MatchLayers& part) {
        Bm4dVolumes volumes;
        volumes.noisy = pass.noisy + (part.in_first - pass.noisy_first) * layer;
        if (pass.first != nullptr) {
            volumes.first = pass.first + (part.in_first - pass.first_first) * layer;
        }
        const float* matched = pass.first != nullptr ? volumes.first : volumes.noisy;
        match_patches(queue, match_, part, matched, memory.lists);
        add_bm4d_estimates(queue, match_, part, bm4d, volumes, memory.lists, pass.held,
                           memory.sums);
    });
    finish_bm4d(queue, match_, bm4d, pass.held, memory.sums, pass.result);
}

template <class Q>
void Bm4dJob::run_on(Q& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                     std::byte* scratch) const {
    const Backend backend = std::is_same_v<Q, CpuQueue> ? Backend::cpu : Backend::cuda;
    const BlockLayers layers = block_layers(volume_, block);
    const HeldLayers held{layers.first, layers.layers};
    const HeldLayers before = first_pass(held);
    const ListBatch step = batch(backend, layers.layers);
    const Memory memory(*this, layers, step, scratch);
    const std::int64_t layer = volume_.layer_voxels();
    const float* voxels = noise_.read(queue, layers.in_layers * layer, in, memory.volume);
    float* result = memory.result != nullptr ? memory.result : reinterpret_cast<float*>(out);
    run_pass(queue, Pass{before, voxels, nullptr, layers.in_first, 0, step, memory.first}, memory);
    run_pass(queue, Pass{held, voxels, memory.first, layers.in_first, before.first, step, result},
             memory);
    noise_.write(queue, layers.layers * layer, result, out);
}

void Bm4dJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                  const RunMemory& memory) const {
    if (!noise_.known()) {
        throw Error(ExitCode::defect, {"the input was not surveyed", "denoise", "", ""});
    }
    std::visit([&](auto& backend) { run_on(backend, block, in, out, memory.scratch); }, queue);
}

} // namespace runner
