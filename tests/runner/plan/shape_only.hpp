// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/stream_job.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace runner {

/// A job that is only its shape, with 3 bytes of scratch for each row of a block.
class ShapeOnly : public StreamJob {
  public:
    explicit ShapeOnly(StreamShape shape) : shape_(std::move(shape)) {}
    std::string computation() const override { return "none"; }
    StreamShape shape() const override { return shape_; }
    std::int64_t scratch_bytes(Backend /*backend*/, const RowBlock& block) const override {
        return block.in_rows * block.frames * 3;
    }
    void run(Queue& /*queue*/, const RowBlock& /*block*/, const std::byte* /*in*/,
             std::byte* /*out*/, const RunMemory& /*memory*/) const override {}

  private:
    StreamShape shape_;
};

} // namespace runner
