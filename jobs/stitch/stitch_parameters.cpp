// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "jobs/each_sample_job.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/keys.hpp"
#include "jobs/stitch/stitch_angles.hpp"
#include "jobs/stitch/stitch_job.hpp"

#include <algorithm>
#include <limits>

namespace runner {
namespace {

/// What the last axes of the input are: angle, row, column, or row, angle, column.
enum class FrameOrder { projections, sinograms };

/// [stitch].
struct StitchKeys {
    std::int64_t overlap = 0;
    Stitch::Side side = Stitch::Side::right;
    Stitch::Blend blend = Stitch::Blend::linear;
    FrameOrder order = FrameOrder::projections;
};

const KeyList<StitchKeys>& stitch_list() {
    using Keys = StitchKeys;
    static const KeyList<Keys> list({
        key<Keys>("overlap", &Keys::overlap,
                  integer_form(0, std::numeric_limits<std::int32_t>::max()),
                  "the columns that a frame and the mirrored one opposite share")
            .detail("With the axis of rotation at column c, counted from 0, they are 2 c + 1 on "
                    "the left and 2 (columns - c) - 1 on the right")
            .unit("columns")
            .required("the number of columns that both halves show, as overlap = 120")
            .sample("120"),
        key<Keys>("side", &Keys::side, choice_form<Stitch::Side>({"left", "right"}),
                  "the side of the frames that the axis of rotation is near")
            .required("\"left\" or \"right\"")
            .sample("\"right\""),
        key<Keys>("blend", &Keys::blend, choice_form<Stitch::Blend>({"linear", "none"}),
                  "what the overlap becomes")
            .detail("Sums of both halves, whose weights rise and fall linearly; or each half up "
                    "to the middle"),
        key<Keys>("order", &Keys::order, choice_form<FrameOrder>({"projections", "sinograms"}),
                  "what the last axes are")
            .detail("Angle, row, column; or angle, column"),
    });
    return list;
}

/// The axes of angles and columns. @throws Error (input) where there are none.
StitchAxes axes_of(const JobInput& input, FrameOrder order) {
    const std::vector<std::int64_t>& shape = input.array.shape;
    const bool is_colour = has_samples(input);
    const std::size_t behind = order == FrameOrder::projections ? 3 : 2; // from the angles on
    const std::size_t end = shape.size() - (is_colour ? 1 : 0);
    if (end < behind) {
        throw Error(ExitCode::input,
                    {"stitch needs more axes", "input.dataset",
                     "its shape is " + shape_text(shape) + ", and order = \"" +
                         (behind == 3 ? "projections\" takes angle, row, column"
                                      : "sinograms\" takes angle, column"),
                     behind == 3 && end == 2 ? "Of one sinogram write order = \"sinograms\""
                                             : "Choose another dataset"});
    }
    refuse_empty(shape, "Choose another dataset");
    StitchAxes axes{input.array, end - behind, end - 1, is_colour};
    if (axes.angles() < 2) {
        throw Error(ExitCode::input, {"there is no frame from the opposite side", "input.dataset",
                                      "its shape is " + shape_text(shape) + ", with one angle",
                                      "Take a scan over 360 degrees"});
    }
    return axes;
}

/// Refuses angles along another axis than the parameters say.
void check_names(const JobInput& input, const StitchAxes& axes, FrameOrder order) {
    for (const char* const name : {"rotation_angle", "theta", "frame"}) {
        const std::optional<std::size_t> axis = input.axes.find(name);
        if (axis && *axis != axes.frames) {
            const bool turns = order == FrameOrder::projections;
            throw Error(ExitCode::usage,
                        {"the angles are another axis", "stitch.order",
                         fmt::format("{} of the axes {} is axis {}, and order = \"{}\" takes the "
                                     "angles along axis {}",
                                     name, printable(input.axes.names()), *axis,
                                     turns ? "projections" : "sinograms", axes.frames),
                         fmt::format("Write order = \"{}\", or name the axes by input.axes",
                                     turns ? "sinograms" : "projections")});
        }
    }
}

/// Whether the part has this frame of the source.
bool is_taken(const std::optional<DatasetPart>& part, std::int64_t frame) {
    if (!part) {
        return true;
    }
    if (!part->frames.empty()) {
        return std::binary_search(part->frames.begin(), part->frames.end(), frame);
    }
    const std::int64_t at = frame - part->first[0];
    return at >= 0 && at % part->step_of(0) == 0 && at / part->step_of(0) < part->count[0];
}

/// Refuses flats and darks among the frames: their partners are none.
void check_roles(const JobInput& input) {
    if (!input.roles.known() || (input.part && input.part->drops(0))) {
        return;
    }
    for (std::int64_t i = 0; i < std::ssize(input.roles.frames); ++i) {
        const FrameRole role = input.roles.frames[static_cast<std::size_t>(i)];
        if (role != FrameRole::projection && is_taken(input.part, i)) {
            throw Error(ExitCode::usage,
                        {"frames are no projections", "input.frames",
                         fmt::format("frame {} is a {}, and stitch joins projections from opposite "
                                     "sides",
                                     i, name_of(role)),
                         "Leave input.frames out, which takes the projections"});
        }
    }
}

std::vector<std::string> notes_of(const JobInput& input, const StitchAxes& axes) {
    std::vector<std::string> notes;
    const std::int64_t frames = axes.angles();
    if (frames % 2 == 1) {
        notes.push_back(format_error(
            {"the last frame is left out", "stitch",
             fmt::format("of {} frames, {} and {} are joined, and so on; frame {} has no partner",
                         frames, 0, axes.pairs(), frames - 1),
             fmt::format("That is right where it is the first one again, after 360 degrees; else "
                         "choose others, as input.frames = \"0:{}\"",
                         frames - 1)}));
    }
    if (const auto wrong = wrong_angles(input, axes.frames, axes.pairs())) {
        notes.push_back(
            format_error({"the angles are not those of a scan over 360 degrees", "stitch", *wrong,
                          "Choose the frames of one turn by input.frames"}));
    }
    return notes;
}

class StitchParameters : public ListedParameters<StitchKeys> {
  public:
    using ListedParameters::ListedParameters;

    Invalid invalid() const override { return Invalid::heeds; }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        const StitchAxes axes = axes_of(input, keys().order);
        check_names(input, axes, keys().order);
        check_roles(input);
        Stitch stitch;
        stitch.in_type = input.array.type;
        stitch.out_type = output_type.value_or(stitch.in_type);
        stitch.columns = input.array.shape[axes.columns];
        stitch.samples = axes.has_samples ? input.array.shape.back() : 1;
        stitch.overlap = keys().overlap;
        stitch.side = keys().side;
        stitch.blend = keys().blend;
        stitch.invalid = input.invalid;
        if (stitch.overlap > stitch.columns) {
            throw Error(ExitCode::usage,
                        {"the overlap is wider than the frames", "stitch.overlap",
                         fmt::format("it is {}, and the input has {} columns", stitch.overlap,
                                     stitch.columns),
                         "Write the columns that a frame and the mirrored one opposite share"});
        }
        return std::make_unique<StitchJob>(stitch, axes, notes_of(input, axes));
    }
};

} // namespace

std::vector<KeyText> stitch_keys() { return stitch_list().texts(); }

std::unique_ptr<KindParameters> parse_stitch(TableReader& table) {
    return read_parameters<StitchParameters>(stitch_list(), table);
}

} // namespace runner
