// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/transpose/transpose_job.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/axis_work.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/keys.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/transpose/transpose_array.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace runner {
namespace {

Form<std::vector<std::int64_t>> permutation_form() {
    using Axes = std::vector<std::int64_t>;
    return {"integers", "", "Sequence[int]",
            [](TableReader& table, const std::string& key) -> std::optional<Axes> {
                std::optional<Axes> permutation = table.integers(key, 0);
                if (!permutation) {
                    return std::nullopt;
                }
                Axes sorted = *permutation;
                std::sort(sorted.begin(), sorted.end());
                for (std::size_t i = 0; i < sorted.size(); ++i) {
                    if (sorted[i] != static_cast<std::int64_t>(i)) {
                        sorted.clear();
                    }
                }
                if (sorted.size() < 2) {
                    table.complain(key, "expected the axes 0, 1, 2 and so on (of an image 0 and "
                                        "1) in some order, got " +
                                            toml_text(std::span<const std::int64_t>(*permutation)));
                    return std::nullopt;
                }
                return permutation;
            },
            [](const Axes& axes) { return toml_text(std::span<const std::int64_t>(axes)); }};
}

/// [transpose].
struct TransposeKeys {
    std::vector<std::int64_t> permutation;
};

const KeyList<TransposeKeys>& transpose_list() {
    static const KeyList<TransposeKeys> list({
        key<TransposeKeys>("permutation", &TransposeKeys::permutation, permutation_form(),
                           "output axis i is input axis `permutation[i]`")
            .detail("All axes of the input, from 0, in some order, as for `numpy.transpose`")
            .required("permutation = [1, 2, 0] or another order of the axes")
            .sample("[1, 2, 0]"),
    });
    return list;
}

class TransposeParameters : public ListedParameters<TransposeKeys> {
  public:
    using ListedParameters::ListedParameters;

    Elements elements() const override { return Elements::any; }
    bool takes_elements_alone() const override { return true; }
    Invalid invalid() const override { return Invalid::heeds; }

    std::unique_ptr<Job> make(const JobInput& given,
                              std::optional<ElementType> output_type) const override {
        const ArrayInfo& input = given.array;
        refuse_empty(input.shape);
        if (output_type.value_or(input.type) != input.type) {
            throw Error(ExitCode::usage,
                        {"transpose does not change the element type", "output.dtype",
                         "it is " + std::string(name_of(*output_type)) + " and the input's is " +
                             type_text(input),
                         "Leave it out"});
        }
        const std::size_t axes = keys().permutation.size();
        if (axes != input.shape.size() && (axes != 3 || axes < input.shape.size())) {
            throw Error(ExitCode::usage,
                        {"the permutation does not fit the input", "transpose.permutation",
                         fmt::format("it has {} axes and the input {}", axes, input.shape.size()),
                         "Write as many. Three fit an input of fewer too: missing axes come first, "
                         "with an extent of 1"});
        }
        PermuteShape shape;
        shape.element_bytes = size_of(input.type);
        // Axes that the permutation does not name are in front, and stay there.
        const std::size_t added = axes < 3 ? 3 - axes : 0;
        shape.input.assign(axes + added, 1);
        std::copy(input.shape.rbegin(), input.shape.rend(), shape.input.rbegin());
        shape.permutation.resize(added);
        std::iota(shape.permutation.begin(), shape.permutation.end(), 0);
        for (const std::int64_t axis : keys().permutation) {
            shape.permutation.push_back(static_cast<int>(axis) + static_cast<int>(added));
        }
        const Extents permuted = shape.permuted(shape.input);
        shape.output = input;
        shape.output.shape.assign(permuted.end() - static_cast<std::ptrdiff_t>(axes),
                                  permuted.end());
        const TransposeJob::Input known{input.shape.size(), given.invalid};
        return std::make_unique<TransposeJob>(std::move(shape), known,
                                              channels_behind(given, shape.output.shape.size()));
    }

  private:
    /// The samples of a pixel that the last of so many axes of the output has: of colour that stays
    /// behind each pixel, or is brought there.
    int channels_behind(const JobInput& given, std::size_t axes) const {
        const std::vector<std::int64_t>& shape = given.array.shape;
        const std::int64_t added = std::ssize(keys().permutation) - std::ssize(shape);
        const std::int64_t last = keys().permutation.back() - added;
        if (last + 1 == std::ssize(shape)) {
            return given.channels.value_or(1);
        }
        if (last < 0 || axes < 3 || !given.axes.known()) {
            return 1;
        }
        const std::int64_t extent = shape[static_cast<std::size_t>(last)];
        const bool is_colour = given.axes.each[static_cast<std::size_t>(last)].name == "s" &&
                               (extent == 3 || extent == 4);
        return is_colour ? static_cast<int>(extent) : 1;
    }
};

} // namespace

std::vector<Likeness> TransposeJob::likeness() const {
    const std::size_t made = shape_.output.shape.size();
    const auto added = static_cast<std::int64_t>(shape_.permutation.size() - input_.axes);
    Likeness like{Likeness::Values::same, {}, shape_.output.shape};
    for (std::size_t to = shape_.permutation.size() - made; to < shape_.permutation.size(); ++to) {
        const std::int64_t from = shape_.permutation.at(to) - added;
        like.axes.push_back({std::max<std::int64_t>(from, -1), 1}); // below 0: it is a new one
    }
    return {like};
}

std::vector<std::string> TransposeJob::axis_work(std::size_t axes) const {
    const std::size_t added = shape_.permutation.size() - axes; // leading axes of 1
    const std::size_t added_to_output = shape_.permutation.size() - shape_.output.shape.size();
    std::vector<std::string> work(axes);
    for (std::size_t to = 0; to < shape_.permutation.size(); ++to) {
        const auto from = static_cast<std::size_t>(shape_.permutation.at(to));
        if (from >= added) {
            work[from - added] =
                from == to ? "stays" : fmt::format("becomes axis {}", to - added_to_output);
        }
    }
    return work;
}

void TransposeJob::run(Queue& queue, const Extents& box, const std::byte* in,
                       std::byte* out) const {
    const ArrayTransposition transposition =
        array_transposition(box, shape_.permutation, static_cast<int>(shape_.element_bytes));
    std::visit([&](auto& backend) { transpose_array(backend, transposition, in, out); }, queue);
}

std::vector<KeyText> transpose_keys() { return transpose_list().texts(); }

std::unique_ptr<KindParameters> parse_transpose(TableReader& table) {
    return read_parameters<TransposeParameters>(transpose_list(), table);
}

} // namespace runner
