// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/gather/transpose_gather_plan.hpp"

#include "kernels/queue/launch.cuh"
#include "kernels/transpose/gather/transpose_gather.cuh"

#include <algorithm>

namespace runner {
namespace {

using namespace gather_cuda;

using GatherKernel = void (*)(GatherCall);

template <int element> GatherKernel kernel_of(const GatherPlan& plan) {
    constexpr int all = 16 * element; // vectors of 256 elements
    if (plan.point > 1) {
        return plan.size.lanes == 32
                   ? gather_kernel<GatherForm<element, 32, all, 256>, GatherKind::points>
                   : gather_kernel<GatherForm<element, 16, all, 256>, GatherKind::points>;
    }
    if constexpr (element == 1) {
        using Wide = GatherForm<element, wide_gather_lanes, all, 512>;
        if (plan.size.lanes == Wide::lanes) {
            return plan.fold == TileFold::along ? gather_kernel<Wide, GatherKind::folded>
                                                : gather_kernel<Wide, GatherKind::even>;
        }
    }
    using Large = GatherForm<element, 16, all, 512>;
    using Small = GatherForm<element, 16, all / 2, 256>;
    if (plan.fold == TileFold::along) {
        return plan.size.threads == Large::threads ? gather_kernel<Large, GatherKind::folded>
                                                   : gather_kernel<Small, GatherKind::folded>;
    }
    return plan.size.threads == Large::threads ? gather_kernel<Large, GatherKind::even>
                                               : gather_kernel<Small, GatherKind::even>;
}

GatherKernel kernel_for(const GatherPlan& plan) {
    switch (plan.element_bytes) {
    case 1: return kernel_of<1>(plan);
    case 2: return kernel_of<2>(plan);
    default: return kernel_of<4>(plan);
    }
}

int attribute(CudaQueue& queue, cudaDeviceAttr name) {
    int value = 0;
    cuda_call([&] { return cudaDeviceGetAttribute(&value, name, queue.device()); });
    return value;
}

/// The plan, with smaller tiles where a block of threads may not have its shared memory, and
/// without clusters where there are none.
GatherPlan fitted(CudaQueue& queue, GatherPlan plan) {
    if (plan.shared_bytes > attribute(queue, cudaDevAttrMaxSharedMemoryPerBlockOptin)) {
        size_tile(gather_sizes(plan.element_bytes, plan.point > 1).front(), plan);
    }
    if (plan.cluster > 1 && attribute(queue, cudaDevAttrClusterLaunch) == 0) {
        plan.cluster = 1;
    }
    return plan;
}

Divisor divisor(std::int64_t n) { return make_divisor(static_cast<std::uint32_t>(n)); }

} // namespace

void transpose_gathered(CudaQueue& queue, const GatherPlan& wished, const std::byte* in,
                        std::byte* out) {
    const GatherPlan plan = fitted(queue, wished);
    const TransposeRows& b = plan.b;
    const std::int64_t tiles_a = plan.tiles_across();
    const std::int64_t tiles_b = plan.tiles_along();
    const std::int64_t height = std::min<std::int64_t>(plan.group, tiles_b);
    const std::int64_t bands = (tiles_b + height - 1) / height;
    GatherCall call{};
    call.in = in;
    call.out = out;
    call.readable = {in, in + b.last() + (plan.c.extent - 1) * plan.c.in +
                             plan.a.count * plan.point_bytes()};
    call.a_count = plan.a.count;
    call.a_pitch = plan.a.far;
    call.b_count = b.count;
    call.b = {divisor(b.minor), b.far, b.near};
    call.fold_step = b.far - b.minor * b.near;
    call.in_c = plan.c.in;
    call.out_c = plan.c.out;
    call.point = divisor(plan.point);
    call.across = plan.across;
    call.skew = plan.skew;
    call.spread = plan.spread;
    call.turned = plan.turned;
    call.tiles = static_cast<std::uint32_t>(tiles_a * tiles_b * plan.c.extent);
    call.plane = divisor(tiles_a * tiles_b);
    call.band = divisor(tiles_a * height);
    call.height = divisor(height);
    call.last_height = divisor(tiles_b - (bands - 1) * height);
    call.last_band = static_cast<std::uint32_t>(bands - 1);
    const KernelWork work{
        2.0 * static_cast<double>(plan.a.count * b.count * plan.c.extent * plan.point_bytes())};
    const auto cluster = static_cast<unsigned>(plan.cluster);
    launch(queue,
           {dim3((call.tiles + cluster - 1) / cluster * cluster),
            dim3(static_cast<unsigned>(plan.size.threads)),
            static_cast<std::size_t>(plan.shared_bytes), work, cluster},
           kernel_for(plan), call);
}

} // namespace runner
