// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/source_names.hpp"

#include <array>
#include <set>

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

} // namespace

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

} // namespace runner
