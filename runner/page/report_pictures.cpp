// SPDX-License-Identifier: BSD-3-Clause
#include "runner/page/report_pictures.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/file_elements.hpp"
#include "views/pictures/contrast.hpp"
#include "views/pictures/thumbnail.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t size = 320;
constexpr std::int64_t most_bytes = 64 * MiB;

/// A picture that could be made, or why it could not.
struct Sketch {
    std::string caption;
    std::optional<Thumbnail> thumbnail;
};

/// A dataset, or a part of it, that a picture is of.
struct Pictured {
    std::string file;
    std::string dataset;
    std::function<std::unique_ptr<RowReader>()> open;
    std::optional<int> channels; ///< of a pixel, where the job says it
};

/// Which frame of how many.
using ChooseFrame = std::int64_t (*)(const PreparedJob& prepared, std::int64_t frames);

std::int64_t middle(const PreparedJob& /*prepared*/, std::int64_t frames) { return frames / 2; }
std::int64_t last(const PreparedJob& /*prepared*/, std::int64_t frames) { return frames - 1; }
std::int64_t first_state(const PreparedJob& prepared, std::int64_t frames) {
    const std::int64_t frame = prepared.job->state()->input_frame;
    return frame < frames ? frame : frames - 1;
}

std::string failure_text(const std::string& what, const std::string& why) {
    return what + ": no picture, " + why;
}

Sketch sketch(FileAccess& files, const PreparedJob& prepared, const std::string& what,
              const Pictured& from, std::optional<Palette> palette, ChooseFrame choose) {
    try {
        std::unique_ptr<RowReader> rows = from.open();
        const std::optional<bool> colour =
            prepared.shown_colour(from.channels ? from.channels : rows->info().channels);
        const ImageSource source =
            open_image(files, std::move(rows), from.file, from.dataset, {palette, {}, colour});
        const std::int64_t frame = choose(prepared, source.image.frames);
        std::string caption = what;
        if (source.image.frames > 1) {
            caption += fmt::format(", frame {} of {} (from 0)", frame, source.image.frames);
        }
        std::optional<Thumbnail> thumbnail = sampled_thumbnail(source, frame, size, most_bytes);
        if (!thumbnail) {
            return {
                failure_text(what, "a line of it takes reading more than " + size_text(most_bytes)),
                {}};
        }
        return {caption, std::move(thumbnail)};
    } catch (const Error& error) {
        return {failure_text(what, error.text().why), {}};
    }
}

PagePicture page_picture(const Sketch& sketch, const GreyRange& range) {
    if (!sketch.thumbnail) {
        return {sketch.caption, {}};
    }
    return {sketch.caption, png_bytes(shaded(*sketch.thumbnail, range))};
}

} // namespace

std::vector<PagePicture> report_pictures(FileAccess& files, const PreparedJob& prepared,
                                         int threads) {
    const JobFile& job = prepared.file;
    const bool evolves = prepared.job->state().has_value();
    const std::optional<Palette> palette = evolves ? std::optional(Palette::sand) : std::nullopt;
    // A later pass reads what the run has made, and has removed.
    const std::optional<InputOrigin>& origin = prepared.place.origin;
    const std::string& input_file = origin ? origin->file : job.input.file;
    const std::string& input_dataset = origin ? origin->dataset : job.input.dataset;
    const std::optional<DatasetPart>& part = origin ? origin->part : prepared.part;
    const DatasetInfo& input = origin ? origin->info : prepared.input;
    const ElementType input_type = input.array.type;
    const auto open_before = [&] {
        std::unique_ptr<RowReader> rows =
            files.open(origin ? files.layout(input_file, input_dataset) : prepared.layout, threads);
        if (part) {
            rows = open_part(std::move(rows), *part);
        }
        return input_type == ElementType::float32 ? open_widened_rows(std::move(rows))
                                                  : std::move(rows);
    };
    const auto open_after = [&] {
        const std::string dataset = prepared.kept ? made_frames_dataset : job.output.dataset;
        return open_rows_of(files, job.output.file, dataset, threads);
    };
    const Sketch before = sketch(files, prepared, "before: " + input_file,
                                 {input_file, input_dataset, open_before, input.channels}, palette,
                                 evolves ? first_state : middle);
    const Sketch after = sketch(files, prepared, "after: " + job.output.file,
                                {job.output.file, job.output.dataset, open_after, {}}, palette,
                                evolves ? last : middle);
    const auto own_range = [](const Sketch& one) {
        return one.thumbnail ? range_of(std::span(&*one.thumbnail, 1)) : GreyRange{};
    };
    // Elements of one kind are shown alike; a denoised or converted one by itself.
    const bool alike = before.thumbnail && after.thumbnail && input_type == prepared.output().type;
    if (!alike) {
        return {page_picture(before, own_range(before)), page_picture(after, own_range(after))};
    }
    const std::vector<Thumbnail> both = {*before.thumbnail, *after.thumbnail};
    const GreyRange range = range_of(both);
    return {page_picture(before, range), page_picture(after, range)};
}

} // namespace runner
