// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/write_attributes.hpp"

#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/text_attribute.hpp"

namespace runner {

void write_attributes(const std::string& file, const std::vector<Attribute>& attributes) {
    FileHandle handle = update_hdf5(file);
    const SpaceHandle scalar(hdf5_must(H5Screate(H5S_SCALAR), "H5Screate"));
    for (const auto& [name, value] : attributes) {
        if (const auto* words = std::get_if<std::string>(&value)) {
            write_text(handle.get(), file, name, *words);
        } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
            write_attribute(handle.get(), file, name, H5T_NATIVE_INT64, scalar, integer);
        } else {
            write_attribute(handle.get(), file, name, H5T_NATIVE_DOUBLE, scalar,
                            &std::get<double>(value));
        }
    }
    close_hdf5(std::move(handle), file);
}

} // namespace runner
