// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/file_access.hpp"
#include "io/input/generations.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/keys.hpp"
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

void check_input(const ArrayInfo& input, int channels) {
    const std::size_t axes = input.shape.size();
    const char* const choose = "Choose a dataset of rows × columns, or of frames of them";
    if (axes != 2 && axes != 3) {
        throw Error(ExitCode::input, {"sand needs two axes, or three with frames", "input.dataset",
                                      "its shape is " + shape_text(input.shape), choose});
    }
    refuse_empty(input.shape);
    if (channels > 1) {
        throw Error(ExitCode::input, {"sand does not take colour", "input.dataset",
                                      "the last axis of " + shape_text(input.shape) +
                                          " has the samples of colour pixels",
                                      "Take one of them: input.select = { s = 0 }"});
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

using GivenChances = std::array<std::optional<double>, 5>;

/// [sand].
struct SandKeys {
    std::int64_t generations = 0;
    std::int64_t snapshot_every = 0;
    std::optional<std::int64_t> input_frame;
    std::optional<std::int64_t> start_generation;
    std::optional<std::int64_t> seed;
    GivenChances chances;
};

std::optional<GivenChances> parse_chances(TableReader& table, const std::string& key) {
    std::optional<TableReader> given = table.table(key);
    if (!given) {
        return std::nullopt;
    }
    GivenChances chances;
    for (std::size_t i = 0; i < sand_chance_names.size(); ++i) {
        const std::string_view name = sand_chance_names.at(i);
        const std::optional<double> chance = given->number(name);
        if (chance && (*chance < 0 || *chance > 1)) {
            given->complain(name, "must be from 0 to 1, got " + toml_text(*chance));
        }
        chances.at(i) = chance;
    }
    given->finish();
    return chances;
}

/// Those that are given; nothing where none is.
std::optional<std::string> chances_text(const GivenChances& chances) {
    std::string given;
    for (std::size_t i = 0; i < chances.size(); ++i) {
        if (const std::optional<double> chance = chances.at(i)) {
            given += (given.empty() ? "" : ", ") + std::string(sand_chance_names.at(i)) + " = " +
                     toml_text(*chance);
        }
    }
    return given.empty() ? std::nullopt : std::optional("{ " + given + " }");
}

std::string usual_chances_text() {
    GivenChances usual;
    std::copy(usual_sand_chances.begin(), usual_sand_chances.end(), usual.begin());
    return *chances_text(usual);
}

Key<SandKeys> chances_key() {
    const auto read = [](TableReader& table, SandKeys& keys) {
        const std::optional<GivenChances> chances = parse_chances(table, "chances");
        keys.chances = chances.value_or(keys.chances);
        return chances.has_value();
    };
    const auto value = [](const SandKeys& keys) { return chances_text(keys.chances); };
    return Key<SandKeys>({"chances",
                          "table",
                          "each 0 to 1",
                          {},
                          {},
                          "of the rule's moves, any of them",
                          "The usual ones are `" + usual_chances_text() + "`",
                          "Mapping[str, float]"},
                         read, value)
        .usually_explained("those that made the input, or the usual ones")
        .sample(usual_chances_text(), KeyText::Shown::commented);
}

const KeyList<SandKeys>& sand_list() {
    using Keys = SandKeys;
    static const KeyList<Keys> list({
        key<Keys>("generations", &Keys::generations, integer_form(0, most_generations),
                  "how many to compute; 0 stores the start state unchanged")
            .required("generations = 3000, how many to compute")
            .sample("3000"),
        key<Keys>("snapshot_every", &Keys::snapshot_every, integer_form(0),
                  "keeps each generation divisible by this, and the last")
            .sample("100"),
        key<Keys>("input_frame", &Keys::input_frame, integer_form(),
                  "of the input to start from; -1: its last")
            .usually_explained("0, or where start_generation is")
            .sample("0", KeyText::Shown::commented),
        key<Keys>("start_generation", &Keys::start_generation, integer_form(0),
                  "the generation of the start state")
            .detail(
                "Selects the frame of that generation, or is its number where the input has none")
            .usually_explained("the input's, or 0")
            .sample("1500", KeyText::Shown::commented),
        key<Keys>("seed", &Keys::seed, integer_form(0, std::numeric_limits<std::uint32_t>::max()),
                  "of the random moves")
            .usually_explained("that which made the input, or 0")
            .sample("0", KeyText::Shown::commented),
        chances_key(),
    });
    return list;
}

class SandParameters : public ListedParameters<SandKeys> {
  public:
    using ListedParameters::ListedParameters;

    bool takes_elements_alone() const override { return true; }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        check_input(input.array, input.channels.value_or(1));
        if (output_type.value_or(ElementType::uint8) != ElementType::uint8) {
            throw Error(ExitCode::usage,
                        {"sand does not make this element type", "output.dtype",
                         "it is " + std::string(name_of(*output_type)), "Write uint8"});
        }
        const Start start = find_start(input);
        const auto most = std::numeric_limits<std::uint64_t>::max() - start.generation;
        if (static_cast<std::uint64_t>(keys().generations) > most) {
            throw Error(ExitCode::usage,
                        {"a generation's number passes 2^64 - 1", "sand.generations",
                         fmt::format("the state begins at {}", start.generation),
                         fmt::format("Write {} or fewer", most)});
        }
        const AttributeList made_with = sand_attributes(input);
        SandChances all = usual_sand_chances;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto before = attribute_of<double>(made_with, sand_chance_names.at(i));
            all.at(i) = keys().chances.at(i).value_or(before.value_or(all.at(i)));
        }
        const std::int64_t used_seed =
            keys().seed.value_or(attribute_of<std::int64_t>(made_with, "seed").value_or(0));
        return std::make_unique<SandJob>(
            input.array.shape, static_cast<std::uint32_t>(used_seed), all,
            Snapshots{start.generation, keys().generations, keys().snapshot_every}, start.frame);
    }

    /// With its comments, which the journals of sand have.
    std::string canonical_for(const ArrayInfo& /*input*/) const override { return canonical(); }

  private:
    Start find_start(const JobInput& input) const;
    std::int64_t checked_frame(std::int64_t frames) const;
};

/// input_frame, counted from the end where it is negative.
std::int64_t SandParameters::checked_frame(std::int64_t frames) const {
    const std::int64_t wanted = keys().input_frame.value_or(0);
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
    const auto wanted = static_cast<std::uint64_t>(keys().start_generation.value_or(0));
    if (!stored) {
        return {checked_frame(frames), wanted};
    }
    if (!keys().start_generation || keys().input_frame) {
        const std::int64_t frame = checked_frame(frames);
        const std::uint64_t generation = (*stored)[static_cast<std::size_t>(frame)];
        if (keys().start_generation && generation != wanted) {
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
                     "List them with: runner inspect " + shell_word(input.source.file)});
    }
    return {found - stored->begin(), wanted};
}

} // namespace

std::vector<KeyText> sand_keys() { return sand_list().texts(); }

std::unique_ptr<KindParameters> parse_sand(TableReader& table) {
    return read_parameters<SandParameters>(sand_list(), table);
}

} // namespace runner
