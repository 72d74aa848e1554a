// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/message.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace runner {

/// A struct that can be packed lists its members, in the order of their bytes:
/// `static auto members(auto& self) { return std::tie(self.a, self.b); }`.
template <class T>
concept HasMembers = requires(T& value) {
    T::members(value);
};

/// Numbers, enums, texts, containers, optionals, pairs, arrays, and structs that list their
/// members, as bytes for another process of this program.
template <class T> void pack(MessageWriter& out, const T& value) {
    const auto each = [&out](const auto&... parts) { (pack(out, parts), ...); };
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        out.number(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
        out.real(value);
    } else if constexpr (std::same_as<T, std::string>) {
        out.text(value);
    } else if constexpr (HasMembers<T>) {
        std::apply(each, T::members(value));
    } else if constexpr (requires { std::tuple_size<T>::value; }) { // pair, array
        std::apply(each, value);
    } else if constexpr (requires { value.has_value(); }) {
        pack(out, value.has_value());
        if (value) {
            pack(out, *value);
        }
    } else {
        pack(out, value.size());
        for (const auto& item : value) {
            pack(out, item);
        }
    }
}

/// The value that pack() wrote. @throws BadMessage.
template <class T> T unpack(MessageReader& in) {
    T value{};
    const auto each = [&in](auto&... parts) {
        ((parts = unpack<std::remove_reference_t<decltype(parts)>>(in)), ...);
    };
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        value = static_cast<T>(in.number());
    } else if constexpr (std::is_floating_point_v<T>) {
        value = static_cast<T>(in.real());
    } else if constexpr (std::same_as<T, std::string>) {
        value = in.text();
    } else if constexpr (HasMembers<T>) {
        std::apply(each, T::members(value));
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
        std::apply(each, value);
    } else if constexpr (requires { value.has_value(); }) {
        if (unpack<bool>(in)) {
            value = unpack<typename T::value_type>(in);
        }
    } else {
        for (std::size_t left = in.count(sizeof(std::int64_t)); left > 0; --left) {
            if constexpr (requires { typename T::mapped_type; }) {
                auto key = unpack<typename T::key_type>(in);
                value.emplace(std::move(key), unpack<typename T::mapped_type>(in));
            } else {
                value.insert(value.end(), unpack<typename T::value_type>(in));
            }
        }
    }
    return value;
}

template <class T> std::string packed(const T& value) {
    MessageWriter out;
    pack(out, value);
    return out.take();
}

/// @throws BadMessage where the bytes are not those of one such value.
template <class T> T unpacked(std::string_view bytes) {
    MessageReader in(bytes);
    T value = unpack<T>(in);
    in.end();
    return value;
}

} // namespace runner
