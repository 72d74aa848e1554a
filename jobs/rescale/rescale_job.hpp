// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/rescale/rescale.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace runner {

/// Where the input's range comes from: two numbers, the input's least and greatest value, or two of
/// its percentiles.
struct InputExtremes {};
struct TwoPercentiles {
    std::array<double, 2> percent;
};
using FromRange = std::variant<std::array<double, 2>, InputExtremes, TwoPercentiles>;

/// A linear map of all elements; docs/rescale.md says what it computes.
class RescaleJob : public StreamJob {
  public:
    /// `to`: what the ends of the input's range become. `input`: at least one axis.
    RescaleJob(const JobInput& input, ElementType out_type, const FromRange& from,
               std::array<double, 2> to);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "rescale 1"; }
    std::vector<Likeness> likeness() const override {
        return {Likeness::in_place(Likeness::Values::other, shape_.output.shape)};
    }
    std::optional<Locality> locality() const override { return Locality{}; }
    std::vector<std::string> axis_work(std::size_t axes) const override;
    std::vector<Attribute> attributes() const override;
    int channels() const override { return channels_; }
    std::optional<double> invalid() const override;
    /// Where valid elements may become the number that invalid ones are.
    std::vector<std::string> notes() const override;
    std::optional<std::array<double, 2>> clipped_to() const override;
    /// For the range, where it is not given as numbers.
    std::unique_ptr<Survey> survey() const override;
    std::unique_ptr<Job> surveyed(const Findings& findings) const override;
    std::int64_t scratch_bytes(Backend /*backend*/, const RowBlock& /*block*/) const override {
        return 0;
    }
    std::int64_t kept_bytes(Backend backend) const override;
    void prepare(Queue& queue, std::byte* kept) const override;
    /// Elements beyond the input's range, where that is not its extremes.
    std::vector<std::string> counted() const override;
    std::vector<std::int64_t> counts(Queue& queue, const std::byte* kept) const override;
    std::shared_ptr<const StreamJob> counting_part() const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

    /// The map; its from_low and from_high are nothing before the survey.
    const Rescale& rescale() const { return rescale_; }

  private:
    /// @throws Error (input) where the map to it is not finite.
    void learn(std::array<double, 2> range);

    Rescale rescale_;
    InputDataset source_;
    int channels_;
    FromRange from_; ///< numbers once the survey is done
    bool may_clip_;  ///< not by the extremes
    std::int64_t row_elements_;
    std::optional<double> in_invalid_;
    StreamShape shape_;
};

/// The keys of [rescale].
std::vector<KeyText> rescale_keys();

/// Reads [rescale]: from (required) and to. What it returns makes a RescaleJob and throws Error
/// (input) for an input without elements.
std::unique_ptr<KindParameters> parse_rescale(TableReader& table);

} // namespace runner
