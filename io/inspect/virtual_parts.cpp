// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/virtual_parts.hpp"

#include "base/array_info.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/files/input_rules.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/source_names.hpp"
#include "io/inspect/attribute_list.hpp"
#include "io/rows/output_parts.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// More runs than these are left to HDF5.
constexpr std::int64_t most_runs = 1 << 20;

bool lies_within(std::span<const std::int64_t> low, std::span<const std::int64_t> high,
                 const std::vector<std::int64_t>& shape) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (low[axis] < 0 || low[axis] > high[axis] || high[axis] >= shape[axis]) {
            return false;
        }
    }
    return true;
}

/// Adds the runs of the box between two corners, which belong to it; false where they are too many.
bool add_box(std::span<const std::int64_t> low, std::span<const std::int64_t> high,
             const std::vector<std::int64_t>& shape, std::vector<ElementRun>& runs) {
    std::size_t axis = shape.size(); // from which on a run is whole
    std::int64_t length = 1;
    while (axis-- > 0) {
        const std::int64_t extent = high[axis] - low[axis] + 1;
        length *= extent;
        if (axis == 0 || extent != shape[axis]) {
            break;
        }
    }
    std::vector<std::int64_t> at(low.begin(), low.end());
    for (;;) {
        std::int64_t first = 0;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            first = first * shape[i] + at[i];
        }
        runs.push_back({first, length});
        if (std::ssize(runs) > most_runs) {
            return false;
        }
        std::size_t next = axis;
        while (next > 0 && at[next - 1] == high[next - 1]) {
            --next;
            at[next] = low[next];
        }
        if (next == 0) {
            return true;
        }
        ++at[next - 1];
    }
}

/// In their order, those that touch joined; nothing where they cannot be listed.
std::optional<std::vector<ElementRun>> joined(std::vector<ElementRun> runs) {
    std::sort(runs.begin(), runs.end(),
              [](const ElementRun& a, const ElementRun& b) { return a.first < b.first; });
    std::vector<ElementRun> all;
    for (const ElementRun& run : runs) {
        if (!all.empty() && all.back().first + all.back().count > run.first) {
            return std::nullopt;
        }
        if (!all.empty() && all.back().first + all.back().count == run.first) {
            all.back().count += run.count;
        } else {
            all.push_back(run);
        }
    }
    return all;
}

/// Nothing where it is not a fixed number of boxes.
std::optional<Selection> selection_of(const SpaceHandle& space) {
    Selection selection;
    const H5S_sel_type type = H5Sget_select_type(space.get());
    selection.is_all = type == H5S_SEL_ALL;
    if (selection.is_all) {
        return selection;
    }
    const int axes = H5Sget_simple_extent_ndims(space.get());
    const bool is_fixed = H5Sget_select_npoints(space.get()) > 0; // H5S_UNLIMITED is below zero
    const hssize_t boxes = type == H5S_SEL_HYPERSLABS && is_fixed && axes > 0
                               ? H5Sget_select_hyper_nblocks(space.get())
                               : -1;
    if (boxes < 1 || boxes > most_runs) {
        return std::nullopt;
    }
    selection.axes = static_cast<std::size_t>(axes);
    selection.corners.resize(static_cast<std::size_t>(boxes) * 2 * selection.axes);
    std::vector<hsize_t> corners(selection.corners.size());
    hdf5_must(
        H5Sget_select_hyper_blocklist(space.get(), 0, static_cast<hsize_t>(boxes), corners.data()),
        "H5Sget_select_hyper_blocklist");
    std::transform(corners.begin(), corners.end(), selection.corners.begin(),
                   [](hsize_t corner) { return static_cast<std::int64_t>(corner); });
    return selection;
}

namespace fs = std::filesystem;

[[noreturn]] void refuse_parts(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input, {"cannot read the dataset", where, why,
                                  "Put the parts back that were made with it, or run the job again "
                                  "with output.overwrite = true"});
}

std::optional<std::string> root_text(const FileHandle& handle, const char* name) {
    const ObjectHandle root(
        hdf5_read(H5Oopen(handle.get(), "/", H5P_DEFAULT), handle.get(), ExitCode::input));
    return text_of_attribute(root.get(), name);
}

/// A repair puts a compressed chunk that has another size than before at the end of the file.
bool may_have_grown(const FileHandle& part, const std::string& path) {
    const DatasetHandle dataset = open_dataset(part, path, part_dataset_name);
    return H5Pget_nfilters(creation_of(dataset).get()) > 0;
}

void check_part(const std::string& path, const PartsRecord& record, std::size_t part,
                const std::string& where) {
    const std::string it = "its part " + path;
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) {
        refuse_parts(where, it + " is missing");
    }
    const std::int64_t bytes = File(path, File::Mode::read).size();
    const auto has = [&] {
        return fmt::format("{} has {} of {} bytes", it, bytes, record.bytes[part]);
    };
    if (bytes < record.bytes[part]) {
        refuse_parts(where, has());
    }
    const FileHandle handle = open_hdf5(path);
    const std::string wanted = part_mark(record.layout, static_cast<std::int64_t>(part));
    const std::optional<std::string> mark = root_text(handle, part_attribute);
    if (!mark || *mark != wanted) {
        refuse_parts(where, it + " is not of this output: its attribute " + part_attribute +
                                " is " + (mark ? '"' + *mark + '"' : "not there") +
                                " and should be \"" + wanted + '"');
    }
    if (bytes != record.bytes[part] && !may_have_grown(handle, path)) {
        refuse_parts(where, has());
    }
}

/// Whether all sources are in the dataset's own file, and so none is a part: it is made of another
/// virtual dataset, which is over the parts.
bool is_of_own_file(const PropertyHandle& creation) {
    const std::vector<std::pair<std::string, std::string>> sources = virtual_sources(creation);
    return !sources.empty() && std::all_of(sources.begin(), sources.end(),
                                           [](const auto& source) { return source.first == "."; });
}

/// The sources' paths: where they are, or would be beside the file.
std::vector<fs::path> source_paths(const std::string& file, const PropertyHandle& creation) {
    const fs::path folder = fs::path(file).parent_path();
    std::vector<fs::path> paths;
    for (const auto& [name, dataset] : virtual_sources(creation)) {
        const std::string plain = plain_source_name(name).value_or(name);
        const std::vector<fs::path> places = OutsideFiles::places(plain, file);
        const auto there = std::find_if(places.begin(), places.end(), [](const fs::path& place) {
            std::error_code failure;
            return fs::exists(place, failure);
        });
        paths.push_back(there == places.end() ? folder / plain : *there);
    }
    return paths;
}

std::int64_t elements_of(const Selection& selection, const std::vector<std::int64_t>& shape) {
    if (selection.is_all) {
        return checked_product(shape);
    }
    std::int64_t all = 0;
    for (std::size_t box = 0; box < selection.corners.size(); box += 2 * selection.axes) {
        std::int64_t elements = 1;
        for (std::size_t axis = box; axis < box + selection.axes; ++axis) {
            elements *= selection.corners[axis + selection.axes] - selection.corners[axis] + 1;
        }
        all += elements;
    }
    return all;
}

} // namespace

std::optional<std::vector<ElementRun>> runs_of(const Selection& selection,
                                               const std::vector<std::int64_t>& shape) {
    if (selection.is_all) {
        return std::vector<ElementRun>{{0, checked_product(shape)}};
    }
    const std::size_t axes = selection.axes;
    if (axes != shape.size()) {
        return std::nullopt;
    }
    std::vector<ElementRun> runs;
    for (std::size_t at = 0; at < selection.corners.size(); at += 2 * axes) {
        const std::span<const std::int64_t> box(selection.corners.data() + at, 2 * axes);
        if (!lies_within(box.first(axes), box.last(axes), shape) ||
            !add_box(box.first(axes), box.last(axes), shape, runs)) {
            return std::nullopt;
        }
    }
    return joined(std::move(runs));
}

std::optional<std::vector<VirtualMapping>> virtual_mappings(const PropertyHandle& creation) {
    std::vector<VirtualMapping> mappings;
    std::size_t count = 0;
    hdf5_must(H5Pget_virtual_count(creation.get(), &count), "H5Pget_virtual_count");
    std::size_t corners = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const SpaceHandle here(
            hdf5_must(H5Pget_virtual_vspace(creation.get(), i), "H5Pget_virtual_vspace"));
        const SpaceHandle there(
            hdf5_must(H5Pget_virtual_srcspace(creation.get(), i), "H5Pget_virtual_srcspace"));
        std::optional<Selection> elements = selection_of(here);
        std::optional<Selection> source_elements = selection_of(there);
        if (!elements || !source_elements) {
            return std::nullopt;
        }
        corners += elements->corners.size() + source_elements->corners.size();
        if (corners > static_cast<std::size_t>(most_runs)) {
            return std::nullopt;
        }
        const auto [file, dataset] = virtual_source(creation, i);
        mappings.push_back({file, dataset, *std::move(elements), *std::move(source_elements)});
    }
    return mappings;
}

bool holds_mapped(const std::vector<std::int64_t>& source, const VirtualMapping& mapping,
                  const std::vector<std::int64_t>& shape) {
    const Selection& taken = mapping.source_elements;
    if (taken.is_all) {
        return elements_of(mapping.elements, shape) <= checked_product(source);
    }
    if (taken.axes != source.size()) {
        return false;
    }
    for (std::size_t i = 0; i < taken.corners.size(); ++i) {
        if (taken.corners[i] >= source[i % taken.axes]) {
            return false;
        }
    }
    return true;
}

std::int64_t mapped_bytes(const PropertyHandle& creation, const DatasetInfo& info) {
    const std::int64_t all = element_count(info.array);
    std::int64_t mapped = 0;
    std::size_t count = 0;
    hdf5_must(H5Pget_virtual_count(creation.get(), &count), "H5Pget_virtual_count");
    for (std::size_t i = 0; i < count; ++i) {
        const SpaceHandle space(
            hdf5_must(H5Pget_virtual_vspace(creation.get(), i), "H5Pget_virtual_vspace"));
        const hssize_t points = H5Sget_select_npoints(space.get());
        // Without a number (H5S_UNLIMITED): it grows with its sources.
        mapped += points < 0 || points > all - mapped ? all - mapped : points;
    }
    return mapped * size_of(info.array.type);
}

void check_parts(const FileHandle& handle, const std::string& file, const PropertyHandle& creation,
                 const std::string& where) {
    if (H5Pget_layout(creation.get()) != H5D_VIRTUAL || is_of_own_file(creation)) {
        return;
    }
    const std::optional<std::string> text = root_text(handle, parts_attribute);
    if (!text) {
        return;
    }
    const std::optional<PartsRecord> record = parts_record_from_text(*text);
    if (!record) {
        refuse_parts(where, std::string("the list of its parts, the attribute ") + parts_attribute +
                                ", is damaged");
    }
    const std::vector<fs::path> paths = source_paths(file, creation);
    for (std::size_t part = 0; part < record->bytes.size(); ++part) {
        const std::string name = part_name(static_cast<std::int64_t>(part), record->layout.set);
        const auto path = std::find_if(paths.begin(), paths.end(), [&](const fs::path& some) {
            return some.filename() == name;
        });
        if (path == paths.end()) {
            refuse_parts(where, "it does not lead to its part " + name);
        }
        check_part(path->string(), *record, part, where);
    }
}

} // namespace runner
