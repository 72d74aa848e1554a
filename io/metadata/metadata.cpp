// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/metadata.hpp"

#include "base/array_info.hpp"
#include "base/text.hpp"
#include "io/metadata/read_value.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr std::size_t word = sizeof(std::int64_t);

/// @throws BadMessage unless `good`.
void require(bool good, const char* what) {
    if (!good) {
        throw BadMessage(what);
    }
}

void put(MessageWriter& to, const PlainValue& value) {
    to.number(static_cast<std::int64_t>(value.kind));
    to.number(static_cast<std::int64_t>(value.space));
    to.numbers(value.shape);
    to.number(static_cast<std::int64_t>(value.type));
    to.text({reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()});
    to.texts(value.texts);
    to.number(value.text_bytes);
    to.number(value.utf8 ? 1 : 0);
}

/// That the extents are of no more than `most` values.
void check_extents(const PlainValue& value, std::int64_t most) {
    const bool simple = value.space == PlainValue::Space::simple;
    require(simple ? value.shape.size() <= 32 : value.shape.empty(), "extents of no array");
    std::int64_t count = 1;
    for (const std::int64_t extent : value.shape) {
        require(extent >= 0 && extent <= most && !__builtin_mul_overflow(count, extent, &count) &&
                    count <= most,
                "an array of too many values");
    }
}

void check_texts(const PlainValue& value) {
    require(std::ssize(value.texts) == value.count() && value.bytes.empty(),
            "texts that are not as many as was said");
    std::size_t bytes = 0;
    for (const std::string& text : value.texts) {
        bytes += text.size() + 1;
        require(value.text_bytes == 0 || std::ssize(text) <= value.text_bytes, "a text too long");
    }
    require(bytes <= static_cast<std::size_t>(most_attribute_bytes) &&
                value.text_bytes * value.count() <= most_attribute_bytes,
            "texts of too many bytes");
}

PlainValue take_value(MessageReader& from, std::int64_t most) {
    PlainValue value;
    value.kind = static_cast<PlainValue::Kind>(
        from.number_up_to(static_cast<std::int64_t>(PlainValue::Kind::text)));
    value.space = static_cast<PlainValue::Space>(
        from.number_up_to(static_cast<std::int64_t>(PlainValue::Space::simple)));
    value.shape = from.numbers();
    value.type = static_cast<ElementType>(
        from.number_up_to(static_cast<std::int64_t>(ElementType::float64)));
    const std::string bytes = from.text();
    std::transform(bytes.begin(), bytes.end(), std::back_inserter(value.bytes),
                   [](char byte) { return static_cast<std::byte>(byte); });
    value.texts = from.texts();
    value.text_bytes = from.number_up_to(most_attribute_bytes);
    value.utf8 = from.number_up_to(1) == 1;
    check_extents(value, most);
    if (value.kind == PlainValue::Kind::text) {
        check_texts(value);
    } else {
        require(value.texts.empty() &&
                    std::ssize(value.bytes) == value.count() * size_of(value.type),
                "numbers that are not as many as was said");
        require(value.kind == PlainValue::Kind::number || value.type == ElementType::int8,
                "truth of another type");
    }
    return value;
}

void put(MessageWriter& to, const std::vector<NamedValue>& values) {
    to.number(std::ssize(values));
    for (const NamedValue& each : values) {
        to.text(each.name);
        put(to, each.value);
    }
}

std::vector<NamedValue> take_values(MessageReader& from, std::size_t most) {
    std::vector<NamedValue> values;
    const std::size_t count = from.count(9 * word);
    require(count <= most, "too many attributes");
    for (std::size_t left = count; left > 0; --left) {
        std::string name = from.text();
        require(is_attribute_name(name), "an attribute without a name");
        values.push_back({std::move(name), take_value(from, most_attribute_bytes)});
        require(std::ssize(values.back().value.bytes) <= most_attribute_bytes,
                "an attribute of too many bytes");
    }
    return values;
}

Coordinates take_coordinates(MessageReader& from, const std::vector<std::int64_t>& shape) {
    Coordinates made;
    made.name = from.text();
    require(is_member_name(made.name), "coordinates without a name");
    require(!shape.empty(), "coordinates of no axis");
    made.axis = from.number_up_to(std::ssize(shape) - 1);
    made.values = take_value(from, most_coordinate_values);
    const std::int64_t extent = shape[static_cast<std::size_t>(made.axis)];
    const std::int64_t count = made.values.count();
    require(made.values.kind == PlainValue::Kind::number && made.values.shape.size() == 1 &&
                (count == extent || count - 1 == extent),
            "coordinates that are not as long as their axis");
    made.attributes = take_values(from, most_coordinate_attributes);
    return made;
}

void put(MessageWriter& to, const ScanItem& item) {
    to.text(item.path);
    to.text(item.nx_class);
    to.number(static_cast<std::int64_t>(item.kind));
    if (item.kind != ScanItem::Kind::group) {
        put(to, item.value);
    }
    put(to, item.attributes);
}

ScanItem take_item(MessageReader& from, const std::vector<std::int64_t>& shape) {
    ScanItem item;
    item.path = from.text();
    require(is_item_path(item.path), "a part of a scan without a name");
    item.nx_class = printable(from.text());
    item.kind = static_cast<ScanItem::Kind>(
        from.number_up_to(static_cast<std::int64_t>(ScanItem::Kind::group)));
    if (item.kind != ScanItem::Kind::group) {
        item.value = take_value(from, most_coordinate_values);
    }
    require(item.value.shape.size() <= 1, "a part of a scan with several axes");
    require(item.kind != ScanItem::Kind::of_frames ||
                (item.value.kind == PlainValue::Kind::number && !shape.empty() &&
                 item.value.shape == std::vector<std::int64_t>{shape.front()}),
            "numbers that are not as many as the frames");
    item.attributes = take_values(from, most_coordinate_attributes);
    return item;
}

} // namespace

std::int64_t PlainValue::count() const {
    switch (space) {
    case Space::empty: return 0;
    case Space::scalar: return 1;
    case Space::simple: return checked_product(shape);
    }
    return 0;
}

bool is_member_name(const std::string& name) {
    constexpr std::size_t longest = 255;
    return !name.empty() && name.size() <= longest && name != "." && name != ".." &&
           name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

bool is_item_path(const std::string& path) {
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        if (!is_member_name(path.substr(begin, end - begin)) || end + 1 == path.size()) {
            return false;
        }
        begin = end + 1;
    }
    return true;
}

std::string encode_metadata(const Metadata& metadata) {
    MessageWriter to;
    to.numbers(metadata.shape);
    put(to, metadata.dataset);
    put(to, metadata.group);
    to.texts(metadata.axes);
    to.number(std::ssize(metadata.coordinates));
    for (const Coordinates& each : metadata.coordinates) {
        to.text(each.name);
        to.number(each.axis);
        put(to, each.values);
        put(to, each.attributes);
    }
    to.texts(metadata.left_out);
    to.number(std::ssize(metadata.scan));
    for (const ScanItem& item : metadata.scan) {
        put(to, item);
    }
    to.text(to_text(metadata.placement));
    return to.take();
}

Metadata decode_metadata(std::string_view bytes) {
    MessageReader from(bytes);
    Metadata made;
    made.shape = from.numbers();
    require(std::all_of(made.shape.begin(), made.shape.end(), [](auto n) { return n >= 0; }),
            "a shape of less than nothing");
    made.dataset = take_values(from, most_attributes);
    made.group = take_values(from, most_attributes);
    made.axes = from.texts();
    require(made.axes.empty() || made.axes.size() == made.shape.size(), "names of other axes");
    const std::size_t count = from.count(11 * word);
    require(count <= most_coordinates, "too many coordinates");
    for (std::size_t left = count; left > 0; --left) {
        made.coordinates.push_back(take_coordinates(from, made.shape));
    }
    made.left_out = from.texts();
    for (std::string& text : made.left_out) {
        text = printable(text);
    }
    const std::size_t items = from.count(4 * word);
    require(items <= most_scan_items, "a scan of too many parts");
    for (std::size_t left = items; left > 0; --left) {
        made.scan.push_back(take_item(from, made.shape));
    }
    std::optional<Axes> placement = axes_of_text(from.text(), made.shape.size());
    require(placement.has_value(), "a placement that is none");
    made.placement = std::move(*placement);
    from.end();
    return made;
}

} // namespace runner
