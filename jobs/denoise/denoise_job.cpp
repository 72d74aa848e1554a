// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/denoise_job.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/denoise/bm4d_job.hpp"
#include "jobs/denoise/nlm_job.hpp"
#include "jobs/denoise/window_job.hpp"
#include "jobs/match/match_keys.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

namespace runner {
namespace {

enum class Method { nlm, bm4d };
constexpr std::array method_names = {"nlm", "bm4d"};
constexpr std::array stabilise_names = {"none", "anscombe"};

/// [denoise].
struct DenoiseKeys {
    Method method = Method::nlm;
    MatchKeys match;
    std::optional<double> sigma;
    double strength = 0.6; ///< of nlm
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
void check_step(std::int64_t step, const Match& match) {
    const auto grid = match_grid(match);
    for (std::size_t i = 0; i < 3; ++i) {
        if (match.step > match.patch.at(i) && grid.at(i) > 1) {
            throw Error(
                ExitCode::usage,
                {"the step is larger than the patch", "denoise.step",
                 fmt::format(
                     "it is {} and the patch {}: voxels between would be covered by none", step,
                     toml_text(std::vector<std::int64_t>(match.patch.begin(), match.patch.end()))),
                 fmt::format("Write step = {} or less", match.patch.at(i))});
        }
    }
}

class DenoiseParameters : public KindParameters {
  public:
    explicit DenoiseParameters(DenoiseKeys keys) : keys_(std::move(keys)) {}

    std::vector<InputDataset> inputs() const override { return {}; }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        Volume volume = make_volume(input, "denoise");
        const Match match = make_match(keys_.match, volume, "denoise");
        check_step(keys_.match.step, match);
        const NoiseKeys noise{keys_.sigma, keys_.stabilise, out_type_of(volume, output_type)};
        if (keys_.method == Method::bm4d) {
            return std::make_unique<Bm4dJob>(std::move(volume), Bm4dKeys{match, noise},
                                             input.array.shape);
        }
        if (keys_.match.has_all) {
            return std::make_unique<WindowJob>(
                std::move(volume), WindowKeys{match, noise, keys_.strength}, input.array.shape);
        }
        return std::make_unique<NlmJob>(std::move(volume), NlmKeys{match, noise, keys_.strength},
                                        input.array.shape);
    }

    std::string canonical() const override { return text_with(keys_.match); }

    std::string canonical_for(const ArrayInfo& input) const override {
        return text_with(keys_in_effect(keys_.match, input));
    }

  private:
    std::string text_with(const MatchKeys& match) const {
        const std::string strength =
            keys_.method == Method::nlm ? "\nstrength = " + toml_text(keys_.strength) : "";
        return "method = " + toml_text(method_names.at(static_cast<std::size_t>(keys_.method))) +
               "\nsigma = " + (keys_.sigma ? toml_text(*keys_.sigma) : "\"auto\"") + strength +
               "\nstabilise = " +
               toml_text(stabilise_names.at(static_cast<std::size_t>(keys_.stabilise))) + "\n" +
               match_keys_text(match);
    }

    DenoiseKeys keys_;
};

/// What this method's keys are where the file does not give them.
MatchKeys usual_keys(Method method) {
    MatchKeys keys;
    if (method == Method::bm4d) {
        keys.patch = {4, 4, 4};
        keys.step = 3;
    }
    return keys;
}

/// A group must fit the GPU's shared memory.
void check_group(TableReader& table, const MatchKeys& keys) {
    std::int64_t voxels = 1;
    for (const std::int64_t extent : keys.patch) {
        voxels *= std::min<std::int64_t>(extent, Match::max_patch); // more was told already
    }
    const std::int64_t group = bm4d_group(static_cast<int>(keys.count));
    if (voxels * group > Bm4d::most_values) {
        table.complain("count",
                       fmt::format("a group of {} patches of {} has {} voxels, and bm4d takes {}; "
                                   "write {}, or a smaller patch",
                                   group, toml_text(std::span<const std::int64_t>(keys.patch)),
                                   voxels * group, Bm4d::most_values,
                                   bm4d_group(static_cast<int>(Bm4d::most_values / voxels))));
    }
}

double parse_strength(TableReader& table, Method method) {
    constexpr double usual = 0.6;
    if (method == Method::bm4d && table.has("strength")) {
        table.complain("strength", "bm4d has none, its thresholds follow from sigma; leave it out, "
                                   "or write a larger sigma for a smoother result");
        return usual;
    }
    const double strength = table.number("strength").value_or(usual);
    if (strength < 0) {
        table.complain("strength", "must be 0 or more, got " + toml_text(strength));
    }
    return strength;
}

/// Whether nlm has count = "all"; reports another text.
bool parse_all(TableReader& table, Method method) {
    const TableValue* value = method == Method::nlm ? table.value("count") : nullptr;
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
    if (text == nullptr) {
        return false;
    }
    if (*text != "all") {
        table.complain("count",
                       "expected an integer or \"all\", got a string, " + quoted_text(*text));
    }
    return true;
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
    const std::vector<std::string> methods(method_names.begin(), method_names.end());
    keys.method = static_cast<Method>(table.choice("method", methods).value_or(0));
    MatchKeys usual = usual_keys(keys.method);
    usual.has_all = parse_all(table, keys.method);
    keys.match = parse_match_keys(table, std::move(usual));
    if (keys.method == Method::bm4d) {
        check_group(table, keys.match);
    }
    keys.sigma = parse_sigma(table);
    keys.strength = parse_strength(table, keys.method);
    const std::optional<std::size_t> stabilise =
        table.choice("stabilise", {stabilise_names.begin(), stabilise_names.end()});
    keys.stabilise = stabilise == 1 ? Stabilise::anscombe : Stabilise::none;
    return std::make_unique<DenoiseParameters>(std::move(keys));
}

} // namespace runner
