// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "base/format.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/file_access.hpp"
#include "io/input/generations.hpp"
#include "jobs/sand/sand_job.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <variant>

namespace runner {
namespace {

constexpr std::int64_t most_generations = std::int64_t{1} << 62;

/// The value of a root attribute; nothing where there is none of this type.
template <class T>
std::optional<T> attribute_of(const AttributeList& attributes, std::string_view name) {
    for (const auto& [known, value] : attributes) {
        if (known == name && std::holds_alternative<T>(value)) {
            return std::get<T>(value);
        }
    }
    return std::nullopt;
}

/// What an input that is an output of sand says of itself; nothing of any other file. The root of a
/// generated one has a seed too, which is that of its pattern.
AttributeList sand_attributes(const JobInput& input) {
    if (input.source.file.empty() || holds_cells(input.source.file)) {
        return {};
    }
    AttributeList attributes = input.files->root_attributes(input.source.file);
    const bool is_output = attribute_of<std::string>(attributes, "kind") == "sand";
    return is_output ? attributes : AttributeList{};
}

void check_input(const ArrayInfo& input) {
    const std::size_t axes = input.shape.size();
    const char* const choose = "Choose a dataset of rows × columns, or of frames of them";
    if (axes != 2 && axes != 3) {
        throw Error(ExitCode::input, {"sand needs two axes, or three with frames", "input.dataset",
                                      "its shape is " + shape_text(input.shape), choose});
    }
    if (std::find(input.shape.begin(), input.shape.end(), 0) != input.shape.end()) {
        throw Error(ExitCode::input, {"the input holds no elements", "input.dataset",
                                      "its shape is " + shape_text(input.shape), ""});
    }
    if (input.type != ElementType::uint8) {
        throw Error(ExitCode::input, {"sand does not take this element type", "input.dataset",
                                      "it is " + std::string(name_of(input.type)),
                                      "Convert it to uint8, a byte a cell"});
    }
}

/// Where a run begins.
struct Start {
    std::int64_t frame = 0;
    std::uint64_t generation = 0;
};

class SandParameters : public KindParameters {
  public:
    std::int64_t generations = 0;
    std::int64_t snapshot_every = 0;
    std::optional<std::int64_t> input_frame;
    std::optional<std::int64_t> start_generation;
    std::optional<std::int64_t> seed;
    std::array<std::optional<double>, 5> chances;

    std::vector<InputDataset> inputs() const override { return {}; }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        check_input(input.array);
        if (output_type.value_or(ElementType::uint8) != ElementType::uint8) {
            throw Error(ExitCode::usage,
                        {"sand does not make this element type", "output.dtype",
                         "it is " + std::string(name_of(*output_type)), "Write uint8"});
        }
        const Start start = find_start(input);
        const auto most = std::numeric_limits<std::uint64_t>::max() - start.generation;
        if (static_cast<std::uint64_t>(generations) > most) {
            throw Error(ExitCode::usage,
                        {"a generation's number passes 2^64 - 1", "sand.generations",
                         fmt::format("the state begins at {}", start.generation),
                         fmt::format("Write {} or fewer", most)});
        }
        const AttributeList made_with = sand_attributes(input);
        SandChances all = usual_sand_chances;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto before = attribute_of<double>(made_with, sand_chance_names.at(i));
            all.at(i) = chances.at(i).value_or(before.value_or(all.at(i)));
        }
        const std::int64_t used_seed =
            seed.value_or(attribute_of<std::int64_t>(made_with, "seed").value_or(0));
        return std::make_unique<SandJob>(
            input.array.shape, static_cast<std::uint32_t>(used_seed), all,
            Snapshots{start.generation, generations, snapshot_every}, start.frame);
    }

    std::string canonical() const override {
        std::string text =
            fmt::format("generations = {}\nsnapshot_every = {}\n", generations, snapshot_every);
        text += input_frame ? fmt::format("input_frame = {}\n", *input_frame)
                            : "# input_frame: 0, or where start_generation is\n";
        text += start_generation ? fmt::format("start_generation = {}\n", *start_generation)
                                 : "# start_generation: the input's, or 0\n";
        text +=
            seed ? fmt::format("seed = {}\n", *seed) : "# seed: that which made the input, or 0\n";
        std::string given;
        for (std::size_t i = 0; i < chances.size(); ++i) {
            if (const std::optional<double> chance = chances.at(i)) {
                given += (given.empty() ? "" : ", ") + std::string(sand_chance_names.at(i)) +
                         " = " + toml_text(*chance);
            }
        }
        return text + (given.empty() ? "# chances: those that made the input, or the usual ones\n"
                                     : "chances = { " + given + " }\n");
    }

  private:
    Start find_start(const JobInput& input) const;
    std::int64_t checked_frame(std::int64_t frames) const;
};

/// input_frame, counted from the end where it is negative.
std::int64_t SandParameters::checked_frame(std::int64_t frames) const {
    const std::int64_t wanted = input_frame.value_or(0);
    const std::int64_t frame = wanted < 0 ? wanted + frames : wanted;
    if (frame < 0 || frame >= frames) {
        throw Error(ExitCode::input,
                    {"the input has no such frame", "sand.input_frame",
                     fmt::format("it is {} and there are {}{}", wanted, frames,
                                 (frames == 1 ? " frame" : " frames")),
                     fmt::format("Write one from 0 to {}, or -1 for the last", frames - 1)});
    }
    return frame;
}

Start SandParameters::find_start(const JobInput& input) const {
    const std::vector<std::int64_t>& shape = input.array.shape;
    const std::int64_t frames = shape.size() == 3 ? shape[0] : 1;
    std::optional<std::vector<std::uint64_t>> stored;
    if (!input.source.file.empty() && shape.size() == 3) {
        stored = read_generations(*input.files, input.source.file, input.source.dataset, frames);
    }
    const auto wanted = static_cast<std::uint64_t>(start_generation.value_or(0));
    if (!stored) {
        return {checked_frame(frames), wanted};
    }
    if (!start_generation || input_frame) {
        const std::int64_t frame = checked_frame(frames);
        const std::uint64_t generation = (*stored)[static_cast<std::size_t>(frame)];
        if (start_generation && generation != wanted) {
            throw Error(
                ExitCode::input,
                {"the input's frame is of another generation", "sand.start_generation",
                 fmt::format("frame {} is of generation {}, not {}", frame, generation, wanted),
                 "Leave one of input_frame and start_generation out"});
        }
        return {frame, generation};
    }
    const auto found = std::find(stored->begin(), stored->end(), wanted);
    if (found == stored->end()) {
        throw Error(ExitCode::input,
                    {"the input has no frame of this generation", "sand.start_generation",
                     fmt::format("it is {}; the input's are from {} to {}", wanted,
                                 *std::min_element(stored->begin(), stored->end()),
                                 *std::max_element(stored->begin(), stored->end())),
                     "List them with: runner inspect " + input.source.file});
    }
    return {found - stored->begin(), wanted};
}

void parse_chances(TableReader& table, SandParameters& parameters) {
    std::optional<TableReader> chances = table.table("chances");
    if (!chances) {
        return;
    }
    for (std::size_t i = 0; i < sand_chance_names.size(); ++i) {
        const std::string_view name = sand_chance_names.at(i);
        const std::optional<double> chance = chances->number(name);
        if (chance && (*chance < 0 || *chance > 1)) {
            chances->complain(name, "must be from 0 to 1, got " + toml_text(*chance));
        }
        parameters.chances.at(i) = chance;
    }
    chances->finish();
}

} // namespace

std::unique_ptr<KindParameters> parse_sand(TableReader& table) {
    auto parameters = std::make_unique<SandParameters>();
    if (!table.has("generations")) {
        table.missing("generations", "generations = 3000, how many to compute");
    }
    parameters->generations = table.integer("generations", 0, most_generations).value_or(0);
    parameters->snapshot_every = table.integer("snapshot_every", 0).value_or(0);
    parameters->input_frame = table.integer("input_frame");
    parameters->start_generation = table.integer("start_generation", 0);
    parameters->seed = table.integer("seed", 0, std::numeric_limits<std::uint32_t>::max());
    parse_chances(table, *parameters);
    return parameters;
}

} // namespace runner
