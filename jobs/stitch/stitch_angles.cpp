// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/stitch/stitch_angles.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/input/file_access.hpp"

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

namespace runner {
namespace {

constexpr double pi = 3.14159265358979323846;

/// All numbers of a dataset of one axis; none where it is no such.
std::vector<double> numbers_of(FileAccess& files, const std::string& file,
                               const std::string& dataset) {
    try {
        if (!files.has_dataset(file, dataset)) {
            return {};
        }
        const std::unique_ptr<RowReader> rows = open_rows_of(files, file, dataset, 1);
        const ArrayInfo array = rows->info().array;
        if (array.shape.size() != 1 || !is_number(array.type)) {
            return {};
        }
        std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(array)));
        rows->read(0, array.shape[0], bytes.data()); // each element is a row
        std::vector<double> numbers(static_cast<std::size_t>(array.shape[0]));
        visit_element_type(array.type, [&](auto number) {
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                std::memcpy(&number, bytes.data() + i * sizeof(number), sizeof(number));
                numbers[i] = static_cast<double>(number);
            }
        });
        return numbers;
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
        return {}; // the angles are not needed
    }
}

/// The angle of each frame of the input, of an NXtomo scan; none where they are not known.
std::vector<double> angles_of_scan(const JobInput& input, std::int64_t frames) {
    const std::string& key = input.roles.key;
    if (input.files == nullptr || input.source.file.empty() || !input.roles.known() ||
        key.find('/') == std::string::npos || (input.part && input.part->drops(0))) {
        return {};
    }
    const std::string detector = key.substr(0, key.rfind('/'));
    const std::vector<double> all = numbers_of(*input.files, input.source.file,
                                               entry_above(detector) + "/sample/rotation_angle");
    if (all.size() != input.roles.frames.size()) {
        return {};
    }
    if (!input.part) {
        return std::ssize(all) == frames ? all : std::vector<double>();
    }
    std::vector<double> taken;
    for (std::int64_t i = 0; i < input.part->count[0]; ++i) {
        const std::int64_t frame = input.part->frames.empty()
                                       ? input.part->first[0] + i * input.part->step_of(0)
                                       : input.part->frames[static_cast<std::size_t>(i)];
        taken.push_back(all[static_cast<std::size_t>(frame)]);
    }
    return std::ssize(taken) == frames ? taken : std::vector<double>();
}

} // namespace

std::optional<std::string> wrong_angles(std::span<const double> angles, std::int64_t pairs) {
    const auto apart = [&](std::int64_t i) {
        return std::abs(angles[static_cast<std::size_t>(i + pairs)] -
                        angles[static_cast<std::size_t>(i)]);
    };
    const double half_step = apart(0) / static_cast<double>(pairs) / 2;
    const double turn = std::abs(apart(0) - pi) <= half_step ? pi : 180;
    std::int64_t worst = 0;
    for (std::int64_t i = 1; i < pairs; ++i) {
        worst = std::abs(apart(i) - turn) > std::abs(apart(worst) - turn) ? i : worst;
    }
    // A step is rounded as the angles are.
    if (std::abs(apart(worst) - turn) <= half_step * (1 + 1e-6)) {
        return std::nullopt;
    }
    return fmt::format("those of frames {} and {} are {:.6g} apart, not 180 degrees or pi", worst,
                       worst + pairs, apart(worst));
}

std::optional<std::string> wrong_angles(const JobInput& input, std::size_t axis,
                                        std::int64_t pairs) {
    const std::int64_t frames = input.array.shape[axis];
    std::vector<double> angles = angles_of_scan(input, frames);
    if (angles.empty() && axis < input.axes.each.size() && input.axes.each[axis].spacing) {
        const std::string& name = input.axes.each[axis].name;
        if (name == "rotation_angle" || name == "theta" || name == "angle") {
            for (std::int64_t i = 0; i < frames; ++i) {
                angles.push_back(static_cast<double>(i) * *input.axes.each[axis].spacing);
            }
        }
    }
    return angles.empty() ? std::nullopt : wrong_angles(angles, pairs);
}

} // namespace runner
