// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/declared_input.hpp"

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {
namespace {

bool may_be_colour(const std::vector<std::int64_t>& shape) {
    return shape.size() >= 3 && (shape.back() == 3 || shape.back() == 4);
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

void note_invalid(const JobFile& job, DatasetInfo& input) {
    if (input.invalid.empty() || job.input.invalid == JobFile::Input::Invalid::none ||
        job.parameters->elements() == KindParameters::Elements::any) {
        return;
    }
    std::string all;
    for (const std::string& mark : input.invalid) {
        all += (all.empty() ? "" : "; ") + mark;
    }
    input.notes.push_back(format_error(
        {"the file says that some elements are no values",
         file_and_dataset(job.input.file, job.input.dataset),
         all + "; " + job.kind + " takes all elements as values",
         "Replace them before, or write input.invalid = \"none\" to take them as they are"}));
}

} // namespace runner
