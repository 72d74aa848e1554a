// SPDX-License-Identifier: BSD-3-Clause
#include "views/render.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/formats/png_writer.hpp"
#include "io/inspect/colour_marks.hpp"
#include "views/frame_source.hpp"
#include "views/made_text.hpp"
#include "views/pictures/contrast.hpp"
#include "views/pictures/thumbnail.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t gap = 8; ///< white pixels between pictures
constexpr std::uint8_t white = 255;

constexpr std::int64_t most_bytes = GiB; ///< of a frame that is read whole

/// Puts a picture at column `left` of the page.
void paste(const Picture& picture, std::int64_t left, Picture& page) {
    for (std::int64_t y = 0; y < picture.height; ++y) {
        for (std::int64_t x = 0; x < picture.width; ++x) {
            for (int channel = 0; channel < page.channels; ++channel) {
                // Grey in a page of colour: the same value three times.
                const std::int64_t from = (y * picture.width + x) * picture.channels +
                                          std::min(channel, picture.channels - 1);
                const std::int64_t to = (y * page.width + left + x) * page.channels + channel;
                page.pixels[static_cast<std::size_t>(to)] =
                    picture.pixels[static_cast<std::size_t>(from)];
            }
        }
    }
}

Picture side_by_side(std::span<const Picture> pictures) {
    Picture page;
    page.width = gap * (std::ssize(pictures) - 1);
    for (const Picture& picture : pictures) {
        page.width += picture.width;
        page.height = std::max(page.height, picture.height);
        page.channels = std::max(page.channels, picture.channels);
    }
    page.pixels.assign(static_cast<std::size_t>(page.width * page.height * page.channels), white);
    std::int64_t left = 0;
    for (const Picture& picture : pictures) {
        paste(picture, left, page);
        left += picture.width + gap;
    }
    return page;
}

void warn_of_colour(const ImageSource& source, const RenderRequest& request) {
    if (source.may_be_colour && request.warn) {
        request.warn(
            unmarked_colour_note(source.reader->info().array.shape, source.where,
                                 source.image.channels > 1 ? "colour" : "an axis of the image",
                                 "Add --colour if it is colour, else --colour=false"));
    }
}

std::vector<ImageSource> open_sources(FileAccess& files, const RenderRequest& request) {
    std::vector<ImageSource> sources;
    for (const auto& [file, dataset] : request.sources) {
        sources.push_back(open_image(files, file, dataset,
                                     {request.palette, request.axis, request.colour},
                                     request.threads));
        warn_of_colour(sources.back(), request);
        if (request.projection && sources.back().palette == Palette::sand) {
            throw Error(ExitCode::usage,
                        {"cannot project materials", sources.back().where,
                         "their numbers are no amounts", "Take --palette grey to project numbers"});
        }
    }
    return sources;
}

Thumbnail picture_of(const RenderRequest& request, const ImageSource& source, std::int64_t frame) {
    if (request.projection) {
        Thumbnail thumbnail =
            shrink_values(project(source, frame, *request.projection), source.image, request.size);
        thumbnail.is_bytes = source.reader->info().array.type == ElementType::uint8;
        return thumbnail;
    }
    if (request.reading == RenderRequest::Reading::samples) {
        if (auto sampled = sampled_thumbnail(source, frame, request.size, most_bytes)) {
            return *std::move(sampled);
        }
    }
    return make_thumbnail(source, frame, request.size);
}

std::string number_text(double value) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.6g", value);
    return text.data();
}

std::string shown_text(const ImageSource& source, const Thumbnail& thumbnail,
                       const GreyRange& range) {
    std::string text = printable(source.where) + ": ";
    text += thumbnail.channels == 3
                ? "colours"
                : "black " + number_text(range.black) + " to white " + number_text(range.white);
    return text + (thumbnail.is_sample ? ", of a sample; --exact takes all of it\n" : "\n");
}

void check_alike(std::span<const Thumbnail> pictures, std::span<const ImageSource> sources) {
    const Thumbnail& a = pictures[0];
    const Thumbnail& b = pictures[1];
    if (a.width != b.width || a.height != b.height || a.channels != b.channels) {
        throw Error(ExitCode::usage,
                    {"the pictures have no difference", sources[1].where,
                     fmt::format("{} x {} pixels of another kind or size than the {} x {} of {}",
                                 b.width, b.height, a.width, a.height, sources[0].where),
                     "Name two datasets of one shape"});
    }
}

/// Makes the picture and says what it shows.
std::string make_picture(const RenderRequest& request, std::span<const ImageSource> sources,
                         std::int64_t frame, const std::string& file) {
    std::vector<Thumbnail> thumbnails;
    for (const ImageSource& source : sources) {
        thumbnails.push_back(picture_of(request, source, frame));
    }
    const std::span<const Thumbnail> all = thumbnails;
    const GreyRange common = range_of(all, request.percentiles);
    std::vector<Picture> pictures;
    std::string shown;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool own = request.contrast == RenderRequest::Contrast::each;
        const GreyRange range = own ? range_of(all.subspan(i, 1), request.percentiles) : common;
        pictures.push_back(shaded(all[i], range));
        shown += shown_text(sources[i], all[i], range);
    }
    if (request.difference == RenderRequest::Difference::yes) {
        check_alike(all, sources);
        const Thumbnail difference = difference_of(all[0], all[1]);
        const double most = largest_size(difference);
        pictures.push_back(shaded_difference(difference, most));
        shown += "difference: blue -" + number_text(most) + " to red " + number_text(most) + "\n";
    }
    const Picture page = side_by_side(pictures);
    write_png(file, page);
    return shown + made_picture_text(file, page.width, page.height);
}

/// Frames of a source, or volumes where these are projected.
std::int64_t count_frames(const RenderRequest& request, const ImageSource& source) {
    return request.projection ? source.view->volumes : source.image.frames;
}

FrameRange common_frames(const RenderRequest& request, std::span<const ImageSource> sources) {
    const auto of = [&](const ImageSource& source) {
        return choose_frames(request.frames, count_frames(request, source), source.where);
    };
    const FrameRange range = of(sources.front());
    for (const ImageSource& source : sources) {
        if (const FrameRange other = of(source); other.count != range.count) {
            throw Error(ExitCode::usage,
                        {"the sequences are not of one length", source.where,
                         fmt::format("it has {} such frames, and {} {}", other.count,
                                     sources.front().where, range.count),
                         "Choose those that all have with --frames"});
        }
    }
    return range;
}

/// Refuses names of pictures under which something else would be lost, before any is made.
void check_picture(const RenderRequest& request, const std::string& picture) {
    for (const auto& [file, dataset] : request.sources) {
        if (is_of_input(file, picture)) {
            throw Error(ExitCode::usage, {"cannot write over the input", file,
                                          "the picture has the name " + printable(picture),
                                          "Name another picture, the last of the names"});
        }
    }
    check_picture_name(picture);
}

} // namespace

std::string render(FileAccess& files, const RenderRequest& request) {
    const std::vector<ImageSource> sources = open_sources(files, request);
    const FrameRange range = common_frames(request, sources);
    if (request.frames.count == FrameChoice::Count::one) {
        check_picture(request, request.picture);
        return make_picture(request, sources, range.first, request.picture);
    }
    const auto& [file, dataset] = request.sources.front();
    // Generations are known of the leading axes' frames only.
    const FrameNumbers numbers =
        request.axis
            ? FrameNumbers{}
            : frame_numbers(files, file, dataset, sources.front().image.frames, std::nullopt);
    const NumberedNames names(request.picture, numbers, range, sources.front().where);
    for (std::int64_t i = 0; i < range.count; ++i) {
        check_picture(request, names.of(range[i]));
    }
    for (std::int64_t i = 0; i < range.count; ++i) {
        (void)make_picture(request, sources, range[i], names.of(range[i]));
    }
    return made_sequence_text(range.count, names.of(range[0]), names.of(range[range.count - 1]));
}

} // namespace runner
