// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/attributes.hpp"
#include "jobs/evolve_job.hpp"
#include "jobs/kind.hpp"
#include "kernels/sand/sand.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// By name in the order of SandThresholds: the chances of the five moves that need luck.
inline constexpr std::array<std::string_view, 5> sand_chance_names = {
    "sand_slide", "sand_fall", "water_fall", "water_diagonal", "water_spread"};
using SandChances = std::array<double, 5>;
inline constexpr SandChances usual_sand_chances = {0.4, 0.9, 1.0, 0.6, 0.9};

/// The falling-sand automaton on one frame of a dataset; docs/sand.md says what it computes.
class SandJob : public EvolveJob {
  public:
    /// `input`: the input's extents, of rows × columns or of frames of them. `snapshots`: begins at
    /// the generation of frame `input_frame`.
    SandJob(const std::vector<std::int64_t>& input, std::uint32_t seed, const SandChances& chances,
            const Snapshots& snapshots, std::int64_t input_frame);

    EvolveShape shape() const override;
    std::string computation() const override;
    std::vector<Attribute> attributes() const override;
    std::vector<Likeness> likeness() const override;
    std::vector<std::string> axis_work(std::size_t axes) const override;
    std::int64_t table_bytes(Backend backend) const override;
    void make_tables(Queue& queue, std::byte* tables) const override;
    void pack(Queue& queue, std::int64_t rows, const std::byte* in, std::byte* state,
              std::int64_t* first_wrong) const override;
    ErrorText wrong_byte(std::int64_t row, std::int64_t column, std::byte value) const override;
    void unpack(Queue& queue, std::int64_t rows, const std::byte* state,
                std::byte* out) const override;
    void advance(Queue& queue, const StateBand& band, std::uint64_t generation,
                 std::int64_t generations, std::byte* from, std::byte* to,
                 const std::byte* tables) const override;

    const Sand& sand() const { return sand_; }

  private:
    Sand sand_;
    std::int64_t input_axes_;
    SandChances chances_;
    Snapshots snapshots_;
    std::int64_t input_frame_;
};

/// The keys of [sand].
std::vector<KeyText> sand_keys();

/// Reads [sand]: generations, snapshot_every (default 0), seed and chances (default: those that an
/// input which is itself an output of sand was made with; else 0 and usual_sand_chances),
/// input_frame (default 0) and start_generation. What it returns makes a SandJob and throws Error
/// * input: not uint8, not rows × columns or frames of them, an empty axis, no such frame or
///   generation in it;
/// * usage: an output type other than uint8, or generations past 2^64.
std::unique_ptr<KindParameters> parse_sand(TableReader& table);

} // namespace runner
