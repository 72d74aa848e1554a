// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/denoise_job.hpp"

#include "base/error.hpp"
#include "jobs/denoise/nlm_job.hpp"
#include "jobs/match/match_keys.hpp"
#include "jobs/toml_text.hpp"

#include <array>
#include <span>
#include <string>
#include <utility>

namespace runner {
namespace {

constexpr std::array stabilise_names = {"none", "anscombe"};

/// [denoise] with method nlm.
struct DenoiseKeys {
    MatchKeys match;
    std::optional<double> sigma;
    double strength = 0.6;
    Stabilise stabilise = Stabilise::none;
};

ElementType out_type_of(const Volume& volume, std::optional<ElementType> wanted) {
    const ElementType type = wanted.value_or(ElementType::float32);
    if (type != ElementType::float32 && type != volume.type) {
        throw Error(ExitCode::usage, {"denoise does not make this element type", "output.dtype",
                                      "it is " + std::string(name_of(type)) + " and the input's " +
                                          std::string(name_of(volume.type)),
                                      "Write float32 or the input's"});
    }
    return type;
}

/// Every voxel must be covered by a reference.
void check_step(const MatchKeys& keys, const Match& match) {
    const auto grid = match_grid(match);
    for (std::size_t i = 0; i < 3; ++i) {
        if (match.step > match.patch.at(i) && grid.at(i) > 1) {
            throw Error(ExitCode::usage,
                        {"the step is larger than the patch", "denoise.step",
                         "it is " + std::to_string(keys.step) + " and the patch " +
                             toml_text(std::span<const std::int64_t>(keys.patch)) +
                             ": voxels between would be covered by none",
                         "Write step = " + std::to_string(match.patch.at(i)) + " or less"});
        }
    }
}

class DenoiseParameters : public KindParameters {
  public:
    explicit DenoiseParameters(DenoiseKeys keys) : keys_(std::move(keys)) {}

    std::vector<InputDataset> inputs() const override { return {}; }

    Job make(const JobInput& input, std::optional<ElementType> output_type) const override {
        Volume volume = make_volume(input, "denoise");
        NlmKeys nlm;
        nlm.match = make_match(keys_.match, volume, "denoise");
        check_step(keys_.match, nlm.match);
        nlm.sigma = keys_.sigma;
        nlm.strength = keys_.strength;
        nlm.stabilise = keys_.stabilise;
        nlm.out_type = out_type_of(volume, output_type);
        return std::make_unique<NlmJob>(std::move(volume), nlm, input.array.shape);
    }

    std::string canonical() const override {
        return "method = \"nlm\"\nsigma = " + (keys_.sigma ? toml_text(*keys_.sigma) : "\"auto\"") +
               "\nstrength = " + toml_text(keys_.strength) + "\nstabilise = " +
               toml_text(stabilise_names.at(static_cast<std::size_t>(keys_.stabilise))) + "\n" +
               match_keys_text(keys_.match);
    }

  private:
    DenoiseKeys keys_;
};

void parse_method(TableReader& table) {
    if (table.choice("method", {"nlm", "bm4d"}).value_or(0) == 1) {
        table.complain("method", "this version has no bm4d yet; write \"nlm\"");
    }
}

/// A number ≥ 0; nothing for "auto" or where it is not there.
std::optional<double> parse_sigma(TableReader& table) {
    const TableValue* value = table.value("sigma");
    if (value == nullptr) {
        return std::nullopt;
    }
    if (const auto* text = std::get_if<std::string>(&value->data)) {
        if (*text != "auto") {
            table.complain("sigma",
                           "expected \"auto\" or a number, got a string, " + quoted_text(*text));
        }
        return std::nullopt;
    }
    const std::optional<double> sigma = table.number("sigma");
    if (sigma && *sigma < 0) {
        table.complain("sigma", "must be 0 or more, got " + toml_text(*sigma));
    }
    return sigma;
}

} // namespace

std::unique_ptr<KindParameters> parse_denoise(TableReader& table) {
    DenoiseKeys keys;
    parse_method(table);
    keys.match = parse_match_keys(table);
    keys.sigma = parse_sigma(table);
    keys.strength = table.number("strength").value_or(keys.strength);
    if (keys.strength < 0) {
        table.complain("strength", "must be 0 or more, got " + toml_text(keys.strength));
    }
    const std::optional<std::size_t> stabilise =
        table.choice("stabilise", {stabilise_names.begin(), stabilise_names.end()});
    keys.stabilise = stabilise == 1 ? Stabilise::anscombe : Stabilise::none;
    return std::make_unique<DenoiseParameters>(std::move(keys));
}

} // namespace runner
