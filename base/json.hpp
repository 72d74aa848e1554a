// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace runner {

/// A text is not JSON, or a value is not what was asked for.
class JsonError : public std::runtime_error {
    using runtime_error::runtime_error;
};

/// A JSON value. The members of an object keep their order. json.cpp alone includes the JSON
/// library, whose headers take seconds to compile.
class Json {
  public:
    struct Member;

    /// null
    Json() = default;
    /// true, false or a number. Infinities and NaN are written as null.
    template <class T>
    requires std::is_arithmetic_v<T> Json(T value) : value_(static_cast<Stored<T>>(value)) {}
    /// A string. Bytes that are not UTF-8 are written as U+FFFD.
    template <class T>
    requires std::convertible_to<const T&, std::string_view> Json(const T& text)
        : value_(std::make_unique<std::string>(std::string_view(text))) {}
    /// An array.
    template <class T> Json(const std::vector<T>& values) : Json(array()) {
        for (const T& value : values) {
            push_back(value);
        }
    }
    /// An object: Json{{"name", "x"}, {"rows", 5}}. The names must differ.
    Json(std::initializer_list<Member> members);

    Json(const Json&) = delete;
    Json& operator=(const Json&) = delete;
    Json(Json&& other) noexcept : value_(std::exchange(other.value_, {})) {}
    Json& operator=(Json&& other) noexcept {
        Json old(std::move(other)); // `other` may be within the value that is replaced
        value_.swap(old.value_);
        return *this;
    }
    /// Does not recurse: a text from outside may be nested deeper than the stack allows.
    ~Json();

    static Json object();
    static Json array();
    template <class... T> static Json array(T&&... elements) {
        Json all = array();
        (all.push_back(std::forward<T>(elements)), ...);
        return all;
    }

    /// Does not recurse. Of members of the same name the last counts. NaN, Infinity and -Infinity
    /// are numbers, as Python's json writes and reads them.
    /// @throws JsonError with line and column.
    static Json parse(std::string_view text);

    /// On one line. Does not recurse.
    std::string text() const;
    /// On lines, each level indented by `indent` more; an array or object whose text() has at most
    /// `width` bytes stays on one line. Ends with a line feed.
    std::string lines(std::size_t indent, std::size_t width = 0) const;

    /// Adds an element to an array; no other value has this function.
    void push_back(Json element);
    /// The member of an object, added as null where there is none; null becomes an object.
    Json& operator[](std::string_view name);

    bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
    bool is_object() const { return nested() != nullptr && nested()->is_object; }
    bool is_array() const { return nested() != nullptr && !nested()->is_object; }
    bool is_string() const { return std::holds_alternative<std::unique_ptr<std::string>>(value_); }
    bool is_number() const;

    /// The elements of an array or the values of an object's members; none of any other value.
    const std::vector<Json>& values() const;
    /// The names of an object's members, as many as values(); none of any other value.
    std::vector<std::string> names() const;
    /// The member of this name; null where there is none, or this is not an object.
    const Json* find(std::string_view name) const;
    /// The member of this name. @throws JsonError where find() returns null.
    const Json& at(std::string_view name) const;
    /// An element of an array. @throws JsonError where there is none, or this is not an array.
    const Json& at(std::size_t index) const;

    /// The value as T: bool, int, std::int64_t, double or std::string. @throws JsonError for a
    /// value of another type, and for a number that an integer type does not hold.
    template <class T> T get() const;
    /// The member of this name. @throws JsonError as at() and get(), with the name.
    template <class T> T get(std::string_view name) const;
    /// The same; `otherwise` where find() returns null.
    template <class T> T value(std::string_view name, T otherwise) const {
        return find(name) == nullptr ? std::move(otherwise) : get<T>(name);
    }

    /// What it is, for messages: "a list of 3", "a text", "5.5", "NaN".
    std::string described() const;

  private:
    template <class T>
    using Stored = std::conditional_t<
        std::is_same_v<T, bool>, bool,
        std::conditional_t<std::is_floating_point_v<T>, double,
                           std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>;
    /// An array or an object.
    struct Nested {
        bool is_object = false;
        std::vector<Json> values;
        std::vector<std::string> names; ///< of the members of an object, as many as values
    };
    class Builder;
    struct Layout;

    Nested* nested() const {
        const auto* const found = std::get_if<std::unique_ptr<Nested>>(&value_);
        return found == nullptr ? nullptr : found->get();
    }
    template <class T> T read(std::string_view subject) const;
    void append(const Layout* layout, std::string& text) const;

    // 16 bytes, because a text from outside may hold millions of values.
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double,
                 std::unique_ptr<std::string>, std::unique_ptr<Nested>>
        value_;
};

struct Json::Member {
    std::string_view name;
    mutable Json value; ///< moved out of an initializer list, whose elements are const
};

} // namespace runner
