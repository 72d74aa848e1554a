// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/denoise_job.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/denoise/bm4d_job.hpp"
#include "jobs/denoise/filled_job.hpp"
#include "jobs/denoise/nlm_job.hpp"
#include "jobs/denoise/window_job.hpp"
#include "jobs/each_sample_job.hpp"
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

/// [denoise].
struct DenoiseKeys : MatchKeys {
    Method method = Method::nlm;
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

/// A group must fit the GPU's shared memory.
bool fits_group(TableReader& table, const DenoiseKeys& keys) {
    const std::vector<std::int64_t> patch = keys.patch.value_or(keys.usual_patch);
    std::int64_t voxels = 1;
    for (const std::int64_t extent : patch) {
        voxels *= extent;
    }
    const std::int64_t group = bm4d_group(static_cast<int>(keys.count));
    if (keys.method != Method::bm4d || voxels * group <= Bm4d::most_values) {
        return true;
    }
    table.complain("count",
                   fmt::format("a group of {} patches of {} has {} voxels, and bm4d takes {}; "
                               "write {}, or a smaller patch",
                               group, toml_text(std::span<const std::int64_t>(patch)),
                               voxels * group, Bm4d::most_values,
                               bm4d_group(static_cast<int>(Bm4d::most_values / voxels))));
    return false;
}

/// What this method's keys are where the file does not give them.
bool set_usual(TableReader& /*table*/, DenoiseKeys& keys) {
    if (keys.method == Method::bm4d) {
        keys.usual_patch = {4, 4, 4};
        keys.step = 3;
    }
    return true;
}

bool check_strength(TableReader& table, const DenoiseKeys& keys) {
    if (keys.method == Method::bm4d && table.has("strength")) {
        table.complain("strength", "bm4d has none, its thresholds follow from sigma; leave it out, "
                                   "or write a larger sigma for a smoother result");
        return false;
    }
    return true;
}

/// A number ≥ 0, or "auto".
Key<DenoiseKeys> sigma_key() {
    const auto read = [](TableReader& table, DenoiseKeys& keys) {
        const auto* text = std::get_if<std::string>(&table.value("sigma")->data);
        if (text == nullptr) {
            keys.sigma = number_from_zero_form().read(table, "sigma");
            return keys.sigma.has_value();
        }
        if (*text != "auto") {
            table.complain("sigma",
                           "expected \"auto\" or a number, got a string, " + quoted_text(*text));
        }
        return *text == "auto";
    };
    const auto value = [](const DenoiseKeys& keys) {
        return std::optional(keys.sigma ? toml_text(*keys.sigma) : "\"auto\"");
    };
    return Key<DenoiseKeys>({"sigma",
                             "number or `\"auto\"`",
                             "0 or more",
                             "units of the input",
                             {},
                             "standard deviation of the noise; `\"auto\"` estimates it",
                             {},
                             "float | Literal[\"auto\"]"},
                            read, value);
}

/// An integer, or "all" for nlm.
Key<DenoiseKeys> count_key() {
    const Form<std::int64_t> number = integer_form(1, Match::max_count);
    const auto read = [number](TableReader& table, DenoiseKeys& keys) {
        const auto* text = std::get_if<std::string>(&table.value("count")->data);
        if (text == nullptr || keys.method != Method::nlm) {
            const std::optional<std::int64_t> count = number.read(table, "count");
            keys.count = count.value_or(keys.count);
            return count.has_value();
        }
        keys.has_all = *text == "all";
        if (!keys.has_all) {
            table.complain("count",
                           "expected an integer or \"all\", got a string, " + quoted_text(*text));
        }
        return keys.has_all;
    };
    const auto value = [](const DenoiseKeys& keys) {
        return std::optional(keys.has_all ? "\"all\"" : std::to_string(keys.count));
    };
    return Key<DenoiseKeys>({"count",
                             "integer or `\"all\"`",
                             number.range,
                             {},
                             {},
                             "of the most similar patches; `\"all\"`, of `nlm` alone: the window",
                             {},
                             "int | Literal[\"all\"]"},
                            read, value)
        .then([](TableReader& table, DenoiseKeys& keys) { return fits_group(table, keys); });
}

std::vector<Key<DenoiseKeys>> own_keys() {
    using Keys = DenoiseKeys;
    return {
        key<Keys>("method", &Keys::method, choice_form<Method>({"nlm", "bm4d"}),
                  "non-local means or collaborative filtering")
            .detail("With the default keys of each `bm4d` is better and faster")
            .then(set_usual),
        sigma_key(),
        key<Keys>("strength", &Keys::strength, number_from_zero_form(),
                  "of `nlm` alone, more is smoother")
            .detail("h = strength · sigma. For a smoother result of `bm4d` write a larger `sigma`")
            .then([](TableReader& table, Keys& keys) { return check_strength(table, keys); })
            .only_where([](const Keys& keys) { return keys.method == Method::nlm; })
            .sample("0.6", KeyText::Shown::commented),
        key<Keys>("stabilise", &Keys::stabilise, choice_form<Stabilise>({"none", "anscombe"}),
                  "what the input counts; `anscombe`: photons")
            .detail("`sigma` is then not used"),
    };
}

const KeyList<DenoiseKeys>& denoise_list() {
    static const KeyList<DenoiseKeys> list([] {
        std::vector<Key<DenoiseKeys>> keys = own_keys();
        for (Key<DenoiseKeys>& each : extents_keys<DenoiseKeys>(
                 "`[3, 3, 3]`, of `bm4d` `[4, 4, 4]`; for an image 1 along z")) {
            keys.push_back(std::move(each));
        }
        keys.push_back(count_key());
        for (Key<DenoiseKeys>& each : choosing_keys<DenoiseKeys>("`1`, of `bm4d` `3`")) {
            keys.push_back(std::move(each));
        }
        return keys;
    }());
    return list;
}

class DenoiseParameters : public ListedParameters<DenoiseKeys> {
  public:
    using ListedParameters::ListedParameters;

    Invalid invalid() const override { return Invalid::heeds; }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        return make_each_sample(input, *this,
                                [&](const JobInput& one) { return make_one(one, output_type); });
    }

    std::string canonical_for(const ArrayInfo& input) const override {
        DenoiseKeys effective = keys();
        fill_in(effective, input.shape.size() == 2);
        return list().canonical(effective, CanonicalFor::identity);
    }

  private:
    /// The job for an input of one sample a pixel.
    std::unique_ptr<StreamJob> make_one(const JobInput& input,
                                        std::optional<ElementType> output_type) const {
        Volume volume = make_volume(input, "denoise", VoxelTypes::all);
        const Match match = make_match(keys(), volume, "denoise");
        check_step(keys().step, match);
        const NoiseKeys noise{keys().sigma, keys().stabilise, out_type_of(volume, output_type),
                              keys().threshold};
        std::unique_ptr<StreamJob> job = method(volume, match, noise, input.array.shape);
        if (!volume.invalid) {
            return job;
        }
        return std::make_unique<FilledJob>(
            std::move(volume), std::move(job),
            keys().method == Method::bm4d ? estimates_matches_twice : estimates_references, match);
    }

    std::unique_ptr<StreamJob> method(const Volume& volume, const Match& match,
                                      const NoiseKeys& noise,
                                      const std::vector<std::int64_t>& shape) const {
        if (keys().method == Method::bm4d) {
            return std::make_unique<Bm4dJob>(volume, Bm4dKeys{match, noise}, shape);
        }
        if (keys().has_all) {
            return std::make_unique<WindowJob>(volume, WindowKeys{match, noise, keys().strength},
                                               shape);
        }
        return std::make_unique<NlmJob>(volume, NlmKeys{match, noise, keys().strength}, shape);
    }
};

} // namespace

std::vector<KeyText> denoise_keys() { return denoise_list().texts(); }

std::unique_ptr<KindParameters> parse_denoise(TableReader& table) {
    return read_parameters<DenoiseParameters>(denoise_list(), table);
}

} // namespace runner
