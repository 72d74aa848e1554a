// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/air.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/bin/bin.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/transpose/transpose.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace runner {
namespace {

constexpr std::int64_t float_bytes = sizeof(float);
constexpr std::int64_t place_bytes = sizeof(FieldPlace);
constexpr std::int64_t most_together = 256;
constexpr std::int64_t wanted_bytes = 64 * MiB;
constexpr float dead_pixel = std::numeric_limits<float>::quiet_NaN();

using PixelRange = std::array<std::int64_t, 2>;

std::optional<PixelRange> ends_under(TableReader& table, const char* key) {
    if (!table.has(key)) {
        return std::nullopt;
    }
    const std::optional<std::vector<std::int64_t>> ends = table.integers(key, 0);
    if (ends && (ends->size() != 2 || (*ends)[0] >= (*ends)[1])) {
        table.complain(key, "expected [first, last], with last behind the range, got " +
                                toml_text(std::span<const std::int64_t>(*ends)));
        return std::nullopt;
    }
    return ends ? std::optional(PixelRange{(*ends)[0], (*ends)[1]}) : std::nullopt;
}

std::string air_text(const Air& air) {
    const auto text = [](const PixelRange& ends) {
        return toml_text(std::span<const std::int64_t>(ends));
    };
    return "{ " + (air.rows ? "rows = " + text(*air.rows) + ", " : std::string()) +
           "columns = " + text(air.columns) + " }";
}

std::optional<Air> parse_air(TableReader& table, const std::string& key) {
    std::optional<TableReader> reader = table.table(key);
    if (!reader) {
        return std::nullopt;
    }
    Air air;
    air.rows = ends_under(*reader, "rows");
    const std::optional<PixelRange> columns = ends_under(*reader, "columns");
    if (!reader->has("columns")) {
        reader->missing("columns", "the first column of the air and the one behind it, as [0, 20]");
    }
    reader->finish();
    air.columns = columns.value_or(PixelRange{});
    return columns ? std::optional(air) : std::nullopt;
}

PixelRange within(const PixelRange& ends, std::int64_t extent, const char* axis) {
    if (ends[1] > extent) {
        throw Error(ExitCode::usage,
                    {"the air is not in the frame", "correct.air",
                     fmt::format("its {} are {} up to but excluding {}, and a frame has {}", axis,
                                 ends[0], ends[1], extent),
                     "Name a part of the frame, as the job's input has it"});
    }
    return ends;
}

Correct plain_of(Correct correct) {
    correct.dead = dead_pixel;
    correct.clips = false;
    correct.takes_log = false;
    return correct;
}

} // namespace

/// Scratch memory for frames that are corrected at once.
struct AirCorrection::Memory {
    std::byte* transmissions = nullptr;
    std::byte* air = nullptr;
    std::byte* means = nullptr;
    std::byte* places = nullptr;
    std::int64_t bytes = 0;
};

/// Frames that are corrected at once, and where.
struct AirCorrection::Frames {
    std::int64_t count = 0;
    const std::byte* in = nullptr;
    float* out = nullptr;
    const std::byte* kept = nullptr;
    Memory memory;
    std::uint64_t* raised = nullptr;
};

Form<Air> air_form() {
    return {"`{ rows, columns }`",
            "half-open ranges of the frame, as `{ columns = [0, 20] }`; without `rows` all of them",
            "Mapping[str, Any]", parse_air, air_text};
}

AirCorrection::AirCorrection(const Correct& correct, const Air& air,
                             std::shared_ptr<const Field> dark, std::shared_ptr<const Field> flat,
                             const std::optional<double>& invalid)
    : correct_(correct), plain_(plain_of(correct)),
      rows_(within(air.rows.value_or(PixelRange{0, correct.rows}), correct.rows, "rows")),
      columns_(within(air.columns, correct.columns, "columns")), dark_(std::move(dark)),
      flat_(std::move(flat)), invalid_(invalid) {}

std::int64_t AirCorrection::kept_bytes() const {
    return aligned_bytes(2 * pixels() * float_bytes) + aligned_bytes(most_together * place_bytes);
}

void AirCorrection::prepare(Queue& queue, std::byte* kept) const {
    std::vector<float> images;
    images.reserve(static_cast<std::size_t>(2 * pixels()));
    for (const Field* field : {dark_.get(), flat_.get()}) {
        const CorrectField values = field->values();
        if (values.image == nullptr) {
            images.insert(images.end(), static_cast<std::size_t>(pixels()), values.number);
        } else {
            images.insert(images.end(), values.image, values.image + pixels());
        }
    }
    const std::vector<FieldPlace> places(most_together, FieldPlace{0, 1, 0});
    std::visit(
        [&](auto& backend) {
            upload(backend, kept, reinterpret_cast<const std::byte*>(images.data()),
                   2 * pixels() * float_bytes);
            upload(backend, kept + aligned_bytes(2 * pixels() * float_bytes),
                   reinterpret_cast<const std::byte*>(places.data()), most_together * place_bytes);
            backend.synchronize(); // before the vectors go
        },
        queue);
}

std::int64_t AirCorrection::together(std::int64_t frames) const {
    const std::int64_t fitting = wanted_bytes / (pixels() * float_bytes);
    return std::clamp<std::int64_t>(fitting, 1, std::clamp<std::int64_t>(frames, 1, most_together));
}

AirCorrection::Memory AirCorrection::memory_of(std::byte* scratch, std::int64_t frames) const {
    Memory memory;
    const auto take = [&](std::int64_t bytes) {
        std::byte* const part = scratch == nullptr ? nullptr : scratch + memory.bytes;
        memory.bytes += aligned_bytes(bytes);
        return part;
    };
    memory.transmissions = take(frames * pixels() * float_bytes);
    memory.air = take(frames * air_rows() * air_columns() * float_bytes);
    memory.means = take(frames * float_bytes);
    memory.places = take(frames * place_bytes);
    return memory;
}

std::int64_t AirCorrection::scratch_bytes(std::int64_t frames) const {
    return memory_of(nullptr, together(frames)).bytes;
}

template <class Q> void AirCorrection::run_together(Q& queue, const Frames& frames) const {
    const std::int64_t count = frames.count;
    const Memory& memory = frames.memory;
    const RowBlock whole{count, 0, correct_.rows, 0, correct_.rows};
    const auto* const images = reinterpret_cast<const float*>(frames.kept);
    const CorrectField dark{0, images};
    runner::correct(queue, plain_, whole, dark, {0, images + pixels()}, frames.in,
                    reinterpret_cast<float*>(memory.transmissions), frames.raised);
    if (invalid_) {
        mark_invalid(queue, {correct_.in_type, *invalid_, ElementType::float32, dead_pixel},
                     count * pixels(), frames.in, memory.transmissions);
    }
    // The air of each frame, dense; its mean; and that as the weight of the frame's place, which is
    // between the dark field and the flat one.
    const std::int64_t first = rows_[0] * correct_.columns + columns_[0];
    transpose(queue,
              {{count, air_rows(), air_columns()},
               {0, 1, 2},
               static_cast<int>(float_bytes),
               {pixels(), correct_.columns, 1},
               {air_rows() * air_columns(), air_columns(), 1}},
              memory.transmissions + first * float_bytes, memory.air);
    Bin mean;
    mean.rows = air_rows();
    mean.columns = air_columns();
    mean.factors = {1, air_rows(), air_columns()};
    mean.invalid = dead_pixel;
    bin(queue, mean, {count, 0, air_rows(), 0, air_rows()}, memory.air, memory.means);
    constexpr std::int64_t words = place_bytes / float_bytes;
    transpose(queue,
              dense_transposition({1, 1, count * words}, {0, 1, 2}, static_cast<int>(float_bytes)),
              frames.kept + aligned_bytes(2 * pixels() * float_bytes), memory.places);
    transpose(queue,
              {{1, 1, count},
               {0, 1, 2},
               static_cast<int>(float_bytes),
               {count, count, 1},
               {count * words, count * words, words}},
              memory.means, memory.places + offsetof(FieldPlace, weight));
    runner::correct(queue, correct_, whole, dark,
                    {0, images, reinterpret_cast<const FieldPlace*>(memory.places)}, frames.in,
                    frames.out, frames.raised);
}

void AirCorrection::run(Queue& queue, std::int64_t frames, const std::byte* in, std::byte* out,
                        const std::byte* kept, std::byte* scratch, std::uint64_t* raised) const {
    const std::int64_t most = together(frames);
    const Memory memory = memory_of(scratch, most);
    std::visit(
        [&](auto& backend) {
            for (std::int64_t done = 0; done < frames; done += most) {
                run_together(backend,
                             {std::min(most, frames - done),
                              in + done * pixels() * size_of(correct_.in_type),
                              reinterpret_cast<float*>(out + done * pixels() * float_bytes), kept,
                              memory, raised});
            }
        },
        queue);
}

} // namespace runner
