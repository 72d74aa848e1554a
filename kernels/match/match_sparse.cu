// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match_call.hpp"

#include "kernels/match/match_sparse.cuh"
#include "kernels/queue/launch_parts.cuh"

#include <array>
#include <utility>

namespace runner {
namespace {

using Kernel = void (*)(MatchCall, SparsePlan, std::int64_t, const float*, MatchLists);

template <int along, int patch, int each> constexpr Kernel kernel() {
    if constexpr (sparse_has(along, patch, each)) {
        return match_cuda::sparse_kernel<along, patch, each>;
    } else {
        return nullptr;
    }
}

template <int along, int each, int... before>
constexpr std::array<Kernel, Match::max_patch>
kernels(std::integer_sequence<int, before...> /*unused*/) {
    return {kernel<along, before + 1, each>()...};
}

Kernel kernel_of(const MatchCall& call, const SparsePlan& plan) {
    constexpr std::make_integer_sequence<int, Match::max_patch> patches;
    const auto patch = static_cast<std::size_t>(call.patch[plan.along] - 1);
    if (plan.along == 0) {
        return (plan.each == 5 ? kernels<0, 5>(patches) : kernels<0, 11>(patches)).at(patch);
    }
    return kernels<1, 11>(patches).at(patch);
}

std::int64_t attribute(CudaQueue& queue, cudaDeviceAttr name) {
    int value = 0;
    cuda_call([&] { return cudaDeviceGetAttribute(&value, name, queue.device()); });
    return value;
}

} // namespace

void match_sparse(CudaQueue& queue, const MatchCall& call, const float* volume,
                  const MatchLists& lists) {
    const SparsePlan plan =
        make_sparse_plan(call, {attribute(queue, cudaDevAttrMaxSharedMemoryPerBlockOptin),
                                attribute(queue, cudaDevAttrMaxSharedMemoryPerMultiprocessor)});
    const Kernel kernel = kernel_of(call, plan);
    const std::int64_t a_layer = plan.blocks[1] * plan.blocks[2];
    const double operations =
        static_cast<double>(call.rows()) * call.operations(MatchSelection::fast);
    const LaunchParts parts{plan.blocks[0], a_layer, operations};
    launch_parts(queue, parts, [&](std::int64_t first, std::int64_t layers) {
        launch(queue,
               {dim3(static_cast<unsigned>(layers * a_layer)),
                dim3(static_cast<unsigned>(plan.threads())), static_cast<std::size_t>(plan.bytes),
                match_cuda::match_kernel_work(call, operations)
                    .share(static_cast<double>(layers) / static_cast<double>(plan.blocks[0]))},
               kernel, call, plan, first, volume, lists);
    });
}

} // namespace runner
