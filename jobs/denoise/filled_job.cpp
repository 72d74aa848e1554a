// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/filled_job.hpp"

#include "base/rounding.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/fill/fill_means.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <variant>

namespace runner {
namespace {

/// How far cubes grow: as far as the farthest voxel that a result is made of. So a valid voxel is
/// never made of one that was not filled: the cube about that one, as far as the valid one is, has
/// the valid one. Along an axis that the method does not mix, nothing is filled from neighbours.
std::array<int, 3> cube_reach(const std::array<std::int64_t, 3>& shape,
                              std::array<std::int64_t, 3> reach) {
    for (std::size_t i = 0; i < reach.size(); ++i) {
        reach.at(i) = std::min(reach.at(i), shape.at(i) - 1);
    }
    const std::int64_t farthest = *std::max_element(reach.begin(), reach.end());
    std::array<int, 3> cube = {0, 0, 0};
    for (std::size_t i = 0; i < reach.size(); ++i) {
        cube.at(i) = reach.at(i) == 0 ? 0 : static_cast<int>(std::min(farthest, shape.at(i) - 1));
    }
    return cube;
}

} // namespace

FilledJob::FilledJob(Volume volume, std::shared_ptr<const StreamJob> method,
                     const MatchReach& reach, const Match& match)
    : volume_(std::move(volume)), method_(std::move(method)) {
    fill_.layers = volume_.shape[0];
    fill_.rows = volume_.shape[1];
    fill_.columns = volume_.shape[2];
    fill_.invalid = converts() ? std::numeric_limits<double>::quiet_NaN() : *volume_.invalid;
    fill_.method = Fill::Method::mean;
    fill_.reach = cube_reach(volume_.shape, reach_of(match, reach));
    fill_.rest = 0;
}

StreamShape FilledJob::shape() const {
    StreamShape shape = method_->shape();
    shape.halo = std::min(shape.halo + fill_.reach[0] * volume_.shape[1], shape.rows);
    return shape;
}

std::optional<double> FilledJob::invalid() const {
    return invalid_value(method_->output().type, *volume_.invalid);
}

std::unique_ptr<Job> FilledJob::surveyed(const Findings& findings) const {
    const std::shared_ptr<const Job> method = method_->surveyed(findings);
    auto job = std::make_unique<FilledJob>(*this);
    job->method_ = std::dynamic_pointer_cast<const StreamJob>(method);
    return job;
}

std::optional<Locality> FilledJob::farther(std::optional<Locality> of_method) const {
    for (std::size_t i = 0; of_method && i < of_method->reach.size(); ++i) {
        of_method->reach.at(i) += fill_.reach.at(i);
    }
    return of_method;
}

RowBlock FilledJob::filled_block(const RowBlock& block) const {
    const std::int64_t halo = method_->shape().halo;
    const std::int64_t first = std::max(block.in_first, block.out_first - halo);
    const std::int64_t end =
        std::min(block.in_first + block.in_rows, block.out_first + block.out_rows + halo);
    return {block.frames, first, end - first, block.out_first, block.out_rows};
}

std::int64_t FilledJob::float_bytes(std::int64_t rows) const {
    return aligned_bytes(rows * volume_.shape[2] * std::int64_t{sizeof(float)});
}

std::int64_t FilledJob::scratch_bytes(Backend backend, const RowBlock& block) const {
    RowBlock method = block; // wherever it is: the largest one says only how large it is
    method.in_rows = std::min(block.in_rows, block.out_rows + 2 * method_->shape().halo);
    const std::int64_t before = (converts() ? float_bytes(block.in_rows) : 0) +
                                aligned_bytes(fill_means_scratch(fill_, block));
    return float_bytes(method.in_rows) + std::max(before, method_->scratch_bytes(backend, method));
}

template <class Q>
void FilledJob::fill_on(Q& queue, const RowBlock& block, const RowBlock& method,
                        const std::byte* in, std::byte* filled, std::byte* scratch) const {
    const std::byte* voxels = in;
    if (converts()) {
        read_voxels(queue, volume_, block.in_rows * volume_.shape[2], in,
                    reinterpret_cast<float*>(scratch));
        voxels = scratch;
        scratch += float_bytes(block.in_rows);
    }
    fill_means(queue, fill_, {1, block.in_first, block.in_rows, method.in_first, method.in_rows},
               voxels, filled, scratch);
}

void FilledJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                    const RunMemory& memory) const {
    const RowBlock method = filled_block(block);
    std::byte* const filled = memory.scratch;
    RunMemory rest = memory; // of the fill, then of the method
    rest.scratch += float_bytes(method.in_rows);
    std::visit([&](auto& backend) { fill_on(backend, block, method, in, filled, rest.scratch); },
               queue);
    method_->run(queue, method, filled, out, rest);
    const InvalidMapping mapping{volume_.type, *volume_.invalid, method_->output().type,
                                 *invalid()};
    const std::byte* const own = in + (block.out_first - block.in_first) * volume_.row_bytes();
    std::visit(
        [&](auto& backend) {
            mark_invalid(backend, mapping, block.out_rows * volume_.shape[2], own, out);
        },
        queue);
}

} // namespace runner
