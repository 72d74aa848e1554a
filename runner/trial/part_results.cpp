// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/part_results.hpp"

#include "base/array_info.hpp"
#include "base/error.hpp"
#include "runner/prepare/prepare.hpp"
#include "views/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <variant>

namespace runner::trial {
namespace {

/// A box of the input as an image of what a run on `part` has made of it, of this shape: of a state
/// that evolves fewer snapshots than the whole job makes.
Box picture_box(const PartResult& result, const Box& part, const Box& box,
                const std::vector<std::int64_t>& shape) {
    Box made = made_box(result.made, part, box);
    for (std::size_t i = 0; i < made.last.size(); ++i) {
        made.last[i] = std::min(made.last[i], shape.at(i));
    }
    return middle_picture(made);
}

std::int64_t number_of(const AttributeList& attributes, std::string_view name,
                       std::int64_t otherwise) {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const auto& each) { return each.first == name; });
    const auto* const value =
        found == attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    return value == nullptr ? otherwise : *value;
}

/// The mean of what is finite; NaN without any.
double finite_mean(std::span<const float> values) {
    double sum = 0;
    double count = 0;
    for (const float value : values) {
        sum += std::isfinite(value) ? static_cast<double>(value) : 0.0;
        count += std::isfinite(value) ? 1 : 0;
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

/// The middle of the middle layer of patches.
Thumbnail distances(FileAccess& files, const PartResult& result) {
    const AttributeList attributes = files.root_attributes(result.file);
    const std::int64_t samples = number_of(attributes, "samples", 1);
    const std::int64_t layers = number_of(attributes, "references_z", 1);
    const Box grid{
        {0, 0},
        {number_of(attributes, "references_y", 1), number_of(attributes, "references_x", 1)}};
    const Box shown = middle_picture(grid);
    const DatasetLayout layout = files.layout(result.file, field_name(result.dataset, "distance"));
    const std::unique_ptr<RowReader> rows = files.open(layout, 1);
    const std::int64_t count = layout.info.array.shape.back();
    const std::int64_t pixels = shown.extent(1);
    std::vector<float> lists(static_cast<std::size_t>(pixels * samples * count));
    Thumbnail image{pixels, shown.extent(0), 1, false, false, {}};
    for (std::int64_t y = shown.first[0]; y < shown.last[0]; ++y) {
        const std::int64_t first =
            (layers / 2 * grid.extent(0) + y) * grid.extent(1) + shown.first[1];
        rows->read(first * samples, pixels * samples, reinterpret_cast<std::byte*>(lists.data()));
        for (std::int64_t x = 0; x < pixels; ++x) {
            image.values.push_back(
                finite_mean(std::span(lists).subspan(static_cast<std::size_t>(x * samples * count),
                                                     static_cast<std::size_t>(samples * count))));
        }
    }
    return image;
}

} // namespace

std::vector<Thumbnail> pictures_of(FileAccess& files, const PartResult& result,
                                   std::span<const Box> shown) {
    if (result.is_matches) {
        return {distances(files, result)};
    }
    const std::vector<std::int64_t> shape =
        files.layout(result.file, result.dataset).info.array.shape;
    std::vector<Thumbnail> all;
    for (const Box& box : shown) {
        NamedRows rows = dataset_rows(files, result.file, result.dataset,
                                      picture_box(result, result.part, box, shape));
        if (!rows.rows->info().channels) {
            rows.colour = result.colour;
        }
        all.push_back(image_of(files, std::move(rows)));
    }
    return all;
}

Closeness closeness(FileAccess& files, const PartResult& result, std::span<const Box> shown,
                    const std::string& other_file, const std::string& other_dataset) {
    const DatasetLayout other = files.layout(other_file, other_dataset);
    if (other.info.array.shape != result.whole_shape) {
        throw Error(ExitCode::usage,
                    {"cannot compare with --against", other_file,
                     "it is " + shape_text(other.info.array.shape) + ", and the whole job makes " +
                         shape_text(result.whole_shape),
                     "Name a dataset with the shape of the whole output"});
    }
    const std::vector<std::int64_t> shape =
        files.layout(result.file, result.dataset).info.array.shape;
    for (std::size_t i = 0; i < result.made.size(); ++i) {
        if (!result.made[i].input && shape.at(i) != result.whole_shape[i]) {
            throw Error(ExitCode::usage, {"cannot compare with --against", other_file,
                                          "the run on the part makes a state of another generation",
                                          "Leave --against out"});
        }
    }
    const Box origin{std::vector<std::int64_t>(result.part.first.size(), 0), result.part.last};
    Closeness mean{0.0, 0.0};
    const auto add = [&](std::optional<double>& sum, const std::optional<double>& one) {
        sum = sum && one ? std::optional(*sum + *one / static_cast<double>(shown.size()))
                         : std::nullopt;
    };
    for (const Box& box : shown) {
        const NamedRows wanted =
            dataset_rows(files, other_file, other.dataset,
                         picture_box(result, origin, box, other.info.array.shape));
        const NamedRows made = dataset_rows(files, result.file, result.dataset,
                                            picture_box(result, result.part, box, shape));
        const Comparison found = compare_rows(*wanted.rows, *made.rows);
        add(mean.psnr, found.psnr);
        add(mean.ssim, found.ssim);
    }
    return mean;
}

} // namespace runner::trial
