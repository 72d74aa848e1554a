// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/axis_work.hpp"
#include "jobs/correct/air.hpp"
#include "jobs/correct/field.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/correct/correct.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// Correction of frames for dark and flat field; docs/correct.md says what it computes.
class CorrectJob : public StreamJob {
  public:
    /// `correct.rows` and `columns`: of a frame of the input. A field's image has as many pixels.
    /// `air`: nothing: frames have one flat field. @throws Error (usage) where it is not in the
    /// frame.
    CorrectJob(const Correct& correct, Field dark, Field flat, const JobInput& input,
               const std::optional<Air>& air);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override;
    std::vector<Likeness> likeness() const override {
        return {Likeness::in_place(Likeness::Values::other, shape_.output.shape)};
    }
    std::optional<Locality> locality() const override {
        return air_ ? Locality{.reach = {0, correct_.rows, correct_.columns}} : Locality{};
    }
    std::vector<std::string> axis_work(std::size_t axes) const override {
        const char* const by_pixel =
            air_ ? "by its pixel of the fields and the air" : "by its pixel of the fields";
        std::vector<std::string> work = work_along({"", by_pixel, by_pixel}, axes, channels_);
        if (by_frame_) {
            work.front() = "by its own fields";
        }
        return work;
    }
    int channels() const override { return channels_; }
    std::optional<double> invalid() const override;
    std::vector<std::string> notes() const override;
    std::vector<JobCount> known_counts() const override;
    std::vector<std::shared_ptr<const SideImage>> side_images() const override;
    std::int64_t scratch_bytes(Backend backend, const RowBlock& block) const override;
    std::int64_t kept_bytes(Backend backend) const override;
    void prepare(Queue& queue, std::byte* kept) const override;
    std::vector<std::string> counted() const override;
    std::vector<std::int64_t> counts(Queue& queue, const std::byte* kept) const override;
    std::shared_ptr<const StreamJob> counting_part() const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

    const Correct& correct() const { return correct_; }

  private:
    struct Kept;
    template <class Take> void for_frames(const RowBlock& rows, const Take& take) const;

    Correct correct_;
    std::shared_ptr<const Field> dark_;
    std::shared_ptr<const Field> flat_;
    int channels_;
    bool by_frame_;                    ///< whether the fields of frames differ
    std::optional<double> in_invalid_; ///< of the input
    std::optional<AirCorrection> air_; ///< nothing: by the fields alone
    StreamShape shape_;
};

/// The keys of [correct].
std::vector<KeyText> correct_keys();

/// Reads [correct]. What it returns makes a CorrectJob.
std::unique_ptr<KindParameters> parse_correct(TableReader& table);

} // namespace runner
