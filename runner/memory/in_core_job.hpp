// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "base/sizes.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/memory/memory_files.hpp"
#include "runner/prepare/prepare.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// Gives bytes of a queue's device memory, aligned to 256, that hold what they get until all work
/// that is now handed to the queue is done.
using TakeMemory = std::function<std::byte*(std::int64_t bytes)>;

/// How large the chunks are that a job's kernels are called for.
struct InCoreLimits {
    /// The bytes of input and output rows: kernels are tested up to about this.
    std::int64_t call_bytes = 2 * GiB;
    /// The bytes of a job whose scratch grows with its rows, to some ten times as much.
    std::int64_t scratched_bytes = 256 * MiB;
};

/// A job whose input and outputs lie whole in the memory of one queue: the kernels without an
/// engine, for arrays that another library of the process has put on a GPU. Its bytes are those of
/// MemoryJob.
class InCoreJob {
  public:
    /// As MemoryJob's. `arrays`: those that the text names as files; read here and not kept.
    /// @throws Error (usage, input) as preparing a job does.
    InCoreJob(const std::string& text, const std::string& name, const ArrayInfo& input,
              std::optional<int> channels, const std::vector<NamedArray>& arrays = {});

    /// What it makes, in the order in which run() takes the arrays.
    const std::vector<ArrayInfo>& outputs() const { return outputs_; }
    const ArrayInfo& input() const { return input_; }

    /// Hands the work to `queue`. `input` and `outputs` are dense, row-major, aligned to their
    /// elements, in the queue's device memory, and do not overlap. Returns before the work is done,
    /// but waits for the input where its values decide what is computed (a Survey) or may be
    /// refused. May run in several threads at once, each with a queue of its own.
    /// @throws Error, and what `take` throws.
    void run(Queue& queue, const std::byte* input, std::span<std::byte* const> outputs,
             const TakeMemory& take, const InCoreLimits& limits = {}) const;

  private:
    ArrayInfo input_;
    std::vector<PreparedJob> passes_; ///< one after the other; each job is there
    std::vector<ArrayInfo> outputs_;
};

} // namespace runner
