// SPDX-License-Identifier: BSD-3-Clause
#include "io/levels/channel_extremes.hpp"

#include "io/levels/count_extremes.hpp"

namespace runner {

ChannelExtremes::ChannelExtremes(const OutputDataset& output)
    : array_(output.array), invalid_(output.invalid_value), channels_(stated_channels(output)),
      depth_(Volumes(output.array.shape).extents[0]),
      found_(static_cast<std::size_t>(channels_ ? channels_->count : 0)) {}

void ChannelExtremes::take(const VolumeBox& box, const std::byte* elements) {
    take(box, {elements, box.count[1] * box.count[2], box.count[2]});
}

void ChannelExtremes::take(const VolumeBox& box, const BoxElements& elements) {
    const std::int64_t size = size_of(array_.type);
    const bool is_dense = elements.row_pitch == box.count[2];
    const std::int64_t together = (is_dense ? box.count[1] : 1) * box.count[2];
    for (std::int64_t z = 0; channels_ && z < box.count[0]; ++z) {
        const std::int64_t frame = box.volume * depth_ + box.start[0] + z;
        auto& found =
            found_[static_cast<std::size_t>(frame / channels_->stride % channels_->count)];
        for (std::int64_t y = 0; y < (is_dense ? 1 : box.count[1]); ++y) {
            const std::int64_t at = z * elements.layer_pitch + y * elements.row_pitch;
            join(found, extremes_of(array_, elements.first + at * size, together, invalid_));
        }
    }
}

} // namespace runner
