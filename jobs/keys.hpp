// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/key_text.hpp"
#include "jobs/kind.hpp"
#include "jobs/table.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {

/// The keys of a kind's table, each declared once: parsing and its errors, the canonical text,
/// `runner init`, `runner keys`, completion, the tables of docs/ and the functions of the Python
/// package follow from the declaration.

/// How values of type T are read from a table, written as TOML and described (KeyText).
template <class T> struct Form {
    std::string type;
    std::string range;
    std::string annotation;
    /// Reads a key that is there; reports a wrong value and then returns nothing.
    std::function<std::optional<T>(TableReader&, const std::string& key)> read;
    std::function<std::string(const T&)> text;
};

Form<bool> boolean_form();
Form<std::int64_t> integer_form(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                                std::int64_t most = std::numeric_limits<std::int64_t>::max());
/// A finite number.
Form<double> number_form();
/// A finite number that is not below 0.
Form<double> number_from_zero_form();
/// Extents along z, y and x: three integers ≥ 1, two, which have 1 before them, or one for y and x.
/// `check`: what is wrong with extents, given as they are written, or nothing.
using Extents3 = std::array<std::int64_t, 3>;
Form<Extents3> extents_form(
    std::string range,
    std::function<std::string(const Extents3&, std::span<const std::int64_t> written)> check);
/// One of several words: the position in `words`.
Form<std::size_t> word_form(const std::vector<std::string>& words);

/// One of several words, in the order of E's values.
template <class E> Form<E> choice_form(const std::vector<std::string>& words) {
    const Form<std::size_t> form = word_form(words);
    return {form.type, form.range, form.annotation,
            [form](TableReader& table, const std::string& key) -> std::optional<E> {
                const std::optional<std::size_t> found = form.read(table, key);
                return found ? std::optional(static_cast<E>(*found)) : std::nullopt;
            },
            [form](const E& value) { return form.text(static_cast<std::size_t>(value)); }};
}

/// What the canonical text is for: `explain`, which has defaults without a value as comments, or
/// the job's identity, which leaves them out.
enum class CanonicalFor { reading, identity };

/// A key of a table that is read into a Keys.
template <class Keys> class Key {
  public:
    /// Reads the key, which may be missing, into the keys; false where it is wrong, and reported.
    using Read = std::function<bool(TableReader&, Keys&)>;
    /// The value as TOML; nothing: there is none to write.
    using Value = std::function<std::optional<std::string>(const Keys&)>;

    Key(KeyText text, Read read, Value value)
        : text_(std::move(text)), read_(std::move(read)), value_(std::move(value)) {
        const std::optional<std::string> usual = value_(Keys{});
        text_.usual = usual ? "`" + *usual + "`" : "none";
        text_.sample = usual.value_or("");
    }

    /// The key must be there. `what_to_write`: for the error.
    Key required(std::string what_to_write) && {
        text_.usual = "required";
        missing_ = std::move(what_to_write);
        return std::move(*this);
    }
    /// As required(), where another key is not there.
    Key required_without(std::string other, std::string what_to_write) && {
        text_.usual = "required without `" + other + "`";
        missing_ = std::move(what_to_write) + ", or give " + other;
        instead_ = std::move(other);
        return std::move(*this);
    }
    /// What holds where the key is left out and there is no value to write, in words.
    Key usually(std::string words) && {
        text_.usual = std::move(words);
        return std::move(*this);
    }
    /// As usually(); the words are a comment of the canonical text too.
    Key usually_explained(std::string words) && {
        text_.usual = words;
        comment_ = [words = std::move(words)](const Keys&) { return words; };
        return std::move(*this);
    }
    /// A comment of the canonical text in place of a value.
    Key comment(std::function<std::string(const Keys&)> words) && {
        comment_ = std::move(words);
        return std::move(*this);
    }
    Key sample(std::string value, KeyText::Shown shown = KeyText::Shown::set) && {
        text_.sample = std::move(value);
        text_.shown = shown;
        return std::move(*this);
    }
    Key detail(std::string sentences) && {
        text_.detail = std::move(sentences);
        return std::move(*this);
    }
    Key unit(std::string unit) && {
        text_.unit = std::move(unit);
        return std::move(*this);
    }
    /// The canonical text has the key for such keys alone.
    Key only_where(std::function<bool(const Keys&)> applies) && {
        applies_ = std::move(applies);
        return std::move(*this);
    }
    /// As only_where(); elsewhere the key has no effect, and to give it is an error. `others`: what
    /// it goes with, as `method = "number"`.
    Key only_with(std::string others, std::function<bool(const Keys&)> applies) && {
        others_ = std::move(others);
        return std::move(*this).only_where(std::move(applies));
    }
    /// Called when the key was read, there or not: for defaults of others that depend on it, and
    /// for what must be true of several keys, which it reports. False: something is wrong.
    Key then(Read next) && {
        then_ = std::move(next);
        return std::move(*this);
    }

    const KeyText& text() const { return text_; }

    bool read(TableReader& table, Keys& keys) const {
        const bool is_there = table.has(text_.name);
        if (!is_there && !missing_.empty() && (instead_.empty() || !table.has(instead_))) {
            table.missing(text_.name, missing_);
            return false;
        }
        return (!is_there || read_(table, keys)) && (!then_ || then_(table, keys));
    }

    /// Reports a key that is there and has no effect beside the others; false then.
    bool check_effect(TableReader& table, const Keys& keys) const {
        if (others_.empty() || applies_(keys) || !table.has(text_.name)) {
            return true;
        }
        table.complain(text_.name, "has an effect only with " + others_ +
                                       ": write that too, or leave " + text_.name + " out");
        return false;
    }

    std::string line(const Keys& keys, CanonicalFor use) const {
        if (applies_ && !applies_(keys)) {
            return "";
        }
        if (const std::optional<std::string> value = value_(keys)) {
            return text_.name + " = " + *value + "\n";
        }
        return comment_ && use == CanonicalFor::reading
                   ? "# " + text_.name + ": " + comment_(keys) + "\n"
                   : "";
    }

  private:
    KeyText text_;
    Read read_;
    Value value_;
    Read then_;
    std::string missing_; ///< empty: the key may be left out
    std::string instead_; ///< the key that may be there in its place; empty: none
    std::function<std::string(const Keys&)> comment_;
    std::string others_; ///< what the key goes with; empty: anything
    std::function<bool(const Keys&)> applies_;
};

/// A key that is a member of Keys. `meaning` as KeyText's.
template <class Keys, class T, class Owner>
Key<Keys> key(std::string name, T Owner::*member, Form<T> form, std::string meaning) {
    const auto read = [name, member, read = form.read](TableReader& table, Keys& keys) {
        std::optional<T> value = read(table, name);
        if (value) {
            keys.*member = std::move(*value);
        }
        return value.has_value();
    };
    const auto value = [member, text = form.text](const Keys& keys) {
        return std::optional(text(keys.*member));
    };
    return Key<Keys>({name, form.type, form.range, {}, {}, std::move(meaning), {}, form.annotation},
                     read, value);
}

/// The same of a member that may have no value.
template <class Keys, class T, class Owner>
Key<Keys> key(std::string name, std::optional<T> Owner::*member, Form<T> form,
              std::string meaning) {
    const auto read = [name, member, read = form.read](TableReader& table, Keys& keys) {
        keys.*member = read(table, name);
        return (keys.*member).has_value();
    };
    const auto value = [member, text = form.text](const Keys& keys) {
        const std::optional<T>& held = keys.*member;
        return held ? std::optional(text(*held)) : std::nullopt;
    };
    return Key<Keys>({name, form.type, form.range, {}, {}, std::move(meaning), {}, form.annotation},
                     read, value);
}

/// The keys of a table, in the order of the canonical text.
template <class Keys> class KeyList {
  public:
    explicit KeyList(std::vector<Key<Keys>> keys) : keys_(std::move(keys)) {}

    /// All keys; nothing where one is wrong, and then every wrong one is reported.
    std::optional<Keys> read(TableReader& table) const {
        Keys keys;
        bool is_right = true;
        for (const Key<Keys>& key : keys_) {
            is_right = key.read(table, keys) && is_right;
        }
        for (const Key<Keys>& key : keys_) {
            is_right = is_right && key.check_effect(table, keys);
        }
        return is_right ? std::optional(std::move(keys)) : std::nullopt;
    }

    std::string canonical(const Keys& keys, CanonicalFor use) const {
        std::string text;
        for (const Key<Keys>& key : keys_) {
            text += key.line(keys, use);
        }
        return text;
    }

    std::vector<KeyText> texts() const {
        std::vector<KeyText> texts;
        for (const Key<Keys>& key : keys_) {
            texts.push_back(key.text());
        }
        return texts;
    }

  private:
    std::vector<Key<Keys>> keys_;
};

/// The parameters of a kind whose table is a KeyList.
template <class Keys> class ListedParameters : public KindParameters {
  public:
    /// `list` outlives this.
    ListedParameters(const KeyList<Keys>& list, Keys keys) : list_(list), keys_(std::move(keys)) {}

    std::vector<InputDataset> inputs() const override { return {}; }
    std::string canonical() const override { return list_.canonical(keys_, CanonicalFor::reading); }
    std::string canonical_for(const ArrayInfo& /*input*/) const override {
        return list_.canonical(keys_, CanonicalFor::identity);
    }

  protected:
    const KeyList<Keys>& list() const { return list_; }
    const Keys& keys() const { return keys_; }

  private:
    const KeyList<Keys>& list_;
    Keys keys_;
};

/// Reads a table into Parameters, a ListedParameters; null where a key is wrong.
template <class Parameters, class Keys>
std::unique_ptr<KindParameters> read_parameters(const KeyList<Keys>& list, TableReader& table) {
    std::optional<Keys> keys = list.read(table);
    return keys ? std::make_unique<Parameters>(list, std::move(*keys)) : nullptr;
}

} // namespace runner
