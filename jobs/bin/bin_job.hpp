// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/bin/bin.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// Means or sums of blocks of elements; docs/bin.md says what it computes. The rows of a block stay
/// together as a layer; with blocks along z, the rows of so many layers of the volume.
class BinJob : public StreamJob {
  public:
    /// `leading`: the axes before those of `bin`'s frames.
    BinJob(const Bin& bin, const std::vector<std::int64_t>& leading);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "bin 1"; }
    std::vector<Likeness> likeness() const override;
    std::optional<Locality> locality() const override {
        return Locality{.step = bin_.factors, .block = bin_.factors};
    }
    std::optional<double> invalid() const override;
    int channels() const override { return bin_.channels; }
    std::int64_t scratch_bytes(Backend /*backend*/, const RowBlock& /*block*/) const override {
        return 0;
    }
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

  private:
    /// Rows of the dataset that are one row of the image: in colour each pixel is one.
    std::int64_t rows_per_line() const { return bin_.channels > 1 ? bin_.columns : 1; }

    Bin bin_;
    StreamShape shape_;
};

/// The keys of [bin].
std::vector<KeyText> bin_keys();

/// Reads [bin]. What it returns makes a BinJob and throws Error
/// * input: too few axes, or an empty one;
/// * usage: no whole block fits along an axis.
std::unique_ptr<KindParameters> parse_bin(TableReader& table);

} // namespace runner
