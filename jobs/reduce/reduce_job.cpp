// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/reduce/reduce_job.hpp"

#include "base/error.hpp"
#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "io/rows/row_geometry.hpp"
#include "jobs/axis_work.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/reduce/reduce_axes.hpp"
#include "jobs/reduce/reduce_keys.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace runner {
namespace {

using Operation = Reduction::Operation;

bool is_mean(Operation operation) {
    return operation == Operation::mean || operation == Operation::std;
}

/// The type that the operation makes by itself.
ElementType usual_type(Operation operation, ElementType input) {
    switch (operation) {
    case Operation::mean:
    case Operation::std:
        return input == ElementType::float64 ? ElementType::float64 : ElementType::float32;
    case Operation::sum:
        return visit_element_type(input, [](auto zero) {
            using T = decltype(zero);
            return std::is_floating_point_v<T> ? ElementType::float64
                   : std::is_signed_v<T>       ? ElementType::int64
                                               : ElementType::uint64;
        });
    case Operation::histogram: return ElementType::uint64;
    default: return input;
    }
}

ElementType checked_type(Operation operation, ElementType usual,
                         std::optional<ElementType> wanted) {
    if (!is_mean(operation) && wanted.value_or(usual) != usual) {
        throw Error(ExitCode::usage,
                    {"reduce does not make this element type", "output.dtype",
                     "it is " + std::string(name_of(*wanted)) + ", and operation " +
                         operation_words()[static_cast<std::size_t>(operation)] + " makes " +
                         std::string(name_of(usual)),
                     "Leave it out; rescale makes other types"});
    }
    return wanted.value_or(usual);
}

void check_elements(const Reduction& reduce) {
    std::int64_t elements = 1;
    for (const GroupAxis& axis : reduce.reduced) {
        elements = axis.extent > Reduction::most_elements / elements ? Reduction::most_elements + 1
                                                                     : elements * axis.extent;
    }
    if (elements > Reduction::most_elements) {
        throw Error(ExitCode::input, {"a result is made of too many elements", "reduce.over",
                                      "reduce takes up to 2^31 for each",
                                      "Reduce fewer axes, and then the others in another job"});
    }
}

class ReduceParameters : public ListedParameters<ReduceKeys> {
  public:
    using ListedParameters::ListedParameters;

    Invalid invalid() const override { return Invalid::heeds; }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        const std::vector<std::int64_t>& extents = input.array.shape;
        refuse_empty(extents, "Choose another dataset");
        if (extents.empty()) {
            throw empty_input(extents, "Choose another dataset");
        }
        Reduction reduce;
        reduce.operation = keys().operation;
        reduce.in_type = input.array.type;
        reduce.out_type = checked_type(reduce.operation,
                                       usual_type(reduce.operation, reduce.in_type), output_type);
        reduce.percentiles = keys().percentiles.value_or(std::vector<double>());
        reduce.bins = keys().bins.value_or(0);
        reduce.range = keys().from.value_or(reduce.range);
        reduce.invalid = input.invalid;
        const std::vector<bool> is_reduced = reduced_axes(input, keys().over);
        const bool is_axis =
            reduce.operation == Operation::histogram || reduce.operation == Operation::percentiles;
        const std::optional<ReduceShape> shape =
            reduce_shape(extents, is_reduced, {reduce.results(), is_axis});
        if (!shape) {
            throw Error(ExitCode::input,
                        {"these axes lie apart in too many places", "reduce.over",
                         "of shape " + shape_text(extents) +
                             " axes that are reduced, or kept, lie apart in more than three",
                         "Reduce fewer axes, and then the others in another job"});
        }
        reduce.reduced = shape->reduced;
        reduce.kept = shape->kept;
        check_elements(reduce);
        return std::make_unique<ReduceJob>(
            std::move(reduce), *shape,
            ReduceJob::Input{input.array, is_reduced, input.channels.value_or(1)});
    }
};

/// Rows of a chunk in another order than the file's, whose runs in the file are long; 0 where those
/// of the plan's chunks are no shorter. The maximum along 4096 images takes an H200 host 1.07 s
/// with runs of 16 KiB, 1.36 s with 4 KiB and 2.01 s with 2 KiB; two cores gain nothing beyond 8
/// KiB (bench/results/reduce-runs-2026-11-29-h200.txt).
std::int64_t rows_of_long_runs(const ReduceShape& shape, std::int64_t row_bytes) {
    constexpr std::int64_t long_run = 8 * KiB;
    constexpr std::int64_t most_bytes = 32 * MiB;
    constexpr std::int64_t usual_bytes = 4 * MiB; // of the plan's chunks
    const std::int64_t group_bytes = std::max<std::int64_t>(1, shape.group_rows * row_bytes);
    const std::int64_t groups = std::clamp<std::int64_t>(
        most_bytes / group_bytes, 1, ceil_divide(long_run, std::max<std::int64_t>(1, row_bytes)));
    return groups > 1 && groups * group_bytes > usual_bytes ? groups * shape.group_rows : 0;
}

/// Rows of a chunk whose places keep all cores or blocks of a GPU busy, where a group has few: each
/// place is one thread's or one block's. 0 where a group has enough.
std::int64_t wanted_rows(const Reduction& reduce, const ReduceShape& shape,
                         std::int64_t row_bytes) {
    constexpr std::int64_t wanted_places = 128;
    constexpr std::int64_t most_bytes = 128 * MiB;
    if (shape.order) {
        return rows_of_long_runs(shape, row_bytes);
    }
    if (reduce.places() >= wanted_places) {
        return 0;
    }
    const std::int64_t groups = ceil_divide(wanted_places, reduce.places());
    const std::int64_t rows = std::min(groups * shape.group_rows, most_bytes / row_bytes);
    return round_up(std::max<std::int64_t>(rows, 1), shape.group_rows);
}

} // namespace

ReduceJob::ReduceJob(Reduction reduce, const ReduceShape& shape, Input input)
    : reduce_(std::move(reduce)), group_rows_(shape.group_rows), order_(shape.order),
      input_(std::move(input)) {
    shape_.output = {reduce_.out_type, shape.output};
    shape_.frames = shape.frames;
    shape_.rows = shape.rows;
    shape_.in_row_bytes = row_bytes(input_.array);
    shape_.out_row_bytes = row_bytes(shape_.output);
    shape_.made = shape.made;
    shape_.wanted_rows = wanted_rows(reduce_, shape, shape_.in_row_bytes);
    shape_.enough_rows = std::min(shape_.wanted_rows, group_rows_);
    shape_.rows_between = group_rows_;
}

bool ReduceJob::keeps_samples() const {
    return input_.channels > 1 && input_.array.shape.size() > 2 && !input_.is_reduced.back() &&
           reduce_.operation != Operation::histogram && reduce_.operation != Operation::percentiles;
}

std::vector<Likeness> ReduceJob::likeness() const {
    using Values = Likeness::Values;
    Likeness like;
    switch (reduce_.operation) {
    case Operation::mean: like.values = Values::alike; break;
    case Operation::sum:
    case Operation::std: like.values = Values::scaled; break;
    case Operation::histogram: like.values = Values::other; break;
    default: like.values = Values::coded; break;
    }
    for (std::size_t axis = 0; axis < input_.is_reduced.size(); ++axis) {
        if (!input_.is_reduced[axis]) {
            like.axes.push_back({static_cast<std::int64_t>(axis), 1});
        }
    }
    like.axes.resize(shape_.output.shape.size());
    like.shape = shape_.output.shape;
    return {like};
}

std::optional<Locality> ReduceJob::locality() const {
    Locality locality;
    const std::size_t axes = input_.array.shape.size() - (input_.channels > 1 ? 1 : 0);
    for (std::size_t i = 0; i < std::min(axes, locality.joins.size()); ++i) {
        locality.joins.at(locality.joins.size() - 1 - i) = input_.is_reduced.at(axes - 1 - i);
    }
    return locality;
}

std::vector<std::string> ReduceJob::axis_work(std::size_t axes) const {
    std::vector<std::string> work(axes, each_by_itself);
    for (std::size_t axis = 0; axis < std::min(axes, input_.is_reduced.size()); ++axis) {
        work[axis] = input_.is_reduced[axis] ? "reduced" : work[axis];
    }
    return work;
}

std::optional<double> ReduceJob::invalid() const {
    return reduce_.invalid && reduce_.operation != Operation::histogram
               ? std::optional(invalid_value(reduce_.out_type, *reduce_.invalid))
               : std::nullopt;
}

std::int64_t ReduceJob::scratch_bytes(Backend backend, const RowBlock& block) const {
    const std::int64_t rows = block.frames * std::max(block.in_rows, block.out_rows);
    return reduce_scratch_bytes(backend, reduce_, ceil_divide(rows, group_rows_));
}

void ReduceJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                    const RunMemory& memory) const {
    const std::byte* const first = in + (block.out_first - block.in_first) * shape_.in_row_bytes;
    const std::int64_t groups = block.frames * block.out_rows / group_rows_;
    std::visit([&](auto& backend) { reduce(backend, reduce_, groups, first, out, memory.scratch); },
               queue);
}

std::vector<KeyText> reduce_keys() { return reduce_list().texts(); }

std::unique_ptr<KindParameters> parse_reduce(TableReader& table) {
    return read_parameters<ReduceParameters>(reduce_list(), table);
}

} // namespace runner
