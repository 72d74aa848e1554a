// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/plane_set.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace runner {
namespace {

/// Where a plane is: the number of a file, and of a page in it.
struct PlanePlace {
    std::int64_t file = 0;
    std::int64_t page = 0;
};

using Planes = std::map<std::int64_t, PlanePlace>; ///< by their numbers in the image

std::vector<std::int64_t> index_of(std::int64_t plane, const std::vector<std::int64_t>& extents) {
    std::vector<std::int64_t> index(extents.size());
    for (std::size_t axis = extents.size(); axis-- > 0;) {
        index[axis] = plane % extents[axis];
        plane /= extents[axis];
    }
    return index;
}

/// "plane 3 (c 1, t 0)".
std::string plane_text(std::int64_t plane, const PlanesOfSet& set) {
    std::string text;
    const std::vector<std::int64_t> index = index_of(plane, set.extents);
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        text +=
            fmt::format("{}{} {}", text.empty() ? "" : ", ", set.axes.each[axis].name, index[axis]);
    }
    return fmt::format("plane {} ({})", plane, text);
}

bool are_of_one_image(const std::vector<DatasetLayout>& files) {
    const std::optional<PlanesOfSet>& first = files.front().of_set;
    return first && std::all_of(files.begin(), files.end(), [&](const DatasetLayout& file) {
               return file.of_set && file.of_set->extents == first->extents &&
                      file.of_set->axes == first->axes;
           });
}

/// The extents of a page of a file, behind those that count its pages.
std::vector<std::int64_t> page_of(const DatasetLayout& file) {
    const std::vector<std::int64_t>& shape = file.info.array.shape;
    const std::size_t axes = file.of_set->axes.each.size() - file.of_set->extents.size();
    return {shape.end() - static_cast<std::ptrdiff_t>(std::min(axes, shape.size())), shape.end()};
}

void check_pages(const DatasetLayout& first, const DatasetLayout& file) {
    const auto text = [](const DatasetLayout& each) {
        return type_text(each.info.array) + " " + shape_text(page_of(each));
    };
    if (text(first) != text(file)) {
        throw Error(ExitCode::input,
                    {"cannot read the stack of files", file.file,
                     "its pages are " + text(file) + ", and those of " + first.file + " are " +
                         text(first) + ", though both are of one image",
                     "Get the files again"});
    }
}

Planes planes_of(const std::vector<DatasetLayout>& files) {
    Planes planes;
    for (std::size_t file = 0; file < files.size(); ++file) {
        check_pages(files.front(), files[file]);
        const PlanesOfSet& set = *files[file].of_set;
        for (std::size_t page = 0; page < set.numbers.size(); ++page) {
            const PlanePlace place{static_cast<std::int64_t>(file),
                                   static_cast<std::int64_t>(page)};
            const auto [other, is_new] = planes.try_emplace(set.numbers[page], place);
            if (!is_new) {
                const auto at = static_cast<std::size_t>(other->second.file);
                throw Error(ExitCode::input,
                            {"two files of the stack have the same plane", files[file].file,
                             "it and " + files[at].file + " have " +
                                 plane_text(set.numbers[page], set) + " of the image",
                             "Leave one of them out: is it a copy?"});
            }
        }
    }
    return planes;
}

/// The part of the image that the planes are; nothing where they are no such.
std::optional<DatasetPart> part_of(const Planes& planes, const PlanesOfSet& set,
                                   const std::vector<std::int64_t>& page) {
    std::vector<std::set<std::int64_t>> taken(set.extents.size());
    for (const auto& each : planes) {
        const std::vector<std::int64_t> index = index_of(each.first, set.extents);
        for (std::size_t axis = 0; axis < index.size(); ++axis) {
            taken[axis].insert(index[axis]);
        }
    }
    DatasetPart part;
    std::int64_t product = 1;
    for (std::size_t axis = 0; axis < taken.size(); ++axis) {
        const std::vector<std::int64_t> all(taken[axis].begin(), taken[axis].end());
        const std::int64_t step = all.size() > 1 ? all[1] - all[0] : 1;
        for (std::size_t i = 2; i < all.size(); ++i) {
            if (all[i] - all[i - 1] != step) {
                return std::nullopt;
            }
        }
        product *= std::ssize(all);
        part.count.push_back(std::ssize(all));
        part.step.push_back(axis == 0 ? 1 : step);
        const bool lists_frames = axis == 0 && step > 1;
        part.frames = lists_frames ? all : part.frames;
        part.first.push_back(lists_frames ? 0 : all.front());
        if (all.size() == 1) {
            part.dropped.push_back(axis);
        }
    }
    part.first.resize(part.first.size() + page.size(), 0);
    part.step.resize(part.step.size() + page.size(), 1);
    part.count.insert(part.count.end(), page.begin(), page.end());
    return product == std::ssize(planes) ? std::optional(std::move(part)) : std::nullopt;
}

/// Names the first file: an error about a stack itself is one about a file that cannot be read.
[[noreturn]] void refuse_missing(const std::string& stack, const Planes& planes,
                                 const DatasetLayout& first, std::int64_t all) {
    std::int64_t missing = 0;
    while (missing < all && planes.contains(missing)) {
        ++missing;
    }
    throw Error(ExitCode::input,
                {"not all planes of the image are found", first.file,
                 fmt::format("its OME-XML says {}, and the files of {} have {} of them: {} is "
                             "missing",
                             all, stack, planes.size(), plane_text(missing, *first.of_set)),
                 "Add the files that are missing, or name those of single channels or times"});
}

} // namespace

std::optional<DatasetLayout> join_planes(const std::string& stack, const std::string& dataset,
                                         const std::vector<DatasetLayout>& files) {
    if (!are_of_one_image(files)) {
        return std::nullopt;
    }
    const PlanesOfSet& set = *files.front().of_set;
    const Planes planes = planes_of(files);
    const std::vector<std::int64_t> page = page_of(files.front());
    const std::optional<DatasetPart> part = part_of(planes, set, page);
    const std::int64_t all = checked_product(set.extents);
    if (!part) {
        refuse_missing(stack, planes, files.front(), all);
    }
    DatasetLayout layout{stack, dataset, stack, files.front().info, DatasetLayout::Way::sources};
    DatasetInfo& info = layout.info;
    info.array.shape = part->shape();
    info.axes = axes_of_part(set.axes, *part);
    const ArrayInfo of_page{info.array.type, page};
    const std::int64_t rows = row_count(of_page);
    for (const auto& each : planes) {
        layout.pieces.push_back(
            {std::ssize(layout.pieces) * rows, rows, each.second.file, each.second.page * rows});
    }
    if (std::ssize(planes) < all) {
        info.notes.push_back(
            format_error({"the stack is not the whole image", stack,
                          fmt::format("its OME-XML says {} planes, and the files have {} of them",
                                      all, planes.size()),
                          "If files are missing, add them"}));
    }
    return layout;
}

} // namespace runner
