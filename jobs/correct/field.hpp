// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/inspect/exchange_names.hpp"
#include "io/rows/frame_roles.hpp"
#include "jobs/index_range.hpp"
#include "jobs/keys.hpp"
#include "jobs/side_image.hpp"
#include "kernels/correct/correct.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace runner {

/// How images become one.
enum class Reduce { mean, median, trimmed, none };

/// How a field follows a scan: one image for all frames, or for each frame what is between the
/// images of the groups of frames before and after it.
enum class Between { none, interpolate };

/// Images of a dataset. Without a file, of the input's; without a dataset, of the file's default
/// signal, or of the input itself. Of a scan the frames of the field's role, of a Data Exchange
/// file those in the dataset of the role.
struct FieldSource {
    std::optional<std::string> file;
    std::optional<std::string> dataset;
    Reduce reduce = Reduce::mean;
    FramesTaken frames = {}; ///< of those; AllFrames: of all, whatever the file says of them
    Between between = Between::none;
};

/// A dark or flat field as the job file gives it.
using FieldChoice = std::variant<FieldSource, double>;

/// Which field, for messages and files.
struct FieldRole {
    std::string_view key;               ///< of the job file's table: "dark"
    std::string_view name;              ///< "dark field"
    FrameRole frames = FrameRole::flat; ///< that it is made of
};

/// A field: an image of the frame's extents, or a number that stands at every pixel.
struct Field {
    float number = 0;
    std::shared_ptr<const SideImage> image = {}; ///< null: the number
    /// Where each frame of the input lies among several images, which `image` then has one
    /// below the other; empty: one image is for all.
    std::vector<FieldPlace> places = {};
    std::vector<std::string> notes = {}; ///< what is odd about the frames it is made of

    /// Its values on the host, computed where nobody has. @throws Error (input).
    CorrectField values() const;
};

/// How a field may be written, for messages.
inline constexpr const char* field_to_write =
    "a number, or { file = \"darks.h5\", dataset = \"/darks\", reduce = \"mean\" }";

/// A number or a table of images, of a key that may be left out: then the frames of the input that
/// its image_key says are such, or what a Data Exchange file has beside it.
Form<FieldChoice> field_form();

/// `0.5` or `{ dataset = "/darks", reduce = "mean" }`; nothing where all is left to the input.
std::optional<std::string> field_text(const FieldChoice& choice);

/// The key of a field.
template <class Keys> Key<Keys> field_key(const FieldRole& role, FieldChoice Keys::*member) {
    const std::string name(role.key);
    const Form<FieldChoice> form = field_form();
    const auto read = [name, member, read = form.read](TableReader& table, Keys& keys) {
        std::optional<FieldChoice> value = read(table, name);
        if (value) {
            keys.*member = std::move(*value);
        }
        return value.has_value();
    };
    const auto value = [member](const Keys& keys) { return field_text(keys.*member); };
    const std::string meaning = "the " + std::string(role.name);
    return Key<Keys>({name, form.type, form.range, {}, {}, meaning, {}, form.annotation}, read,
                     value)
        .usually_explained("the mean of the input's frames with image_key " +
                           std::to_string(key_of_role(role.frames)) + ", or of its " +
                           exchange_field("", role.frames))
        .detail("A number, an image, or images and how they become one");
}

/// The field for frames of these extents. A mean is summed in float64 in the order of the images, a
/// median of an even number is the mean of the two middle ones in float64; NaN is above all
/// numbers. Images with the extents of the whole input, of which the job takes a region, are cut
/// to that. No image is read yet.
/// @throws Error (usage, input).
Field make_field(const FieldChoice& choice, const FieldRole& role, const JobInput& input,
                 const std::vector<std::int64_t>& frame);

} // namespace runner
