// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/check_dataset.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/formats/rows_format.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/source_names.hpp"
#include "io/input/check_storage.hpp"
#include "io/input/layout_of.hpp"
#include "io/input/open_rows.hpp"
#include "io/input/side_datasets.hpp"
#include "io/input/source_rows.hpp"
#include "io/input/stack.hpp"
#include "io/inspect/check_chunks.hpp"
#include "io/inspect/default_signal.hpp"
#include "io/inspect/frame_key.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/inspect/links.hpp"
#include "io/inspect/scan_setup.hpp"
#include "io/inspect/virtual_parts.hpp"
#include "io/rows/rows.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace runner {
namespace {

constexpr const char* what = "cannot read the dataset";

constexpr const char* or_fill = ", or set input.missing = \"fill\" (for a verb: --missing fill), "
                                "which takes the fill value for their elements";

/// Virtual datasets made of virtual datasets, and so on.
constexpr int deepest = 8;

void check_logical_size(const DatasetInfo& info, std::int64_t stored, const InputRules& rules,
                        const std::string& where) {
    const std::int64_t logical = byte_count(info.array);
    const std::string size = "its elements have " + size_text(logical);
    if (rules.max_logical_bytes && logical > *rules.max_logical_bytes) {
        throw Error(ExitCode::input, {what, where,
                                      size + ", and input.max_logical_bytes allows " +
                                          size_text(*rules.max_logical_bytes),
                                      "If that is right, set a larger input.max_logical_bytes"});
    }
    if (!rules.max_logical_bytes && logical - stored > most_unstored_bytes) {
        throw Error(ExitCode::input,
                    {what, where,
                     size + " and the file stores " + size_text(stored) +
                         " of them: the rest would read as its fill value",
                     "If that is right, set input.max_logical_bytes (for a verb: --trust-input)"});
    }
}

/// Has HDF5 read one element, for a crash of its filters or conversion to come here. What it says
/// of it matters to no one: the run's own reading tells the rows.
void try_first_element(const DatasetHandle& dataset, const DatasetInfo& info) {
    if (!info.chunk.empty() && byte_count({info.array.type, info.chunk}) > tried_bytes) {
        return;
    }
    const std::size_t axes = info.array.shape.size();
    const std::vector<hsize_t> start(axes, 0);
    const std::vector<hsize_t> count(axes, 1);
    const hsize_t one = 1;
    const SpaceHandle from(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    hdf5_must(H5Sselect_hyperslab(from.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                                  nullptr),
              "H5Sselect_hyperslab");
    const SpaceHandle to(hdf5_must(H5Screate_simple(1, &one, nullptr), "H5Screate_simple"));
    const TypeHandle type = memory_type(info.array);
    std::array<double, 2> room{}; // no element has more than 16 bytes
    (void)H5Dread(dataset.get(), type.get(), to.get(), from.get(), H5P_DEFAULT, room.data());
}

class DatasetCheck {
  public:
    /// Adds to `files` what the dataset's elements come from.
    DatasetCheck(OutsideFiles outside, const InputRules& rules, FileMarks& files)
        : outside_(std::move(outside)), rules_(rules), files_(files) {}

    DatasetLayout check(const std::string& file, const std::string& dataset, int depth) {
        const std::string where = file_and_dataset(file, dataset);
        if (depth > deepest || active_.contains(where)) {
            throw Error(
                ExitCode::input,
                {what, where,
                 fmt::format(
                     "virtual datasets lead to it through more than {} others, or in a circle",
                     deepest),
                 "Copy the dataset whole (h5repack)"});
        }
        if (const auto known = known_.find(where); known != known_.end()) {
            return known->second; // a source that was checked before
        }
        active_.insert(where);
        add_mark(files_, file);
        const FileHandle handle = open_hdf5(file);
        files_.merge(check_links(handle, file, dataset, outside_));
        const DatasetHandle opened = open_dataset(handle, file, dataset);
        const PropertyHandle creation = creation_of(opened);
        // The other files first: inspect_dataset() asks whether they are there.
        check_parts(handle, file_of(opened), creation, where);
        check_sources(creation, file_of(opened), where, depth);
        DatasetInfo info = inspect_dataset(file, dataset);
        const std::set<std::string> missing = check_missing(creation, file_of(opened), where, info);
        if (info.storage == "chunked") {
            check_extents(opened, info.chunk, where);
        }
        check_filter_parameters(opened, creation, where);
        CheckedStorage storage = check_storage(opened, creation, info, where, rules_.bad_chunks);
        if (storage.bytes == 0) {
            check_fill_value(creation, where);
        }
        check_logical_size(info,
                           info.storage == "virtual" ? mapped_bytes(creation, info) : storage.bytes,
                           rules_, where);
        const std::vector<ChunkPlace> first = chunks_to_try(storage.chunks, info);
        DatasetLayout layout = layout_of(opened, info, std::move(storage.chunks));
        layout.file = file;
        layout.dataset = dataset;
        if (info.storage == "virtual") {
            std::optional<SourceFill> fill;
            if (rules_.missing == InputRules::Missing::fill) {
                fill.emplace(SourceFill{fill_element(creation, info.array), missing});
            }
            std::set<std::string> lacking = add_sources(
                layout, creation,
                [&](const std::string& name, const std::string& source) {
                    return known_source(file_of(opened), name, source);
                },
                fill);
            if (!lacking.empty()) {
                filled_.insert(where);
            }
            lacking.insert(missing.begin(), missing.end());
            note_filled(creation, lacking, where);
        }
        if (layout.way == DatasetLayout::Way::library) {
            check_mappings(creation, file_of(opened), info, where);
            try_chunks(layout.holder, creation, info, first, where);
            try_sources(creation, file_of(opened));
            try_first_element(opened, info);
        }
        active_.erase(where);
        return known_.emplace(where, std::move(layout)).first->second;
    }

    /// What is said of elements that are filled in.
    const std::vector<std::string>& notes() const { return notes_; }

  private:
    /// The names of a virtual dataset's sources that are not there. @throws Error (input) where
    /// there are any and they are not to be filled in.
    std::set<std::string> check_missing(const PropertyHandle& creation, const std::string& file,
                                        const std::string& where, DatasetInfo& info) const {
        std::set<std::string> missing = missing_sources(creation, file);
        if (missing.empty()) {
            return missing;
        }
        if (rules_.missing != InputRules::Missing::fill) {
            throw Error(
                ExitCode::input,
                {what, where,
                 fmt::format("{} of its {} are not there: {}", missing.size(),
                             counted(source_files(creation), "source"), source_list(missing)),
                 std::string("Put them where the dataset looks for them") + or_fill});
        }
        std::erase(info.notes, check_outside_sources(creation, file, where)); // notes() say more
        return missing;
    }

    /// How many files a virtual dataset takes its elements from.
    static std::int64_t source_files(const PropertyHandle& creation) {
        std::set<std::string> names;
        for (const auto& [name, dataset] : virtual_sources(creation)) {
            names.insert(name);
        }
        return std::ssize(names);
    }

    void note_filled(const PropertyHandle& creation, const std::set<std::string>& lacking,
                     const std::string& where) {
        if (!lacking.empty()) {
            notes_.push_back(format_error(
                {"elements of the dataset are missing", where,
                 fmt::format("{} of its {} are not there, or shorter than is mapped of them: {}. "
                             "What they lack is the fill value",
                             lacking.size(), counted(source_files(creation), "source"),
                             source_list(lacking)),
                 ""}));
        }
    }

    /// The layout of a source that check_sources() has checked.
    std::optional<DatasetLayout> known_source(const std::string& file, const std::string& name,
                                              const std::string& dataset) const {
        if (!plain_source_name(name)) {
            return std::nullopt;
        }
        const auto known = known_.find(file_and_dataset(source_file(name, file, file), dataset));
        return known == known_.end() ? std::nullopt : std::optional(known->second);
    }

    /// Where a virtual dataset in `file` finds a source, of a series this one; "" where nowhere.
    std::string source_file(const std::string& name, const std::string& file,
                            const std::string& where, std::int64_t number = 0) const {
        if (name == ".") {
            return file;
        }
        const auto place = outside_.allowed(name_in_series(name, number), file, where);
        return place ? place->string() : "";
    }

    void check_sources(const PropertyHandle& creation, const std::string& file,
                       const std::string& where, int depth) {
        for (const ExternalSource& source : external_sources(creation)) {
            // HDF5 takes these from the working directory.
            (void)outside_.allowed(std::filesystem::absolute(source.file).string(), file, where);
            add_mark(files_, source.file);
        }
        for (const auto& [name, dataset] : virtual_sources(creation)) {
            std::int64_t number = 0;
            while (check_source(name, dataset, number, file, where, depth) &&
                   is_series(name + dataset)) {
                ++number; // HDF5 takes a series up to its first gap
            }
        }
    }

    /// Whether the source is there, of a series this one. What is missing of a series may come yet;
    /// of others, inspect_dataset() tells it.
    bool check_source(const std::string& name, const std::string& dataset, std::int64_t number,
                      const std::string& file, const std::string& where, int depth) {
        const std::string place = source_file(name, file, where, number);
        if (name != ".") {
            OutsideFiles::add_marks(files_, name_in_series(name, number), file);
        }
        if (place.empty()) {
            return false;
        }
        const std::string source = name_in_series(dataset, number);
        if (is_series(name + dataset)) {
            const FileHandle handle = open_hdf5(place);
            files_.merge(check_links(handle, place, source, outside_));
            if (!has_link(handle, source)) {
                return false;
            }
        }
        (void)check(place, source, depth + 1);
        return true;
    }

    /// Refuses a virtual dataset that HDF5 would read otherwise than its mappings say: a source of
    /// another file than source_file() finds, or one that is shorter than what is mapped of it.
    void check_mappings(const PropertyHandle& creation, const std::string& file,
                        const DatasetInfo& info, const std::string& where) const {
        for (const auto& [name, source] : virtual_sources(creation)) {
            OutsideFiles::refuse_clash(name_in_series(name, 0), file, where);
        }
        const auto mappings = info.storage == "virtual"
                                  ? virtual_mappings(creation)
                                  : std::optional<std::vector<VirtualMapping>>();
        for (const VirtualMapping& mapping : mappings.value_or(std::vector<VirtualMapping>())) {
            const std::string place = source_file(mapping.file, file, where);
            const auto known = known_.find(file_and_dataset(place, mapping.dataset));
            if (known == known_.end()) {
                continue;
            }
            const std::string source = "its source " + known->first;
            if (filled_.contains(known->first)) {
                refuse_source(where, source + " is filled in, and it does not take whole rows of "
                                              "it alone");
            }
            if (!holds_mapped(known->second.info.array.shape, mapping, info.array.shape)) {
                refuse_source(where, source + " has the shape " +
                                         shape_text(known->second.info.array.shape) +
                                         ", and more of it is mapped");
            }
        }
    }

    [[noreturn]] void refuse_source(const std::string& where, const std::string& why) const {
        const bool fills = rules_.missing == InputRules::Missing::fill;
        throw Error(ExitCode::input,
                    {what, where, why + (fills ? ". Only whole rows are filled in" : ""),
                     std::string("Get the whole source. Where the scan was ended early, make the "
                                 "virtual dataset again, of the frames that are there") +
                         (fills ? "" : or_fill)});
    }

    /// Tries the chunks of a virtual dataset's sources, which HDF5 unpacks where it reads it.
    void try_sources(const PropertyHandle& creation, const std::string& file) {
        for (const auto& [name, dataset] : virtual_sources(creation)) {
            const std::string place = source_file(name, file, file);
            const auto known = known_.find(file_and_dataset(place, dataset));
            if (known == known_.end() || known->second.way == DatasetLayout::Way::library ||
                !tried_.insert(known->first).second) {
                continue; // it is not there, or it has been tried
            }
            const DatasetLayout& source = known->second;
            const FileHandle handle = open_hdf5(source.file);
            const DatasetHandle opened = open_dataset(handle, source.file, source.dataset);
            const PropertyHandle created = creation_of(opened);
            try_chunks(source.holder, created, source.info,
                       chunks_to_try(source.chunks, source.info), known->first);
            try_sources(created, file_of(opened));
        }
    }

    OutsideFiles outside_;
    InputRules rules_;
    FileMarks& files_;
    std::map<std::string, DatasetLayout> known_; ///< by file and dataset
    std::set<std::string> active_; ///< being checked now, each by way of the one before
    std::set<std::string> tried_;  ///< sources whose chunks have been unpacked
    std::set<std::string> filled_; ///< virtual datasets of sources that are too short
    std::vector<std::string> notes_;
};

/// What the file says of the frames of a dataset that is checked.
FrameRoles roles_of(const FileHandle& handle, const DatasetLayout& layout,
                    const OutsideFiles& outside, DatasetCheck& check, FileMarks& files) {
    FrameRoles roles;
    const FrameKey key = find_frame_key(handle, layout.file, layout.dataset, outside);
    roles.fault = key.fault;
    if (key.key.empty()) {
        return roles;
    }
    for (const std::string& each : {key.key, key.control}) {
        try {
            if (!each.empty()) {
                (void)check.check(layout.file, each, 0);
            }
        } catch (const Error& error) {
            roles.fault = each + " cannot be read: " + error.text().why;
            return roles;
        }
    }
    files.insert(key.files.begin(), key.files.end());
    OwnFiles own;
    return read_frame_roles(layout.file, key, layout.info.array.shape.front(), own);
}

} // namespace

DatasetLayout check_dataset(const std::string& file, const std::string& dataset,
                            const InputRules& rules) {
    const RowsFormat* const format = rows_format_of(file);
    const bool stack = is_stack(file);
    if (format != nullptr || stack) {
        DatasetLayout layout = stack ? stack_layout(file, dataset, rules.missing)
                                     : layout_of_format(file, dataset, *format, FileIs::all, rules);
        const DatasetInfo& info = layout.info;
        check_logical_size(info, stored_elements(layout), rules, file);
        return layout;
    }
    FileMarks files;
    add_mark(files, file);
    const FileHandle readable = open_hdf5(file); // what is not there is told before anything
    const OutsideFiles outside(file, rules);
    const std::string found = dataset.empty() ? default_signal(readable, file, outside) : dataset;
    DatasetCheck check(outside, rules, files);
    DatasetLayout layout = check.check(file, found, 0);
    layout.info.notes.insert(layout.info.notes.end(), check.notes().begin(), check.notes().end());
    layout.roles = roles_of(readable, layout, outside, check, files);
    layout.setup = read_scan_setup(readable, file, layout.dataset, layout.roles.key, outside);
    place_axes(layout, outside);
    space_pixels(layout.setup, layout.info.axes);
    layout.files = std::move(files);
    return layout;
}

void check_way(const std::string& file, const std::string& dataset, const InputRules& rules) {
    if (rows_format_of(file) != nullptr || is_stack(file)) {
        return;
    }
    const FileHandle handle = open_hdf5(file);
    if (!dataset.empty()) {
        check_links(handle, file, dataset, OutsideFiles(file, rules));
    }
}

std::optional<Error> structure_damage(const std::string& where) {
    return found_damaged_structure() ? std::optional(damaged_structure(where)) : std::nullopt;
}

void prepare_checks() {
    start_hdf5();
    (void)H5open(); // a failure comes again with the first check, which tells it
}

} // namespace runner
