// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/layout_message.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t word = sizeof(std::int64_t);

/// Roles as a part of a message.
void put_roles(MessageWriter& to, const FrameRoles& roles) {
    to.text(roles.key);
    std::string frames;
    for (const FrameRole role : roles.frames) {
        frames += static_cast<char>(role);
    }
    to.text(frames);
    to.text(roles.fault);
    to.texts(roles.groups);
}

/// The roles of the frames of a dataset, of each or of none. @throws BadMessage.
FrameRoles take_roles(MessageReader& from, const ArrayInfo& array) {
    FrameRoles roles;
    roles.key = from.text();
    const std::string frames = from.text();
    const std::vector<std::int64_t>& shape = array.shape;
    if (!frames.empty() && (shape.empty() || std::cmp_not_equal(frames.size(), shape.front()))) {
        throw BadMessage(fmt::format("there are roles of {} frames", frames.size()));
    }
    for (const char role : frames) {
        if (static_cast<unsigned char>(role) > static_cast<unsigned char>(last_role)) {
            throw BadMessage("a frame has no known role");
        }
        roles.frames.push_back(static_cast<FrameRole>(role));
    }
    roles.fault = printable(from.text());
    roles.groups = from.texts();
    return roles;
}

/// A scan's setup as a part of a message.
void put_setup(MessageWriter& to, const ScanSetup& setup) {
    for (const ScanNumber* const number :
         {&setup.energy, &setup.distance, &setup.x_pixel_size, &setup.y_pixel_size}) {
        to.text(number->path);
        to.real(number->value);
        to.number(static_cast<std::int64_t>(number->type));
        to.text(number->unit);
        to.text(number->fault);
    }
}

/// A setup whose numbers are of use, or have a fault. @throws BadMessage.
ScanSetup take_setup(MessageReader& from) {
    ScanSetup setup;
    for (ScanNumber* const number :
         {&setup.energy, &setup.distance, &setup.x_pixel_size, &setup.y_pixel_size}) {
        number->path = printable(from.text());
        number->value = from.real();
        number->type = static_cast<ElementType>(
            from.number_up_to(static_cast<std::int64_t>(ElementType::float64)));
        number->unit = printable(from.text());
        number->fault = printable(from.text());
        const bool is_energy = number == &setup.energy;
        const bool has_unit =
            (is_energy ? kev_in(number->unit) : metres_in(number->unit)).has_value();
        if (number->usable() && (!has_unit || !(number->value > 0))) {
            throw BadMessage("a number of the scan is of no use");
        }
    }
    return setup;
}

/// Axes as a part of a message.
void put_axes(MessageWriter& to, const Axes& axes) { to.text(to_text(axes)); }

/// The axes of a dataset, as far as they fit it. @throws BadMessage.
Axes take_axes(MessageReader& from, const ArrayInfo& array) {
    std::optional<Axes> axes = axes_of_text(from.text(), array.shape.size());
    if (!axes) {
        throw BadMessage("the axes are none");
    }
    return fitting_axes(std::move(*axes), array.shape);
}

/// The marks of files as a part of a message.
void put_marks(MessageWriter& to, const FileMarks& files) {
    to.number(std::ssize(files));
    for (const auto& [path, mark] : files) {
        to.text(path);
        to.number(mark.bytes);
        to.number(mark.modified);
    }
}

/// @throws BadMessage.
FileMarks take_marks(MessageReader& from) {
    FileMarks files;
    for (std::size_t left = from.count(3 * sizeof(std::int64_t)); left > 0; --left) {
        std::string path = from.text();
        const std::int64_t bytes = from.number();
        files.insert_or_assign(std::move(path), FileMark{bytes, from.number()});
    }
    return files;
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
    to.optional_number(info.offset);
    to.optional_number(info.channels ? std::optional<std::int64_t>(*info.channels) : std::nullopt);
    put_axes(to, info.axes);
    to.texts(info.invalid);
    to.optional_number(info.invalid_value
                           ? std::optional(std::bit_cast<std::int64_t>(*info.invalid_value))
                           : std::nullopt);
    to.texts(info.masks);
    to.number(static_cast<std::int64_t>(info.order));
    to.texts(info.unkept);
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
    info.filters = from.printable_texts();
    info.stored_bytes = from.number_up_to(highest);
    info.offset = from.optional_number();
    if (const std::optional<std::int64_t> channels = from.optional_number()) {
        if (*channels != 1 && *channels != 3 && *channels != 4) {
            throw BadMessage(fmt::format("an image has {} channels", *channels));
        }
        info.channels = static_cast<int>(*channels);
    }
    info.axes = take_axes(from, info.array);
    info.invalid = from.printable_texts();
    if (const std::optional<std::int64_t> bits = from.optional_number()) {
        info.invalid_value = std::bit_cast<double>(*bits);
    }
    info.masks = from.texts();
    info.order = static_cast<DatasetInfo::Order>(
        from.number_up_to(static_cast<std::int64_t>(DatasetInfo::Order::first_fastest)));
    info.unkept = from.printable_texts();
    info.notes = from.printable_texts();
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

} // namespace runner
