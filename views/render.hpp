// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "views/pictures/contrast.hpp"
#include "views/pictures/frame_choice.hpp"
#include "views/pictures/projection.hpp"
#include "views/pictures/sand_colours.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace runner {

class FileAccess;

struct RenderRequest {
    struct Source {
        std::string file;
        std::string dataset;
    };
    /// How values become grey: between the percentiles of the finite averages, black to white, what
    /// lies beyond is cut; what is not finite is black, a picture of one value mid-grey. Pictures
    /// of uint8 keep their values, unless percentiles are asked for.
    enum class Contrast {
        each, ///< every picture by its own percentiles
        same, ///< all by the percentiles of all together, unless all are uint8
    };

    std::vector<Source> sources;       ///< one or more; several stand side by side
    std::string picture;               ///< the PNG to make, in place of one that render() made
    FrameChoice frames = one_frame(0); ///< of the flattened leading axes, in every source
    /// Frames are cut across this axis of the dataset, one of its last three, and counted along it;
    /// without it they are the leading axes.
    std::optional<std::int64_t> axis;
    /// Whole volumes along `axis`, which is then given, in place of frames; `frames` counts
    /// volumes.
    std::optional<Projection> projection;
    /// A third picture: the second source less the first, of two sources.
    enum class Difference { no, yes } difference = Difference::no;
    /// What is read of a frame above 1 GiB, or across the last axis of a volume, where each element
    /// is a read of its own: some of it, evenly spaced, or all.
    enum class Reading { samples, all } reading = Reading::samples;
    std::int64_t size = 1024; ///< pixels of the longer side of each, at most; ≥ 1
    Contrast contrast = Contrast::each;
    std::optional<Percentiles> percentiles; ///< nothing: 0.5 and 99.5 %
    std::optional<Palette> palette; ///< nothing: the colours of sand for sand, grey for others
    std::optional<bool> colour;     ///< whether last axes are colour; nothing: as each file says
    int threads = 1;                ///< that read, ≥ 1
    std::function<void(const std::string&)> warn = {}; ///< is given warnings
};

/// Makes a picture of images, or one of each frame of a sequence, whose names have the number of
/// the first source's frame (NumberedNames): the last two axes are rows × columns; in colour
/// they are the two before. A last axis of which nothing says what it is is colour in uint8 with 3
/// behind two others, with a warning. An image larger than `size` is averaged in boxes (what is not
/// finite left out), read once from end to end in bounded memory; each pixel of a smaller one
/// becomes a square of as many pixels as fit. In the colours of sand it is the colours that are
/// averaged; contrast is each frame's own. Returns what was shown, a line a picture, for people:
/// ranges of values, and what was only sampled, and then what was made.
/// @throws Error: (input) when a source cannot be read or has one axis only; (usage) for a frame
/// or an axis that is not there, colour of a dataset that has no such axis, a difference of
/// pictures of several sizes, and sources whose sequences are not of one length, and a picture of a
/// source's name; (output) when the picture cannot be written, and for a file of its name that
/// render() did not make.
std::string render(FileAccess& files, const RenderRequest& request);

} // namespace runner
