// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/lost_metadata.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/formats/rows_format.hpp"
#include "io/metadata/value_lists.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace runner {
namespace {

/// Whether a name says more than that an array is images: rows, columns, samples of colour, frames.
bool says_more(const std::string& name) {
    return !name.empty() && name != "y" && name != "x" && name != "s" && name != "frame";
}

bool has_names(const Axes& axes) {
    return axes.has_moved_samples() ||
           std::any_of(axes.each.begin(), axes.each.end(),
                       [](const Axis& axis) { return says_more(axis.name); });
}

/// Whether a name that is known is another one, or none, in the file.
bool has_other_names(const Axes& known, const Axes& there) {
    for (std::size_t axis = 0; axis < known.each.size(); ++axis) {
        const std::string& name = known.each[axis].name;
        const bool is_image = name == "frame" || name.empty();
        if (!is_image && (!there.known() || there.each[axis].name != name)) {
            return true;
        }
    }
    return false;
}

void add_channels(const Axes& known, const Axes& there, std::vector<std::string>& lost) {
    if (!known.channels.empty() && there.channels.empty()) {
        lost.emplace_back("the names of channels");
    }
    if (known.colours.size() > 1 && there.colours.empty()) {
        lost.emplace_back("the colours of channels");
    }
    if (known.has_wavelengths() && !there.has_wavelengths()) {
        lost.emplace_back("the wavelengths of channels");
    }
}

/// Whether an affine that is known is in the file, and says where this axis begins.
bool is_placed(const Axes& known, const Axes& there, std::size_t axis) {
    const auto places = [axis](const std::optional<Affine>& affine,
                               const std::optional<Affine>& written) {
        return affine && written && axis < affine->steps.size() &&
               affine->steps[axis] != Affine::Vector{};
    };
    return places(known.sform, there.sform) || places(known.qform, there.qform);
}

/// What is known, and not found in the file.
std::vector<std::string> not_found(const Axes& known, const Axes& there) {
    std::vector<std::string> lost;
    if (has_other_names(known, there)) {
        lost.push_back("the names of axes, " + known.names() +
                       (has_names(there) ? " (in the file they are " + there.names() + ")" : ""));
    }
    for (std::size_t axis = 0; axis < known.each.size(); ++axis) {
        if (known.each[axis].spacing && (!there.known() || !there.each[axis].spacing)) {
            lost.push_back(fmt::format("the spacing of axis {}", axis));
        }
    }
    for (std::size_t axis = 0; axis < known.each.size(); ++axis) {
        const double place = known.each[axis].origin.value_or(0);
        if (place != 0 && !is_placed(known, there, axis) &&
            (!there.known() || there.each[axis].origin.value_or(0) == 0)) {
            lost.push_back(fmt::format("the place of the first element along axis {}", axis));
        }
    }
    if ((known.sform && !there.sform) || (known.qform && !there.qform)) {
        lost.emplace_back("the affine");
    }
    add_channels(known, there, lost);
    for (std::size_t axis = 0; axis < there.each.size() && known.known(); ++axis) {
        const Axis& said = there.each[axis];
        if (known.each[axis].spacing && said.spacing && !known.each[axis].unit.empty() &&
            said.unit.empty()) {
            lost.push_back(fmt::format("the unit of axis {}", axis));
        }
    }
    return lost;
}

/// Whether an attribute says what the axes of an output say too.
bool is_of_axes(const std::string& name) {
    constexpr std::array<std::string_view, 7> names = {
        "DIMENSION_LABELS", "axes",           "axistags", "spacing_units",
        "signal",           "interpretation", "default"};
    return is_list_of_sizes(name) || name == placement_attribute || name.ends_with("_indices") ||
           std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether the axes have the coordinates as a spacing.
bool is_spacing(const Coordinates& coordinates, const Axes& axes) {
    const auto axis = static_cast<std::size_t>(coordinates.axis);
    return axis < axes.each.size() && axes.each[axis].spacing;
}

} // namespace

std::string lost_text(const std::string& input, const std::vector<std::string>& lost) {
    constexpr std::size_t most = 5;
    std::string text = input + ": the output is without some of its attributes: ";
    for (std::size_t i = 0; i < std::min(lost.size(), most); ++i) {
        text += (i == 0 ? "" : "; ") + lost[i];
    }
    if (lost.size() > most) {
        text += fmt::format("; and {} more", lost.size() - most);
    }
    return text;
}

std::vector<std::string> lost_axes(const Axes& axes) {
    std::vector<std::string> lost;
    if (has_names(axes)) {
        lost.push_back("the names of axes, " + axes.names());
    }
    const auto add = [&](const std::string& what, const auto& is_said) {
        std::string numbers;
        for (std::size_t axis = 0; axis < axes.each.size(); ++axis) {
            if (is_said(axes.each[axis])) {
                numbers += (numbers.empty() ? "" : ", ") + std::to_string(axis);
            }
        }
        if (!numbers.empty()) {
            lost.push_back(what + numbers);
        }
    };
    add("the spacing of axes ", [](const Axis& axis) { return axis.spacing.has_value(); });
    if (axes.sform || axes.qform) {
        lost.emplace_back("the affine");
    } else {
        add("the place of the first element along axes ",
            [](const Axis& axis) { return axis.origin.value_or(0) != 0; });
    }
    add_channels(axes, {}, lost);
    return lost;
}

std::vector<std::string> lost_axes(const OutputDataset& output) {
    const WrittenFormat& written = *output.layout.format;
    if (written.placed == WrittenFormat::Placed::no) {
        return lost_axes(output.axes);
    }
    if (written.left_out != nullptr) {
        return written.left_out(output);
    }
    const RowsFormat* const format = rows_format_of(output.file);
    return not_found(output.axes, format->survey({output.file, "", {}}).info.axes);
}

std::vector<std::string> lost_metadata(const Metadata& metadata, const Axes& axes) {
    std::vector<std::string> lost;
    if (!metadata.scan.empty()) {
        lost.emplace_back("the roles and angles of frames, and all else of the scan");
    }
    std::string names;
    for (const Coordinates& each : metadata.coordinates) {
        if (metadata.scan.empty() && !is_spacing(each, axes)) {
            names += (names.empty() ? "" : ", ") + printable(each.name);
        }
    }
    if (!names.empty()) {
        lost.push_back("the coordinates " + names);
    }
    names.clear();
    for (const NamedValue& each : metadata.dataset) {
        if (!is_of_axes(each.name)) {
            names += (names.empty() ? "" : ", ") + printable(each.name);
        }
    }
    if (!names.empty()) {
        lost.push_back("the attributes " + names);
    }
    return lost;
}

} // namespace runner
