// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// What one axis of a dataset is.
struct Axis {
    /// "t", "c", "z", "y", "x", "s" for the samples of a colour pixel, "frame", or what the file
    /// calls it; empty where nothing says.
    std::string name = {};
    std::string unit = {};              ///< of spacing and origin; empty where nothing says
    std::optional<double> spacing = {}; ///< from one element to the next, above 0
    std::optional<double> origin = {};  ///< of the first element

    bool operator==(const Axis&) const = default;
};

/// A point in space is origin + Σ steps[axis] · index. Axes that are not of space have steps of 0.
struct Affine {
    using Vector = std::array<double, 3>;

    std::int64_t code = 0;      ///< which space the points are in, as NIfTI-1 numbers them
    std::vector<Vector> steps;  ///< of each axis of the dataset
    std::vector<Vector> beside; ///< of axes of space that the dataset does not have
    Vector origin{};

    bool operator==(const Affine&) const = default;
};

/// What the axes of a dataset are, and where its elements lie.
struct Axes {
    std::vector<Axis> each = {}; ///< one for each axis; empty where nothing says
    /// Names along the axis c; without it one, or none. In this list and those below a channel of
    /// which nothing is said has an empty text.
    std::vector<std::string> channels = {};
    /// In which each channel is drawn, "RRGGBB"; without an axis c one, or none.
    std::vector<std::string> colours = {};
    /// The wavelength of emission, or excitation, of each channel in nm, "461.5"; without an axis c
    /// one, or none.
    std::vector<std::string> emissions = {};
    std::vector<std::string> excitations = {};
    std::optional<Affine> sform = {}; ///< any affine
    std::optional<Affine> qform = {}; ///< one whose steps stand upright on one another

    bool known() const { return !each.empty(); }
    bool has_wavelengths() const { return !emissions.empty() || !excitations.empty(); }
    /// The axis of that name; nothing where there is none, or several.
    std::optional<std::size_t> find(std::string_view name) const;
    /// Whether the samples of colour are along another axis than the last.
    bool has_moved_samples() const;
    /// "c, z, y, x"; "?" stands for an axis without a name.
    std::string names() const;
    /// "c (DAPI, GFP), z 2 um, y 0.5 um, x 0.5 um, sform 1".
    std::string text() const;

    bool operator==(const Axes&) const = default;
};

/// What is known of each channel along the axis c, with the names that texts have for it. An image
/// without that axis is one channel.
struct ChannelList {
    const char* name;
    std::vector<std::string> Axes::*list;
};
inline constexpr std::array channel_lists = {
    ChannelList{"channels", &Axes::channels}, ChannelList{"colours", &Axes::colours},
    ChannelList{"emissions", &Axes::emissions}, ChannelList{"excitations", &Axes::excitations}};

/// Axes with these names, a letter each: "tczyx".
Axes axes_of_letters(std::string_view letters);

/// A unit as it is written here: "um" for "µm", "micron" and their like; others as they are.
std::string plain_unit(std::string_view unit);

/// Whether a list of channels says something of one.
bool says_any(const std::vector<std::string>& channels);

/// Gives an axis another unit. Its origin is converted; where one of both units is unknown, it is
/// dropped.
void change_unit(Axis& axis, const std::string& unit);

/// The axes if they fit the shape, without names that several have, channels and colours of another
/// number, spacings that are none and affines of other axes; else none.
Axes fitting_axes(Axes axes, std::span<const std::int64_t> shape);

/// Where an axis comes from: its element i is at index first + i · step of `axis`.
struct AxisOrigin {
    std::int64_t axis = -1; ///< -1: it is a new one
    double first = 0;
    double step = 1; ///< 0: its elements are not evenly apart
};

/// The axes of an array that come from those of `whole`. What is no longer known is left out, as
/// names of channels are if the axis c is not whole; of an axis that is gone the first element is
/// taken.
Axes moved_axes(const Axes& whole, const std::vector<AxisOrigin>& from);

/// The attribute of a dataset of this program's that holds its axes, as to_text() writes them.
inline constexpr const char* placement_attribute = "placement";

/// On one line, as JSON; "" where nothing is known.
std::string to_text(const Axes& axes);

/// The same back, of a dataset of so many axes. Nothing for a text that is none.
std::optional<Axes> axes_of_text(std::string_view text, std::size_t count);

} // namespace runner
