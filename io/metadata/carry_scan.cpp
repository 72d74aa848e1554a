// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/scan_items.hpp"
#include "io/metadata/value_lists.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
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

/// Says that the frames, to which halves are joined, have the full field of view: "Half" says that
/// the axis of rotation is near one side of them, as `half_acquisition` does.
void say_full(ScanItem& item) {
    const std::string name = name_of_item(item);
    if (name == "field_of_view" && !item.value.texts.empty()) {
        item.value.texts.front() = "Full";
    } else if (name == "half_acquisition") {
        std::fill(item.value.bytes.begin(), item.value.bytes.end(), std::byte{0});
    }
}

/// How many frames are projections; nothing where no key says it.
std::optional<std::int64_t> projections(const std::vector<ScanItem>& scan) {
    const auto key = std::find_if(scan.begin(), scan.end(), [](const ScanItem& item) {
        return name_of_item(item) == "image_key" && item.kind == ScanItem::Kind::of_frames;
    });
    if (key == scan.end()) {
        return std::nullopt;
    }
    std::int64_t count = 0;
    const std::int64_t frames = key->value.count();
    const std::int64_t size = std::ssize(key->value.bytes) / std::max<std::int64_t>(1, frames);
    for (std::int64_t i = 0; i < frames; ++i) {
        const auto begin = key->value.bytes.begin() + i * size;
        count +=
            std::all_of(begin, begin + size, [](std::byte byte) { return byte == std::byte{0}; })
                ? 1
                : 0;
    }
    return count;
}

/// Takes away what the detector says of the number of its frames and of their place on it, where
/// they are others than before.
void leave_stale(std::vector<ScanItem>& made, const std::vector<ScanItem>& before,
                 const AxisChange& change, std::vector<std::string>& left_out) {
    const bool is_cut =
        change.from.back() != change.to.back() ||
        change.from.at(change.from.size() - 2) != change.to.at(change.to.size() - 2);
    const bool has_others = projections(made) != projections(before);
    std::erase_if(made, [&](const ScanItem& item) {
        const std::string name = name_of_item(item);
        const bool is_stale = (name == "roi" && is_cut) || (name == "tomo_n" && has_others);
        if (is_stale) {
            left_out.push_back(item.path + (name == "roi"
                                                ? ": the frames have other rows or columns"
                                                : ": there are other projections"));
        }
        return is_stale;
    });
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
    leave_stale(made, scan, change, left_out);
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
        if (is_wider) { // halves are joined
            say_full(item);
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
    leave_stale(made, scan, change, left_out);
    return made;
}

} // namespace runner
