// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

class FileAccess;

/// Which frames of a dataset a verb takes: --frame I, --frames A:B:STEP, --frames all.
struct FrameChoice {
    enum class Count {
        one,     ///< a single one: pictures have the name they are given
        several, ///< a sequence, of one frame even: each picture's name has its number
    } count = Count::one;
    std::int64_t first = 0;
    std::optional<std::int64_t> end; ///< that after the last; nothing: to the dataset's end
    std::int64_t step = 1;

    bool operator==(const FrameChoice&) const = default;
};

/// The frame I alone.
inline FrameChoice one_frame(std::int64_t frame) {
    return {FrameChoice::Count::one, frame, frame + 1, 1};
}

/// "all", or "A:B" and "A:B:STEP": from A up to but without B, each part at will ("100:" is from
/// 100 to the end). Nothing for any other text, a step below 1, and where there is none between.
std::optional<FrameChoice> parse_frames(const std::string& text);

/// Frames that are there.
struct FrameRange {
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;

    std::int64_t operator[](std::int64_t index) const { return first + index * step; }
};

/// The choice among the `frames` frames of a dataset. @throws Error (usage) for one that is not
/// there; `where` names the dataset.
FrameRange choose_frames(const FrameChoice& choice, std::int64_t frames, const std::string& where);

/// The number that each frame of a dataset has for people: its generation, where that is known.
struct FrameNumbers {
    std::optional<std::vector<std::uint64_t>> listed; ///< one a frame
    std::uint64_t first = 0;  ///< without a list: that of frame 0, from which the others count
    bool generations = false; ///< they are; else they only count the frames

    std::uint64_t of(std::int64_t frame) const {
        return listed ? (*listed)[static_cast<std::size_t>(frame)]
                      : first + static_cast<std::uint64_t>(frame);
    }
};

/// The numbers of a dataset's frames: from `first_generation` on where that is given; as the file
/// lists them (io/input/generations.hpp); from 1 on for a .sand file, which the published program
/// begins so; else from 0 on, and no generations. @throws Error (input).
FrameNumbers frame_numbers(FileAccess& files, const std::string& file, const std::string& dataset,
                           std::int64_t frames, std::optional<std::uint64_t> first_generation);

/// "out-000100.png" for "out.png": six digits, or as many as the largest number of the range has.
class NumberedNames {
  public:
    /// @throws Error (input) for two frames of one number; `where` names the dataset.
    NumberedNames(std::string name, FrameNumbers numbers, const FrameRange& range,
                  const std::string& where);

    std::string of(std::int64_t frame) const;

  private:
    std::string name_;
    FrameNumbers numbers_;
    std::size_t digits_ = 6;
};

} // namespace runner
