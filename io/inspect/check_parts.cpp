// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/check_parts.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/source_names.hpp"
#include "io/inspect/attribute_list.hpp"
#include "io/rows/output_parts.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

namespace runner {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_parts(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input, {"cannot read the dataset", where, why,
                                  "Put the parts back that were made with it, or run the job again "
                                  "with output.overwrite = true"});
}

std::optional<std::string> root_text(const FileHandle& handle, const char* name) {
    const ObjectHandle root(hdf5_must(H5Oopen(handle.get(), "/", H5P_DEFAULT), "H5Oopen"));
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

/// The sources' paths, from the folder of the file.
std::vector<fs::path> source_paths(const std::string& file, const PropertyHandle& creation) {
    const fs::path folder = fs::path(file).parent_path();
    std::vector<fs::path> paths;
    for (const auto& [name, dataset] : virtual_sources(creation)) {
        paths.push_back(folder / plain_source_name(name).value_or(name));
    }
    return paths;
}

} // namespace

void check_parts(const FileHandle& handle, const std::string& file, const PropertyHandle& creation,
                 const std::string& where) {
    if (H5Pget_layout(creation.get()) != H5D_VIRTUAL) {
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
