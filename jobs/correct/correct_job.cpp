// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/correct_job.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "io/files/hash.hpp"
#include "jobs/correct/correct_keys.hpp"
#include "jobs/correct/dead_values.hpp"
#include "jobs/counted_rows.hpp"
#include "jobs/input_errors.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace runner {
namespace {

void check_input(const JobInput& input, std::size_t axes) {
    const std::vector<std::int64_t>& shape = input.array.shape;
    if (shape.size() < axes) {
        throw Error(ExitCode::input,
                    {"correct needs at least two axes, rows and columns", "input.dataset",
                     "its shape is " + shape_text(shape), "Choose a dataset of images"});
    }
    refuse_empty(shape, "Choose another dataset");
}

Correct made_correct(const CorrectKeys& keys, ElementType type) {
    Correct correct;
    correct.in_type = type;
    correct.dead = static_cast<float>(keys.dead);
    correct.clips = keys.clip.has_value();
    if (keys.clip) {
        correct.clip_low = static_cast<float>((*keys.clip)[0]);
        correct.clip_high = static_cast<float>((*keys.clip)[1]);
    }
    correct.takes_log = keys.negative_log;
    correct.floor = static_cast<float>(keys.floor);
    return correct;
}

/// The air is of frames without colour, which have one field. @throws Error (usage).
void check_air(const Field& dark, const Field& flat, int channels) {
    const bool by_frame = !dark.places.empty() || !flat.places.empty();
    if (by_frame || channels > 1) {
        throw Error(ExitCode::usage,
                    {"correct cannot take the air of each frame", "correct.air",
                     by_frame ? "the fields are interpolated between groups of frames"
                              : "the frames are colour",
                     by_frame ? "Leave air or between out" : "Leave it out"});
    }
}

class CorrectParameters : public ListedParameters<CorrectKeys> {
  public:
    using ListedParameters::ListedParameters;

    Invalid invalid() const override { return Invalid::heeds; }

    std::vector<InputDataset> inputs() const override {
        std::vector<InputDataset> files;
        for (const FieldChoice* choice : {&keys().dark, &keys().flat}) {
            const auto* source = std::get_if<FieldSource>(choice);
            if (source != nullptr && source->file) {
                files.push_back({*source->file, source->dataset.value_or("")});
            }
        }
        return files;
    }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        const std::vector<std::int64_t>& shape = input.array.shape;
        const int channels = input.channels.value_or(1);
        const std::size_t axes = channels > 1 ? 3 : 2;
        check_input(input, axes);
        if (output_type.value_or(ElementType::float32) != ElementType::float32) {
            throw Error(ExitCode::usage,
                        {"correct does not make this element type", "output.dtype",
                         "it is " + std::string(name_of(*output_type)) + ", not float32",
                         "Leave it out; a rescale after it makes other types"});
        }
        const std::vector<std::int64_t> frame(shape.end() - static_cast<std::ptrdiff_t>(axes),
                                              shape.end());
        Correct correct = made_correct(keys(), input.array.type);
        correct.columns = frame.back();
        correct.rows = checked_product(std::span(frame).first(axes - 1));
        Field dark = make_field(keys().dark, dark_role, input, frame);
        Field flat = make_field(keys().flat, flat_role, input, frame);
        if (keys().air) {
            check_air(dark, flat, channels);
        }
        return std::make_unique<CorrectJob>(correct, std::move(dark), std::move(flat), input,
                                            keys().air);
    }
};

std::int64_t image_bytes(const Field& field) {
    return field.image ? aligned_bytes(field.image->bytes()) : 0;
}

std::int64_t places_bytes(const Field& field) {
    return aligned_bytes(std::ssize(field.places) * static_cast<std::int64_t>(sizeof(FieldPlace)));
}

/// What a device that is not the host keeps of a field.
std::int64_t field_bytes(const Field& field) { return image_bytes(field) + places_bytes(field); }

/// The field of frames from this one on.
CorrectField from_frame(CorrectField field, std::int64_t frame) {
    if (field.places != nullptr) {
        field.places += frame;
    }
    return field;
}

/// A checksum of what places say.
std::uint64_t hash_of(const std::vector<FieldPlace>& places) {
    const auto bytes = std::as_bytes(std::span(places));
    return hash_bytes(bytes.data(), std::ssize(bytes));
}

} // namespace

/// What lies in kept memory: sums of raised values of counted rows and of others; and, where the
/// device is not the host, the fields' images and places.
struct CorrectJob::Kept {
    std::byte* memory;
    bool is_host;

    std::uint64_t* raised(bool counted) const {
        return reinterpret_cast<std::uint64_t*>(memory) + (counted ? 0 : 1);
    }
    CorrectField field(const Field& of, std::int64_t offset) const {
        if (!of.image || is_host) {
            return of.values();
        }
        const std::byte* const at = memory + memory_alignment + offset;
        const auto* const places = reinterpret_cast<const FieldPlace*>(at + image_bytes(of));
        return {0, reinterpret_cast<const float*>(at), of.places.empty() ? nullptr : places};
    }
};

/// Calls take(part, frame, row) for rows of frames that a call of the kernel takes, whole ones or
/// some of one: which they are, in a frame's own rows; the frame of the input that they begin in,
/// where by_frame_; and the row of `rows` that they begin with.
template <class Take> void CorrectJob::for_frames(const RowBlock& rows, const Take& take) const {
    if (!by_frame_) {
        take({rows.frames, rows.out_first, rows.out_rows, rows.out_first, rows.out_rows}, 0, 0);
        return;
    }
    for (std::int64_t row = 0; row < rows.out_rows;) {
        const std::int64_t frame = (rows.out_first + row) / correct_.rows;
        const std::int64_t first = (rows.out_first + row) % correct_.rows;
        const std::int64_t left = rows.out_rows - row;
        const std::int64_t whole = first == 0 ? left / correct_.rows : 0;
        const std::int64_t count =
            whole > 0 ? correct_.rows : std::min(left, correct_.rows - first);
        const std::int64_t frames = std::max<std::int64_t>(whole, 1);
        take({frames, first, count, first, count}, frame, row);
        row += frames * count;
    }
}

CorrectJob::CorrectJob(const Correct& correct, Field dark, Field flat, const JobInput& input,
                       const std::optional<Air>& air)
    : correct_(correct), dark_(std::make_shared<const Field>(std::move(dark))),
      flat_(std::make_shared<const Field>(std::move(flat))), channels_(input.channels.value_or(1)),
      by_frame_(!dark_->places.empty() || !flat_->places.empty()), in_invalid_(input.invalid) {
    const std::vector<std::int64_t>& shape = input.array.shape;
    // Where a frame's field depends on its number, rows must say it: they count through all frames.
    const std::int64_t rows = checked_product(shape) / correct_.columns;
    shape_.frames = by_frame_ ? 1 : rows / correct_.rows;
    shape_.rows = rows / shape_.frames;
    shape_.in_row_bytes = correct_.columns * size_of(correct_.in_type);
    shape_.out_row_bytes = correct_.columns * size_of(ElementType::float32);
    shape_.output = {ElementType::float32, shape};
    if (air) {
        air_.emplace(correct_, *air, dark_, flat_, in_invalid_);
        shape_.made.layer = correct_.rows;
        shape_.made.each = correct_.rows;
    }
}

std::string CorrectJob::computation() const {
    std::string text = air_ ? "correct 1, air 1" : "correct 1";
    for (const Field* field : {dark_.get(), flat_.get()}) {
        if (field->image) {
            const auto bytes = std::as_bytes(std::span(field->image->values()));
            text += fmt::format(", field {}", hash_bytes(bytes.data(), std::ssize(bytes)));
        }
        if (!field->places.empty()) {
            text += fmt::format(", places {}", hash_of(field->places));
        }
    }
    return text;
}

std::optional<double> CorrectJob::invalid() const {
    return in_invalid_ || std::isnan(correct_.dead)
               ? std::optional(std::numeric_limits<double>::quiet_NaN())
               : std::nullopt;
}

std::vector<std::string> CorrectJob::notes() const {
    std::vector<std::string> notes;
    for (const Field* field : {dark_.get(), flat_.get()}) {
        for (const std::string& note : field->notes) { // of one file, both may have the same
            if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
                notes.push_back(note);
            }
        }
    }
    return notes;
}

std::vector<JobCount> CorrectJob::known_counts() const {
    const std::int64_t pixels = correct_.rows * correct_.columns;
    return {{"dead_values",
             dead_values(*dark_, *flat_, pixels, shape_.frames * shape_.rows / correct_.rows)}};
}

std::vector<std::shared_ptr<const SideImage>> CorrectJob::side_images() const {
    std::vector<std::shared_ptr<const SideImage>> images;
    for (const Field* field : {dark_.get(), flat_.get()}) {
        if (field->image) {
            images.push_back(field->image);
        }
    }
    return images;
}

std::int64_t CorrectJob::scratch_bytes(Backend /*backend*/, const RowBlock& block) const {
    const std::int64_t rows = std::max(block.in_rows, block.out_rows);
    return air_ ? air_->scratch_bytes(block.frames * ceil_divide(rows, correct_.rows)) : 0;
}

std::int64_t CorrectJob::kept_bytes(Backend backend) const {
    if (air_) {
        return memory_alignment + air_->kept_bytes();
    }
    return memory_alignment +
           (backend == Backend::cpu ? 0 : field_bytes(*dark_) + field_bytes(*flat_));
}

void CorrectJob::prepare(Queue& queue, std::byte* kept) const {
    if (air_) {
        air_->prepare(queue, kept + memory_alignment);
    }
    std::visit(
        [&](auto& backend) {
            using Q = std::decay_t<decltype(backend)>;
            static constexpr std::array<std::byte, memory_alignment> zeros{};
            if constexpr (Q::shares_host_memory) {
                std::memcpy(kept, zeros.data(), zeros.size());
                return;
            }
            upload(backend, kept, zeros.data(), memory_alignment);
            if (air_) {
                return;
            }
            std::byte* to = kept + memory_alignment;
            for (const Field* field : {dark_.get(), flat_.get()}) {
                if (field->image) {
                    const auto bytes = std::as_bytes(std::span(field->image->values()));
                    upload(backend, to, bytes.data(), std::ssize(bytes));
                }
                if (!field->places.empty()) {
                    const auto places = std::as_bytes(std::span(field->places));
                    upload(backend, to + image_bytes(*field), places.data(), std::ssize(places));
                }
                to += field_bytes(*field);
            }
        },
        queue);
}

std::vector<std::string> CorrectJob::counted() const {
    return correct_.takes_log ? std::vector<std::string>{"raised_values"}
                              : std::vector<std::string>{};
}

std::vector<std::int64_t> CorrectJob::counts(Queue& queue, const std::byte* kept) const {
    if (!correct_.takes_log) {
        return {};
    }
    return {fetch_counts<std::int64_t>(queue, kept)};
}

std::shared_ptr<const StreamJob> CorrectJob::counting_part() const {
    return correct_.takes_log ? std::make_shared<CorrectJob>(*this) : nullptr;
}

void CorrectJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                     const RunMemory& memory) const {
    const Kept kept{memory.kept, std::holds_alternative<CpuQueue>(queue)};
    const CorrectField dark = kept.field(*dark_, 0);
    const CorrectField flat = kept.field(*flat_, field_bytes(*dark_));
    for_counted_rows(block, memory, [&](const CountedRows& rows) {
        const RowBlock& made = rows.block;
        const std::int64_t skipped = block.out_first - block.in_first; // rows of the input
        const std::byte* const from = in + (rows.first + skipped) * shape_.in_row_bytes;
        std::byte* const to = out + rows.first * shape_.out_row_bytes;
        if (air_) {
            air_->run(queue, made.frames * made.out_rows / correct_.rows, from, to,
                      memory.kept + memory_alignment, memory.scratch,
                      kept.raised(rows.are_counted));
        }
        std::visit(
            [&](auto& backend) {
                if (!air_) {
                    for_frames(made, [&](const RowBlock& part, std::int64_t frame,
                                         std::int64_t row) {
                        runner::correct(backend, correct_, part, from_frame(dark, frame),
                                        from_frame(flat, frame), from + row * shape_.in_row_bytes,
                                        reinterpret_cast<float*>(to + row * shape_.out_row_bytes),
                                        kept.raised(rows.are_counted));
                    });
                }
                if (in_invalid_) {
                    mark_invalid(backend,
                                 {correct_.in_type, *in_invalid_, ElementType::float32, *invalid()},
                                 made.frames * made.out_rows * correct_.columns, from, to);
                }
            },
            queue);
    });
}

std::vector<KeyText> correct_keys() { return correct_list().texts(); }

std::unique_ptr<KindParameters> parse_correct(TableReader& table) {
    return read_parameters<CorrectParameters>(correct_list(), table);
}

} // namespace runner
