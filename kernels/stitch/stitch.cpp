// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/stitch/stitch.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/stitch/stitch_rules.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// One thread's memory: a line as elements of the input and as values.
template <class T> struct Space {
    std::vector<T> elements;
    std::vector<double> values;
    std::vector<double> weights; ///< of the overlap's pixels, in their line
};

/// Makes lines of the output.
template <class T> class StitchedLines {
  public:
    StitchedLines(const Stitch& stitch, const std::byte* in, std::byte* out)
        : stitch_(stitch), blend_(StitchBlend::of(stitch)), in_(reinterpret_cast<const T*>(in)),
          out_(out), out_size_(size_of(stitch.out_type)),
          is_same_(stitch.in_type == stitch.out_type) {}

    void make(std::int64_t line, Space<T>& space) const {
        const std::int64_t width = stitch_.out_columns() * stitch_.samples;
        const T* const first =
            in_ + line / stitch_.lines * stitch_.elements + line % stitch_.lines * stitch_.line;
        std::byte* const to = out_ + line * width * out_size_;
        if (!is_same_) {
            space.elements.resize(static_cast<std::size_t>(width));
        }
        T* const elements = is_same_ ? reinterpret_cast<T*>(to) : space.elements.data();
        put_lines(first, elements);
        if (!is_same_) {
            space.values.resize(static_cast<std::size_t>(width));
            load_elements(stitch_.in_type, reinterpret_cast<const std::byte*>(elements), width,
                          space.values.data());
            store_elements(stitch_.out_type, space.values.data(), width, to);
        }
        if (stitch_.blend == Stitch::Blend::linear && stitch_.overlap > 0) {
            blend_overlap(first, to, space);
        }
        if (stitch_.invalid) {
            heed_invalid(first, to);
        }
    }

  private:
    /// Where the first line's pixels begin to be taken, and end, without a blend.
    std::int64_t middle() const {
        const std::int64_t before = stitch_.columns - stitch_.overlap;
        return blend_.is_left ? before + stitch_.overlap / 2
                              : stitch_.columns - stitch_.overlap / 2;
    }

    /// Each pixel of the output as that of one line.
    void put_lines(const T* first, T* to) const {
        const std::int64_t middle_at = middle();
        const std::int64_t end = stitch_.out_columns();
        if (blend_.is_left) {
            put_mirrored(first + stitch_.partner, 0, middle_at, to);
            put_ahead(first, middle_at, end, to);
        } else {
            put_ahead(first, 0, middle_at, to);
            put_mirrored(first + stitch_.partner, middle_at, end, to);
        }
    }

    /// Pixels [begin, end) of the output, of the first line.
    void put_ahead(const T* line, std::int64_t begin, std::int64_t end, T* to) const {
        const std::int64_t shift = blend_.is_left ? stitch_.columns - stitch_.overlap : 0;
        if (stitch_.pixel == stitch_.samples) { // side by side
            std::copy_n(line + (begin - shift) * stitch_.samples, (end - begin) * stitch_.samples,
                        to + begin * stitch_.samples);
            return;
        }
        for (std::int64_t at = begin; at < end; ++at) {
            std::copy_n(line + (at - shift) * stitch_.pixel, stitch_.samples,
                        to + at * stitch_.samples);
        }
    }

    /// The same of the second line, the last pixel first.
    void put_mirrored(const T* line, std::int64_t begin, std::int64_t end, T* to) const {
        const std::int64_t last = blend_.is_left ? stitch_.columns - 1 : stitch_.out_columns() - 1;
        if (stitch_.pixel == 1 && stitch_.samples == 1) {
            const T* const from = line + last - begin;
            for (std::int64_t i = 0; i < end - begin; ++i) {
                to[begin + i] = from[-i];
            }
            return;
        }
        for (std::int64_t at = begin; at < end; ++at) {
            std::copy_n(line + (last - at) * stitch_.pixel, stitch_.samples,
                        to + at * stitch_.samples);
        }
    }

    void blend_overlap(const T* first, std::byte* to, Space<T>& space) const {
        const std::int64_t begin = stitch_.columns - stitch_.overlap; // on either side
        const std::int64_t samples = stitch_.samples;
        fill_weights(space.weights);
        space.values.resize(static_cast<std::size_t>(stitch_.overlap * samples));
        const double* const weights = space.weights.data();
        double* value = space.values.data();
        const StitchedPixel at = pixel(begin);
        const T* a = first + at.first * stitch_.pixel;
        const T* b = first + stitch_.partner + at.second * stitch_.pixel;
        for (std::int64_t i = 0; i < stitch_.overlap; ++i) {
            for (std::int64_t sample = 0; sample < samples; ++sample, ++value) {
                *value =
                    weighted_sum(weights[i], static_cast<double>(a[sample]),
                                 weights[stitch_.overlap - 1 - i], static_cast<double>(b[sample]));
            }
            a += stitch_.pixel;
            b -= stitch_.pixel;
        }
        store_elements(stitch_.out_type, space.values.data(), stitch_.overlap * samples,
                       to + begin * samples * out_size_);
    }

    void fill_weights(std::vector<double>& weights) const {
        weights.resize(static_cast<std::size_t>(stitch_.overlap));
        for (std::size_t i = 0; i < weights.size(); ++i) {
            weights[i] =
                overlap_weight(static_cast<std::int64_t>(i), stitch_.overlap, blend_.is_left);
        }
    }

    /// Makes the pixels again that have an invalid element.
    void heed_invalid(const T* first, std::byte* to) const {
        const InvalidTest<T> is_invalid = invalid_test<T>(*stitch_.invalid);
        for (std::int64_t at = 0; at < stitch_.out_columns(); ++at) {
            const StitchedPixel both = pixel(at);
            const T* const a = both.first < 0 ? nullptr : first + both.first * stitch_.pixel;
            const T* const b =
                both.second < 0 ? nullptr : first + stitch_.partner + both.second * stitch_.pixel;
            for (std::int64_t sample = 0; sample < stitch_.samples; ++sample) {
                const bool has_a = a != nullptr && !is_invalid(a[sample]);
                const bool has_b = b != nullptr && !is_invalid(b[sample]);
                std::byte* const element = to + (at * stitch_.samples + sample) * out_size_;
                if (!has_a && !has_b) {
                    mark(element);
                } else if (both.has_both() && has_a != has_b) {
                    put(has_a ? a[sample] : b[sample], element);
                }
            }
        }
    }

    void mark(std::byte* to) const {
        visit_element_type(stitch_.out_type, [&](auto zero) {
            using Out = decltype(zero);
            *reinterpret_cast<Out*>(to) =
                invalid_element<Out>(invalid_value(stitch_.out_type, *stitch_.invalid));
        });
    }

    void put(T element, std::byte* to) const {
        if (is_same_) {
            *reinterpret_cast<T*>(to) = element;
            return;
        }
        const auto value = static_cast<double>(element);
        store_elements(stitch_.out_type, &value, 1, to);
    }

    StitchedPixel pixel(std::int64_t at) const {
        return StitchedPixel::of(at, stitch_.columns, stitch_.overlap, blend_.is_left);
    }

    const Stitch& stitch_;
    StitchBlend blend_;
    const T* in_;
    std::byte* out_;
    std::int64_t out_size_;
    bool is_same_;
};

} // namespace

void stitch(CpuQueue& queue, const Stitch& stitch, std::int64_t groups, const std::byte* in,
            std::byte* out) {
    visit_element_type(stitch.in_type, [&](auto zero) {
        using T = decltype(zero);
        const StitchedLines<T> lines(stitch, in, out);
        tbb::enumerable_thread_specific<Space<T>> spaces;
        using Range = tbb::blocked_range<std::int64_t>;
        queue.run([&] {
            tbb::parallel_for(Range(0, groups * stitch.lines, 4), [&](const Range& range) {
                Space<T>& space = spaces.local();
                for (std::int64_t line = range.begin(); line < range.end(); ++line) {
                    lines.make(line, space);
                }
            });
        });
    });
}

} // namespace runner
