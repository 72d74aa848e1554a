// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/description_message.hpp"

#include "base/format.hpp"
#include "base/text.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runner {

void put_roles(MessageWriter& to, const FrameRoles& roles) {
    to.text(roles.key);
    std::string frames;
    for (const FrameRole role : roles.frames) {
        frames += static_cast<char>(role);
    }
    to.text(frames);
    to.text(roles.fault);
}

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
    return roles;
}

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

void put_axes(MessageWriter& to, const Axes& axes) { to.text(to_text(axes)); }

Axes take_axes(MessageReader& from, const ArrayInfo& array) {
    std::optional<Axes> axes = axes_of_text(from.text(), array.shape.size());
    if (!axes) {
        throw BadMessage("the axes are none");
    }
    return fitting_axes(std::move(*axes), array.shape);
}

void put_marks(MessageWriter& to, const FileMarks& files) {
    to.number(std::ssize(files));
    for (const auto& [path, mark] : files) {
        to.text(path);
        to.number(mark.bytes);
        to.number(mark.modified);
    }
}

FileMarks take_marks(MessageReader& from) {
    FileMarks files;
    for (std::size_t left = from.count(3 * sizeof(std::int64_t)); left > 0; --left) {
        std::string path = from.text();
        const std::int64_t bytes = from.number();
        files.insert_or_assign(std::move(path), FileMark{bytes, from.number()});
    }
    return files;
}

} // namespace runner
