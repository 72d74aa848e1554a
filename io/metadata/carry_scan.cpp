// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/scan_items.hpp"
#include "io/metadata/value_lists.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace runner {
namespace {

std::string name_of_item(const ScanItem& item) {
    return item.path.substr(item.path.rfind('/') + 1);
}

/// A place on the detector in pixels, which moves where columns are cut or joined.
bool is_pixel_position(const ScanItem& item) {
    const std::string name = name_of_item(item);
    return name.find("pixel_position") != std::string::npos || name == "estimated_cor_frm_motor";
}

bool is_role(const ScanItem& item) { return name_of_item(item).starts_with("image_key"); }

/// Whether every number is 0.
bool is_zero(const PlainValue& value) {
    return std::all_of(value.bytes.begin(), value.bytes.end(),
                       [](std::byte byte) { return byte == std::byte{0}; });
}

/// False where the numbers' type does not have all products.
bool multiply(PlainValue& value, std::int64_t by) {
    bool fits = true;
    visit_element_type(value.type, [&]<class T>(T number) {
        for (std::int64_t i = 0; i < value.count(); ++i) {
            std::byte* const at = value.bytes.data() + i * std::int64_t{sizeof(T)};
            std::memcpy(&number, at, sizeof(T));
            if constexpr (std::is_integral_v<T>) {
                fits = !__builtin_mul_overflow(number, by, &number) && fits;
            } else {
                number = static_cast<T>(static_cast<double>(number) * static_cast<double>(by));
            }
            std::memcpy(at, &number, sizeof(T));
        }
    });
    return fits;
}

/// How many pixels of the input one of the output stands for, along what the item measures.
std::int64_t pixels_of(const ScanItem& item, const AxisChange& change) {
    const std::string name = name_of_item(item);
    return name == "x_pixel_size" ? change.axes[2].block
                                  : (name == "y_pixel_size" ? change.axes[1].block : 1);
}

/// "Half": the axis of rotation is near one side of the frames.
bool is_field_of_view(const ScanItem& item) {
    return item.value.kind == PlainValue::Kind::text && name_of_item(item) == "field_of_view" &&
           !item.value.texts.empty();
}

/// Takes means of blocks of frames; nothing can be said of the role of flats among projections.
bool join_frames(ScanItem& item, const AxisChange& change) {
    if (is_role(item)) {
        item.value = chosen(item.value, evenly(0, 1, change.to[0]));
        return is_zero(item.value);
    }
    item.value = in_blocks(item.value, change.from[0], change.axes[0].block, change.to[0]);
    return true;
}

} // namespace

std::vector<ScanItem> scan_of_part(const std::vector<ScanItem>& scan, const AxisChange& change,
                                   const DatasetPart& part, std::vector<std::string>& left_out) {
    std::vector<ScanItem> made;
    for (ScanItem item : scan) {
        if (is_pixel_position(item) && change.from.back() != change.to.back()) {
            left_out.push_back(item.path + ": the region has other columns");
            continue;
        }
        if (item.kind == ScanItem::Kind::of_frames) {
            item.value =
                chosen(item.value,
                       part.frames.empty() ? evenly(part.first[0], 1, part.count[0]) : part.frames);
        }
        made.push_back(std::move(item));
    }
    return made;
}

std::vector<ScanItem> carried_scan(const std::vector<ScanItem>& scan, const AxisChange& change,
                                   std::vector<std::string>& left_out) {
    constexpr std::size_t axes = 3;
    if (change.from.size() != axes || change.axes.size() != axes || change.reorders()) {
        if (!scan.empty()) {
            left_out.emplace_back("the scan: the output is no more frames of it");
        }
        return {};
    }
    std::vector<ScanItem> made;
    for (ScanItem item : scan) {
        const bool is_wider = change.to[2] > change.from[2];
        if (is_pixel_position(item) && (change.axes[2].block > 1 || is_wider)) {
            left_out.push_back(item.path + ": columns are joined");
            continue;
        }
        if (is_field_of_view(item) && is_wider) { // halves are joined
            item.value.texts.front() = "Full";
        }
        if (item.kind == ScanItem::Kind::of_frames && change.axes[0].block == 1) {
            item.value = in_blocks(item.value, change.from[0], 1, change.to[0]);
        }
        if (item.kind == ScanItem::Kind::of_frames && change.axes[0].block > 1 &&
            !join_frames(item, change)) {
            left_out.push_back(item.path + ": frames of several roles are joined");
            return {};
        }
        if (item.kind != ScanItem::Kind::group && item.value.kind == PlainValue::Kind::number &&
            !multiply(item.value, pixels_of(item, change))) {
            left_out.push_back(item.path + ": its type is too small for larger pixels");
            continue;
        }
        made.push_back(std::move(item));
    }
    return made;
}

} // namespace runner
