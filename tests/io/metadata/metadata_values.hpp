// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "io/metadata/metadata.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace runner {

/// A list of numbers; of one that is no list, scalar().
template <class T> PlainValue numbers(const std::vector<T>& values) {
    PlainValue made;
    made.space = PlainValue::Space::simple;
    made.shape = {static_cast<std::int64_t>(values.size())};
    made.type = element_type_of<T>();
    made.bytes.resize(values.size() * sizeof(T));
    if (!values.empty()) {
        std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
    }
    return made;
}

template <class T> PlainValue scalar(T value) {
    PlainValue made = numbers<T>({value});
    made.space = PlainValue::Space::scalar;
    made.shape.clear();
    return made;
}

inline PlainValue texts(const std::vector<std::string>& values) {
    PlainValue made;
    made.kind = PlainValue::Kind::text;
    made.space = PlainValue::Space::simple;
    made.shape = {static_cast<std::int64_t>(values.size())};
    made.texts = values;
    return made;
}

inline PlainValue text(const std::string& value) {
    PlainValue made = texts({value});
    made.space = PlainValue::Space::scalar;
    made.shape.clear();
    return made;
}

} // namespace runner
