// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/reduce/reduce_axes.hpp"

#include "base/error.hpp"
#include "jobs/each_sample_job.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace runner {
namespace {

/// The names that an axis answers to: what the file calls it, and what its place is called.
class AxisNames {
  public:
    explicit AxisNames(const JobInput& input)
        : axes_(input.axes), count_(input.array.shape.size()),
          frame_end_(count_ - (has_samples(input) ? 1 : 0)) {}

    std::size_t frame_end() const { return frame_end_; }

    /// An axis of the name that the file gives it, else of that of its place; nothing where it is
    /// none, or several.
    std::optional<std::size_t> find(const std::string& name) const {
        const std::optional<std::size_t> found = axes_.find(name);
        return found ? found : at_place(name);
    }

    /// "z or frame, y, x".
    std::string text() const {
        std::string text;
        for (std::size_t axis = 0; axis < count_; ++axis) {
            std::string own = of_file(axis);
            for (const std::string& name : of_place(axis)) {
                own += (own.empty() ? "" : " or ") + name;
            }
            text += (text.empty() ? "" : ", ") + (own.empty() ? "?" : own);
        }
        return text;
    }

  private:
    std::string of_file(std::size_t axis) const {
        return axis < axes_.each.size() ? axes_.each[axis].name : "";
    }

    /// The names of its place, which an axis has that the file calls none of these.
    std::vector<std::string> of_place(std::size_t axis) const {
        constexpr std::array known = {"t", "c", "z", "y", "x", "s", "frame"};
        if (std::find(known.begin(), known.end(), of_file(axis)) != known.end()) {
            return {};
        }
        if (axis >= frame_end_) {
            return {"s"};
        }
        switch (frame_end_ - axis) {
        case 1: return {"x"};
        case 2: return {"y"};
        case 3: return {"z", "frame"};
        default: return {};
        }
    }

    std::optional<std::size_t> at_place(const std::string& name) const {
        for (std::size_t axis = 0; axis < count_; ++axis) {
            const std::vector<std::string> names = of_place(axis);
            if (std::find(names.begin(), names.end(), name) != names.end()) {
                return axis;
            }
        }
        return std::nullopt;
    }

    const Axes& axes_;
    std::size_t count_;
    std::size_t frame_end_; ///< the axes before it are not samples
};

} // namespace

std::vector<bool> reduced_axes(const JobInput& input, const OverAxes& over) {
    const AxisNames names(input);
    std::vector<bool> is_reduced(input.array.shape.size(), false);
    if (over.is_frame) {
        if (input.axes.find("frame")) {
            throw Error(ExitCode::usage,
                        {"it is not clear what is reduced", "reduce.over",
                         "it is \"frame\", and the input has an axis of that name",
                         "Write [\"frame\"] for one result of all frames, or [\"y\", \"x\"] for "
                         "one of each frame"});
        }
        if (names.frame_end() < 2) {
            throw Error(ExitCode::usage, {"the input has no frames", "reduce.over",
                                          "its shape is " + shape_text(input.array.shape) +
                                              ", and a frame has rows and columns",
                                          "Name the axes, as over = [\"x\"]"});
        }
        std::fill_n(is_reduced.begin() + static_cast<std::ptrdiff_t>(names.frame_end() - 2), 2,
                    true);
        return is_reduced;
    }
    for (const std::string& name : over.names) {
        const std::optional<std::size_t> axis = names.find(name);
        if (!axis) {
            throw Error(ExitCode::usage,
                        {"the input has no such axis", "reduce.over",
                         quoted_text(name) + " is none of its axes " + names.text() +
                             ", its shape is " + shape_text(input.array.shape),
                         "Write others, or name the axes by input.axes"});
        }
        is_reduced[*axis] = true;
    }
    return is_reduced;
}

} // namespace runner
