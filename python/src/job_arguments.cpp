// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/job_arguments.hpp"

#include "base/error.hpp"

namespace runner {

ElementType type_named(const std::string& name) {
    for (int i = 0; i <= static_cast<int>(ElementType::bytes16); ++i) {
        if (name_of(static_cast<ElementType>(i)) == name) {
            return static_cast<ElementType>(i);
        }
    }
    throw Error(ExitCode::usage, {"there is no such element type", name, "", ""});
}

std::vector<TypeAndShape> described(const std::vector<ArrayInfo>& arrays) {
    std::vector<TypeAndShape> all;
    all.reserve(arrays.size());
    for (const ArrayInfo& array : arrays) {
        all.emplace_back(std::string(name_of(array.type)), array.shape);
    }
    return all;
}

std::vector<NamedArray> named_arrays(std::span<const ArrayArgument> arguments) {
    std::vector<NamedArray> all;
    all.reserve(arguments.size());
    for (const auto& [name, type, shape, bytes] : arguments) {
        const ArrayInfo info{type_named(type), shape};
        if (static_cast<std::int64_t>(bytes.size()) != byte_count(info)) {
            throw Error(ExitCode::defect, {"an array is not of its extents", name, "", ""});
        }
        all.push_back({name, info, reinterpret_cast<const std::byte*>(bytes.data())});
    }
    return all;
}

} // namespace runner
