// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/declared_input.hpp"

#include "base/error.hpp"
#include "kernels/elements/elements.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace runner {
namespace {

bool may_be_colour(const std::vector<std::int64_t>& shape) {
    return shape.size() >= 3 && (shape.back() == 3 || shape.back() == 4);
}

/// Whether an array of this type has elements equal to the number.
bool has_element(ElementType type, double number) {
    return is_number(type) && visit_element_type(type, [number](auto zero) {
               using T = decltype(zero);
               return std::is_floating_point_v<T> ||
                      (!std::isnan(number) && static_cast<double>(converted<T>(number)) == number);
           });
}

/// Whether a mark, such as `_FillValue = -32768`, declares these elements and no others.
bool declares(const std::string& mark, double value) {
    const std::string number = mark.substr(mark.find('=') + 1);
    char* end = nullptr;
    const double read = std::strtod(number.c_str(), &end);
    // A mark has the digits of a float32.
    return end == number.c_str() + number.size() &&
           (static_cast<float>(read) == static_cast<float>(value) ||
            (std::isnan(read) && std::isnan(value)));
}

[[noreturn]] void refuse_invalid(const JobFile& job) {
    throw Error(ExitCode::usage,
                {job.kind + " does not take invalid elements", "input.invalid",
                 "it would take them as values",
                 "Put a step of kind fill before it, with rest = a number, or write "
                 "input.invalid = \"none\""});
}

} // namespace

void declare_colour(const JobFile& job, const ArrayInfo& whole, DatasetInfo& input) {
    const std::string shape = shape_text(input.array.shape);
    if (job.input.colour) {
        if (*job.input.colour && !may_be_colour(input.array.shape)) {
            throw Error(ExitCode::usage, {"the input is not colour", "input.colour",
                                          "its shape is " + shape +
                                              ", and colour has a last axis of 3 or 4 behind "
                                              "at least two others",
                                          "Write false, or leave it out"});
        }
        input.channels = *job.input.colour ? static_cast<int>(input.array.shape.back()) : 1;
    } else if (!input.channels && may_be_colour(whole.shape) && may_be_colour(input.array.shape) &&
               !job.parameters->takes_elements_alone()) {
        input.notes.push_back(format_error(
            {"the last axis may be colour", file_and_dataset(job.input.file, job.input.dataset),
             "its shape is " + shape +
                 " and the file does not say; it is taken as an axis of the image",
             "Write input.colour = true if it is colour, else input.colour = false"}));
    }
}

void declare_invalid(const JobFile& job, DatasetInfo& input) {
    using Rule = JobFile::Input::Invalid::Rule;
    const JobFile::Input::Invalid& declared = job.input.invalid;
    const bool heeds = job.parameters->invalid() != KindParameters::Invalid::ignores;
    const std::vector<std::string> marks = input.invalid;
    if (declared.rule != Rule::file) {
        const bool is_nan = declared.rule == Rule::nan;
        input.invalid_value = is_nan ? std::numeric_limits<double>::quiet_NaN() : declared.number;
        if (declared.rule == Rule::none) {
            input.invalid_value.reset();
        } else if (!heeds && !job.pipeline) { // a pipeline names the step
            refuse_invalid(job);
        } else if (!has_element(input.array.type, *input.invalid_value)) {
            throw Error(ExitCode::usage,
                        {"the input has no such elements", "input.invalid",
                         "its elements are " + type_text(input.array),
                         is_nan ? "Write the number of those that are no values, or leave it out"
                                : "Write another number, \"nan\" or \"none\""});
        }
        return;
    }
    if (!heeds || (input.invalid_value && !has_element(input.array.type, *input.invalid_value))) {
        input.invalid_value.reset();
    }
    if (job.parameters->elements() == KindParameters::Elements::any) {
        return;
    }
    std::string others; // that the kind takes as values
    for (const std::string& mark : marks) {
        const bool is_heeded = input.invalid_value && declares(mark, *input.invalid_value);
        others += is_heeded ? "" : (others.empty() ? "" : "; ") + mark;
    }
    if (!others.empty()) {
        input.notes.push_back(format_error(
            {"the file says that some elements are no values",
             file_and_dataset(job.input.file, job.input.dataset),
             others + "; " + job.kind + " takes them as values",
             "Replace them before, or write input.invalid = \"none\" to take them as they are"}));
    }
}

} // namespace runner
