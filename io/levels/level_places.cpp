// SPDX-License-Identifier: BSD-3-Clause
#include "io/levels/level_places.hpp"

#include "io/rows/written_format.hpp"

#include <algorithm>

namespace runner {

std::string elements_path(const OutputDataset& level) {
    return level.file + "/" + folder_of(level.layout)->level_elements(level);
}

LevelElements::LevelElements(const LevelSweep& sweep, Where where) {
    for (const CoarserLevel& level : sweep.levels()) {
        if (where == Where::memory) {
            memory_.emplace_back(byte_count(level.dataset.array));
            places_.push_back({nullptr, 0, memory_.back().data()});
        } else {
            places_.push_back(
                {&files_.emplace_back(elements_path(level.dataset), File::Mode::update)});
        }
    }
}

std::int64_t LevelElements::bytes(const LevelSweep& sweep) {
    std::int64_t bytes = 0;
    for (const CoarserLevel& level : sweep.levels()) {
        bytes += byte_count(level.dataset.array);
    }
    return bytes;
}

void LevelElements::close() {
    for (File& file : files_) {
        file.close();
    }
}

LevelMaker::Take store_at(const LevelSweep& sweep, const std::vector<LevelPlace>& places) {
    return [&](std::size_t level, const VolumeBox& piece, const std::byte* elements) {
        const LevelPlace& place = places[level];
        const std::int64_t size = size_of(sweep.levels()[level].dataset.array.type);
        const std::int64_t at = place.begin + sweep.begin_of(level, piece) * size;
        const std::int64_t bytes = piece.elements() * size;
        if (place.memory != nullptr) {
            std::copy_n(elements, bytes, place.memory + at);
        } else {
            place.file->write(at, bytes, elements);
        }
    };
}

} // namespace runner
