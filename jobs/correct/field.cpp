// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/field.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "jobs/correct/field_places.hpp"
#include "jobs/correct/images.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/correct/image_stacks.hpp"
#include "kernels/correct/valid_stacks.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/queue/cpu_queue.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

namespace runner {
namespace {

/// In the order of the type's values.
constexpr std::array reduce_names = {"mean", "median", "none"};
constexpr std::array between_names = {"none", "interpolate"};

/// A text under the key that is not empty.
std::optional<std::string> name_under(TableReader& table, std::string_view key) {
    std::optional<std::string> text = table.text(key);
    if (text && text->empty()) {
        table.complain(key, "must not be empty");
    }
    return text;
}

/// Whether a field, whose other keys are read, is interpolated.
Between parse_between(TableReader& table, const FieldSource& source) {
    const auto between = static_cast<Between>(
        table.choice("between", {between_names.begin(), between_names.end()}).value_or(0));
    const bool all = std::holds_alternative<AllFrames>(source.frames);
    if (between == Between::interpolate && (source.file || source.dataset || all)) {
        table.complain("between", "takes the frames of the input's own scan: leave out file, "
                                  "dataset and frames = \"all\"");
    }
    return between;
}

std::optional<FieldChoice> parse_field(TableReader& table, const std::string& key) {
    const TableValue* value = table.value(key);
    if (std::holds_alternative<TableEntries>(value->data)) {
        std::optional<TableReader> reader = table.table(key);
        FieldSource source;
        source.file = name_under(*reader, "file");
        source.dataset = name_under(*reader, "dataset");
        source.frames = parse_frame_range(*reader, "frames");
        const std::optional<std::size_t> reduce =
            reader->choice("reduce", {reduce_names.begin(), reduce_names.end()});
        source.reduce = static_cast<Reduce>(reduce.value_or(0));
        source.between = parse_between(*reader, source);
        reader->finish();
        return source;
    }
    if (!std::holds_alternative<double>(value->data) &&
        !std::holds_alternative<std::int64_t>(value->data)) {
        table.complain(key,
                       "expected " + std::string(field_to_write) + ", got " + type_name(*value));
        return std::nullopt;
    }
    const std::optional<double> number = table.number(key);
    return number ? std::optional<FieldChoice>(*number) : std::nullopt;
}

/// The bytes of images that are read at once: enough for all threads; smaller buffers stay in more
/// caches.
constexpr std::int64_t read_bytes = 64 * MiB;
/// Where a chunk is unpacked again for every band of rows that is read of it.
constexpr std::int64_t packed_read_bytes = 1 * GiB;
constexpr int most_threads = 32; ///< that compute, each with a buffer of its own

/// As many as fit, in whole chunks where these fit.
std::int64_t fitting(std::int64_t room, std::int64_t each, std::int64_t most, std::int64_t chunk) {
    const std::int64_t count = std::clamp<std::int64_t>(room / each, 1, most);
    return count < most && count > chunk ? count / chunk * chunk : count;
}

/// The threads that compute, and memory that goes back to the system when it is released.
CpuQueue all_cores() {
    return CpuQueue(std::min(most_threads, oneapi::tbb::this_task_arena::max_concurrency()));
}

template <class Work> void for_pixels(CpuQueue& queue, std::int64_t pixels, Work work) {
    constexpr std::int64_t grain = 1 << 13;
    queue.run([&] {
        oneapi::tbb::parallel_for(
            oneapi::tbb::blocked_range<std::int64_t>(0, pixels, grain),
            [&](const auto& range) { work(range.begin(), range.end() - range.begin()); },
            oneapi::tbb::simple_partitioner());
    });
}

class OneImage : public SideImage::Source {
  public:
    explicit OneImage(Images images) : images_(std::move(images)) {}

    std::int64_t wanted_bytes() const override {
        return images_.reader_bytes + std::min(read_bytes, images_.rows * images_.row_bytes());
    }
    std::int64_t least_bytes() const override { return images_.reader_bytes + images_.row_bytes(); }
    void compute(std::int64_t first, std::int64_t rows, std::int64_t most_bytes, float* to,
                 const std::function<void()>& check) override {
        const std::int64_t band = fitting(most_bytes - images_.reader_bytes, images_.row_bytes(),
                                          rows, images_.packed_rows);
        CpuQueue queue = all_cores();
        const Buffer bytes = allocate_staging(queue, band * images_.row_bytes());
        for (std::int64_t done = 0; done < rows; done += band) {
            check();
            const std::int64_t count = std::min(band, rows - done);
            images_.read(0, 1, first + done, count, bytes.data());
            float* const values = to + done * images_.columns;
            load_elements(images_.type(), bytes.data(), count * images_.columns, values);
            if (images_.invalid) {
                mark_invalid(queue,
                             {images_.type(), *images_.invalid, ElementType::float32,
                              std::numeric_limits<double>::quiet_NaN()},
                             count * images_.columns, bytes.data(),
                             reinterpret_cast<std::byte*>(values));
            }
        }
    }

  private:
    Images images_;
};

/// Blocks of images are read one after the other and added pixel by pixel, in the images' order.
class MeanImage : public SideImage::Source {
  public:
    explicit MeanImage(Images images) : images_(std::move(images)) {}

    std::int64_t wanted_bytes() const override {
        const std::int64_t together =
            images_.rows * (sums_row() + images_.packed_together * images_.row_bytes());
        const std::int64_t all = images_.rows * (sums_row() + images_.count * images_.row_bytes());
        return images_.reader_bytes +
               std::min(all, std::max(read_bytes, std::min(together, packed_read_bytes)));
    }
    std::int64_t least_bytes() const override {
        return images_.reader_bytes + sums_row() + images_.row_bytes();
    }
    void compute(std::int64_t first, std::int64_t rows, std::int64_t most_bytes, float* to,
                 const std::function<void()>& check) override {
        const std::int64_t room = most_bytes - images_.reader_bytes;
        const std::int64_t band =
            fitting(room, sums_row() + images_.packed_together * images_.row_bytes(), rows,
                    images_.packed_rows);
        const std::int64_t images = fitting(room - band * sums_row(), band * images_.row_bytes(),
                                            images_.count, images_.packed_together);
        CpuQueue queue = all_cores();
        const Buffer bytes = allocate_staging(queue, images * band * images_.row_bytes());
        const Buffer sums = allocate_staging(queue, band * sums_row());
        for (std::int64_t done = 0; done < rows; done += band) {
            add_band(queue, first + done, std::min(band, rows - done), images, bytes.data(),
                     reinterpret_cast<double*>(sums.data()), to + done * images_.columns, check);
        }
    }

  private:
    /// Bytes of a row of sums, and where elements may be invalid of counts of the valid ones.
    std::int64_t sums_row() const {
        return images_.columns * static_cast<std::int64_t>(sizeof(double)) *
               (images_.invalid ? 2 : 1);
    }
    /// `bytes`: for the elements of `most` images at once.
    void add_band(CpuQueue& queue, std::int64_t first, std::int64_t band, std::int64_t most,
                  std::byte* bytes, double* sums, float* to,
                  const std::function<void()>& check) const {
        const std::int64_t pixels = band * images_.columns;
        const std::int64_t element = size_of(images_.type());
        double* const counts = sums + pixels; // where elements may be invalid
        std::fill_n(sums, images_.invalid ? 2 * pixels : pixels, 0);
        for (std::int64_t image = 0; image < images_.count; image += most) {
            check();
            const std::int64_t images = std::min(most, images_.count - image);
            images_.read(image, images, first, band, bytes);
            for_pixels(queue, pixels, [&](std::int64_t pixel, std::int64_t count) {
                for (std::int64_t i = 0; i < images; ++i) {
                    const std::byte* const from = bytes + (i * pixels + pixel) * element;
                    if (images_.invalid) {
                        add_valid_elements(images_.type(), *images_.invalid, from, count,
                                           sums + pixel, counts + pixel);
                    } else {
                        add_elements(images_.type(), from, count, sums + pixel);
                    }
                }
            });
        }
        if (images_.invalid) { // NaN where none is valid
            std::transform(sums, sums + pixels, counts, to, [](double sum, double count) {
                return count > 0 ? static_cast<float>(sum / count)
                                 : std::numeric_limits<float>::quiet_NaN();
            });
            return;
        }
        std::transform(sums, sums + pixels, to, [&](double sum) {
            return static_cast<float>(sum / static_cast<double>(images_.count));
        });
    }

    Images images_;
};

/// The median of images: all are read, a band of rows at a time.
class MedianImage : public SideImage::Source {
  public:
    explicit MedianImage(Images images) : images_(std::move(images)) {}

    std::int64_t wanted_bytes() const override {
        const std::int64_t most = images_.is_packed ? packed_read_bytes : read_bytes;
        return own_bytes() + std::max(stack_row(), std::min(most, images_.rows * stack_row()));
    }
    std::int64_t least_bytes() const override { return own_bytes() + stack_row(); }
    void compute(std::int64_t first, std::int64_t rows, std::int64_t most_bytes, float* to,
                 const std::function<void()>& check) override {
        const std::int64_t band =
            fitting(most_bytes - own_bytes(), stack_row(), rows, images_.packed_rows);
        CpuQueue queue = all_cores();
        const Buffer bytes = allocate_staging(queue, band * stack_row());
        for (std::int64_t done = 0; done < rows; done += band) {
            check();
            const std::int64_t count = std::min(band, rows - done);
            images_.read(0, images_.count, first + done, count, bytes.data());
            for_pixels(queue, count * images_.columns,
                       [&](std::int64_t pixel, std::int64_t pixels) {
                           const ImageStack stack{images_.type(),
                                                  bytes.data() + pixel * size_of(images_.type()),
                                                  images_.count, count * images_.row_bytes()};
                           float* const medians = to + done * images_.columns + pixel;
                           if (images_.invalid) {
                               median_of_valid(stack, *images_.invalid, pixels, medians);
                           } else {
                               median_of_images(stack, pixels, medians);
                           }
                       });
        }
    }

  private:
    std::int64_t stack_row() const { return images_.count * images_.row_bytes(); }
    std::int64_t own_bytes() const {
        return images_.reader_bytes +
               most_threads * (images_.invalid
                                   ? median_of_valid_bytes(images_.type(), images_.count)
                                   : median_bytes(images_.type(), images_.count));
    }

    Images images_;
};

std::unique_ptr<SideImage::Source> source_of(Images images) {
    switch (images.reduce) {
    case Reduce::mean: return std::make_unique<MeanImage>(std::move(images));
    case Reduce::median: return std::make_unique<MedianImage>(std::move(images));
    case Reduce::none: break;
    }
    return std::make_unique<OneImage>(std::move(images));
}

/// The images of groups of frames, one below the other.
class GroupImages : public SideImage::Source {
  public:
    /// `rows`, `columns`: of each image.
    GroupImages(std::vector<std::unique_ptr<Source>> groups, std::int64_t rows,
                std::int64_t columns)
        : groups_(std::move(groups)), rows_(rows), columns_(columns) {}

    std::int64_t wanted_bytes() const override { return most(&Source::wanted_bytes); }
    std::int64_t least_bytes() const override { return most(&Source::least_bytes); }
    void compute(std::int64_t first, std::int64_t rows, std::int64_t most_bytes, float* to,
                 const std::function<void()>& check) override {
        const std::int64_t end = first + rows;
        for (std::int64_t row = first; row < end;) {
            const std::int64_t count = std::min(end - row, rows_ - row % rows_);
            groups_[static_cast<std::size_t>(row / rows_)]->compute(
                row % rows_, count, most_bytes, to + (row - first) * columns_, check);
            row += count;
        }
    }

  private:
    std::int64_t most(std::int64_t (Source::*bytes)() const) const {
        std::int64_t most = 0;
        for (const auto& group : groups_) {
            most = std::max(most, (*group.*bytes)());
        }
        return most;
    }

    std::vector<std::unique_ptr<Source>> groups_;
    std::int64_t rows_;
    std::int64_t columns_;
};

/// The field that is between the images of groups of frames, of frames of the input.
Field between_groups(const Images& images, const FieldRole& role, const JobInput& input) {
    const auto refuse = [&](const std::string& why, const char* advice) {
        throw Error(ExitCode::usage, {"cannot interpolate the " + std::string(role.name),
                                      "correct." + std::string(role.key), why, advice});
    };
    if (images.frames.empty()) {
        refuse("the input is one frame", "Leave between out");
    }
    const std::int64_t frames = checked_product(input.array.shape) / (images.rows * images.columns);
    FieldPlaces found = field_places(input, role, images.frames, frames);
    std::vector<std::unique_ptr<SideImage::Source>> groups;
    for (const FrameGroup& group : found.groups) {
        Images own = images.part(group.first, group.count);
        if (own.reduce == Reduce::none && own.count > 1) {
            refuse(fmt::format("reduce is \"none\", and from frame {} on there are {} images",
                               own.frames.front(), own.count),
                   "Write reduce = \"mean\" or \"median\"");
        }
        groups.push_back(source_of(std::move(own)));
    }
    const std::int64_t rows = std::ssize(groups) * images.rows;
    auto source = std::make_unique<GroupImages>(std::move(groups), images.rows, images.columns);
    return {0, std::make_shared<const SideImage>(std::move(source), rows, images.columns),
            std::move(found.places), std::move(found.note)};
}

} // namespace

Form<FieldChoice> field_form() {
    return {"number or `{ file, dataset, frames, reduce, between }`",
            "`reduce` is `mean`, `median` or `none`; without `file` the images are in the input's "
            "file; of a scan, `frames` counts among those of the field, and `between` is `none` or "
            "`interpolate`",
            "float | Any | Mapping[str, Any]", parse_field,
            [](const FieldChoice& choice) { return field_text(choice).value_or(""); }};
}

std::optional<std::string> field_text(const FieldChoice& choice) {
    if (const auto* number = std::get_if<double>(&choice)) {
        return toml_text(*number);
    }
    const auto& source = std::get<FieldSource>(choice);
    const bool takes_frames = !std::holds_alternative<std::monostate>(source.frames);
    const bool interpolates = source.between == Between::interpolate;
    if (!source.file && !source.dataset && !takes_frames && source.reduce == Reduce::mean &&
        !interpolates) {
        return std::nullopt;
    }
    std::string text = "{ ";
    if (source.file) {
        text += "file = " + toml_text(*source.file) + ", ";
    }
    if (source.dataset) {
        text += "dataset = " + toml_text(*source.dataset) + ", ";
    }
    if (takes_frames) {
        const auto* const range = std::get_if<IndexRange>(&source.frames);
        text += "frames = " + (range != nullptr ? toml_text(*range) : "\"all\"") + ", ";
    }
    text.append("reduce = \"").append(reduce_names.at(static_cast<std::size_t>(source.reduce)));
    return text + (interpolates ? "\", between = \"interpolate\" }" : "\" }");
}

Field make_field(const FieldChoice& choice, const FieldRole& role, const JobInput& input,
                 const std::vector<std::int64_t>& frame) {
    if (const auto* number = std::get_if<double>(&choice)) {
        return {static_cast<float>(*number), nullptr};
    }
    const auto& source = std::get<FieldSource>(choice);
    Images images = open_images(source, role, input, frame);
    if (source.between == Between::interpolate) {
        return between_groups(images, role, input);
    }
    const std::int64_t rows = images.rows;
    const std::int64_t columns = images.columns;
    return {0, std::make_shared<const SideImage>(source_of(std::move(images)), rows, columns)};
}

CorrectField Field::values() const {
    return {number, image ? image->values().data() : nullptr,
            places.empty() ? nullptr : places.data()};
}

} // namespace runner
