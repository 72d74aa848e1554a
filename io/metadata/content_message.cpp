// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/content_message.hpp"

#include "base/text.hpp"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

namespace runner {
namespace {

constexpr std::size_t number_bytes = sizeof(std::int64_t);

void put_value(MessageWriter& to, const std::string& value) { to.text(value); }
void put_value(MessageWriter& to, std::int64_t value) { to.number(value); }
void put_value(MessageWriter& to, double value) { to.real(value); }
template <class T> void put_value(MessageWriter& to, const std::vector<T>& values) {
    to.number(std::ssize(values));
    for (const T& value : values) {
        put_value(to, value);
    }
}

void take_value(MessageReader& from, std::string& value) { value = from.text(); }
void take_value(MessageReader& from, std::int64_t& value) { value = from.number(); }
void take_value(MessageReader& from, double& value) { value = from.real(); }
template <class T> void take_value(MessageReader& from, std::vector<T>& values) {
    values.resize(from.count(number_bytes));
    for (T& value : values) {
        take_value(from, value);
    }
}

/// A value of alternative `index`, counted from `I`.
template <std::size_t I = 0>
AttributeValue take_alternative(MessageReader& from, std::size_t index) {
    if constexpr (I < std::variant_size_v<AttributeValue>) {
        if (index != I) {
            return take_alternative<I + 1>(from, index);
        }
        std::variant_alternative_t<I, AttributeValue> value{};
        take_value(from, value);
        return value;
    } else {
        throw BadMessage("an attribute is of no known kind");
    }
}

void put(MessageWriter& to, const AttributeList& attributes) {
    to.number(std::ssize(attributes));
    for (const auto& [name, value] : attributes) {
        to.text(name);
        to.number(static_cast<std::int64_t>(value.index()));
        std::visit([&to](const auto& some) { put_value(to, some); }, value);
    }
}

AttributeList take_attributes(MessageReader& from) {
    AttributeList attributes;
    for (std::size_t left = from.count(3 * number_bytes); left > 0; --left) {
        std::string name = from.text();
        const auto index =
            static_cast<std::size_t>(from.number_up_to(std::variant_size_v<AttributeValue> - 1));
        attributes.emplace_back(std::move(name), take_alternative(from, index));
    }
    return attributes;
}

void put(MessageWriter& to, const DatasetContent& content) {
    to.text(content.path);
    to.text(content.type);
    to.numbers(content.shape);
    to.number(content.bytes);
    to.number(content.stored_bytes);
    to.text(content.storage);
    to.numbers(content.chunk);
    to.texts(content.filters);
    to.optional_number(content.offset);
    put(to, content.attributes);
}

void put(MessageWriter& to, const LinkContent& link) {
    to.text(link.path);
    to.text(link.kind);
    to.text(link.target);
    to.text(link.leads_to);
    to.number(link.is_dataset ? 1 : 0);
}

LinkContent take_link(MessageReader& from) {
    LinkContent link;
    link.path = from.text();
    link.kind = printable(from.text());
    link.target = from.text();
    link.leads_to = from.text();
    link.is_dataset = from.number_up_to(1) == 1;
    return link;
}

DatasetContent take_dataset(MessageReader& from) {
    DatasetContent content;
    content.path = from.text();
    content.type = printable(from.text());
    content.shape = from.numbers();
    content.bytes = from.number();
    content.stored_bytes = from.number();
    content.storage = printable(from.text());
    content.chunk = from.numbers();
    content.filters = from.printable_texts();
    content.offset = from.optional_number();
    content.attributes = take_attributes(from);
    return content;
}

} // namespace

std::string encode_attributes(const AttributeList& attributes) {
    MessageWriter to;
    put(to, attributes);
    return to.take();
}

AttributeList decode_attributes(std::string_view bytes) {
    MessageReader from(bytes);
    AttributeList attributes = take_attributes(from);
    from.end();
    return attributes;
}

std::string encode_content(const FileContent& content) {
    MessageWriter to;
    to.text(content.file);
    to.text(content.format);
    to.number(content.bytes);
    put(to, content.attributes);
    to.number(std::ssize(content.datasets));
    for (const DatasetContent& dataset : content.datasets) {
        put(to, dataset);
    }
    to.number(std::ssize(content.links));
    for (const LinkContent& link : content.links) {
        put(to, link);
    }
    return to.take();
}

FileContent decode_content(std::string_view bytes) {
    MessageReader from(bytes);
    FileContent content;
    content.file = from.text();
    content.format = printable(from.text());
    content.bytes = from.number();
    content.attributes = take_attributes(from);
    for (std::size_t left = from.count(10 * number_bytes); left > 0; --left) {
        content.datasets.push_back(take_dataset(from));
    }
    for (std::size_t left = from.count(5 * number_bytes); left > 0; --left) {
        content.links.push_back(take_link(from));
    }
    from.end();
    return content;
}

} // namespace runner
