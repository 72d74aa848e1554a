// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/correct/valid_stacks.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace runner {
namespace {

/// The median of numbers, which it reorders: of an even number the mean of the two middle ones.
template <class T> float median_of(std::vector<T>& values) {
    if (values.empty()) {
        return std::numeric_limits<float>::quiet_NaN();
    }
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    const auto upper = static_cast<double>(*middle);
    if (values.size() % 2 == 1) {
        return static_cast<float>(upper);
    }
    const auto lower = static_cast<double>(*std::max_element(values.begin(), middle));
    return static_cast<float>((lower + upper) / 2);
}

/// Makes medians once more of pixels that have invalid elements; there are few.
template <class T> class Mending {
  public:
    Mending(const ImageStack& stack, double invalid)
        : is_invalid_(invalid_test<T>(invalid)), first_(reinterpret_cast<const T*>(stack.first)),
          images_(stack.images), stride_(stack.stride / std::int64_t{sizeof(T)}) {
        valid_.reserve(static_cast<std::size_t>(images_));
    }

    void mend(std::int64_t count, float* to) {
        for (std::int64_t first = 0; first < count; first += block) {
            mend_block(first, std::min(block, count - first), to);
        }
    }

  private:
    static constexpr std::int64_t block = 256; ///< pixels whose elements of an image follow another

    void mend_block(std::int64_t first, std::int64_t pixels, float* to) {
        std::array<bool, block> marked{};
        for (std::int64_t image = 0; image < images_; ++image) {
            const T* const from = first_ + image * stride_ + first;
            for (std::int64_t i = 0; i < pixels; ++i) {
                bool& mark = marked.at(static_cast<std::size_t>(i));
                mark = mark || is_invalid_(from[i]);
            }
        }
        for (std::int64_t i = 0; i < pixels; ++i) {
            if (marked.at(static_cast<std::size_t>(i))) {
                to[first + i] = median_at(first + i);
            }
        }
    }

    float median_at(std::int64_t pixel) {
        valid_.clear();
        for (std::int64_t image = 0; image < images_; ++image) {
            const T element = first_[image * stride_ + pixel];
            if (!is_invalid_(element)) {
                valid_.push_back(element);
            }
        }
        return median_of(valid_);
    }

    InvalidTest<T> is_invalid_;
    const T* first_;
    std::int64_t images_;
    std::int64_t stride_; ///< elements
    std::vector<T> valid_;
};

} // namespace

void add_valid_elements(ElementType type, double invalid, const std::byte* from, std::int64_t count,
                        double* sums, double* counts) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        const auto* elements = reinterpret_cast<const T*>(from);
        const InvalidTest<T> is_invalid = invalid_test<T>(invalid);
        for (std::int64_t i = 0; i < count; ++i) {
            const bool is_valid = !is_invalid(elements[i]);
            sums[i] += is_valid ? static_cast<double>(elements[i]) : 0.0;
            counts[i] += is_valid ? 1.0 : 0.0;
        }
    });
}

void median_of_valid(const ImageStack& stack, double invalid, std::int64_t count, float* to) {
    median_of_images(stack, count, to);
    visit_element_type(stack.type,
                       [&](auto zero) { Mending<decltype(zero)>(stack, invalid).mend(count, to); });
}

std::int64_t median_of_valid_bytes(ElementType type, std::int64_t images) {
    return std::max(median_bytes(type, images), images * size_of(type));
}

} // namespace runner
