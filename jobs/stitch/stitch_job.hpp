// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/stitch/stitch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Which axes of an input are frames, rows and columns.
struct StitchAxes {
    ArrayInfo array;
    std::size_t frames = 0;  ///< the axis of the angles
    std::size_t columns = 0; ///< behind it
    bool has_samples = false;

    std::int64_t angles() const { return array.shape[frames]; }
    /// Frames of the output: the last of an odd number has no partner.
    std::int64_t pairs() const { return angles() / 2; }
};

/// Frames over 360° of a half acquisition joined to frames over 180°; docs/stitch.md says what it
/// computes. Where the frames are the first axis, the rows of a frame and of its partner are read
/// one beside the other; else all rows that frames are in stay together as a layer.
class StitchJob : public StreamJob {
  public:
    /// `stitch`: all but what says where the lines are. `notes`: of this input, for people.
    StitchJob(const Stitch& stitch, StitchAxes axes, std::vector<std::string> notes);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "stitch 1"; }
    std::vector<Likeness> likeness() const override;
    std::optional<Locality> locality() const override;
    std::optional<Locality> mixing() const override { return std::nullopt; }
    std::optional<RowOrder> row_order() const override { return order_; }
    std::vector<std::string> axis_work(std::size_t axes) const override;
    std::vector<std::string> found() const override;
    std::vector<std::string> notes() const override { return notes_; }
    std::optional<double> invalid() const override;
    int channels() const override { return static_cast<int>(stitch_.samples); }
    std::int64_t scratch_bytes(Backend /*backend*/, const RowBlock& /*block*/) const override {
        return 0;
    }
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

  private:
    /// Rows of the dataset before each other along the axis of frames.
    std::int64_t rows_of_frame() const;
    void pair_rows();
    void keep_frames_together();

    Stitch stitch_;
    StitchAxes axes_;
    std::vector<std::string> notes_;
    std::optional<RowOrder> order_;
    StreamShape shape_;
};

/// The keys of [stitch].
std::vector<KeyText> stitch_keys();

/// Reads [stitch]. What it returns makes a StitchJob and throws Error
/// * input: too few axes, an empty one, or fewer than two frames;
/// * usage: an overlap wider than the frames, an axis of another name than `order` says, or frames
///   that are no projections.
std::unique_ptr<KindParameters> parse_stitch(TableReader& table);

} // namespace runner
