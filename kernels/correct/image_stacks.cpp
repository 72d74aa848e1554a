// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/correct/image_stacks.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/correct/image_stacks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/elements/elements.hpp"
#include "kernels/elements/ordered_key.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <vector>

#ifndef RUNNER_IMAGE_STACKS_ONCE
#define RUNNER_IMAGE_STACKS_ONCE
namespace runner {

/// Pixels whose medians are searched together: their keys of 100 images stay in a core's caches.
inline constexpr std::int64_t stack_block = 128;

/// Whether keys of 16 bits count so many images.
inline constexpr bool is_few(std::int64_t images) {
    return images <= std::numeric_limits<std::int16_t>::max();
}

} // namespace runner
#endif

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void add_doubles(const double* HWY_RESTRICT values, std::int64_t count, double* HWY_RESTRICT sums) {
    const hn::ScalableTag<double> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::LoadU(d, values + i)), d, sums + i);
    }
    for (; i < count; ++i) {
        sums[i] += values[i];
    }
}

/// The two middle keys of each pixel of a block, of one where the number of images is odd: bit by
/// bit the largest key that no more than half of the images are below. A key has `bits` bits, and
/// Key can count the images.
template <class Key>
HWY_NOINLINE void find_middle(const Key* HWY_RESTRICT keys, std::int64_t images, int bits,
                              Key* HWY_RESTRICT low, Key* HWY_RESTRICT high) {
    const hn::ScalableTag<Key> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    using Bits = std::make_unsigned_t<Key>;
    const auto bit = [&](int place) {
        return hn::Set(d, static_cast<Key>(static_cast<Bits>(Bits{1} << place)));
    };
    const auto rank = hn::Set(d, static_cast<Key>(images / 2));
    for (std::int64_t first = 0; first < stack_block; first += lanes) {
        auto middle = hn::Neg(bit(bits - 1));
        auto below = hn::Zero(d);
        for (int place = bits - 1; place >= 0; --place) {
            const auto trial = hn::Add(middle, bit(place));
            auto count = hn::Zero(d);
            for (std::int64_t i = 0; i < images; ++i) {
                const auto key = hn::LoadU(d, keys + i * stack_block + first);
                count = hn::Sub(count, hn::VecFromMask(d, hn::Lt(key, trial)));
            }
            const auto is_above = hn::Gt(count, rank);
            middle = hn::IfThenElse(is_above, middle, trial);
            below = hn::IfThenElse(is_above, below, count);
        }
        hn::StoreU(middle, d, high + first);
        auto before = hn::Set(d, std::numeric_limits<Key>::min());
        for (std::int64_t i = 0; i < images; ++i) {
            const auto key = hn::LoadU(d, keys + i * stack_block + first);
            before = hn::IfThenElse(hn::Lt(key, middle), hn::Max(before, key), before);
        }
        const bool even = images % 2 == 0;
        hn::StoreU(even ? hn::IfThenElse(hn::Eq(below, rank), before, middle) : middle, d,
                   low + first);
    }
}

template <class T, class Key>
void find_medians(const ImageStack& stack, std::int64_t count, float* to) {
    std::vector<Key> keys(static_cast<std::size_t>(stack.images * stack_block));
    std::array<Key, stack_block> low{};
    std::array<Key, stack_block> high{};
    for (std::int64_t first = 0; first < count; first += stack_block) {
        const std::int64_t pixels = std::min(stack_block, count - first);
        for (std::int64_t i = 0; i < stack.images; ++i) {
            const T* const from =
                reinterpret_cast<const T*>(stack.first + i * stack.stride) + first;
            std::transform(from, from + pixels, keys.begin() + i * stack_block,
                           [](T value) { return Key{ordered_key(value)}; });
        }
        find_middle(keys.data(), stack.images, 8 * static_cast<int>(sizeof(T)), low.data(),
                    high.data());
        for (std::int64_t i = 0; i < pixels; ++i) {
            const auto value = [&](const std::array<Key, stack_block>& of) {
                using Own = SignedOf<sizeof(T)>;
                return static_cast<double>(
                    element_of_key<T>(static_cast<Own>(of[static_cast<std::size_t>(i)])));
            };
            const double upper = value(high);
            to[first + i] =
                static_cast<float>(stack.images % 2 == 1 ? upper : (value(low) + upper) / 2);
        }
    }
}

void find_medians_of_type(const ImageStack& stack, std::int64_t count, float* to) {
    visit_element_type(stack.type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (sizeof(T) <= sizeof(std::int16_t)) {
            if (is_few(stack.images)) {
                return find_medians<T, std::int16_t>(stack, count, to);
            }
        }
        using Wide =
            std::conditional_t<sizeof(T) == sizeof(std::int64_t), std::int64_t, std::int32_t>;
        return find_medians<T, Wide>(stack, count, to);
    });
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(add_doubles);
HWY_EXPORT(find_medians_of_type);

void add_elements(ElementType type, const std::byte* from, std::int64_t count, double* sums) {
    std::array<double, 512> values{}; // stays in the first cache
    const auto most = std::ssize(values);
    for (std::int64_t first = 0; first < count; first += most) {
        const std::int64_t part = std::min(most, count - first);
        load_elements(type, from + first * size_of(type), part, values.data());
        HWY_DYNAMIC_DISPATCH(add_doubles)(values.data(), part, sums + first);
    }
}

void median_of_images(const ImageStack& stack, std::int64_t count, float* to) {
    HWY_DYNAMIC_DISPATCH(find_medians_of_type)(stack, count, to);
}

std::int64_t median_bytes(ElementType type, std::int64_t images) {
    const std::int64_t key = size_of(type) <= 2 ? (is_few(images) ? 2 : 4) : size_of(type);
    return images * stack_block * key;
}

} // namespace runner
#endif
