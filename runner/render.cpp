// SPDX-License-Identifier: BSD-3-Clause
#include "runner/render.hpp"

#include "base/error.hpp"
#include "io/png.hpp"
#include "runner/contrast.hpp"
#include "runner/thumbnail.hpp"

#include <algorithm>
#include <span>

namespace runner {
namespace {

constexpr std::int64_t gap = 8; ///< white pixels between pictures
constexpr std::uint8_t white = 255;

/// Puts a picture's pixels at column `left` of the page.
void place(const Thumbnail& picture, const GreyRange& range, std::int64_t left, Picture& page) {
    for (std::int64_t y = 0; y < picture.height; ++y) {
        for (std::int64_t x = 0; x < picture.width; ++x) {
            for (int channel = 0; channel < page.channels; ++channel) {
                // Grey in a page of colour: the same value three times.
                const std::int64_t from = (y * picture.width + x) * picture.channels +
                                          std::min(channel, picture.channels - 1);
                const std::int64_t to = (y * page.width + left + x) * page.channels + channel;
                page.pixels[static_cast<std::size_t>(to)] =
                    shade(picture.values[static_cast<std::size_t>(from)], range);
            }
        }
    }
}

Picture blank_page(std::span<const Thumbnail> pictures) {
    Picture page;
    page.width = gap * (std::ssize(pictures) - 1);
    for (const Thumbnail& picture : pictures) {
        page.width += picture.width;
        page.height = std::max(page.height, picture.height);
        page.channels = std::max(page.channels, picture.channels);
    }
    page.pixels.assign(static_cast<std::size_t>(page.width * page.height * page.channels), white);
    return page;
}

std::vector<ImageSource> open_sources(const RenderRequest& request) {
    std::vector<ImageSource> sources;
    for (const auto& [file, dataset] : request.sources) {
        sources.push_back(open_image(file, dataset, request.palette, request.threads));
    }
    return sources;
}

void make_picture(const RenderRequest& request, std::span<const ImageSource> sources,
                  std::int64_t frame, const std::string& file) {
    std::vector<Thumbnail> pictures;
    for (const ImageSource& source : sources) {
        pictures.push_back(make_thumbnail(source, frame, request.size));
    }
    const std::span<const Thumbnail> all = pictures;
    const GreyRange common = range_of(all);
    Picture page = blank_page(all);
    std::int64_t left = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool own = request.contrast == RenderRequest::Contrast::each;
        place(all[i], own ? range_of(all.subspan(i, 1)) : common, left, page);
        left += all[i].width + gap;
    }
    write_png(file, page);
}

FrameRange common_frames(const RenderRequest& request, std::span<const ImageSource> sources) {
    const auto of = [&](const ImageSource& source) {
        return choose_frames(request.frames, source.image.frames, source.where);
    };
    const FrameRange range = of(sources.front());
    for (const ImageSource& source : sources) {
        if (const FrameRange other = of(source); other.count != range.count) {
            throw Error(ExitCode::usage,
                        {"the sequences are not of one length", source.where,
                         "it has " + std::to_string(other.count) + " such frames, and " +
                             sources.front().where + " " + std::to_string(range.count),
                         "Choose those that all have with --frames"});
        }
    }
    return range;
}

} // namespace

void render(const RenderRequest& request) {
    const std::vector<ImageSource> sources = open_sources(request);
    const FrameRange range = common_frames(request, sources);
    if (request.frames.count == FrameChoice::Count::one) {
        make_picture(request, sources, range.first, request.picture);
        return;
    }
    const auto& [file, dataset] = request.sources.front();
    const NumberedNames names(
        request.picture, frame_numbers(file, dataset, sources.front().image.frames, std::nullopt),
        range, sources.front().where);
    for (std::int64_t i = 0; i < range.count; ++i) {
        make_picture(request, sources, range[i], names.of(range[i]));
    }
}

} // namespace runner
