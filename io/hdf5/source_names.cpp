// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/source_names.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/input_rules.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>

namespace runner {
namespace {

using NameCall = ssize_t (*)(hid_t, std::size_t, char*, std::size_t);

std::string name_by(NameCall call, const PropertyHandle& creation, std::size_t index) {
    const auto length = call(creation.get(), index, nullptr, 0);
    if (length < 0) {
        throw_hdf5(ExitCode::input, "cannot read where a virtual dataset's elements are", "");
    }
    std::string name(static_cast<std::size_t>(length), '\0');
    (void)hdf5_must(call(creation.get(), index, name.data(), name.size() + 1), "H5Pget_virtual");
    return name;
}

constexpr std::size_t listed_sources = 5;

[[noreturn]] void complain(const std::set<std::string>& missing, const std::string& where) {
    throw Error(ExitCode::input,
                {"cannot read the dataset", where,
                 "other files that hold its elements are missing: " + source_list(missing),
                 "Put them where the dataset looks for them, or copy it whole (h5repack)"});
}

bool is_there(const std::string& source, const std::string& file) {
    const auto places = OutsideFiles::places(source, file);
    return std::any_of(places.begin(), places.end(), [](const std::filesystem::path& place) {
        std::error_code ignored;
        return std::filesystem::exists(place, ignored);
    });
}

/// check_outside_sources() of a virtual dataset.
std::string check_virtual(const PropertyHandle& creation, const std::string& file,
                          const std::string& where) {
    const std::set<std::string> missing = missing_sources(creation, file);
    if (missing.empty()) {
        return "";
    }
    const auto sources = virtual_sources(creation);
    const bool any = std::any_of(sources.begin(), sources.end(), [&](const auto& source) {
        return !missing.contains(source.first);
    });
    if (!any) {
        complain(missing, where);
    }
    return format_error({"a part of the dataset is missing", where,
                         "its elements read as fill values, because these files are not there: " +
                             source_list(missing),
                         "Put them where the dataset looks for them"});
}

std::set<std::string> missing_external(const PropertyHandle& creation) {
    std::set<std::string> missing;
    for (const ExternalSource& source : external_sources(creation)) {
        std::error_code failure;
        const std::uintmax_t size = std::filesystem::file_size(source.file, failure);
        if (failure) {
            missing.insert(source.file);
        } else if (source.bytes && size < source.offset + *source.bytes) {
            missing.insert(fmt::format("{} (has {} of {} bytes)", source.file, size,
                                       source.offset + *source.bytes));
        }
    }
    return missing;
}

} // namespace

std::string source_list(const std::set<std::string>& missing) {
    std::string list;
    std::size_t shown = 0;
    for (const std::string& source : missing) {
        if (++shown > listed_sources) {
            list += fmt::format(", and {} more", missing.size() - listed_sources);
            break;
        }
        list += (list.empty() ? "" : ", ") + source;
    }
    return list;
}

std::optional<std::string> plain_source_name(const std::string& name) {
    std::string plain;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (name[at] == '%' && name.substr(at, 2) != "%%") {
            return std::nullopt;
        }
        at += name[at] == '%' ? 1 : 0;
        plain += name[at];
    }
    return plain;
}

std::string name_in_series(std::string name, std::int64_t number) {
    for (std::size_t at = 0; (at = name.find('%', at)) != std::string::npos;) {
        const std::string text = name.substr(at, 2) == "%b" ? std::to_string(number) : "%";
        name.replace(at, 2, text);
        at += text.size();
    }
    return name;
}

bool is_series(const std::string& name) {
    return name_in_series(name, 0) != name_in_series(name, 1);
}

std::pair<std::string, std::string> virtual_source(const PropertyHandle& creation,
                                                   std::size_t index) {
    return {name_by(H5Pget_virtual_filename, creation, index),
            name_by(H5Pget_virtual_dsetname, creation, index)};
}

std::vector<std::pair<std::string, std::string>> virtual_sources(const PropertyHandle& creation) {
    std::set<std::pair<std::string, std::string>> sources;
    if (H5Pget_layout(creation.get()) == H5D_VIRTUAL) {
        std::size_t count = 0;
        hdf5_must(H5Pget_virtual_count(creation.get(), &count), "H5Pget_virtual_count");
        for (std::size_t i = 0; i < count; ++i) {
            sources.insert(virtual_source(creation, i));
        }
    }
    return {sources.begin(), sources.end()};
}

std::set<std::string> missing_sources(const PropertyHandle& creation, const std::string& file) {
    std::set<std::string> missing;
    for (const auto& [name, dataset] : virtual_sources(creation)) {
        // "." is the file itself; a name with %b stands for a series that may grow.
        if (name != "." && name.find('%') == std::string::npos && !is_there(name, file)) {
            missing.insert(name);
        }
    }
    return missing;
}

std::vector<ExternalSource> external_sources(const PropertyHandle& creation) {
    std::vector<ExternalSource> sources;
    const int count =
        H5Pget_layout(creation.get()) == H5D_CONTIGUOUS
            ? hdf5_must(H5Pget_external_count(creation.get()), "H5Pget_external_count")
            : 0;
    for (int i = 0; i < count; ++i) {
        std::array<char, 4096> name{};
        off_t offset = 0;
        hsize_t bytes = 0;
        hdf5_must(H5Pget_external(creation.get(), static_cast<unsigned>(i), name.size(),
                                  name.data(), &offset, &bytes),
                  "H5Pget_external");
        name.back() = '\0';
        ExternalSource source{name.data(), static_cast<std::uintmax_t>(offset), {}};
        if (bytes != H5F_UNLIMITED) {
            source.bytes = bytes;
        }
        sources.push_back(std::move(source));
    }
    return sources;
}

std::string check_outside_sources(const PropertyHandle& creation, const std::string& file,
                                  const std::string& where) {
    if (H5Pget_layout(creation.get()) == H5D_VIRTUAL) {
        return check_virtual(creation, file, where);
    }
    if (const auto missing = missing_external(creation); !missing.empty()) {
        complain(missing, where);
    }
    return "";
}

} // namespace runner
