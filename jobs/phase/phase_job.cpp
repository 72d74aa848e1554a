// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/phase/phase_job.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "jobs/counted_rows.hpp"
#include "jobs/each_sample_job.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/keys.hpp"
#include "jobs/phase/beam.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/fourier/fourier_length.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <variant>

namespace runner {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double wavelength_of_1_kev = 1.2398419843320026e-3; ///< µm: Planck's constant times c

/// [phase].
struct PhaseKeys {
    std::optional<double> energy;
    std::optional<double> distance;
    std::optional<double> pixel_size;
    double delta_beta = 0;
    PaganinFilter::Method method = PaganinFilter::Method::paganin;
    std::optional<std::int64_t> margin;
    bool negative_log = true;
    double floor = 1e-6;
};

/// δ/β · λ · z / (4π · pixel²).
double strength_of(const Beam& beam, double delta_beta) {
    const double wavelength = wavelength_of_1_kev / beam.energy;
    return delta_beta * wavelength * (beam.distance * 1e6) /
           (4 * pi * beam.pixel_size * beam.pixel_size);
}

/// A number above 0, and above 0 in float32 too where `is_float`.
Form<double> positive_form(const std::string& range, const std::function<double(double)>& rounded) {
    Form<double> form = number_form();
    form.range = range;
    form.read = [range, rounded](TableReader& table, const std::string& key) {
        std::optional<double> value = table.number(key);
        if (value && (!(rounded(*value) > 0) || std::isinf(rounded(*value)))) {
            table.complain(key, "must be " + range + ", got " + toml_text(*value));
            value.reset();
        }
        return value;
    };
    return form;
}

Form<double> above_zero_form() {
    return positive_form("above 0", [](double value) { return value; });
}

Form<double> floor_form() {
    return positive_form("above 0 in float32",
                         [](double value) { return double{static_cast<float>(value)}; });
}

const KeyList<PhaseKeys>& phase_list() {
    using Keys = PhaseKeys;
    static const KeyList<Keys> list({
        key<Keys>("energy", &Keys::energy, above_zero_form(), "the energy of the photons")
            .unit("keV")
            .usually_explained("the input's own")
            .sample("25.0", KeyText::Shown::commented),
        key<Keys>("distance", &Keys::distance, above_zero_form(),
                  "how far the detector is from the sample")
            .unit("metres")
            .usually_explained("the input's own")
            .sample("0.5", KeyText::Shown::commented),
        key<Keys>("pixel_size", &Keys::pixel_size, above_zero_form(),
                  "the width and height of a pixel")
            .unit("micrometres")
            .usually_explained("the input's own")
            .sample("1.1", KeyText::Shown::commented),
        key<Keys>("delta_beta", &Keys::delta_beta, number_from_zero_form(),
                  "δ / β of the sample's refractive index 1 − δ + iβ")
            .detail("Greater values smooth more")
            .required("the ratio δ / β of the sample's refractive index, such as 250.0")
            .sample("250.0"),
        key<Keys>("method", &Keys::method, choice_form<PaganinFilter::Method>({"paganin", "pixel"}),
                  "the filter")
            .detail("Paganin's of 2002, or the generalised one of 2020, which knows pixels and "
                    "smooths less between neighbours"),
        key<Keys>("margin", &Keys::margin, integer_form(0, most_fourier_length),
                  "how far a projection is continued by reflection on each side, at least")
            .unit("pixels")
            .usually("as far as the filter reaches")
            .sample("100", KeyText::Shown::commented),
        key<Keys>("negative_log", &Keys::negative_log, boolean_form(),
                  "whether the result is the negative logarithm of the filtered values")
            .sample("true", KeyText::Shown::commented),
        key<Keys>("floor", &Keys::floor, floor_form(),
                  "smaller values are raised to this before the logarithm")
            .only_with("negative_log = true", [](const Keys& keys) { return keys.negative_log; })
            .sample("1e-6", KeyText::Shown::commented),
    });
    return list;
}

void check_input(const JobInput& input) {
    const std::vector<std::int64_t>& shape = input.array.shape;
    if (shape.size() < 2) {
        throw Error(ExitCode::input,
                    {"phase needs at least two axes, rows and columns", "input.dataset",
                     "its shape is " + shape_text(shape), "Choose a dataset of projections"});
    }
    refuse_empty(shape, "Choose another dataset");
}

/// Eight times as far as the filter falls to 1/e, or half of the extent, of which reflection
/// repeats itself.
std::int64_t usual_margin(double strength, std::int64_t extent) {
    const double reach = std::ceil(8 * std::sqrt(strength));
    const std::int64_t most = ceil_divide(extent, 2);
    return reach < static_cast<double>(most) ? static_cast<std::int64_t>(reach) : most;
}

/// The length of a transform along an axis of the projections.
std::int64_t padded_extent(const std::optional<std::int64_t>& wanted, double strength,
                           std::int64_t extent, const char* axis) {
    const std::int64_t margin = wanted.value_or(usual_margin(strength, extent));
    const std::int64_t padded = next_fourier_length(extent + 2 * margin);
    if (padded == 0) {
        throw Error(
            ExitCode::input,
            {"a projection is too large for its transform", "input.dataset",
             fmt::format("it has {} {} and a margin of {} on each side, and phase takes up to {} "
                         "together",
                         extent, axis, margin, most_fourier_length),
             extent > most_fourier_length ? "Bin the projections first"
                                          : "Write a smaller phase.margin, or bin the projections "
                                            "first"});
    }
    return padded;
}

class PhaseParameters : public ListedParameters<PhaseKeys> {
  public:
    using ListedParameters::ListedParameters;

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        return make_each_sample(input, *this,
                                [&](const JobInput& one) { return make_one(one, output_type); });
    }

  private:
    /// The job for an input of one sample a pixel.
    std::unique_ptr<StreamJob> make_one(const JobInput& input,
                                        std::optional<ElementType> output_type) const {
        check_input(input);
        if (output_type.value_or(ElementType::float32) != ElementType::float32) {
            throw Error(ExitCode::usage,
                        {"phase does not make this element type", "output.dtype",
                         "it is " + std::string(name_of(*output_type)) + ", not float32",
                         "Leave it out; a rescale after it makes other types"});
        }
        const Beam beam =
            beam_of({keys().energy, keys().distance, keys().pixel_size}, input, "phase");
        const double strength = strength_of(beam, keys().delta_beta);
        if (!std::isfinite(strength)) {
            throw Error(ExitCode::usage,
                        {"the filter is not finite", "phase",
                         "delta_beta · wavelength · distance / pixel_size² is more than a float64 "
                         "holds",
                         "Write energy in keV, distance in metres and pixel_size in micrometres"});
        }
        const std::vector<std::int64_t>& shape = input.array.shape;
        PaganinFilter phase;
        phase.in_type = input.array.type;
        phase.columns = shape[shape.size() - 1];
        phase.rows = shape[shape.size() - 2];
        phase.padded_columns = padded_extent(keys().margin, strength, phase.columns, "columns");
        phase.padded_rows = padded_extent(keys().margin, strength, phase.rows, "rows");
        phase.method = keys().method;
        phase.strength = strength;
        phase.takes_log = keys().negative_log;
        phase.floor = static_cast<float>(keys().floor);
        return std::make_unique<PhaseJob>(phase, shape, PhaseFacts{text_with(beam), beam.found});
    }

    /// The canonical text with all values in effect.
    std::string text_with(const Beam& beam) const {
        PhaseKeys all = keys();
        all.energy = beam.energy;
        all.distance = beam.distance;
        all.pixel_size = beam.pixel_size;
        return list().canonical(all, CanonicalFor::identity);
    }
};

/// What lies in kept memory: the counts of counted rows and of others, then the tables.
PhaseCounts* counts_in(std::byte* kept, bool are_counted) {
    return reinterpret_cast<PhaseCounts*>(kept) + (are_counted ? 0 : 1);
}

} // namespace

PhaseJob::PhaseJob(const PaganinFilter& phase, const std::vector<std::int64_t>& shape,
                   PhaseFacts facts)
    : phase_(phase), facts_(std::move(facts)), tables_(phase_tables(phase)) {
    shape_.output = {ElementType::float32, shape};
    shape_.frames = checked_product(std::span(shape).first(shape.size() - 2));
    shape_.rows = phase_.rows;
    shape_.in_row_bytes = phase_.columns * size_of(phase_.in_type);
    shape_.out_row_bytes = phase_.columns * size_of(ElementType::float32);
    shape_.made.layer = phase_.rows;
    shape_.made.each = phase_.rows;
}

std::int64_t PhaseJob::frames(const RowBlock& block) const {
    return block.frames * ceil_divide(std::max(block.in_rows, block.out_rows), phase_.rows);
}

std::int64_t PhaseJob::scratch_bytes(Backend /*backend*/, const RowBlock& block) const {
    return phase_scratch_bytes(phase_, frames(block));
}

double PhaseJob::operations(const RowBlock& block) const {
    return phase_operations(phase_, frames(block));
}

std::int64_t PhaseJob::kept_bytes(Backend /*backend*/) const {
    return memory_alignment + aligned_bytes(std::ssize(tables_));
}

void PhaseJob::prepare(Queue& queue, std::byte* kept) const {
    static constexpr std::array<std::byte, memory_alignment> zeros{};
    std::visit(
        [&](auto& backend) {
            upload(backend, kept, zeros.data(), memory_alignment);
            upload(backend, kept + memory_alignment, tables_.data(), std::ssize(tables_));
        },
        queue);
}

std::vector<std::string> PhaseJob::counted() const {
    std::vector<std::string> names{std::string(nan_values)};
    if (phase_.takes_log) {
        names.insert(names.begin(), "raised_values");
    }
    return names;
}

std::vector<std::int64_t> PhaseJob::counts(Queue& queue, const std::byte* kept) const {
    const auto all = fetch_counts<PhaseCounts>(queue, kept);
    const auto nans = static_cast<std::int64_t>(all.nans);
    return phase_.takes_log ? std::vector<std::int64_t>{static_cast<std::int64_t>(all.raised), nans}
                            : std::vector<std::int64_t>{nans};
}

std::shared_ptr<const StreamJob> PhaseJob::counting_part() const {
    return std::make_shared<PhaseJob>(*this);
}

void PhaseJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                   const RunMemory& memory) const {
    for_counted_rows(block, memory, [&](const CountedRows& rows) {
        const std::int64_t skipped = block.out_first - block.in_first; // rows of the input
        const std::byte* const from = in + (rows.first + skipped) * shape_.in_row_bytes;
        auto* const to = reinterpret_cast<float*>(out + rows.first * shape_.out_row_bytes);
        const std::int64_t count = rows.block.frames * rows.block.out_rows / phase_.rows;
        std::visit(
            [&](auto& backend) {
                retrieve_phase(backend, phase_, count, from, to, memory.kept + memory_alignment,
                               memory.scratch, counts_in(memory.kept, rows.are_counted));
            },
            queue);
    });
}

std::vector<KeyText> phase_keys() { return phase_list().texts(); }

std::unique_ptr<KindParameters> parse_phase(TableReader& table) {
    return read_parameters<PhaseParameters>(phase_list(), table);
}

} // namespace runner
