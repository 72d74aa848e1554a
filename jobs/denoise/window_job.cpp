// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/window_job.hpp"

#include "base/error.hpp"
#include "jobs/match/match_job.hpp"

#include <utility>
#include <variant>

namespace runner {
namespace {

/// A block of threads of the GPU makes so many layers of the usual patches.
constexpr std::int64_t block_layers_made = 7;
/// With so many blocks one above the other a GPU is busy.
constexpr std::int64_t wanted_blocks = 12;

} // namespace

/// A block's scratch.
struct WindowJob::Memory {
    float* volume = nullptr; ///< where the input is not what is averaged
    float* means = nullptr;  ///< where the output is not what was averaged
    std::int64_t bytes = 0;

    Memory(const WindowJob& job, const BlockLayers& block, std::byte* memory) {
        Pieces pieces(memory);
        const std::int64_t layer = job.volume_.layer_voxels();
        volume = pieces.take<float>(block.in_layers * layer);
        if (job.noise_.changes_output()) {
            means = pieces.take<float>(block.layers * layer);
        }
        bytes = pieces.bytes();
    }
};

WindowJob::WindowJob(Volume volume, const WindowKeys& keys, std::vector<std::int64_t> shape)
    : volume_(std::move(volume)), match_(keys.match), strength_(keys.strength),
      noise_(volume_, keys.noise) {
    shape_.output = {keys.noise.out_type, std::move(shape)};
    shape_.rows = volume_.rows();
    shape_.in_row_bytes = volume_.row_bytes();
    shape_.out_row_bytes = volume_.shape[2] * size_of(keys.noise.out_type);
    shape_.halo = match_halo(match_);
    shape_.made.layer = volume_.shape[1];
    shape_.made.each = volume_.shape[1];
    shape_.wanted_rows = wanted_blocks * block_layers_made * volume_.shape[1];
    shape_.enough_rows = block_layers_made * volume_.shape[1];
    shape_.rows_between = block_layers_made * volume_.shape[1];
}

std::unique_ptr<Job> WindowJob::surveyed(const Findings& findings) const {
    auto job = std::make_unique<WindowJob>(*this);
    job->noise_.learn(findings);
    return job;
}

void WindowJob::check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const {
    (void)checked_magnitude(volume_, first, rows, in);
}

std::int64_t WindowJob::scratch_bytes(Backend /*backend*/, const RowBlock& block) const {
    return Memory(*this, block_layers(volume_, block), nullptr).bytes;
}

double WindowJob::operations(const RowBlock& block) const {
    const BlockLayers layers = block_layers(volume_, block);
    return window_means_operations(match_, {layers.first, layers.layers});
}

void WindowJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                    const RunMemory& memory) const {
    if (!noise_.known()) {
        throw Error(ExitCode::defect, {"the input was not surveyed", "denoise", "", ""});
    }
    const BlockLayers layers = block_layers(volume_, block);
    const Memory pieces(*this, layers, memory.scratch);
    const std::int64_t layer = volume_.layer_voxels();
    const WindowMeans means{noise_.sigma(), strength_, noise_.magnitude()};
    float* const made = pieces.means != nullptr ? pieces.means : reinterpret_cast<float*>(out);
    std::visit(
        [&](auto& backend) {
            const float* voxels = noise_.read(backend, layers.in_layers * layer, in, pieces.volume);
            window_means(backend, match_, means, {layers.in_first, layers.in_layers}, voxels,
                         {layers.first, layers.layers}, made);
            noise_.write(backend, layers.layers * layer, made, out);
        },
        queue);
}

} // namespace runner
