// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/rescale/rescale_job.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/rows/row_geometry.hpp"
#include "jobs/axis_work.hpp"
#include "jobs/counted_rows.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/keys.hpp"
#include "jobs/rescale/rescale_survey.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace runner {
namespace {

using Ends = std::array<double, 2>;

Ends usual_range(ElementType type) {
    return visit_element_type(type, [](auto zero) -> Ends {
        using T = decltype(zero);
        if constexpr (std::is_floating_point_v<T>) {
            return {0, 1};
        } else {
            return {static_cast<double>(std::numeric_limits<T>::min()),
                    static_cast<double>(std::numeric_limits<T>::max())};
        }
    });
}

/// The factor of the map, 0 where it is flat; not finite where there is none.
double slope(const Ends& from, const Ends& to) {
    const double width = from[1] - from[0];
    if (width == 0 || !std::isfinite(width)) {
        return width;
    }
    return (to[1] - to[0]) / width;
}

void check_input(const ArrayInfo& input) {
    constexpr const char* remedy = "Choose another dataset";
    if (input.shape.empty()) {
        throw empty_input(input.shape, remedy);
    }
    refuse_empty(input.shape, remedy);
}

/// Two numbers under the key; nothing, and a complaint, for others.
std::optional<Ends> two_numbers(TableReader& table, const std::string& key) {
    const std::optional<std::vector<double>> numbers = table.numbers(key);
    if (numbers && numbers->size() != 2) {
        table.complain(key, "expected two numbers, got " + std::to_string(numbers->size()));
        return std::nullopt;
    }
    return numbers ? std::optional<Ends>({(*numbers)[0], (*numbers)[1]}) : std::nullopt;
}

void check_rising(TableReader& table, const std::string& key, const Ends& ends) {
    if (ends[0] > ends[1]) {
        table.complain(key, "the first number must not be above the second, got " +
                                toml_text(std::span<const double>(ends)));
    }
}

std::optional<FromRange> parse_percentiles(TableReader& table, const std::string& key) {
    std::optional<TableReader> inner = table.table(key);
    if (!inner) {
        return std::nullopt;
    }
    std::optional<FromRange> from;
    if (!inner->has("percentiles")) {
        inner->missing("percentiles", "two numbers from 0 to 100, as [0.1, 99.9]");
    } else if (const std::optional<Ends> ends = two_numbers(*inner, "percentiles")) {
        check_rising(*inner, "percentiles", *ends);
        if ((*ends)[0] < 0 || (*ends)[1] > 100) {
            inner->complain("percentiles", "must be from 0 to 100, got " +
                                               toml_text(std::span<const double>(*ends)));
        }
        from = TwoPercentiles{*ends};
    }
    inner->finish();
    return from;
}

std::optional<FromRange> parse_from(TableReader& table, const std::string& key) {
    const TableValue* value = table.value(key);
    if (const auto* text = std::get_if<std::string>(&value->data)) {
        if (*text != "extremes") {
            table.complain(key, "expected [low, high], \"extremes\" or { percentiles = … }, got a "
                                "string, " +
                                    quoted_text(*text));
            return std::nullopt;
        }
        return InputExtremes{};
    }
    if (std::holds_alternative<TableEntries>(value->data)) {
        return parse_percentiles(table, key);
    }
    if (!std::holds_alternative<TableArray>(value->data)) {
        table.complain(key, "expected [low, high], \"extremes\" or { percentiles = … }, got " +
                                type_name(*value));
        return std::nullopt;
    }
    const std::optional<Ends> ends = two_numbers(table, key);
    if (!ends) {
        return std::nullopt;
    }
    check_rising(table, key, *ends);
    return *ends;
}

std::string from_text(const FromRange& from) {
    if (const auto* ends = std::get_if<Ends>(&from)) {
        return toml_text(std::span<const double>(*ends));
    }
    if (const auto* percentiles = std::get_if<TwoPercentiles>(&from)) {
        return "{ percentiles = " + toml_text(std::span<const double>(percentiles->percent)) + " }";
    }
    return "\"extremes\"";
}

/// [rescale].
struct RescaleKeys {
    FromRange from;
    std::optional<Ends> to;
};

const KeyList<RescaleKeys>& rescale_list() {
    using Keys = RescaleKeys;
    static const KeyList<Keys> list({
        key<Keys>(
            "from", &Keys::from,
            Form<FromRange>{"numbers, `\"extremes\"` or `{ percentiles = [p, q] }`", "",
                            "Sequence[float] | Literal[\"extremes\"] | "
                            "Mapping[str, Sequence[float]]",
                            parse_from, from_text},
            "the input's range: `[low, high]`, `\"extremes\"` or `{ percentiles = [0.1, 99.9] }`")
            .required("[low, high], \"extremes\", or { percentiles = [0.1, 99.9] }")
            .sample("\"extremes\""),
        key<Keys>(
            "to", &Keys::to,
            Form<Ends>{"two numbers", "", "Sequence[float]", two_numbers,
                       [](const Ends& ends) { return toml_text(std::span<const double>(ends)); }},
            "the range of the output")
            .usually_explained("the full range of an integer type, [0.0, 1.0] for floats")
            .sample("[0, 255]", KeyText::Shown::commented),
    });
    return list;
}

class RescaleParameters : public ListedParameters<RescaleKeys> {
  public:
    using ListedParameters::ListedParameters;

    bool takes_elements_alone() const override { return true; }
    Invalid invalid() const override { return Invalid::heeds; }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        check_input(input.array);
        const ElementType out_type = output_type.value_or(input.array.type);
        const Ends to = keys().to.value_or(usual_range(out_type));
        const auto* from = std::get_if<Ends>(&keys().from);
        if (from != nullptr && !std::isfinite(slope(*from, to))) {
            throw Error(ExitCode::usage, {"the ranges cannot be mapped", "rescale.from",
                                          "from " + toml_text(std::span<const double>(*from)) +
                                              " to " + toml_text(std::span<const double>(to)) +
                                              " the factor is not a finite number",
                                          "Write numbers that are neither as close nor as large"});
        }
        return std::make_unique<RescaleJob>(input, out_type, keys().from, to);
    }
};

} // namespace

RescaleJob::RescaleJob(const JobInput& input, ElementType out_type, const FromRange& from, Ends to)
    : source_(input.source), channels_(input.channels.value_or(1)), from_(from),
      may_clip_(!std::holds_alternative<InputExtremes>(from)),
      row_elements_(row_elements(input.array)), in_invalid_(input.invalid) {
    const std::vector<std::int64_t>& shape = input.array.shape;
    const std::size_t axes = row_axes(shape);
    rescale_.in_type = input.array.type;
    rescale_.out_type = out_type;
    rescale_.to_low = to[0];
    rescale_.to_high = to[1];
    rescale_.invalid = in_invalid_;
    if (const auto* ends = std::get_if<Ends>(&from_)) {
        rescale_.from_low = (*ends)[0];
        rescale_.from_high = (*ends)[1];
    }
    shape_.output = {out_type, shape};
    shape_.frames = checked_product(std::span(shape).first(axes - 1));
    shape_.rows = shape[axes - 1];
    shape_.in_row_bytes = row_elements_ * size_of(rescale_.in_type);
    shape_.out_row_bytes = row_elements_ * size_of(out_type);
}

std::vector<Attribute> RescaleJob::attributes() const {
    return {{"from_low", rescale_.from_low}, {"from_high", rescale_.from_high}};
}

std::vector<std::string> RescaleJob::axis_work(std::size_t axes) const {
    const bool is_given = std::holds_alternative<std::array<double, 2>>(from_);
    return std::vector<std::string>(axes, is_given ? each_by_itself : "by the range of all");
}

std::optional<double> RescaleJob::invalid() const {
    return in_invalid_ ? std::optional(invalid_value(rescale_.out_type, *in_invalid_))
                       : std::nullopt;
}

std::vector<std::string> RescaleJob::notes() const {
    const std::optional<double> number = invalid();
    const std::array<double, 2> ends = *clipped_to();
    if (!number || std::isnan(*number) || *number < ends[0] || *number > ends[1]) {
        return {};
    }
    return {format_error({"valid elements may become what invalid ones are",
                          file_and_dataset(source_.file, source_.dataset),
                          fmt::format("these are {:.17g} in the output, and rescale.to has that "
                                      "number too",
                                      *number),
                          "Write a range without it, or a dtype of floats"})};
}

std::optional<std::array<double, 2>> RescaleJob::clipped_to() const {
    return visit_element_type(rescale_.out_type, [&](auto zero) -> std::array<double, 2> {
        using T = decltype(zero);
        return {static_cast<double>(converted<T>(rescale_.least())),
                static_cast<double>(converted<T>(rescale_.most()))};
    });
}

std::unique_ptr<Survey> RescaleJob::survey() const {
    if (std::holds_alternative<InputExtremes>(from_)) {
        return make_range_survey(rescale_.in_type, row_elements_, std::nullopt, in_invalid_);
    }
    if (const auto* percentiles = std::get_if<TwoPercentiles>(&from_)) {
        return make_range_survey(rescale_.in_type, row_elements_, percentiles->percent,
                                 in_invalid_);
    }
    return nullptr;
}

std::unique_ptr<Job> RescaleJob::surveyed(const Findings& findings) const {
    const std::optional<Ends> range = found_range(rescale_.in_type, findings);
    if (!range) {
        throw Error(ExitCode::input,
                    {"the input has no range", source_.file + ":" + source_.dataset,
                     in_invalid_ ? "every element is invalid" : "every element is NaN",
                     "Choose another dataset, or write rescale.from"});
    }
    auto job = std::make_unique<RescaleJob>(*this);
    job->learn(*range);
    return job;
}

void RescaleJob::learn(Ends range) {
    if (!std::isfinite(slope(range, {rescale_.to_low, rescale_.to_high}))) {
        throw Error(ExitCode::input,
                    {"the input's range cannot be rescaled", source_.file + ":" + source_.dataset,
                     "from " + toml_text(std::span<const double>(range)) +
                         " the factor is not a finite number",
                     "Write numbers or other percentiles as rescale.from"});
    }
    from_ = range;
    rescale_.from_low = range[0];
    rescale_.from_high = range[1];
}

std::int64_t RescaleJob::kept_bytes(Backend /*backend*/) const {
    return may_clip_ ? counts_bytes : 0;
}

void RescaleJob::prepare(Queue& queue, std::byte* kept) const {
    if (may_clip_) {
        clear_counts(queue, kept);
    }
}

std::vector<std::string> RescaleJob::counted() const {
    return may_clip_ ? std::vector<std::string>{"clipped_values"} : std::vector<std::string>{};
}

std::vector<std::int64_t> RescaleJob::counts(Queue& queue, const std::byte* kept) const {
    if (!may_clip_) {
        return {};
    }
    return {fetch_counts<std::int64_t>(queue, kept)};
}

std::shared_ptr<const StreamJob> RescaleJob::counting_part() const {
    return may_clip_ ? std::make_shared<RescaleJob>(*this) : nullptr;
}

void RescaleJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                     const RunMemory& memory) const {
    if (!std::holds_alternative<Ends>(from_)) {
        throw Error(ExitCode::defect, {"the input was not surveyed", "rescale", "", ""});
    }
    const std::int64_t count = block.frames * block.out_rows * row_elements_;
    const Tally clipped = may_clip_ ? tally_of(block, memory, row_elements_) : Tally{};
    std::visit(
        [&](auto& backend) {
            runner::rescale(backend, rescale_, count, in, out, clipped);
            if (in_invalid_) {
                mark_invalid(backend,
                             {rescale_.in_type, *in_invalid_, rescale_.out_type, *invalid()}, count,
                             in, out);
            }
        },
        queue);
}

std::vector<KeyText> rescale_keys() { return rescale_list().texts(); }

std::unique_ptr<KindParameters> parse_rescale(TableReader& table) {
    return read_parameters<RescaleParameters>(rescale_list(), table);
}

} // namespace runner
