// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/input_mask.hpp"

#include "base/format.hpp"
#include "io/files/hash.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace runner {
namespace {

using Shape = std::vector<std::int64_t>;

/// How a mask lies on the input's axes.
struct MaskFit {
    std::size_t skipped = 0;    ///< axes of extent 1 of the mask that come first and do not count
    std::size_t first_axis = 0; ///< of the input, that the mask's next one is
    bool of_pixels = false;     ///< its elements are pixels of several channels
};

std::optional<MaskFit> fit_of(const Shape& mask, const MaskedInput& input) {
    constexpr std::size_t image = 2;
    for (const bool of_pixels : {true, false}) {
        if (of_pixels && input.channels == 1) {
            continue;
        }
        const Shape axes(input.shape.begin(), input.shape.end() - (of_pixels ? 1 : 0));
        const std::size_t least =
            std::min(axes.size(), !of_pixels && input.channels > 1 ? image + 1 : image);
        for (std::size_t skipped = 0; mask.size() >= least + skipped; ++skipped) {
            const std::size_t used = mask.size() - skipped;
            const bool frames_are_first = // a part lists them along its own first axis alone
                skipped == 0 || !input.part || input.part->frames.empty();
            if (used <= axes.size() && (used < axes.size() || frames_are_first) &&
                std::equal(mask.begin() + static_cast<std::ptrdiff_t>(skipped), mask.end(),
                           axes.end() - static_cast<std::ptrdiff_t>(used))) {
                return MaskFit{skipped, axes.size() - used, of_pixels};
            }
            if (mask[skipped] != 1) {
                break;
            }
        }
    }
    return std::nullopt;
}

/// What is taken of the mask where a part is taken of the input.
std::optional<DatasetPart> part_of_mask(const Shape& mask, const MaskFit& fit,
                                        const MaskedInput& input) {
    if (!input.part) {
        return std::nullopt;
    }
    DatasetPart part{Shape(fit.skipped, 0), Shape(fit.skipped, 1)};
    part.step.assign(fit.skipped, 1);
    for (std::size_t axis = fit.first_axis; part.first.size() < mask.size(); ++axis) {
        if (input.part->drops(axis)) {
            part.dropped.push_back(part.first.size());
        }
        part.first.push_back(input.part->first[axis]);
        part.count.push_back(input.part->count[axis]);
        part.step.push_back(input.part->step_of(axis));
    }
    if (fit.first_axis == 0 && fit.skipped == 0) {
        part.frames = input.part->frames;
    } else if (part.step.front() != 1) { // its first axis is a later one of the input
        for (std::int64_t i = 0; i < part.count.front(); ++i) {
            part.frames.push_back(part.first.front() + i * part.step.front());
        }
        part.first.front() = 0;
        part.step.front() = 1;
    }
    if (std::all_of(part.step.begin(), part.step.end(),
                    [](std::int64_t step) { return step == 1; })) {
        part.step.clear();
    }
    return part;
}

/// The flags of pixels as those of their channels.
MaskFlags spread(const MaskFlags& pixels, int channels) {
    MaskFlags flags;
    flags.reserve(pixels.size() * static_cast<std::size_t>(channels));
    for (const std::uint8_t pixel : pixels) {
        flags.insert(flags.end(), static_cast<std::size_t>(channels), pixel);
    }
    return flags;
}

} // namespace

std::int64_t InputMask::bytes(int threads) const {
    std::int64_t bytes = flags == nullptr ? 0 : std::ssize(*flags);
    for (const Rows& each : rows) {
        bytes += layout_reader_bytes(each.layout, threads);
    }
    return bytes + masked_rows_bytes(rows.size());
}

std::string InputMask::identity() const {
    std::string value;
    for (const std::string& name : names) {
        value += (value.empty() ? "" : ", ") + toml_text(name);
    }
    if (flags != nullptr) {
        value += fmt::format(
            ", checksum {}",
            hash_bytes(reinterpret_cast<const std::byte*>(flags->data()), std::ssize(*flags)));
    }
    return "input.invalid.mask = " + value + "\n";
}

std::string InputMask::text() const {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : " and ") + name;
    }
    if (flags != nullptr) {
        text += fmt::format(", {} of {} elements of a frame",
                            std::ssize(*flags) - std::count(flags->begin(), flags->end(), 0),
                            flags->size());
    }
    return text;
}

std::string misfit_of(const ArrayInfo& mask, const MaskedInput& input) {
    if (!can_be_mask(mask)) {
        return "its elements are " + type_text(mask) + ", and those of a mask are numbers or bool";
    }
    return fit_of(mask.shape, input) ? ""
                                     : "its shape is " + shape_text(mask.shape) +
                                           ", and the input's " + shape_text(input.shape);
}

void add_mask(InputMask& to, const DatasetLayout& mask, MaskBits bits, const MaskedInput& input,
              FileAccess& files) {
    const Shape& shape = mask.info.array.shape;
    const MaskFit fit = fit_of(shape, input).value();
    std::optional<DatasetPart> part = part_of_mask(shape, fit, input);
    const bool is_whole = !fit.of_pixels && fit.skipped == 0 && fit.first_axis == 0;
    if (is_whole && mask.info.storage != "memory") {
        to.rows.push_back({mask, std::move(part), bits});
        return;
    }
    std::unique_ptr<RowReader> rows = files.open(mask, 1);
    if (part) {
        rows = open_part(std::move(rows), *std::move(part));
    }
    MaskFlags flags = flags_of(*rows, bits);
    if (fit.of_pixels) {
        flags = spread(flags, input.channels);
    }
    to.flags = std::make_shared<const MaskFlags>(
        joined_flags(std::move(flags), to.flags == nullptr ? MaskFlags() : *to.flags));
}

std::unique_ptr<RowReader>
open_masked_rows(std::unique_ptr<RowReader> rows, const InputMask& mask,
                 const std::function<std::unique_ptr<RowReader>(const DatasetLayout& layout)>& open,
                 int threads) {
    std::vector<MaskRows> masks;
    for (const InputMask::Rows& each : mask.rows) {
        std::unique_ptr<RowReader> of_mask = open(each.layout);
        masks.push_back({each.part ? open_part(std::move(of_mask), *each.part) : std::move(of_mask),
                         each.bits});
    }
    return open_masked_rows(std::move(rows), mask.flags, std::move(masks), mask.element, threads);
}

} // namespace runner
