// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/nlm_job.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "jobs/denoise/noise_survey.hpp"
#include "jobs/match/match_job.hpp"
#include "kernels/anscombe.hpp"
#include "kernels/noise_level.hpp"
#include "kernels/voxels.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>
#include <variant>

namespace runner {
namespace {

/// As many layers of references as a block of threads of the GPU takes at once, and whole boxes of
/// the CPU.
constexpr std::int64_t tile_layers = 12;
constexpr std::int64_t wanted_tiles = 4;
constexpr std::int64_t box_lines = 16; ///< of the CPU

/// Lists of this size keep a GPU, or some hundred cores, busy.
constexpr std::int64_t list_bytes(Backend backend) {
    return backend == Backend::cuda ? 1 * GiB : 128 * MiB;
}

std::int64_t round_down(std::int64_t value, std::int64_t step) {
    return std::max(value / step * step, step);
}

/// Stabilised, where it is to be, on the host.
float stabilised(Stabilise stabilise, float magnitude) {
    if (stabilise == Stabilise::anscombe) {
        CpuQueue queue(1);
        stabilise_counts(queue, 1, &magnitude, &magnitude);
    }
    return magnitude;
}

} // namespace

/// A block's scratch.
struct NlmJob::Memory {
    float* volume = nullptr; ///< where the input is not what is matched
    float* means = nullptr;  ///< where the output is not what was averaged
    std::int64_t* sums = nullptr;
    MatchLists lists;
    std::int64_t bytes = 0;

    Memory(const NlmJob& job, const BlockLayers& block, const NlmBatch& batch, std::byte* memory) {
        Pieces pieces(memory);
        const std::int64_t layer = job.volume_.layer_voxels();
        const bool stabilise = job.keys_.stabilise != Stabilise::none;
        if (job.volume_.type != ElementType::float32 || stabilise) {
            volume = pieces.take<float>(block.in_layers * layer);
        }
        if (job.keys_.out_type != ElementType::float32 || stabilise) {
            means = pieces.take<float>(block.layers * layer);
        }
        sums = pieces.take<std::int64_t>(block.layers * layer);
        const Match& match = job.keys_.match;
        const OutputRows along_z{1, 1, match.step, match.volume[0] - match.patch[0]};
        const OutputRows along_y{1, 1, match.step, match.volume[1] - match.patch[1]};
        const std::int64_t rows =
            along_z.most(batch.layers) * along_y.most(batch.lines) * match_grid(match)[2];
        lists.index = pieces.take<std::uint64_t>(rows * job.keys_.match.count);
        lists.distance = pieces.take<float>(rows * job.keys_.match.count);
        lists.count = pieces.take<std::int32_t>(rows);
        bytes = pieces.bytes();
    }
};

NlmJob::NlmJob(Volume volume, const NlmKeys& keys, std::vector<std::int64_t> shape)
    : volume_(std::move(volume)), keys_(keys) {
    keys_.match.order = MatchOrder::nearest_first;
    shape_.output = {keys_.out_type, std::move(shape)};
    shape_.rows = volume_.rows();
    shape_.in_row_bytes = volume_.row_bytes();
    shape_.out_row_bytes = volume_.shape[2] * size_of(keys_.out_type);
    shape_.halo = match_halo(keys_.match);
    shape_.made.layer = volume_.shape[1];
    shape_.made.each = volume_.shape[1];
    shape_.wanted_rows =
        (wanted_tiles * tile_layers - (keys_.match.patch[0] - 1)) * volume_.shape[1];
    nlm_.strength = keys_.strength;
    if (!survey()) {
        Findings none;
        const float most = volume_.type == ElementType::uint8 ? 255.0F : 65535.0F;
        none.most = std::bit_cast<std::uint32_t>(most);
        learn(none);
    }
}

void NlmJob::learn(const Findings& findings) {
    const auto bits = static_cast<std::uint32_t>(findings.most);
    nlm_.fraction_bits = nlm_fraction_bits(stabilised(keys_.stabilise, std::bit_cast<float>(bits)));
    if (keys_.stabilise == Stabilise::anscombe) {
        nlm_.sigma = 1;
    } else {
        nlm_.sigma = keys_.sigma ? *keys_.sigma : noise_sigma(findings.counts.data());
    }
    known_ = true;
}

std::vector<Attribute> NlmJob::attributes() const { return {{"sigma", nlm_.sigma}}; }

std::unique_ptr<Survey> NlmJob::survey() const {
    const bool estimates = !keys_.sigma && keys_.stabilise == Stabilise::none;
    if (known_ || (!estimates && volume_.type != ElementType::float32)) {
        return nullptr;
    }
    return make_noise_survey(volume_, estimates ? CountNoise::yes : CountNoise::no);
}

std::unique_ptr<StreamJob> NlmJob::surveyed(const Findings& findings) const {
    auto job = std::make_unique<NlmJob>(*this);
    job->learn(findings);
    return job;
}

void NlmJob::check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const {
    (void)checked_magnitude(volume_, first, rows, in);
}

NlmBatch NlmJob::batch(Backend backend, std::int64_t layers) const {
    const Match& match = keys_.match;
    const auto grid = match_grid(match);
    const std::int64_t line = grid[2] * (12 * std::int64_t{match.count} + 4);
    const std::int64_t tiles = round_down(list_bytes(backend) / (line * grid[1]), tile_layers);
    // No more layers than the block's, so that small chunks take little memory.
    NlmBatch batch{std::min(tiles * match.step, layers + match.patch[0] - 1), volume_.shape[1]};
    if (backend == Backend::cpu) {
        const std::int64_t fitting = list_bytes(backend) / (line * std::min(tiles, batch.layers));
        batch.lines = std::min(round_down(fitting, box_lines) * match.step, volume_.shape[1]);
    }
    return batch;
}

std::int64_t NlmJob::scratch_bytes(Backend backend, const RowBlock& block) const {
    const BlockLayers layers = block_layers(volume_, block);
    return Memory(*this, layers, batch(backend, layers.layers), nullptr).bytes;
}

template <class Q>
void NlmJob::add_estimates(Q& queue, const NlmLayers& held, std::int64_t in_first,
                           const float* voxels, const Memory& memory) const {
    const Backend backend = std::is_same_v<Q, CpuQueue> ? Backend::cpu : Backend::cuda;
    const std::int64_t end = held.first + held.layers;
    const NlmBatch step = batch(backend, held.layers);
    std::int64_t first = std::max<std::int64_t>(0, held.first - (keys_.match.patch[0] - 1));
    for (; first < end; first += step.layers) {
        MatchLayers layers = match_layers(keys_.match, first, std::min(step.layers, end - first));
        const float* from = voxels + (layers.in_first - in_first) * volume_.layer_voxels();
        layers.lines = step.lines;
        for (; layers.first_line < volume_.shape[1]; layers.first_line += step.lines) {
            if (match_rows(keys_.match, layers) > 0) {
                match_patches(queue, keys_.match, layers, from, memory.lists);
                add_nlm_estimates(queue, keys_.match, layers, nlm_, from, memory.lists, held,
                                  memory.sums);
            }
        }
    }
}

template <class Q>
void NlmJob::run_on(Q& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                    std::byte* scratch) const {
    const Backend backend = std::is_same_v<Q, CpuQueue> ? Backend::cpu : Backend::cuda;
    const BlockLayers layers = block_layers(volume_, block);
    const Memory memory(*this, layers, batch(backend, layers.layers), scratch);
    const std::int64_t in_voxels = layers.in_layers * volume_.layer_voxels();
    const std::int64_t out_voxels = layers.layers * volume_.layer_voxels();
    const auto* voxels = reinterpret_cast<const float*>(in);
    if (memory.volume != nullptr) {
        voxels_to_float(queue, volume_.type, in_voxels, in, memory.volume);
        voxels = memory.volume;
    }
    if (keys_.stabilise == Stabilise::anscombe) {
        stabilise_counts(queue, in_voxels, memory.volume, memory.volume);
    }
    const NlmLayers held{layers.first, layers.layers};
    clear_nlm_sums(queue, out_voxels, memory.sums);
    add_estimates(queue, held, layers.in_first, voxels, memory);
    float* means = memory.means != nullptr ? memory.means : reinterpret_cast<float*>(out);
    finish_nlm(queue, keys_.match, nlm_, held, memory.sums, means);
    if (keys_.stabilise == Stabilise::anscombe) {
        restore_counts(queue, out_voxels, means, means);
    }
    if (memory.means != nullptr) {
        voxels_from_float(queue, keys_.out_type, out_voxels, means, out);
    }
}

void NlmJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                 std::byte* scratch) const {
    if (!known_) {
        throw Error(ExitCode::defect, {"the input was not surveyed", "denoise", "", ""});
    }
    std::visit([&](auto& backend) { run_on(backend, block, in, out, scratch); }, queue);
}

} // namespace runner
