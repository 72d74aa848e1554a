// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/each_sample_job.hpp"
#include "jobs/match/match_job.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace runner {

/// The most similar patches of every reference patch of colour images, of each sample by itself. A
/// row of the output is that of one sample of a reference: those of its samples follow each other.
class SampleMatchJob final : public EachSampleJob {
  public:
    /// A job for each sample, of volumes of one shape; `parameters`: the lines in effect.
    SampleMatchJob(const std::vector<std::shared_ptr<const MatchJob>>& of_samples,
                   std::string parameters);

    std::vector<Attribute> attributes() const override;
    std::vector<Likeness> likeness() const override;
    int channels() const override { return 1; }

  private:
    std::int64_t made_rows(const RowBlock& lines) const override;
    void join(Queue& queue, const RowBlock& lines, const std::byte* made, std::int64_t pitch,
              std::byte* out) const override;

    Match match_;
};

} // namespace runner
