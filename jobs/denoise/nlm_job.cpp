// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/nlm_job.hpp"

#include "base/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "jobs/match/match_job.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace runner {
namespace {

constexpr std::int64_t wanted_tiles = 4;
/// A chunk has so many layers for each that the next chunk matches again.
constexpr std::int64_t layers_for_one_repeated = 4;

} // namespace

/// A block's scratch.
struct NlmJob::Memory {
    float* volume = nullptr; ///< where the input is not what is matched
    float* means = nullptr;  ///< where the output is not what was averaged
    std::int64_t* sums = nullptr;
    MatchLists lists;
    std::int64_t bytes = 0;

    Memory(const NlmJob& job, const BlockLayers& block, const ListBatch& batch, std::byte* memory) {
        Pieces pieces(memory);
        const std::int64_t layer = job.volume_.layer_voxels();
        volume = pieces.take<float>(block.in_layers * layer);
        if (job.noise_.changes_output()) {
            means = pieces.take<float>(block.layers * layer);
        }
        sums = pieces.take<std::int64_t>(block.layers * layer);
        lists = take_lists(pieces, job.match_, batch);
        bytes = pieces.bytes();
    }
};

NlmJob::NlmJob(Volume volume, const NlmKeys& keys, std::vector<std::int64_t> shape)
    : volume_(std::move(volume)), match_(keys.match), strength_(keys.strength),
      noise_(volume_, keys.noise) {
    match_.order = MatchOrder::nearest_first;
    shape_.output = {keys.noise.out_type, std::move(shape)};
    shape_.rows = volume_.rows();
    shape_.in_row_bytes = volume_.row_bytes();
    shape_.out_row_bytes = volume_.shape[2] * size_of(keys.noise.out_type);
    shape_.halo = match_halo(match_);
    shape_.made.layer = volume_.shape[1];
    shape_.made.each = volume_.shape[1];
    const std::int64_t repeated = match_.patch[0] - 1;
    const std::int64_t least = (layers_for_one_repeated + 1) * repeated;
    const std::int64_t tiles = std::max<std::int64_t>(1, (least + batch_layers - 1) / batch_layers);
    shape_.wanted_rows = (wanted_tiles * batch_layers - repeated) * volume_.shape[1];
    shape_.enough_rows = (tiles * batch_layers - repeated) * volume_.shape[1];
    shape_.rows_between = batch_layers * volume_.shape[1];
}

std::vector<Attribute> NlmJob::attributes() const { return {{"sigma", noise_.input_sigma()}}; }

std::unique_ptr<Job> NlmJob::surveyed(const Findings& findings) const {
    auto job = std::make_unique<NlmJob>(*this);
    job->noise_.learn(findings);
    job->match_.threshold = job->noise_.threshold();
    return job;
}

void NlmJob::check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const {
    (void)checked_magnitude(volume_, first, rows, in);
}

ListBatch NlmJob::batch(Backend backend, std::int64_t layers) const {
    return list_batch(match_, backend, layers + match_.patch[0] - 1);
}

Nlm NlmJob::nlm() const {
    return {noise_.sigma(), strength_, nlm_fraction_bits(noise_.magnitude())};
}

std::int64_t NlmJob::scratch_bytes(Backend backend, const RowBlock& block) const {
    const BlockLayers layers = block_layers(volume_, block);
    return Memory(*this, layers, batch(backend, layers.layers), nullptr).bytes;
}

template <class Q>
void NlmJob::run_on(Q& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                    std::byte* scratch) const {
    const Backend backend = std::is_same_v<Q, CpuQueue> ? Backend::cpu : Backend::cuda;
    const BlockLayers layers = block_layers(volume_, block);
    const ListBatch step = batch(backend, layers.layers);
    const Memory memory(*this, layers, step, scratch);
    const std::int64_t layer = volume_.layer_voxels();
    const float* voxels = noise_.read(queue, layers.in_layers * layer, in, memory.volume);
    const HeldLayers held{layers.first, layers.layers};
    clear_nlm_sums(queue, layers.layers * layer, memory.sums);
    const std::int64_t first = std::max<std::int64_t>(0, held.first - (match_.patch[0] - 1));
    for_each_batch(match_, step, first, held.first + held.layers, [&](const MatchLayers& part) {
        const float* from = voxels + (part.in_first - layers.in_first) * layer;
        match_patches(queue, match_, part, from, memory.lists);
        add_nlm_estimates(queue, match_, part, nlm(), from, memory.lists, held, memory.sums);
    });
    float* means = memory.means != nullptr ? memory.means : reinterpret_cast<float*>(out);
    finish_nlm(queue, match_, nlm(), held, memory.sums, means);
    noise_.write(queue, layers.layers * layer, means, out);
}

double NlmJob::operations(const RowBlock& block) const {
    const BlockLayers held = block_layers(volume_, block);
    const std::int64_t first = std::max<std::int64_t>(0, held.first - (match_.patch[0] - 1));
    const MatchLayers layers = match_layers(match_, first, held.first + held.layers - first);
    return match_operations(match_, layers) + nlm_operations(match_, layers);
}

void NlmJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                 const RunMemory& memory) const {
    if (!noise_.known()) {
        throw Error(ExitCode::defect, {"the input was not surveyed", "denoise", "", ""});
    }
    std::visit([&](auto& backend) { run_on(backend, block, in, out, memory.scratch); }, queue);
}

} // namespace runner
