// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/attributes.hpp"
#include "jobs/match/match_keys.hpp"
#include "jobs/match/volume.hpp"
#include "jobs/stream_job.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace runner {

/// The most similar patches of every reference patch; docs/match.md says what it makes. Rows of the
/// input are lines of the volume, a layer has all of a z; a row of the output is a reference's.
class MatchJob : public StreamJob {
  public:
    MatchJob(Volume volume, const Match& match);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "match 1"; }
    std::vector<Attribute> attributes() const override;
    std::vector<Likeness> likeness() const override {
        const std::vector<Likeness::Axis> axes = {{-1, 1}, {-1, 1}}; // references, matches
        return {{Likeness::Values::foreign, axes, shape_.fields.front().array.shape}};
    }
    std::optional<Locality> mixing() const override { return match_mixing(match_); }
    std::vector<std::string> axis_work(std::size_t axes) const override;
    bool checks_rows() const override { return volume_.type == ElementType::float32; }
    void check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const override;
    std::int64_t scratch_bytes(Backend backend, const RowBlock& block) const override;
    double operations(const RowBlock& block) const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& given) const override;

    const Match& match() const { return match_; }

  private:
    struct Memory;

    Volume volume_;
    Match match_;
    StreamShape shape_;
};

/// The datasets of its output, in the order of a row's fields.
inline constexpr std::array<std::string_view, 3> match_datasets = {"index", "distance", "count"};

/// The layers of the volume that a block's rows are.
struct BlockLayers {
    std::int64_t in_first = 0;
    std::int64_t in_layers = 0;
    std::int64_t first = 0;
    std::int64_t layers = 0;
};
BlockLayers block_layers(const Volume& volume, const RowBlock& block);

/// Lines of the volume that matching from a layer on needs on either side of it.
std::int64_t match_halo(const Match& match);

/// The keys of [match].
std::vector<KeyText> match_keys();

/// Reads [match]. What it returns makes a MatchJob, of colour a SampleMatchJob, and throws Error
/// * input: as make_volume();
/// * usage: keys that do not fit the input, or output.dtype, which it does not take.
std::unique_ptr<KindParameters> parse_match(TableReader& table);

} // namespace runner
