// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/page_codecs.hpp"

#include "io/filters/codec.hpp"
#include "io/packings/packings.hpp"

#include <algorithm>

namespace runner {
namespace {

std::optional<std::size_t> claims_nothing(Parameters /*parameters*/, Bytes /*packed*/) {
    return std::nullopt;
}

bool accepts_none(Parameters parameters) { return parameters.empty(); }
bool accepts_one(Parameters parameters) { return parameters.size() == 1; }

std::optional<std::size_t> lzw(Parameters /*parameters*/, Bytes packed, std::span<std::byte> to,
                               CodecMemory& /*memory*/) {
    return unpack_lzw(packed, to);
}

std::optional<std::size_t> packbits(Parameters parameters, Bytes packed, std::span<std::byte> to,
                                    CodecMemory& /*memory*/) {
    return unpack_packbits(packed, parameters[0], to);
}

PredictedLines lines_of(Parameters parameters) {
    return {parameters[0], parameters[1], parameters[2], parameters[3] != 0};
}

bool accepts_lines(Parameters parameters) {
    if (parameters.size() != 4 || parameters[3] > 1) {
        return false;
    }
    const PredictedLines lines = lines_of(parameters);
    const bool known = lines.size == 1 || lines.size == 2 || lines.size == 4 || lines.size == 8;
    return known && lines.elements > 0 && lines.samples > 0;
}

/// Whole lines that fit.
bool fits(Bytes packed, const PredictedLines& lines, std::span<std::byte> to) {
    return packed.size() % lines.bytes() == 0 && packed.size() <= to.size();
}

std::optional<std::size_t> differences(Parameters parameters, Bytes packed, std::span<std::byte> to,
                                       CodecMemory& /*memory*/) {
    const PredictedLines lines = lines_of(parameters);
    if (!fits(packed, lines, to)) {
        return std::nullopt;
    }
    std::copy(packed.begin(), packed.end(), to.begin());
    add_differences(to.first(packed.size()), lines);
    return packed.size();
}

std::optional<std::size_t> float_differences(Parameters parameters, Bytes packed,
                                             std::span<std::byte> to, CodecMemory& /*memory*/) {
    const PredictedLines lines = lines_of(parameters);
    if (!fits(packed, lines, to)) {
        return std::nullopt;
    }
    join_float_bytes(packed, lines, to);
    return packed.size();
}

PngPicture picture_of(Parameters parameters) {
    return {parameters[0], parameters[1], parameters[2], parameters[3]};
}

bool accepts_picture(Parameters parameters) {
    if (parameters.size() != 4) {
        return false;
    }
    const PngPicture picture = picture_of(parameters);
    const bool bits = picture.bits == 1 || picture.bits == 2 || picture.bits == 4 ||
                      picture.bits == 8 || picture.bits == 16;
    const bool has_pixels = picture.channels == 1 || picture.channels == 3 || picture.channels == 4;
    // Fewer than 2^31 each, as PNG has it; of the packed lines fewer than 2^32 bytes, for ISA-L.
    constexpr std::size_t most = 0x7fffffff;
    return bits && picture.lines > 0 && picture.lines <= most && picture.samples > 0 &&
           picture.samples <= picture.channels * most && has_pixels &&
           picture.scratch_bytes() >> 32U == 0;
}

std::optional<std::size_t> png(Parameters parameters, Bytes packed, std::span<std::byte> to,
                               CodecMemory& memory) {
    const PngPicture picture = picture_of(parameters);
    if (to.size() < picture.bytes()) {
        return std::nullopt;
    }
    const std::size_t bytes = picture.scratch_bytes();
    const bool good = unpack_png(packed, picture, {memory.scratch(bytes), bytes}, to);
    return good ? std::optional(picture.bytes()) : std::nullopt;
}

bool accepts_picture_lines(Parameters parameters) {
    return parameters.size() == 3 &&
           accepts_picture(std::vector<unsigned>{1, parameters[0], parameters[1], parameters[2]});
}

std::optional<std::size_t> png_lines(Parameters parameters, Bytes packed, std::span<std::byte> to,
                                     CodecMemory& memory) {
    PngPicture picture = lines_of_picture(parameters);
    picture.lines = 1;
    picture.lines = to.size() / picture.bytes();
    const std::size_t bytes = picture.scratch_bytes();
    return unpack_png_lines(packed, picture, {memory.scratch(bytes), bytes}, to);
}

} // namespace

Codec lzw_codec() { return {filter_id::lzw, "LZW", accepts_none, claims_nothing, lzw}; }

Codec packbits_codec() {
    return {filter_id::packbits, "PackBits", accepts_one, claims_nothing, packbits};
}

Codec difference_codec() {
    return {filter_id::differences, "predictor 2", accepts_lines, claims_nothing, differences};
}

Codec float_difference_codec() {
    return {filter_id::float_differences, "predictor 3", accepts_lines, claims_nothing,
            float_differences};
}

Codec png_codec() { return {filter_id::png, "PNG", accepts_picture, claims_nothing, png}; }

Codec png_lines_codec() {
    return {filter_id::png_lines, "PNG lines", accepts_picture_lines, claims_nothing, png_lines};
}

std::vector<unsigned> lines_parameters(const PredictedLines& lines) {
    return {static_cast<unsigned>(lines.elements), static_cast<unsigned>(lines.size),
            static_cast<unsigned>(lines.samples), lines.big_endian ? 1U : 0U};
}

std::vector<unsigned> picture_parameters(const PngPicture& picture) {
    return {static_cast<unsigned>(picture.lines), static_cast<unsigned>(picture.samples),
            picture.bits, picture.channels};
}

std::vector<unsigned> line_parameters(const PngPicture& picture) {
    return {static_cast<unsigned>(picture.samples), picture.bits, picture.channels};
}

PngPicture lines_of_picture(Parameters parameters) {
    return {0, parameters[0], parameters[1], parameters[2]};
}

} // namespace runner
