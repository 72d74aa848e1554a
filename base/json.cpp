// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include "base/json_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>

#include <nlohmann/json.hpp>

namespace runner {
namespace {

using Library = nlohmann::ordered_json;

/// What a Json holds as the library's value; of an array or object only that it is one.
template <class Variant> Library library_value(const Variant& value) {
    return std::visit(
        []<class T>(const T& held) -> Library {
            if constexpr (std::is_same_v<T, std::monostate>) {
                return nullptr;
            } else if constexpr (std::is_arithmetic_v<T>) {
                return held;
            } else if constexpr (std::is_same_v<T, std::unique_ptr<std::string>>) {
                return *held;
            } else {
                return held->is_object ? Library::object() : Library::array();
            }
        },
        value);
}

/// What a value must be to be read as T, for people.
template <class T> constexpr const char* wanted() {
    if constexpr (std::is_same_v<T, bool>) {
        return "true or false";
    } else if constexpr (std::is_same_v<T, std::string>) {
        return "a text";
    } else {
        return std::is_integral_v<T> ? "a whole number" : "a number";
    }
}

template <class T> bool is_of_type(const Library& value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value.is_boolean();
    } else if constexpr (std::is_same_v<T, std::string>) {
        return value.is_string();
    } else {
        // An integer may be written as 5.0.
        return value.is_number() && (!std::is_integral_v<T> || !value.is_number_float() ||
                                     value.get<double>() == std::trunc(value.get<double>()));
    }
}

/// Whether the integer type T holds a whole number.
template <class T> bool is_in_range(const Library& number) {
    if (number.is_number_unsigned()) {
        return std::in_range<T>(number.get<std::uint64_t>());
    }
    if (number.is_number_integer()) {
        return std::in_range<T>(number.get<std::int64_t>());
    }
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::min());
    return number.get<double>() >= least && number.get<double>() < -least;
}

std::string library_text(const Library& value) {
    return value.dump(-1, ' ', false, Library::error_handler_t::replace);
}

void append_string(const std::string& value, std::string& text) {
    // Most strings need no escape, and the library takes ten times as long for each.
    const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) {
        return c >= ' ' && c <= '~' && c != '"' && c != '\\';
    });
    if (is_plain) {
        text.append(1, '"').append(value).append(1, '"');
    } else {
        text += library_text(value);
    }
}

std::size_t index_of(const std::vector<std::string>& names, std::string_view name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

} // namespace

/// Takes the events of the library's parser.
class Json::Builder {
  public:
    explicit Builder(const JsonText& plain) : plain_(plain), text_(plain.text()) {}

    bool null() { return add({}); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(std::int64_t value) { return add_number(value); }
    bool number_unsigned(std::uint64_t value) { return add_number(value); }
    bool number_float(double value, const std::string& /*text*/) {
        return add_number(plain_.replaced(numbers_).value_or(value));
    }
    bool string(std::string& value) { return add(value); }
    bool binary(Library::binary_t& /*value*/) { return false; }
    bool start_object(std::size_t /*size*/) { return open(object()); }
    bool start_array(std::size_t /*size*/) { return open(array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool key(std::string& name) {
        Level& level = open_.back();
        Nested& object = *level.value.nested();
        const auto [place, is_new] = level.places.try_emplace(name, object.values.size());
        if (is_new) {
            object.names.push_back(std::move(name));
            object.values.emplace_back();
        }
        level.place = place->second;
        return true;
    }

    /// The library's own text names its functions.
    bool parse_error(std::size_t byte, const std::string& /*token*/,
                     const Library::exception& /*error*/) {
        const std::string_view before = text_.substr(0, byte == 0 ? 0 : byte - 1);
        const auto lines = std::count(before.begin(), before.end(), '\n');
        const std::size_t column = before.size() - (before.rfind('\n') + 1); // npos + 1 is 0
        throw JsonError("it is not valid JSON at line " + std::to_string(lines + 1) + ", column " +
                        std::to_string(column + 1));
    }

    Json take() { return std::move(root_); }

  private:
    /// An array or object whose end is still to come.
    struct Level {
        Json value;
        std::unordered_map<std::string, std::size_t> places; ///< of the members, by name
        std::size_t place = 0;                               ///< of the next value in an object
    };

    bool add_number(Json value) {
        ++numbers_;
        return add(std::move(value));
    }

    bool add(Json value) {
        if (open_.empty()) {
            root_ = std::move(value);
        } else if (Level& level = open_.back(); level.value.is_array()) {
            level.value.push_back(std::move(value));
        } else {
            level.value.nested()->values[level.place] = std::move(value);
        }
        return true;
    }

    bool open(Json value) {
        open_.push_back({std::move(value), {}, 0});
        return true;
    }

    bool close() {
        Json value = std::move(open_.back().value);
        open_.pop_back();
        return add(std::move(value));
    }

    const JsonText& plain_;
    std::string_view text_;
    std::size_t numbers_ = 0; ///< that were read
    Json root_;
    std::vector<Level> open_;
};

/// How a value is broken into lines.
struct Json::Layout {
    std::size_t indent = 0;
    std::size_t width = 0;

    void break_line(std::size_t level, std::string& text) const {
        text.append(1, '\n').append(indent * level, ' ');
    }
};

Json::Json(std::initializer_list<Member> members) : Json(object()) {
    for (const Member& member : members) {
        nested()->names.emplace_back(member.name);
        nested()->values.push_back(std::move(member.value));
    }
}

Json::~Json() {
    std::vector<Json> inner;
    const auto take_from = [&inner](const Json& outer) {
        if (outer.nested() != nullptr) {
            for (Json& value : outer.nested()->values) {
                if (value.nested() != nullptr) {
                    inner.push_back(std::move(value));
                }
            }
        }
    };
    take_from(*this);
    while (!inner.empty()) {
        const Json last = std::move(inner.back());
        inner.pop_back();
        take_from(last);
    }
}

Json Json::object() {
    Json value;
    value.value_ = std::make_unique<Nested>(Nested{true, {}, {}});
    return value;
}

Json Json::array() {
    Json value;
    value.value_ = std::make_unique<Nested>();
    return value;
}

Json Json::parse(std::string_view text) {
    const JsonText plain(text);
    Builder builder(plain);
    (void)Library::sax_parse(plain.text(), &builder);
    return builder.take();
}

std::string Json::text() const {
    std::string text;
    append(nullptr, text);
    return text;
}

std::string Json::lines(std::size_t indent, std::size_t width) const {
    const Layout layout{indent, width};
    std::string text;
    append(&layout, text);
    return text + '\n';
}

void Json::append(const Layout* layout, std::string& text) const {
    struct Open {
        const Nested* all;
        const Layout* layout; ///< null: on one line
        std::size_t next = 0;
    };
    std::vector<Open> open;
    const auto begin = [&](const Json& value, const Layout* outer) {
        const Nested* const all = value.nested();
        if (all != nullptr) {
            const bool fits =
                outer != nullptr && outer->width > 0 && value.text().size() <= outer->width;
            open.push_back({all, all->values.empty() || fits ? nullptr : outer});
            text += all->is_object ? '{' : '[';
        } else if (value.is_string()) {
            append_string(*std::get<std::unique_ptr<std::string>>(value.value_), text);
        } else {
            text += library_text(library_value(value.value_));
        }
    };
    begin(*this, layout);
    while (!open.empty()) {
        const auto [all, lines, i] = open.back();
        const bool ends = i == all->values.size();
        text += ends || i == 0 ? "" : ",";
        if (lines != nullptr) {
            lines->break_line(open.size() - (ends ? 1 : 0), text);
        }
        if (ends) {
            text += all->is_object ? '}' : ']';
            open.pop_back();
            continue;
        }
        if (all->is_object) {
            append_string(all->names[i], text);
            text += lines == nullptr ? ":" : ": ";
        }
        ++open.back().next;
        begin(all->values[i], lines);
    }
}

void Json::push_back(Json element) { nested()->values.push_back(std::move(element)); }

Json& Json::operator[](std::string_view name) {
    if (std::holds_alternative<std::monostate>(value_)) {
        *this = object();
    }
    Nested& all = *nested();
    const std::size_t index = index_of(all.names, name);
    if (index == all.names.size()) {
        all.names.emplace_back(name);
        all.values.emplace_back();
    }
    return all.values[index];
}

bool Json::is_number() const { return library_value(value_).is_number(); }

const std::vector<Json>& Json::values() const {
    static const std::vector<Json> none;
    return nested() == nullptr ? none : nested()->values;
}

std::vector<std::string> Json::names() const {
    return is_object() ? nested()->names : std::vector<std::string>();
}

const Json* Json::find(std::string_view name) const {
    if (!is_object()) {
        return nullptr;
    }
    const std::size_t index = index_of(nested()->names, name);
    return index == values().size() ? nullptr : &values()[index];
}

const Json& Json::at(std::string_view name) const {
    const Json* const found = find(name);
    if (found == nullptr) {
        throw JsonError(is_object() ? "there is no \"" + std::string(name) + "\""
                                    : "there is " + described() + ", where an object with \"" +
                                          std::string(name) + "\" must be");
    }
    return *found;
}

const Json& Json::at(std::size_t index) const {
    if (!is_array() || index >= values().size()) {
        throw JsonError("there is " + described() + ", where a list of more than " +
                        std::to_string(index) + " must be");
    }
    return values()[index];
}

std::string Json::described() const {
    if (nested() != nullptr) {
        return !is_array()        ? "an object"
               : values().empty() ? "an empty list"
                                  : "a list of " + std::to_string(values().size());
    }
    if (const auto* const real = std::get_if<double>(&value_); real && !std::isfinite(*real)) {
        return std::isnan(*real) ? "NaN" : *real > 0 ? "Infinity" : "-Infinity";
    }
    return is_string() ? "a text" : text();
}

template <class T> T Json::read(std::string_view subject) const {
    const Library value = library_value(value_);
    if (!is_of_type<T>(value)) {
        throw JsonError(std::string(subject) + " is " + described() + ", where " + wanted<T>() +
                        " must be");
    }
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        if (!is_in_range<T>(value)) {
            throw JsonError(std::string(subject) + " is " + text() + ", which is out of range");
        }
    }
    return value.get<T>();
}

template <class T> T Json::get() const { return read<T>("it"); }

template <class T> T Json::get(std::string_view name) const {
    return at(name).read<T>("\"" + std::string(name) + "\"");
}

template bool Json::get() const;
template int Json::get() const;
template std::int64_t Json::get() const;
template double Json::get() const;
template std::string Json::get() const;
template bool Json::get(std::string_view name) const;
template int Json::get(std::string_view name) const;
template std::int64_t Json::get(std::string_view name) const;
template double Json::get(std::string_view name) const;
template std::string Json::get(std::string_view name) const;

} // namespace runner
