// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/stripes/stripes_slide.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stripes/stripes_slide.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// In one pass: from the place of the leaving key on, keys move down by one; the entering key
/// passes the smaller ones and takes the place of the first greater one, which moves on.
template <class Key>
HWY_INLINE void slide(Key* HWY_RESTRICT windows, int size, const Key* HWY_RESTRICT leaving,
                      const Key* HWY_RESTRICT entering) {
    const hn::CappedTag<Key, slide_lanes> d;
    for (int lane = 0; lane < slide_lanes; lane += static_cast<int>(hn::Lanes(d))) {
        const auto out = hn::Load(d, leaving + lane);
        auto carried = hn::Load(d, entering + lane);
        Key* at = windows + lane;
        auto key = hn::Load(d, at);
        for (int i = 1; i < size; ++i) {
            const auto next = hn::Load(d, at + slide_lanes);
            const auto left = hn::IfThenElse(hn::Lt(key, out), key, next);
            hn::Store(hn::Min(left, carried), d, at);
            carried = hn::Max(left, carried);
            key = next;
            at += slide_lanes;
        }
        hn::Store(carried, d, at);
    }
}

void slide_16(std::int16_t* windows, int size, const std::int16_t* leaving,
              const std::int16_t* entering) {
    slide(windows, size, leaving, entering);
}

void slide_32(std::int32_t* windows, int size, const std::int32_t* leaving,
              const std::int32_t* entering) {
    slide(windows, size, leaving, entering);
}

void slide_64(std::int64_t* windows, int size, const std::int64_t* leaving,
              const std::int64_t* entering) {
    slide(windows, size, leaving, entering);
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(slide_16);
HWY_EXPORT(slide_32);
HWY_EXPORT(slide_64);

void slide_windows(std::int16_t* windows, int size, const std::int16_t* leaving,
                   const std::int16_t* entering) {
    HWY_DYNAMIC_DISPATCH(slide_16)(windows, size, leaving, entering);
}

void slide_windows(std::int32_t* windows, int size, const std::int32_t* leaving,
                   const std::int32_t* entering) {
    HWY_DYNAMIC_DISPATCH(slide_32)(windows, size, leaving, entering);
}

void slide_windows(std::int64_t* windows, int size, const std::int64_t* leaving,
                   const std::int64_t* entering) {
    HWY_DYNAMIC_DISPATCH(slide_64)(windows, size, leaving, entering);
}

} // namespace runner
#endif
