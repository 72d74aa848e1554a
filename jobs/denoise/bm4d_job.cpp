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

template <class Q, class T> void copy_values(Q& queue, const T* from, std::int64_t count, T* to) {
    if (count > 0) {
        copy_on_device(queue, reinterpret_cast<std::byte*>(to),
                       reinterpret_cast<const std::byte*>(from), count * std::int64_t{sizeof(T)});
    }
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
        const std::int64_t both = job.first_pass(block.layers);
        // With the layers of the next block that its references reach.
        const HeldLayers held{0, job.inside(both + bm4d_reach(job.match_))};
        volume = pieces.take<float>(block.in_layers * layer);
        first = pieces.take<float>(both * layer);
        if (job.noise_.changes_output()) {
            result = pieces.take<float>(block.layers * layer);
        }
        sums.values = pieces.take<std::int64_t>(held.layers * layer);
        sums.weights = pieces.take<std::int64_t>(bm4d_weights(job.match_, held));
        lists = take_lists(pieces, job.match_, batch);
        bytes = pieces.bytes();
    }
};

/// What a block leaves the next one.
struct Bm4dJob::Carried {
    float* first = nullptr; ///< the first pass' result in the next block's first layers
    Bm4dSums first_sums;    ///< the first pass' sums of the layers behind those
    Bm4dSums second_sums;   ///< the second pass' sums of the next block's first layers
    std::int64_t bytes = 0;

    Carried(const Bm4dJob& job, std::byte* memory) {
        Pieces pieces(memory);
        const std::int64_t layer = job.volume_.layer_voxels();
        const HeldLayers held{0, bm4d_reach(job.match_)};
        first = pieces.take<float>(held.layers * layer);
        for (Bm4dSums* sums : {&first_sums, &second_sums}) {
            sums->values = pieces.take<std::int64_t>(held.layers * layer);
            sums->weights = pieces.take<std::int64_t>(bm4d_weights(job.match_, held));
        }
        bytes = pieces.bytes();
    }
};

/// One of the two, in a block.
struct Bm4dJob::Pass {
    HeldLayers made;    ///< of its result
    const float* noisy; ///< from layer noisy_first on
    const float* first; ///< the first pass' result from layer first_first on, or null
    std::int64_t noisy_first;
    std::int64_t first_first;
    ListBatch batch;
    float* result;
    const Bm4dSums* taken; ///< null: no block before has left any
    const Bm4dSums* left;  ///< null: no block behind takes any
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

HeldLayers Bm4dJob::first_pass(const HeldLayers& result, Before before) const {
    const std::int64_t reach = bm4d_reach(match_);
    const std::int64_t first = before == Before::left
                                   ? inside(result.first + reach)
                                   : std::max<std::int64_t>(0, result.first - reach);
    return {first, inside(result.first + result.layers + reach) - first};
}

std::int64_t Bm4dJob::first_pass(std::int64_t layers) const {
    return inside(layers + 2 * bm4d_reach(match_));
}

ListBatch Bm4dJob::batch(Backend backend, std::int64_t layers) const {
    return list_batch(match_, backend, first_pass(layers) + bm4d_reach(match_));
}

std::int64_t Bm4dJob::scratch_bytes(Backend backend, const RowBlock& block) const {
    const BlockLayers layers = block_layers(volume_, block);
    return Memory(*this, layers, batch(backend, layers.layers), nullptr).bytes;
}

std::int64_t Bm4dJob::carried_bytes(const RowBlock& block) const {
    return block.out_rows == shape_.rows ? 0 : Carried(*this, nullptr).bytes;
}

std::int64_t Bm4dJob::reached(std::int64_t first) const {
    return inside(first + bm4d_reach(match_)) - first;
}

HeldLayers Bm4dJob::references(const HeldLayers& made, Before before) const {
    const std::int64_t half = half_window(match_);
    const std::int64_t first =
        before == Before::left
            ? inside(made.first + half)
            : std::max<std::int64_t>(0, made.first - (half + match_.patch[0] - 1));
    return {first, inside(made.first + made.layers + half) - first};
}

double Bm4dJob::operations_in(const RowBlock& block, const BlockRun& blocks) const {
    const Before before = blocks.before ? Before::left : Before::absent;
    const BlockLayers layers = block_layers(volume_, block);
    const HeldLayers result{layers.first, layers.layers};
    double operations = 0;
    for (const HeldLayers& made : {first_pass(result, before), result}) {
        const HeldLayers all = references(made, before);
        const MatchLayers part = match_layers(match_, all.first, all.layers);
        operations += match_operations(match_, part) + bm4d_operations(match_, part);
    }
    return operations;
}

template <class Q>
void Bm4dJob::copy_sums(Q& queue, const Bm4dSums& from, std::int64_t layers,
                        const Bm4dSums& to) const {
    if (layers == 0) {
        return;
    }
    const std::int64_t values = layers * volume_.layer_voxels();
    copy_values(queue, from.values, values, to.values);
    copy_values(queue, from.weights, bm4d_weights(match_, {0, layers}), to.weights);
}

template <class Q> void Bm4dJob::run_pass(Q& queue, const Pass& pass, const Memory& memory) const {
    if (pass.made.layers == 0) {
        return; // the block before has come to the volume's end
    }
    const Bm4d bm4d = make_bm4d(match_, noise_.sigma(), noise_.magnitude());
    const std::int64_t layer = volume_.layer_voxels();
    const std::int64_t end = pass.made.first + pass.made.layers;
    const HeldLayers held{pass.made.first,
                          pass.made.layers + (pass.left != nullptr ? reached(end) : 0)};
    clear_bm4d_sums(queue, match_, held, memory.sums);
    if (pass.taken != nullptr) {
        copy_sums(queue, *pass.taken, std::min(reached(held.first), held.layers), memory.sums);
    }
    const HeldLayers all =
        references(pass.made, pass.taken != nullptr ? Before::left : Before::absent);
    for_each_batch(
        match_, pass.batch, all.first, all.first + all.layers, [&](const MatchLayers& part) {
            Bm4dVolumes volumes;
            volumes.noisy = pass.noisy + (part.in_first - pass.noisy_first) * layer;
            if (pass.first != nullptr) {
                volumes.first = pass.first + (part.in_first - pass.first_first) * layer;
            }
            const float* matched = pass.first != nullptr ? volumes.first : volumes.noisy;
            match_patches(queue, match_, part, matched, memory.lists);
            add_bm4d_estimates(queue, match_, part, bm4d, volumes, memory.lists, held, memory.sums);
        });
    finish_bm4d(queue, match_, bm4d, pass.made, memory.sums, pass.result);
    if (pass.left != nullptr) {
        const std::int64_t made = pass.made.layers * layer;
        copy_sums(queue, {memory.sums.values + made, memory.sums.weights + made}, reached(end),
                  *pass.left);
    }
}

template <class Q>
void Bm4dJob::run_on(Q& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                     const RunMemory& given) const {
    const Backend backend = std::is_same_v<Q, CpuQueue> ? Backend::cpu : Backend::cuda;
    const BlockLayers layers = block_layers(volume_, block);
    const HeldLayers result{layers.first, layers.layers};
    const Before before = given.takes_carried() ? Before::left : Before::absent;
    const bool is_left = given.leaves_carried(block);
    const HeldLayers first = first_pass(result, before);
    const ListBatch step = batch(backend, layers.layers);
    const Memory memory(*this, layers, step, given.scratch);
    const Carried carried(*this, given.carried);
    const std::int64_t layer = volume_.layer_voxels();
    // The first pass' result begins with what the second takes of the block before.
    const std::int64_t taken = before == Before::left ? reached(result.first) : 0;
    const std::int64_t first_first = first.first - taken;
    copy_values(queue, carried.first, taken * layer, memory.first);
    const float* voxels = noise_.read(queue, layers.in_layers * layer, in, memory.volume);
    float* made = memory.result != nullptr ? memory.result : reinterpret_cast<float*>(out);
    const auto pass = [&](const HeldLayers& layers_made, const float* from, float* to,
                          const Bm4dSums& sums) {
        run_pass(queue,
                 Pass{layers_made, voxels, from, layers.in_first, first_first, step, to,
                      before == Before::left ? &sums : nullptr, is_left ? &sums : nullptr},
                 memory);
    };
    pass(first, nullptr, memory.first + taken * layer, carried.first_sums);
    pass(result, memory.first, made, carried.second_sums);
    if (is_left) {
        const std::int64_t end = result.first + result.layers;
        copy_values(queue, memory.first + (end - first_first) * layer, reached(end) * layer,
                    carried.first);
    }
    noise_.write(queue, layers.layers * layer, made, out);
}

void Bm4dJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                  const RunMemory& memory) const {
    if (!noise_.known()) {
        throw Error(ExitCode::defect, {"the input was not surveyed", "denoise", "", ""});
    }
    std::visit([&](auto& backend) { run_on(backend, block, in, out, memory); }, queue);
}

} // namespace runner
