// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/part_pictures.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/input/file_access.hpp"
#include "io/rows/file_elements.hpp"
#include "views/pictures/image_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace runner::trial {
namespace {

constexpr std::int64_t most_pixels = 384; ///< of a picture's sides
constexpr int threads = 1;

/// As a part of a dataset with these axes: those that the box does not have are whole.
DatasetPart part_of(const Box& box, const std::vector<std::int64_t>& shape) {
    DatasetPart part{std::vector<std::int64_t>(shape.size(), 0), shape};
    for (std::size_t i = 0; i < std::min(box.first.size(), shape.size()); ++i) {
        part.first[i] = box.first[i];
        part.count[i] = std::min(box.last[i], shape[i]) - box.first[i];
    }
    return part;
}

/// Boxes at equal distances along the third axis from the last, and in the middle of the others.
std::vector<Box> spaced(const Box& box, std::int64_t slices) {
    const Box middle = middle_picture(box);
    const std::size_t axes = box.first.size();
    if (axes < 3) {
        return {middle};
    }
    const std::size_t axis = axes - 3;
    const std::int64_t extent = box.extent(axis);
    const std::int64_t count = std::min(slices, extent);
    std::vector<Box> all(static_cast<std::size_t>(count), middle);
    for (std::int64_t i = 0; i < count; ++i) {
        Box& one = all[static_cast<std::size_t>(i)];
        one.first[axis] = box.first[axis] + (2 * i + 1) * extent / (2 * count);
        one.last[axis] = one.first[axis] + 1;
    }
    return all;
}

/// Whether rows and columns of the input are not among the frames of what is made.
bool keeps_images(const std::vector<MadeAxis>& made, std::size_t input_axes) {
    const std::size_t frames = made.size() > 2 ? made.size() - 2 : 0;
    return std::none_of(
        made.begin(), made.begin() + static_cast<std::ptrdiff_t>(frames),
        [&](const MadeAxis& axis) { return axis.input && *axis.input + 2 >= input_axes; });
}

} // namespace

Box middle_picture(Box box) {
    const std::size_t axes = box.first.size();
    for (std::size_t i = 0; i < axes; ++i) {
        const std::int64_t most = i + 2 >= axes ? most_pixels : 1;
        const std::int64_t extent = std::min(most, box.extent(i));
        box.first[i] += (box.extent(i) - extent) / 2;
        box.last[i] = box.first[i] + extent;
    }
    return box;
}

std::optional<std::size_t> slice_axis(const std::vector<MadeAxis>& made) {
    return made.size() < 3 ? std::nullopt : made[made.size() - 3].input;
}

std::optional<PartMiddle> middle_of(const std::vector<std::int64_t>& numbers,
                                    const std::vector<MadeAxis>& made) {
    const std::optional<std::size_t> axis = slice_axis(made);
    if (numbers.empty() || !axis) {
        return std::nullopt;
    }
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    return PartMiddle{*axis, *least + (*most - *least) / 2};
}

std::vector<Box> pictures_of(const std::vector<MadeAxis>& made, const Box& best,
                             std::int64_t slices) {
    Box shown; // along the axes of what is made, in elements of the input
    for (const MadeAxis& axis : made) {
        shown.first.push_back(axis.input ? best.first[*axis.input] : 0);
        shown.last.push_back(axis.input ? best.last[*axis.input] : 1);
    }
    std::vector<Box> all;
    for (const Box& each : spaced(shown, slices)) {
        Box& box = all.emplace_back(best);
        for (std::size_t i = 0; i < made.size(); ++i) {
            if (made[i].input) {
                box.first[*made[i].input] = each.first[i];
                box.last[*made[i].input] = each.last[i];
            }
        }
    }
    return all;
}

std::vector<Box> pictures_at(const std::vector<MadeAxis>& made, const Box& best,
                             const std::vector<std::int64_t>& numbers, const Box& part) {
    const auto refuse = [](std::int64_t number, const std::string& why) {
        throw Error(ExitCode::usage,
                    {"cannot show that slice", fmt::format("--at {}", number), why,
                     "Leave --at out, or name a part around the slice with --part"});
    };
    const std::optional<std::size_t> axis = slice_axis(made);
    std::vector<Box> all;
    for (const std::int64_t number : numbers) {
        if (!axis) {
            refuse(number, best.first.size() < 3 ? "the input is one image"
                                                 : "what the job makes has no slices of the input");
        }
        if (number < best.first[*axis] || number >= best.last[*axis]) {
            refuse(number, fmt::format("along axis {} the part is {}:{}, and {}:{} of it can be "
                                       "shown",
                                       *axis, part.first[*axis], part.last[*axis],
                                       best.first[*axis], best.last[*axis]));
        }
        Box& one = all.emplace_back(pictures_of(made, best, 1).front());
        one.first[*axis] = number;
        one.last[*axis] = number + 1;
    }
    return all;
}

Box picture_before(const std::vector<MadeAxis>& made, const Box& best,
                   const std::vector<Box>& pictures, std::size_t index) {
    if (keeps_images(made, best.first.size())) {
        return middle_picture(pictures[index]);
    }
    const std::vector<Box> all = spaced(best, std::ssize(pictures));
    return all[std::min(index, all.size() - 1)];
}

DatasetPart dataset_part(const std::optional<DatasetPart>& of, const Box& box,
                         const std::vector<std::int64_t>& shape) {
    const DatasetPart part = part_of(box, shape);
    return of ? part_of_part(*of, part) : part;
}

NamedRows input_rows(FileAccess& files, const PreparedJob& prepared, const Box& box) {
    std::unique_ptr<RowReader> rows =
        open_part(files.open(prepared.layout, threads),
                  dataset_part(prepared.part, box, prepared.input.array.shape));
    if (prepared.input.array.type == ElementType::float32) {
        rows = open_widened_rows(std::move(rows));
    }
    return {prepared.file.input.file, prepared.file.input.dataset, std::move(rows),
            prepared.shown_colour(prepared.input.channels)};
}

NamedRows dataset_rows(FileAccess& files, const std::string& file, const std::string& dataset,
                       const Box& box) {
    const DatasetLayout layout = files.layout(file, dataset);
    return {file,
            dataset,
            open_part(files.open(layout, threads), part_of(box, layout.info.array.shape)),
            {}};
}

Thumbnail image_of(FileAccess& files, NamedRows rows) {
    if (rows.rows->info().array.shape.size() == 1) {
        ImageSource line;
        line.reader = std::move(rows.rows);
        line.where = rows.dataset;
        line.image.height = line.reader->info().array.shape.front(); // each row is one element
        Thumbnail image = make_thumbnail(line, 0, line.image.height);
        std::swap(image.width, image.height);
        return image;
    }
    const ImageSource source =
        open_image(files, std::move(rows.rows), rows.file, rows.dataset, {{}, {}, rows.colour});
    return make_thumbnail(source, source.image.frames / 2,
                          std::max(source.image.width, source.image.height));
}

} // namespace runner::trial
