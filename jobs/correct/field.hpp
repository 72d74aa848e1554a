// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/side_image.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace runner {

/// How images become one.
enum class Reduce { mean, median, none };

/// Images of a dataset. Without a file, of the input's; without a dataset, the frames of the input
/// that its image_key says are such.
struct FieldSource {
    std::optional<std::string> file;
    std::optional<std::string> dataset;
    Reduce reduce = Reduce::mean;
};

/// A dark or flat field as the job file gives it.
using FieldChoice = std::variant<FieldSource, double>;

/// Which field, for messages and files.
struct FieldRole {
    std::string_view key;        ///< of the job file's table: "dark"
    std::string_view name;       ///< "dark field"
    std::int64_t frames_key = 0; ///< of its frames in an image_key
};

/// A field: an image of the frame's extents, or a number that stands at every pixel.
struct Field {
    float number = 0;
    std::shared_ptr<const SideImage> image; ///< null: the number
};

/// What a key may be, for messages.
inline constexpr const char* field_form =
    "a number, or { file = \"darks.h5\", dataset = \"/darks\", reduce = \"mean\" }";

/// Reads the key, which may be left out; complains of a wrong value and then returns nothing.
std::optional<FieldChoice> parse_field(TableReader& table, const FieldRole& role);

/// `0.5` or `{ dataset = "/darks", reduce = "mean" }`; nothing where all is left to the input.
std::optional<std::string> field_text(const FieldChoice& choice);

/// The field for frames of these extents. A mean is summed in float64 in the order of the images, a
/// median of an even number is the mean of the two middle ones in float64; NaN is above all
/// numbers. Images with the extents of the whole input, of which the job takes a region, are cut
/// to that. No image is read yet.
/// @throws Error (usage, input).
Field make_field(const FieldChoice& choice, const FieldRole& role, const JobInput& input,
                 const std::vector<std::int64_t>& frame);

} // namespace runner
