// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/layout_message.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/input/description_message.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t word = sizeof(std::int64_t);

std::vector<std::string> printable_texts(std::vector<std::string> texts) {
    std::transform(texts.begin(), texts.end(), texts.begin(),
                   [](const std::string& text) { return printable(text); });
    return texts;
}

void put(MessageWriter& to, const std::optional<std::int64_t>& value) {
    to.numbers(value ? std::vector<std::int64_t>{*value} : std::vector<std::int64_t>());
}

std::optional<std::int64_t> take_optional(MessageReader& from) {
    const std::vector<std::int64_t> values = from.numbers();
    if (values.size() > 1) {
        throw BadMessage(fmt::format("one number stands for {}", values.size()));
    }
    return values.empty() ? std::nullopt : std::optional(values.front());
}

void put(MessageWriter& to, const DatasetInfo& info) {
    to.number(static_cast<std::int64_t>(info.array.type));
    to.numbers(info.array.shape);
    to.text(info.array.stored.text);
    to.text(info.array.stored.encoded);
    to.number(info.big_endian ? 1 : 0);
    to.text(info.storage);
    to.numbers(info.chunk);
    to.texts(info.filters);
    to.number(info.stored_bytes);
    put(to, info.offset);
    put(to, info.channels ? std::optional<std::int64_t>(*info.channels) : std::nullopt);
    put_axes(to, info.axes);
    to.texts(info.invalid);
    put(to, info.invalid_value ? std::optional(std::bit_cast<std::int64_t>(*info.invalid_value))
                               : std::nullopt);
    to.texts(info.masks);
    to.number(static_cast<std::int64_t>(info.order));
    to.texts(info.notes);
}

DatasetInfo take_info(MessageReader& from) {
    DatasetInfo info;
    info.array.type = static_cast<ElementType>(
        from.number_up_to(static_cast<std::int64_t>(ElementType::bytes16)));
    info.array.shape = from.numbers();
    info.array.stored.text = printable(from.text());
    info.array.stored.encoded = from.text();
    info.big_endian = from.number_up_to(1) == 1;
    info.storage = printable(from.text());
    info.chunk = from.numbers();
    info.filters = printable_texts(from.texts());
    info.stored_bytes = from.number_up_to(highest);
    info.offset = take_optional(from);
    if (const std::optional<std::int64_t> channels = take_optional(from)) {
        if (*channels != 1 && *channels != 3 && *channels != 4) {
            throw BadMessage(fmt::format("an image has {} channels", *channels));
        }
        info.channels = static_cast<int>(*channels);
    }
    info.axes = take_axes(from, info.array);
    info.invalid = printable_texts(from.texts());
    if (const std::optional<std::int64_t> bits = take_optional(from)) {
        info.invalid_value = std::bit_cast<double>(*bits);
    }
    info.masks = from.texts();
    info.order = static_cast<DatasetInfo::Order>(
        from.number_up_to(static_cast<std::int64_t>(DatasetInfo::Order::first_fastest)));
    info.notes = printable_texts(from.texts());
    return info;
}

void put(MessageWriter& to, const std::vector<Filter>& filters) {
    to.number(std::ssize(filters));
    for (const Filter& filter : filters) {
        to.number(filter.id);
        to.text(filter.name);
        to.numbers({filter.parameters.begin(), filter.parameters.end()});
    }
}

std::vector<Filter> take_filters(MessageReader& from) {
    std::vector<Filter> filters(from.count(3 * word));
    for (Filter& filter : filters) {
        filter.id = static_cast<int>(from.number_up_to(std::numeric_limits<int>::max()));
        filter.name = printable(from.text());
        for (const std::int64_t value : from.numbers()) {
            filter.parameters.push_back(static_cast<unsigned>(value));
        }
    }
    return filters;
}

void put(MessageWriter& to, const std::vector<ChunkPlace>& chunks) {
    to.number(std::ssize(chunks));
    for (const ChunkPlace& chunk : chunks) {
        to.number(chunk.index);
        to.number(chunk.offset);
        to.number(chunk.bytes);
        to.number(chunk.skipped);
        to.number(chunk.file);
    }
}

std::vector<ChunkPlace> take_chunks(MessageReader& from) {
    std::vector<ChunkPlace> chunks(from.count(5 * word));
    for (ChunkPlace& chunk : chunks) {
        chunk.index = from.number_up_to(highest);
        chunk.offset = from.number_up_to(highest);
        chunk.bytes = from.number_up_to(highest);
        chunk.skipped = static_cast<std::uint32_t>(from.number_up_to(0xffffffff));
        chunk.file = static_cast<std::uint32_t>(from.number_up_to(0xffffffff));
    }
    return chunks;
}

void put(MessageWriter& to, const std::vector<ArchiveMember>& members) {
    to.number(std::ssize(members));
    for (const ArchiveMember& member : members) {
        to.text(member.name);
        to.number(member.offset);
        to.number(member.bytes);
        to.number(member.checksum);
    }
}

std::vector<ArchiveMember> take_members(MessageReader& from) {
    std::vector<ArchiveMember> members(from.count(4 * word));
    for (ArchiveMember& member : members) {
        member.name = from.text();
        member.offset = from.number_up_to(highest);
        member.bytes = from.number_up_to(highest - member.offset);
        member.checksum = static_cast<std::uint32_t>(from.number_up_to(0xffffffff));
    }
    return members;
}

void put(MessageWriter& to, const std::vector<RowExtent>& extents) {
    to.number(std::ssize(extents));
    for (const RowExtent& extent : extents) {
        to.number(extent.first);
        to.number(extent.rows);
        to.number(extent.offset);
    }
}

std::vector<RowExtent> take_extents(MessageReader& from) {
    std::vector<RowExtent> extents(from.count(3 * word));
    for (RowExtent& extent : extents) {
        extent.first = from.number_up_to(highest);
        extent.rows = from.number_up_to(highest);
        extent.offset = from.number_up_to(highest);
    }
    return extents;
}

void put_layout(MessageWriter& to, const DatasetLayout& layout) {
    to.text(layout.holder);
    put(to, layout.info);
    to.number(static_cast<std::int64_t>(layout.way));
    put(to, layout.filters);
    to.text({reinterpret_cast<const char*>(layout.fill.data()), layout.fill.size()});
    put(to, layout.chunks);
    put(to, layout.extents);
    to.number(static_cast<std::int64_t>(layout.edges));
    to.texts(layout.chunk_files);
    put(to, layout.members);
}

DatasetLayout take_layout(MessageReader& from) {
    DatasetLayout layout;
    layout.holder = from.text();
    layout.info = take_info(from);
    layout.way = static_cast<DatasetLayout::Way>(
        from.number_up_to(static_cast<std::int64_t>(DatasetLayout::Way::sources)));
    layout.filters = take_filters(from);
    const std::string fill = from.text();
    std::transform(fill.begin(), fill.end(), std::back_inserter(layout.fill),
                   [](char byte) { return static_cast<std::byte>(byte); });
    layout.chunks = take_chunks(from);
    layout.extents = take_extents(from);
    layout.edges = from.number_up_to(1) == 1 ? EdgeChunks::cut : EdgeChunks::whole;
    layout.chunk_files = from.texts();
    layout.members = take_members(from);
    return layout;
}

void put_sources(MessageWriter& to, const DatasetLayout& layout) {
    to.number(std::ssize(layout.sources));
    for (const DatasetLayout& source : layout.sources) {
        to.text(source.dataset);
        put_layout(to, source);
    }
    to.number(std::ssize(layout.pieces));
    for (const RowPiece& piece : layout.pieces) {
        to.number(piece.first);
        to.number(piece.rows);
        to.number(piece.source);
        to.number(piece.source_first);
    }
}

void take_sources(MessageReader& from, DatasetLayout& layout) {
    for (std::size_t left = from.count(12 * word); left > 0; --left) {
        const std::string dataset = printable(from.text());
        DatasetLayout source = take_layout(from);
        source.file = source.holder;
        source.dataset = dataset;
        layout.sources.push_back(std::move(source));
    }
    layout.pieces.resize(from.count(4 * word));
    for (RowPiece& piece : layout.pieces) {
        piece.first = from.number_up_to(highest);
        piece.rows = from.number_up_to(highest);
        piece.source = from.number_up_to(highest);
        piece.source_first = from.number_up_to(highest);
    }
}

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
    values.resize(from.count(word));
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
    for (std::size_t left = from.count(3 * word); left > 0; --left) {
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
    put(to, content.offset);
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
    content.filters = printable_texts(from.texts());
    content.offset = take_optional(from);
    content.attributes = take_attributes(from);
    return content;
}

} // namespace

std::string encode_layout(const DatasetLayout& layout) {
    MessageWriter to;
    to.text(layout.dataset);
    put_layout(to, layout);
    put_sources(to, layout);
    put_roles(to, layout.roles);
    put_setup(to, layout.setup);
    put_marks(to, layout.files);
    return to.take();
}

DatasetLayout decode_layout(std::string_view bytes) {
    MessageReader from(bytes);
    std::string dataset = from.text();
    DatasetLayout layout = take_layout(from);
    layout.dataset = std::move(dataset);
    take_sources(from, layout);
    layout.roles = take_roles(from, layout.info.array);
    layout.setup = take_setup(from);
    layout.files = take_marks(from);
    from.end();
    return layout;
}

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
    for (std::size_t left = from.count(10 * word); left > 0; --left) {
        content.datasets.push_back(take_dataset(from));
    }
    for (std::size_t left = from.count(5 * word); left > 0; --left) {
        content.links.push_back(take_link(from));
    }
    from.end();
    return content;
}

} // namespace runner
