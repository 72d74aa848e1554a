// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/frame_marks.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace runner {

std::vector<std::int64_t> read_frame_marks(const std::string& file, const std::string& dataset,
                                           std::int64_t frames, FileAccess& files) {
    const auto refuse = [&](const std::string& why) {
        throw Error(ExitCode::input, {"cannot choose frames by that dataset", file + ":" + dataset,
                                      why, "Name a dataset with one integer for each frame"});
    };
    const std::unique_ptr<RowReader> reader = open_rows_of(files, file, dataset, 1);
    const ArrayInfo array = reader->info().array;
    if (array.shape != std::vector<std::int64_t>{frames} &&
        array.shape != std::vector<std::int64_t>{frames, 1}) {
        refuse(fmt::format("its shape is {}, and there are {} frames", shape_text(array.shape),
                           frames));
    }
    if (!is_number(array.type)) {
        refuse("its elements are " + type_text(array));
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(array)));
    reader->read(0, frames, bytes.data()); // each element is a row
    constexpr double most = 2147483648.0;
    std::vector<std::int64_t> marks(static_cast<std::size_t>(frames));
    visit_element_type(array.type, [&](auto element) {
        for (std::size_t i = 0; i < marks.size(); ++i) {
            std::memcpy(&element, bytes.data() + i * sizeof(element), sizeof(element));
            const double number = static_cast<double>(element);
            if (!(std::abs(number) <= most) || std::trunc(number) != number) {
                refuse(fmt::format("the number of frame {} is no integer up to 2^31", i));
            }
            marks[i] = static_cast<std::int64_t>(number);
        }
    });
    return marks;
}

FrameRoles read_frame_roles(const std::string& file, const FrameKey& key, std::int64_t frames,
                            FileAccess& files) {
    FrameRoles roles;
    roles.key = key.key;
    try {
        const std::vector<std::int64_t> keys = read_frame_marks(file, key.key, frames, files);
        const std::vector<std::int64_t> control =
            key.control.empty() ? keys : read_frame_marks(file, key.control, frames, files);
        std::vector<FrameRole> found;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const std::optional<FrameRole> role = role_of_key(control[i] == -1 ? -1 : keys[i]);
            if (!role) {
                roles.fault = fmt::format("{} is {} for frame {}, which NXtomo gives no meaning",
                                          key.key, keys[i], i);
                return roles;
            }
            found.push_back(*role);
        }
        roles.frames = std::move(found);
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
        roles.fault = fmt::format("{} cannot be read: {}", key.key, error.text().why);
    }
    return roles;
}

FrameRoles roles_by_marks(const std::string& dataset, const std::vector<std::int64_t>& marks) {
    FrameRoles roles;
    roles.key = dataset;
    for (const std::int64_t mark : marks) {
        roles.frames.push_back(role_of_key(mark).value_or(FrameRole::invalid));
    }
    return roles;
}

} // namespace runner
