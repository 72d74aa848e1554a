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
