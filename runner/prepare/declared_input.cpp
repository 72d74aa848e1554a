// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/declared_input.hpp"

#include "base/error.hpp"
#include "base/joined_meaning.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/stack.hpp"
#include "io/inspect/colour_marks.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// Whether a mark says that elements beyond a range are no values.
bool is_range(const std::string& mark) { return mark.starts_with(range_mark("")); }

/// Whether a mark, such as `_FillValue = -32768`, declares these elements and no others.
bool declares(const std::string& mark, double value) {
    if (is_range(mark)) {
        return false;
    }
    const std::string number = mark.substr(mark.find('=') + 1);
    char* end = nullptr;
    const double read = std::strtod(number.c_str(), &end);
    // A mark has the digits of a float32.
    return end == number.c_str() + number.size() &&
           (static_cast<float>(read) == static_cast<float>(value) ||
            (std::isnan(read) && std::isnan(value)));
}

bool heeds_invalid(const JobFile& job) {
    return job.parameters->invalid() != KindParameters::Invalid::ignores;
}

/// Refuses a kind that takes invalid elements as values; of a pipeline, a step is named later.
void check_heeds(const JobFile& job) {
    if (!heeds_invalid(job) && !job.pipeline) {
        throw Error(ExitCode::usage,
                    {job.kind + " does not take invalid elements", "input.invalid",
                     "it would take them as values",
                     "Put a step of kind fill before it, with rest = a number, or write "
                     "input.invalid = \"none\""});
    }
}

void check_has_element(const DatasetInfo& input, double number, const std::string& remedy) {
    if (!has_element(input.array.type, number)) {
        throw Error(ExitCode::usage, {"the input has no such elements", "input.invalid",
                                      "its elements are " + type_text(input.array), remedy});
    }
}

void heed_number(const JobFile& job, DatasetInfo& input) {
    const JobFile::Input::Invalid& declared = job.input.invalid;
    const bool is_nan = declared.rule == JobFile::Input::Invalid::Rule::nan;
    check_heeds(job);
    input.invalid_value = is_nan ? std::numeric_limits<double>::quiet_NaN() : declared.number;
    check_has_element(input, *input.invalid_value,
                      is_nan ? "Write the number of those that are no values, or leave it out"
                             : "Write another number, \"nan\" or \"none\"");
}

/// Puts a mask in force: what masked elements become is the number of the job, else the one that
/// the file declares, else NaN or the type's largest.
std::shared_ptr<const InputMask> in_force(const JobFile& job, InputMask mask, DatasetInfo& input) {
    const ElementType type = input.array.type;
    const bool is_declared = job.input.invalid.value || input.invalid_value;
    input.invalid_value = job.input.invalid.value ? job.input.invalid.value
                          : input.invalid_value
                              ? input.invalid_value
                              : invalid_value(type, std::numeric_limits<double>::quiet_NaN());
    mask.element.bytes.resize(static_cast<std::size_t>(size_of(type)));
    store_elements(type, &*input.invalid_value, 1, mask.element.bytes.data());
    mask.element.equal = is_declared || std::isnan(*input.invalid_value)
                             ? MaskedElement::Equal::invalid
                             : MaskedElement::Equal::error;
    mask.element.where = file_and_dataset(job.input.file, job.input.dataset);
    mask.element.name = invalid_text(type, *input.invalid_value);
    return std::make_shared<const InputMask>(std::move(mask));
}

/// The step of a pipeline that takes no invalid elements; null where there is none.
const StepParameters* ignoring_step(const JobFile& job) {
    return job.pipeline ? job.pipeline->ignoring_step() : nullptr;
}

/// Who takes elements that a mask marks as values: the kind; of a pipeline, all steps for the sake
/// of one, which would take what a mask makes of them.
std::string taker_of(const JobFile& job) {
    if (const StepParameters* const step = ignoring_step(job)) {
        return step->label + ", " + step->kind +
               ", takes no invalid elements, so that every step takes them as values";
    }
    return job.kind + " takes them as values";
}

/// A note where steps heed the number that the file declares, and a later one does not.
void note_ignored(const JobFile& job, DatasetInfo& input) {
    const StepParameters* const step = ignoring_step(job);
    if (step != nullptr && heeds_invalid(job) && input.invalid_value && !input.invalid.empty()) {
        input.notes.push_back(format_error(
            {"the file says that some elements are no values",
             file_and_dataset(job.input.file, job.input.dataset),
             input.invalid.front() + "; " + step->label + ", " + step->kind +
                 ", takes them as values, the steps before it do not",
             "Put a step of kind fill with rest before it, or write input.invalid = \"none\" to "
             "take them as they are in every step"}));
    }
}

/// A note about what the file declares and the kind takes as values, or only moves.
void note_others(const JobFile& job, const std::vector<std::string>& others, bool only_moves,
                 DatasetInfo& input) {
    std::string all;
    for (const std::string& each : others) {
        all.append(all.empty() ? "" : "; ").append(each);
    }
    if (all.empty()) {
        return;
    }
    const std::string where = file_and_dataset(job.input.file, job.input.dataset);
    constexpr const char* what = "the file says that some elements are no values";
    const bool are_ranges = std::all_of(others.begin(), others.end(), is_range);
    const char* const remedy =
        are_ranges ? "Name a mask of them, as input.invalid = { dataset = \"/mask\" }, or write "
                     "input.invalid = \"none\" to take them as they are"
                   : "Replace them before, as a step of kind fill with rest does, or write "
                     "input.invalid = \"none\" to take them as they are";
    input.notes.push_back(
        only_moves
            ? format_error({what, where,
                            all + "; " + job.kind +
                                " moves them, and the output does not say which they are",
                            "Name the mask, as input.invalid = { dataset = \"/mask\" }, to mark "
                            "them, or write input.invalid = \"none\""})
            : format_error({what, where, all + "; " + taker_of(job), remedy}));
}

/// What the file declares, but masks, and the number of the job's invalid elements is not.
std::vector<std::string> marks_beside(const DatasetInfo& input) {
    std::vector<std::string> others;
    for (const std::string& mark : input.invalid) {
        const bool is_heeded = input.invalid_value && declares(mark, *input.invalid_value);
        if (!is_heeded && !mark.starts_with(mask_mark(""))) {
            others.push_back(mark);
        }
    }
    return others;
}

std::shared_ptr<const InputMask> heed_mask(const JobFile& job, const MaskedInput& masked,
                                           DatasetInfo& input, FileAccess& files) {
    const JobFile::Input::Invalid& declared = job.input.invalid;
    check_heeds(job);
    check_has_element(input, declared.value.value_or(0),
                      "Write a value that they can have, or input.invalid = \"none\"");
    if (input.invalid_value && !has_element(input.array.type, *input.invalid_value)) {
        input.invalid_value.reset();
    }
    const RowsFormat* const format = rows_format_of(job.input.file);
    const bool is_alone = (format != nullptr && format->folder == nullptr) || job.input.raw ||
                          is_stack(job.input.file);
    if (declared.mask_file.empty() && is_alone) {
        throw Error(ExitCode::usage,
                    {"the input's file has no mask", "input.invalid",
                     job.input.file + " has one dataset, which is the input",
                     "Name the mask's file: { file = \"mask.h5\", dataset = \"/mask\" }"});
    }
    const std::string& file = declared.mask_file.empty() ? job.input.file : declared.mask_file;
    const DatasetLayout layout = files.layout(file, declared.mask_dataset);
    const std::string where = file_and_dataset(file, layout.dataset);
    if (const std::string why = misfit_of(layout.info.array, masked); !why.empty()) {
        throw Error(ExitCode::input, {"the mask does not fit the input", where, why,
                                      "Name a mask of a frame's shape, or of the whole input's"});
    }
    InputMask mask;
    mask.names.push_back(declared.mask_file.empty() ? layout.dataset : where);
    add_mask(mask, layout, MaskBits::any, masked, files);
    std::shared_ptr<const InputMask> made = in_force(job, std::move(mask), input);
    note_others(job, marks_beside(input), false, input);
    return made;
}

/// Whether masks of frames mark nothing, and there are no others.
bool marks_nothing(const InputMask& mask) {
    return mask.rows.empty() &&
           (mask.flags == nullptr || std::all_of(mask.flags->begin(), mask.flags->end(),
                                                 [](std::uint8_t flag) { return flag == 0; }));
}

/// Refuses files or pages that have different invalid elements, of which a job heeds one number;
/// where a job only moves them, it is a note.
void check_agreement(const JobFile& job, bool only_moves, DatasetInfo& input) {
    const std::optional<ErrorText> text =
        differing_marks(input.invalid, file_and_dataset(job.input.file, job.input.dataset));
    if (text && only_moves) {
        input.notes.push_back(format_error(*text));
    } else if (text && heeds_invalid(job)) {
        throw Error(ExitCode::input, *text);
    }
}

std::shared_ptr<const InputMask> heed_file(const JobFile& job, const MaskedInput& masked,
                                           DatasetInfo& input, FileAccess& files) {
    const std::optional<double>& value = job.input.invalid.value;
    const bool only_moves =
        !is_number(input.array.type) ||
        (!job.pipeline && job.parameters->elements() == KindParameters::Elements::any);
    if (value) {
        check_heeds(job);
        check_has_element(input, *value, "Write a value that they can have");
    }
    check_agreement(job, only_moves, input);
    if (!heeds_invalid(job) ||
        (input.invalid_value && !has_element(input.array.type, *input.invalid_value))) {
        input.invalid_value.reset();
    }
    InputMask mask;
    std::vector<std::string> others; // that the kind takes as values
    const bool marks_masked =
        heeds_invalid(job) && (!only_moves || value) && (value || ignoring_step(job) == nullptr);
    for (const std::string& path : input.masks) {
        if (!marks_masked) {
            break;
        }
        const DatasetLayout layout = files.layout(job.input.file, path);
        if (const std::string why = misfit_of(layout.info.array, masked); !why.empty()) {
            others.push_back(mask_mark(path).append(", which does not fit: ").append(why));
            continue;
        }
        mask.names.push_back(path);
        add_mask(mask, layout, MaskBits::nexus, masked, files);
    }
    if (value && marks_masked && !mask.known()) {
        throw Error(ExitCode::usage, {"the input's file has no mask", "input.invalid",
                                      "value is what the elements become that a mask marks",
                                      "Name the mask: { dataset = \"/mask\", value = ... }"});
    }
    std::shared_ptr<const InputMask> made;
    if (value || !marks_nothing(mask)) {
        made = in_force(job, std::move(mask), input);
    }
    for (const std::string& mark : input.invalid) { // masks that nothing has tried to apply
        if (mark.starts_with(mask_mark("")) && (!marks_masked || input.masks.empty())) {
            others.push_back(mark);
        }
    }
    if (!only_moves) {
        const std::vector<std::string> beside = marks_beside(input);
        others.insert(others.begin(), beside.begin(), beside.end());
    }
    note_others(job, others, only_moves, input);
    note_ignored(job, input);
    return made;
}

/// Names the last axis s where it has no name, so that input.select finds it; or takes that name
/// from it, which an output would have for colour.
void name_samples(DatasetInfo& declared) {
    const bool is_colour = declared.channels.value_or(1) > 1;
    if (is_colour) {
        declared.axes.each.resize(declared.array.shape.size());
    }
    if (!declared.axes.known()) {
        return;
    }
    std::string& last = declared.axes.each.back().name;
    if (is_colour && last.empty() && !declared.axes.find("s")) {
        last = "s";
    } else if (!is_colour && last == "s") {
        last = "";
    }
}

} // namespace

void declare_colour(const JobFile& job, DatasetInfo& whole) {
    if (!job.input.colour) {
        return;
    }
    if (*job.input.colour && !may_be_colour(whole.array.shape)) {
        throw Error(ExitCode::usage,
                    {"the input is not colour", "input.colour",
                     "its shape is " + shape_text(whole.array.shape) +
                         ", and colour has a last axis of 3 or 4 behind at least two others",
                     "Write false, or leave it out"});
    }
    whole.channels = *job.input.colour ? static_cast<int>(whole.array.shape.back()) : 1;
    name_samples(whole);
}

void check_colour(const JobFile& job, const ArrayInfo& whole, DatasetInfo& input) {
    const std::vector<std::int64_t>& shape = input.array.shape;
    const bool is_alone = job.parameters->takes_elements_alone();
    if (!is_alone && input.channels.value_or(1) > 1 && shape.size() < 3) {
        throw Error(ExitCode::usage,
                    {"the part of the input is no image", "input.select",
                     "its shape is " + shape_text(shape) + ", and the last axis is the " +
                         std::to_string(*input.channels) + " samples of a colour pixel",
                     "Write a range in place of an index, as \"5:6\", which keeps the axis"});
    }
    const bool may_be = may_be_colour(whole.shape) && may_be_colour(shape);
    const bool heeds_it = !is_alone || says_colour(job.output.layout);
    if (!input.channels && may_be && heeds_it && !job.input.generate) { // no pattern makes colour
        // As samples_of_pixel(): where the kind does not care, the output's format takes it for
        // RGB.
        const bool is_guessed = is_alone && !job.output.layout.is_hdf5() && shape.back() == 3 &&
                                input.array.type == ElementType::uint8;
        input.notes.push_back(unmarked_colour_note(
            shape, file_and_dataset(job.input.file, job.input.dataset),
            is_guessed ? "colour in the output if it stays last" : "an axis of the image",
            "Write input.colour = true if it is colour, else input.colour = false"));
    }
}

void note_alpha(const JobFile& file, const Job& job, DatasetInfo& input) {
    constexpr int with_alpha = 4;
    const std::vector<Likeness> steps = job.likeness();
    const bool only_moves =
        !steps.empty() && std::all_of(steps.begin(), steps.end(), [](const Likeness& step) {
            return step.values == Likeness::Values::same;
        });
    if (input.channels.value_or(1) != with_alpha || only_moves) {
        return;
    }
    input.notes.push_back(format_error(
        {"the fourth sample of a pixel is computed as the others are",
         file_and_dataset(file.input.file, file.input.dataset),
         "if it is alpha, colours of transparent pixels count as much as those of opaque ones",
         "Take the colours alone by input.select = { s = \"0:3\" }"}));
}

std::string invalid_text(ElementType type, double value) {
    return std::isnan(value) ? "NaN" : visit_element_type(type, [value](auto zero) {
        using T = decltype(zero);
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        if constexpr (std::is_integral_v<T>) {
            const T number = converted<T>(value);
            if (std::cmp_less_equal(number, most)) { // TOML's integers
                return std::to_string(number);
            }
        }
        return toml_text(value);
    });
}

std::shared_ptr<const InputMask> declare_invalid(const JobFile& job, const DatasetLayout& layout,
                                                 const std::optional<DatasetPart>& part,
                                                 DatasetInfo& input, FileAccess& files) {
    using Rule = JobFile::Input::Invalid::Rule;
    const MaskedInput masked{layout.info.array.shape, part, input.channels.value_or(1)};
    switch (job.input.invalid.rule) {
    case Rule::none: input.invalid_value.reset(); return nullptr;
    case Rule::file: return heed_file(job, masked, input, files);
    case Rule::mask: return heed_mask(job, masked, input, files);
    default: heed_number(job, input); return nullptr;
    }
}

} // namespace runner
