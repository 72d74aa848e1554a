// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace runner {

/// A name for device memory that allocate_device() made, by which another process of this host can
/// reach it; nothing where the system does not allow that. The memory must outlive all its users.
std::optional<std::string> name_for_peers(const CudaQueue& queue, const Buffer& memory);

/// The memory of that name, of another process of this host and on whichever GPU, so that copies of
/// `queue` reach it; nothing where its GPU is out of reach. The buffer only closes it.
/// @throws Error (gpu) for other failures.
std::optional<Buffer> open_peer_memory(const CudaQueue& queue, const std::string& name);

/// Copies from a peer's memory, or within the own, in the queue's order.
void copy_from_peer(CudaQueue& queue, std::byte* to, const std::byte* from, std::int64_t bytes);

} // namespace runner
