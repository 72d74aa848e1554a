// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/correct/trimmed_stacks.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/correct/trimmed_stacks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/elements/ordered_key.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#ifndef RUNNER_TRIMMED_STACKS_ONCE
#define RUNNER_TRIMMED_STACKS_ONCE
namespace runner {

/// Pixels that are sorted together: their keys of 100 images stay in a core's caches.
inline constexpr std::int64_t trimmed_block = 128;

/// The mean of values of which those from `first` on and before `last` are taken, in their order.
template <class Value>
float mean_between(std::int64_t first, std::int64_t last, const Value& value) {
    double sum = 0;
    for (std::int64_t i = first; i < last; ++i) {
        sum += value(i);
    }
    return static_cast<float>(sum / static_cast<double>(last - first));
}

} // namespace runner
#endif

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Makes two images' keys of a block rise.
template <class Key> void put_in_order(Key* HWY_RESTRICT low, Key* HWY_RESTRICT high) {
    const hn::ScalableTag<Key> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = 0; i < trimmed_block; i += lanes) {
        const auto a = hn::LoadU(d, low + i);
        const auto b = hn::LoadU(d, high + i);
        hn::StoreU(hn::Min(a, b), d, low + i);
        hn::StoreU(hn::Max(a, b), d, high + i);
    }
}

/// Sorts the keys of each pixel by Batcher's merge exchange (Knuth, volume 3, 5.2.2, algorithm M),
/// which takes any number of images.
template <class Key> HWY_NOINLINE void sort_pixels(Key* keys, std::int64_t images) {
    std::int64_t greatest = 1;
    while (2 * greatest < images) {
        greatest *= 2;
    }
    for (std::int64_t p = greatest; p > 0; p /= 2) {
        std::int64_t q = greatest;
        std::int64_t rest = 0;
        std::int64_t apart = p;
        while (true) {
            for (std::int64_t i = 0; i + apart < images; ++i) {
                if ((i & p) == rest) {
                    put_in_order(keys + i * trimmed_block, keys + (i + apart) * trimmed_block);
                }
            }
            if (q == p) {
                break;
            }
            apart = q - p;
            q /= 2;
            rest = p;
        }
    }
}

template <class T> void find_trimmed(const ImageStack& stack, std::int64_t count, float* to) {
    using Key = SignedOf<sizeof(T)>;
    std::vector<Key> keys(static_cast<std::size_t>(stack.images * trimmed_block));
    const std::int64_t away = trimmed_away(stack.images);
    for (std::int64_t first = 0; first < count; first += trimmed_block) {
        const std::int64_t pixels = std::min(trimmed_block, count - first);
        for (std::int64_t i = 0; i < stack.images; ++i) {
            const T* const from =
                reinterpret_cast<const T*>(stack.first + i * stack.stride) + first;
            std::transform(from, from + pixels, keys.begin() + i * trimmed_block,
                           [](T value) { return ordered_key(value); });
        }
        sort_pixels(keys.data(), stack.images);
        for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
            to[first + pixel] = mean_between(away, stack.images - away, [&](std::int64_t i) {
                const auto at = static_cast<std::size_t>(i * trimmed_block + pixel);
                return static_cast<double>(element_of_key<T>(keys[at]));
            });
        }
    }
}

void find_trimmed_of_type(const ImageStack& stack, std::int64_t count, float* to) {
    visit_element_type(stack.type,
                       [&](auto zero) { find_trimmed<decltype(zero)>(stack, count, to); });
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(find_trimmed_of_type);

namespace {

/// Makes means once more of pixels that have invalid elements; there are few.
template <class T>
void mend(const ImageStack& stack, double invalid, std::int64_t count, float* to) {
    const InvalidTest<T> is_invalid = invalid_test<T>(invalid);
    std::vector<T> valid;
    for (std::int64_t pixel = 0; pixel < count; ++pixel) {
        valid.clear();
        for (std::int64_t i = 0; i < stack.images; ++i) {
            const T element = reinterpret_cast<const T*>(stack.first + i * stack.stride)[pixel];
            if (!is_invalid(element)) {
                valid.push_back(element);
            }
        }
        if (valid.empty()) {
            to[pixel] = std::numeric_limits<float>::quiet_NaN();
        } else if (std::ssize(valid) < stack.images) {
            std::sort(valid.begin(), valid.end(),
                      [](T a, T b) { return ordered_key(a) < ordered_key(b); });
            const std::int64_t away = trimmed_away(std::ssize(valid));
            to[pixel] = mean_between(away, std::ssize(valid) - away, [&](std::int64_t i) {
                return static_cast<double>(valid[static_cast<std::size_t>(i)]);
            });
        }
    }
}

} // namespace

void trimmed_mean_of_images(const ImageStack& stack, const std::optional<double>& invalid,
                            std::int64_t count, float* to) {
    HWY_DYNAMIC_DISPATCH(find_trimmed_of_type)(stack, count, to);
    if (invalid) {
        visit_element_type(stack.type,
                           [&](auto zero) { mend<decltype(zero)>(stack, *invalid, count, to); });
    }
}

std::int64_t trimmed_mean_bytes(ElementType type, std::int64_t images) {
    return images * trimmed_block * size_of(type);
}

} // namespace runner
#endif
