// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/sand/sand_job.hpp"

#include "base/format.hpp"
#include "io/hdf5/attributes.hpp"
#include "jobs/axis_work.hpp"

#include <utility>
#include <variant>

namespace runner {
namespace {

SandThresholds thresholds(const SandChances& chances) {
    return {sand_threshold(chances[0]), sand_threshold(chances[1]), sand_threshold(chances[2]),
            sand_threshold(chances[3]), sand_threshold(chances[4])};
}

} // namespace

SandJob::SandJob(const std::vector<std::int64_t>& input, std::uint32_t seed,
                 const SandChances& chances, const Snapshots& snapshots, std::int64_t input_frame)
    : sand_{input[input.size() - 2], input.back(), seed, thresholds(chances)},
      input_axes_(std::ssize(input)), chances_(chances), snapshots_(snapshots),
      input_frame_(input_frame) {}

EvolveShape SandJob::shape() const {
    EvolveShape shape;
    shape.output = {ElementType::uint8, {snapshots_.count(), sand_.rows, sand_.columns}};
    shape.rows = sand_.rows;
    shape.in_row_bytes = sand_.columns;
    shape.out_row_bytes = sand_.columns;
    shape.state_row_bytes = sand_row_bytes(sand_.columns);
    shape.cells = sand_.rows * sand_.columns;
    shape.input_frame = input_frame_;
    shape.snapshots = snapshots_;
    return shape;
}

std::string SandJob::computation() const {
    std::string text = fmt::format("sand 1, frame {}, generation {}, seed {}, thresholds",
                                   input_frame_, snapshots_.first, sand_.seed);
    const SandThresholds& t = sand_.thresholds;
    for (const std::uint32_t threshold :
         {t.sand_slide, t.sand_fall, t.water_fall, t.water_diagonal, t.water_spread}) {
        text += fmt::format(" {}", threshold);
    }
    return text;
}

std::vector<Attribute> SandJob::attributes() const {
    std::vector<Attribute> all = {{"seed", std::int64_t{sand_.seed}}};
    for (std::size_t i = 0; i < chances_.size(); ++i) {
        all.emplace_back(std::string(sand_chance_names.at(i)), chances_.at(i));
    }
    return all;
}

std::vector<Likeness> SandJob::likeness() const {
    // Snapshots are no frames of the input; rows and columns are its own, and so are materials.
    return {{Likeness::Values::coded,
             {{-1, 1}, {input_axes_ - 2, 1}, {input_axes_ - 1, 1}},
             {snapshots_.count(), sand_.rows, sand_.columns}}};
}

std::vector<std::string> SandJob::axis_work(std::size_t axes) const {
    return work_along({fmt::format("only index {}", input_frame_), "evolves", "evolves"}, axes, 1);
}

std::int64_t SandJob::table_bytes(Backend backend) const {
    return sand_table_bytes(backend, sand_);
}

void SandJob::make_tables(Queue& queue, std::byte* tables) const {
    std::visit([&](auto& backend) { make_sand_tables(backend, sand_, tables); }, queue);
}

void SandJob::pack(Queue& queue, std::int64_t rows, const std::byte* in, std::byte* state,
                   std::int64_t* first_wrong) const {
    std::visit(
        [&](auto& backend) { pack_sand(backend, rows, sand_.columns, in, state, first_wrong); },
        queue);
}

ErrorText SandJob::wrong_byte(std::int64_t row, std::int64_t column, std::byte value) const {
    return {"a cell of the input is no material",
            fmt::format("frame {}, row {}, column {}", input_frame_, row, column),
            fmt::format("it is {}", std::to_integer<int>(value)),
            "A cell is 0 (empty), 1 (water), 2 (sand) or 3 (wall)"};
}

void SandJob::unpack(Queue& queue, std::int64_t rows, const std::byte* state,
                     std::byte* out) const {
    std::visit([&](auto& backend) { unpack_sand(backend, rows, sand_.columns, state, out); },
               queue);
}

void SandJob::advance(Queue& queue, const StateBand& band, std::uint64_t generation,
                      std::int64_t generations, std::byte* from, std::byte* to,
                      const std::byte* tables) const {
    std::visit(
        [&](auto& backend) {
            advance_sand(backend, sand_, {band.first, band.rows}, generation, generations, from, to,
                         tables);
        },
        queue);
}

} // namespace runner
