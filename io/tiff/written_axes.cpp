// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/written_axes.hpp"

#include "base/format.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

/// What an axis that counts pages is, by its name, else by its unit: one in the unit of the pixels
/// is z.
char letter_of(const Axis& axis, const Axis& x) {
    if (axis.name == "t" || axis.name == "c" || axis.name == "z") {
        return axis.name.front();
    }
    if (axis.name == "frame") {
        return 't';
    }
    if (metres_in(axis.unit) || (axis.spacing && x.spacing && axis.unit == x.unit)) {
        return 'z';
    }
    return seconds_in(axis.unit) ? 't' : '?';
}

} // namespace

WrittenAxes::WrittenAxes(const TiffImage& image, const OutputDataset& output)
    : axes_(output.axes), said_spacings_(output.array.shape.size()),
      said_origins_(output.array.shape.size()) {
    const auto axis_of = [&](std::size_t number, std::int64_t extent) {
        WrittenAxis axis{number, extent, '?', {}};
        if (axes_.known()) {
            axis.at = axes_.each[number];
        }
        return axis;
    };
    const std::size_t leading = image.leading.size();
    y = axis_of(leading, image.height);
    x = axis_of(leading + 1, image.width);
    for (std::size_t number = leading; number-- > 0;) {
        if (image.leading[number] == 1) {
            continue;
        }
        WrittenAxis axis = axis_of(number, image.leading[number]);
        const char letter = letter_of(axis.at, x.at);
        axis.letter = find(letter) == nullptr ? letter : '?';
        pages.insert(pages.begin(), std::move(axis));
    }
}

const WrittenAxis* WrittenAxes::find(char letter) const {
    const auto found = std::find_if(pages.begin(), pages.end(),
                                    [&](const WrittenAxis& axis) { return axis.letter == letter; });
    return found == pages.end() ? nullptr : &*found;
}

std::optional<double> WrittenAxes::metres() const {
    std::optional<double> common;
    for (const WrittenAxis* axis : {find('z'), &y, &x}) {
        const std::optional<double> own =
            axis != nullptr && axis->at.spacing ? metres_in(axis->at.unit) : std::nullopt;
        if (own && common && *own != *common) {
            return 1e-6;
        }
        common = own ? own : common;
    }
    return common;
}

std::optional<double> WrittenAxes::length(const WrittenAxis& axis, std::optional<double> metres) {
    if (!axis.at.spacing || (!metres && !axis.at.unit.empty())) {
        return std::nullopt;
    }
    if (!metres) {
        return axis.at.spacing;
    }
    const std::optional<double> own = metres_in(axis.at.unit);
    if (!own) {
        return std::nullopt;
    }
    return *own == *metres ? *axis.at.spacing : *axis.at.spacing * (*own / *metres);
}

std::optional<double> WrittenAxes::seconds(const WrittenAxis& axis) {
    const std::optional<double> own = seconds_in(axis.at.unit);
    return axis.at.spacing && own ? std::optional(*axis.at.spacing * *own) : std::nullopt;
}

std::string WrittenAxes::other_names(Letters letters) const {
    std::string names;
    bool are_others = false;
    const auto add = [&](const WrittenAxis& axis, char letter) {
        const std::string& known = axis.at.name;
        const std::string name(1, letter);
        are_others = are_others || (!known.empty() && known != "frame" && known != name);
        names += (names.empty() ? "" : ", ") + name;
    };
    for (const WrittenAxis& axis : pages) {
        add(axis, letters == Letters::said ? axis.letter : '?');
    }
    add(y, 'y');
    add(x, 'x');
    return are_others ? names : "";
}

std::vector<std::string> WrittenAxes::left_out(Letters letters) const {
    std::vector<std::string> texts;
    if (const std::string names = other_names(letters); !names.empty()) {
        texts.push_back(
            fmt::format("the names of axes, {} (in the file they are {})", axes_.names(), names));
    }
    for (std::size_t axis = 0; axis < axes_.each.size(); ++axis) {
        const Axis& at = axes_.each[axis];
        if (at.spacing && !said_spacings_[axis]) {
            texts.push_back(fmt::format("the spacing of axis {}", axis));
        }
        if (at.origin.value_or(0) != 0 && !said_origins_[axis]) {
            texts.push_back(fmt::format("the place of the first element along axis {}", axis));
        }
    }
    if (axes_.sform || axes_.qform) {
        texts.emplace_back("the affine");
    }
    if (!axes_.channels.empty() && !said_channels_) {
        texts.emplace_back("the names of channels");
    }
    if (axes_.colours.size() > 1 && !said_channels_) {
        texts.emplace_back("the colours of channels");
    }
    if (axes_.has_wavelengths() && !said_channels_) {
        texts.emplace_back("the wavelengths of channels");
    }
    return texts;
}

} // namespace runner
