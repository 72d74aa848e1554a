// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/field.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/input/file_access.hpp"
#include "io/rows/row_geometry.hpp"
#include "jobs/frame_marks.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/elements/elements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// In the order of the type's values.
constexpr std::array reduce_names = {"mean", "median", "none"};

constexpr const char* what_to_write =
    "a number, or { file = \"darks.h5\", dataset = \"/darks\", reduce = \"mean\" }";

/// Of images that are read at once.
constexpr std::int64_t most_bytes = 64 * MiB;
constexpr int read_threads = 4;

/// Images that a field is made of.
struct Images {
    std::string where; ///< "scan.nxs:/entry/darks"
    std::unique_ptr<RowReader> reader;
    std::int64_t count = 0;
    std::int64_t rows = 0;    ///< of an image
    std::int64_t columns = 0; ///< elements of a row

    ElementType type() const { return reader->info().array.type; }

    /// `rows` rows of image `index` from `first` on, as float64. `bytes`: for the elements.
    void read(std::int64_t index, std::int64_t first, std::int64_t count_rows,
              std::vector<std::byte>& bytes, double* to) const {
        bytes.resize(static_cast<std::size_t>(count_rows * columns * size_of(type())));
        reader->read(index * rows + first, count_rows, bytes.data());
        load_elements(type(), bytes.data(), count_rows * columns, to);
    }
};

std::string key_of(const FieldRole& role) { return "correct." + std::string(role.key); }

/// The frames of the input that are such; the input has an image_key.
DatasetPart frames_of_role(const DatasetLayout& layout, const FieldRole& role,
                           const JobInput& input) {
    const std::vector<std::int64_t>& shape = layout.info.array.shape;
    const std::vector<std::int64_t> marks =
        read_frame_marks(input.source.file, input.image_key, shape[0], *input.files);
    DatasetPart part{std::vector<std::int64_t>(shape.size(), 0), shape};
    for (std::int64_t i = 0; i < std::ssize(marks); ++i) {
        if (marks[static_cast<std::size_t>(i)] == role.frames_key) {
            part.frames.push_back(i);
        }
    }
    if (part.frames.empty()) {
        throw Error(ExitCode::input, {"the input has no " + std::string(role.name),
                                      input.source.file + ":" + input.image_key,
                                      "it is " + std::to_string(role.frames_key) + " for no frame",
                                      "Write " + key_of(role) + ": " + what_to_write});
    }
    part.count[0] = std::ssize(part.frames);
    return part;
}

/// Cuts the last axes to the region that the job takes of its input, where they are as long as the
/// whole input's.
void cut_to_region(const JobInput& input, std::size_t axes, DatasetPart& part) {
    const std::size_t from = part.count.size() - axes;
    const std::vector<std::int64_t>& whole =
        input.files->layout(input.source.file, input.source.dataset).info.array.shape;
    if (whole.size() < axes || input.part->count.size() != whole.size() ||
        !std::equal(whole.end() - static_cast<std::ptrdiff_t>(axes), whole.end(),
                    part.count.begin() + static_cast<std::ptrdiff_t>(from))) {
        return;
    }
    for (std::size_t i = 0; i < axes; ++i) {
        part.first[from + i] = input.part->first[whole.size() - axes + i];
        part.count[from + i] = input.part->count[whole.size() - axes + i];
    }
}

[[noreturn]] void refuse_shape(const FieldRole& role, const std::string& where,
                               const std::vector<std::int64_t>& shape,
                               const std::vector<std::int64_t>& frame, const JobInput& input) {
    throw Error(ExitCode::input,
                {"the " + std::string(role.name) + " does not fit the input",
                 key_of(role) + ", " + where,
                 "its shape is " + shape_text(shape) + ", and a frame of the input, " +
                     shape_text(input.array.shape) + ", is " + shape_text(frame),
                 "Name images of the input's rows and columns"});
}

Images open_images(const FieldSource& source, const FieldRole& role, const JobInput& input,
                   const std::vector<std::int64_t>& frame) {
    const bool by_key = !source.dataset;
    if (by_key && input.image_key.empty()) {
        throw Error(ExitCode::usage, {"correct has no " + std::string(role.name), key_of(role),
                                      "it is left out, and the input has no image_key that says "
                                      "which of its frames are such",
                                      std::string("Write ") + what_to_write});
    }
    const std::string file = source.file.value_or(input.source.file);
    const std::string dataset = source.dataset.value_or(input.source.dataset);
    if (input.files == nullptr || file.empty()) {
        throw Error(ExitCode::usage, {"correct has no " + std::string(role.name), key_of(role),
                                      "it is in the input's file, which is yet to be made",
                                      "Name a file that is there"});
    }
    const DatasetLayout layout = input.files->layout(file, dataset);
    const ArrayInfo& array = layout.info.array;
    const std::string where = file + ":" + dataset;
    if (!is_number(array.type)) {
        throw Error(ExitCode::input,
                    {"cannot take the " + std::string(role.name), key_of(role) + ", " + where,
                     "its elements are " + type_text(array) + ", not real numbers",
                     "Name a dataset of images"});
    }
    if (array.shape.size() < frame.size()) {
        refuse_shape(role, where, array.shape, frame, input);
    }
    DatasetPart part{std::vector<std::int64_t>(array.shape.size(), 0), array.shape};
    if (by_key) {
        part = frames_of_role(layout, role, input);
    }
    if (input.part) {
        cut_to_region(input, frame.size(), part);
    }
    const std::size_t leading = part.count.size() - frame.size();
    if (!std::equal(frame.begin(), frame.end(),
                    part.count.begin() + static_cast<std::ptrdiff_t>(leading))) {
        refuse_shape(role, where, array.shape, frame, input);
    }
    Images images;
    images.where = where;
    images.count = checked_product(std::span(part.count).first(leading));
    images.columns = frame.back();
    images.rows = checked_product(std::span(frame).first(frame.size() - 1));
    images.reader = open_part(input.files->open(layout, read_threads), part);
    if (images.count == 0 || (source.reduce == Reduce::none && images.count != 1)) {
        throw Error(ExitCode::input,
                    {"cannot take the " + std::string(role.name), key_of(role) + ", " + where,
                     "its shape is " + shape_text(array.shape) + ", which is " +
                         std::to_string(images.count) + " images of " + shape_text(frame),
                     images.count == 0 ? "Name a dataset with images"
                                       : "Write reduce = \"mean\" or \"median\""});
    }
    return images;
}

/// Calls `take(first row, rows)` for bands of an image that take at most most_bytes, where a pixel
/// takes `pixel_bytes`.
template <class Take> void for_bands(const Images& images, std::int64_t pixel_bytes, Take take) {
    const std::int64_t rows =
        std::max<std::int64_t>(1, most_bytes / (images.columns * pixel_bytes));
    for (std::int64_t first = 0; first < images.rows; first += rows) {
        take(first, std::min(rows, images.rows - first));
    }
}

using Range = tbb::blocked_range<std::int64_t>;
constexpr std::int64_t grain = 1 << 14;

std::vector<float> mean_of(const Images& images) {
    std::vector<float> mean(static_cast<std::size_t>(images.rows * images.columns));
    std::vector<std::byte> bytes;
    std::vector<double> values;
    std::vector<double> sums;
    for_bands(images, 2 * std::int64_t{sizeof(double)} + size_of(images.type()),
              [&](std::int64_t first, std::int64_t rows) {
                  const std::int64_t pixels = rows * images.columns;
                  values.resize(static_cast<std::size_t>(pixels));
                  sums.assign(static_cast<std::size_t>(pixels), 0);
                  for (std::int64_t i = 0; i < images.count; ++i) {
                      images.read(i, first, rows, bytes, values.data());
                      std::transform(sums.begin(), sums.end(), values.begin(), sums.begin(),
                                     std::plus<>());
                  }
                  std::transform(sums.begin(), sums.end(), mean.begin() + first * images.columns,
                                 [&](double sum) {
                                     return static_cast<float>(sum /
                                                               static_cast<double>(images.count));
                                 });
              });
    return mean;
}

bool is_below(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

double median_of(std::vector<double>& values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end(), is_below);
    if (values.size() % 2 == 1) {
        return *middle;
    }
    return (*std::max_element(values.begin(), middle, is_below) + *middle) / 2;
}

std::vector<float> median_of(const Images& images) {
    std::vector<float> median(static_cast<std::size_t>(images.rows * images.columns));
    std::vector<std::byte> bytes;
    std::vector<double> stack; // image after image
    for_bands(images, images.count * static_cast<std::int64_t>(sizeof(double)),
              [&](std::int64_t first, std::int64_t rows) {
                  const std::int64_t pixels = rows * images.columns;
                  stack.resize(static_cast<std::size_t>(images.count * pixels));
                  for (std::int64_t i = 0; i < images.count; ++i) {
                      images.read(i, first, rows, bytes, stack.data() + i * pixels);
                  }
                  float* const to = median.data() + first * images.columns;
                  tbb::parallel_for(Range(0, pixels, grain), [&](const Range& range) {
                      std::vector<double> values(static_cast<std::size_t>(images.count));
                      for (std::int64_t pixel = range.begin(); pixel < range.end(); ++pixel) {
                          for (std::int64_t i = 0; i < images.count; ++i) {
                              values[static_cast<std::size_t>(i)] =
                                  stack[static_cast<std::size_t>(i * pixels + pixel)];
                          }
                          to[pixel] = static_cast<float>(median_of(values));
                      }
                  });
              });
    return median;
}

std::vector<float> only_one(const Images& images) {
    std::vector<float> image(static_cast<std::size_t>(images.rows * images.columns));
    std::vector<std::byte> bytes(image.size() * static_cast<std::size_t>(size_of(images.type())));
    images.reader->read(0, images.rows, bytes.data());
    load_elements(images.type(), bytes.data(), std::ssize(image), image.data());
    return image;
}

/// A text under the key that is not empty.
std::optional<std::string> name_under(TableReader& table, std::string_view key) {
    std::optional<std::string> text = table.text(key);
    if (text && text->empty()) {
        table.complain(key, "must not be empty");
    }
    return text;
}

} // namespace

std::optional<FieldChoice> parse_field(TableReader& table, const FieldRole& role) {
    const TableValue* value = table.value(role.key);
    if (value == nullptr) {
        return FieldSource{};
    }
    if (std::holds_alternative<TableEntries>(value->data)) {
        std::optional<TableReader> reader = table.table(role.key);
        FieldSource source;
        source.file = name_under(*reader, "file");
        source.dataset = name_under(*reader, "dataset");
        if (source.file && !source.dataset) {
            reader->missing("dataset", "dataset = \"/" + std::string(role.key) +
                                           "s\", the place of the images in the file");
        }
        const std::optional<std::size_t> reduce =
            reader->choice("reduce", {reduce_names.begin(), reduce_names.end()});
        source.reduce = static_cast<Reduce>(reduce.value_or(0));
        reader->finish();
        return source;
    }
    if (!std::holds_alternative<double>(value->data) &&
        !std::holds_alternative<std::int64_t>(value->data)) {
        table.complain(role.key,
                       std::string("expected ") + what_to_write + ", got " + type_name(*value));
        return std::nullopt;
    }
    const std::optional<double> number = table.number(role.key);
    return number ? std::optional<FieldChoice>(*number) : std::nullopt;
}

std::optional<std::string> field_text(const FieldChoice& choice) {
    if (const auto* number = std::get_if<double>(&choice)) {
        return toml_text(*number);
    }
    const auto& source = std::get<FieldSource>(choice);
    if (!source.dataset && source.reduce == Reduce::mean) {
        return std::nullopt;
    }
    std::string text = "{ ";
    if (source.file) {
        text += "file = " + toml_text(*source.file) + ", ";
    }
    if (source.dataset) {
        text += "dataset = " + toml_text(*source.dataset) + ", ";
    }
    return text + "reduce = \"" + reduce_names.at(static_cast<std::size_t>(source.reduce)) + "\" }";
}

Field make_field(const FieldChoice& choice, const FieldRole& role, const JobInput& input,
                 const std::vector<std::int64_t>& frame) {
    if (const auto* number = std::get_if<double>(&choice)) {
        return {static_cast<float>(*number), {}};
    }
    const auto& source = std::get<FieldSource>(choice);
    const Images images = open_images(source, role, input, frame);
    switch (source.reduce) {
    case Reduce::mean: return {0, mean_of(images)};
    case Reduce::median: return {0, median_of(images)};
    case Reduce::none: break;
    }
    return {0, only_one(images)};
}

} // namespace runner
