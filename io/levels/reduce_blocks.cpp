// SPDX-License-Identifier: BSD-3-Clause
#include "io/levels/reduce_blocks.hpp"

#include "io/levels/block_lines.hpp"
#include "kernels/blocks/block_sums.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// To nearest, ties to even. Bits of half numbers without a sign are ordered as the numbers are.
Half half_of(double value) {
    constexpr double end = 65520; // from which on numbers become infinite
    const std::uint16_t sign = std::signbit(value) ? 0x8000U : 0U;
    const double size = std::abs(value);
    if (!(size < end)) {
        return {static_cast<std::uint16_t>(std::isnan(value) ? 0x7e00U : sign | 0x7c00U)};
    }
    constexpr int least_exponent = -13; // of normal numbers, as frexp() counts
    int exponent = least_exponent;
    if (size > 0) {
        (void)std::frexp(size, &exponent);
    }
    const int step = std::max(exponent, least_exponent) - 11; // of the last bit, a power of 2
    const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -step)));
    // A mantissa that is rounded up to the next power of 2 carries into the exponent.
    const auto biased = static_cast<std::uint32_t>(step + 24);
    return {static_cast<std::uint16_t>(sign | (steps + (biased << 10U)))};
}

/// A computed number as an element; NaN has one form.
template <class T> T element_of(double value) {
    if constexpr (std::is_same_v<T, Half>) {
        return half_of(value);
    } else {
        return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(value);
    }
}

__extension__ using Wide = __int128;

/// Holds the sum of a block: exact of integers.
template <class T>
using Sum =
    std::conditional_t<is_real<T>, double, std::conditional_t<sizeof(T) == 8, Wide, std::int64_t>>;

template <class T> T mean_of(Sum<T> sum, std::int64_t elements) {
    if constexpr (is_real<T>) {
        return element_of<T>(sum / static_cast<double>(elements));
    } else {
        return static_cast<T>(rounded_quotient<Sum<T>>(sum, elements));
    }
}

/// What a block without a value becomes: NaN of floats, else the number that marks it.
template <class T> T invalid_of(const InvalidMark<T>& mark) {
    if constexpr (is_real<T>) {
        return element_of<T>(std::numeric_limits<double>::quiet_NaN());
    } else {
        return mark.number;
    }
}

template <class T> class Mean {
  public:
    void make(const BlockLines<T>& lines, T* out) {
        sums_.resize(static_cast<std::size_t>(lines.blocks()));
        sum(lines);
        const std::int64_t whole = lines.columns / lines.factor;
        divide(0, whole, std::ssize(lines.rows) * lines.factor, out);
        if (whole < lines.blocks()) {
            divide(whole, lines.blocks(), lines.elements(whole), out);
        }
    }

  private:
    void sum(const BlockLines<T>& lines) {
        if constexpr (std::is_floating_point_v<T>) {
            if (sums_columns<T>(lines.factor)) {
                sum_rows<T>(lines.rows, lines.columns / lines.factor, lines.factor, sums_.data());
                sum_last_block(lines, sums_.data());
                return;
            }
        }
        std::fill(sums_.begin(), sums_.end(), 0);
        for (const T* const row : lines.rows) {
            add_row(row, lines.columns, lines.factor, sums_.data());
        }
    }

    /// Blocks from `begin` to `end`, of so many elements each.
    void divide(std::int64_t begin, std::int64_t end, std::int64_t elements, T* out) const {
        for (std::int64_t block = begin; block < end; ++block) {
            out[block] = mean_of<T>(sums_[static_cast<std::size_t>(block)], elements);
        }
    }

    std::vector<Sum<T>> sums_;
};

/// The mean of the elements that are values, added up in the same order.
template <class T> class ValidMean {
  public:
    explicit ValidMean(const InvalidMark<T>& mark) : mark_(mark) {}

    void make(const BlockLines<T>& lines, T* out) {
        sums_.assign(static_cast<std::size_t>(lines.blocks()), {});
        for (const T* const row : lines.rows) {
            for (std::int64_t block = 0; block < lines.blocks(); ++block) {
                Values& values = sums_[static_cast<std::size_t>(block)];
                for (std::int64_t j = lines.begin(block); j < lines.end(block); ++j) {
                    const bool is_value = !mark_.is_on(row[j]);
                    values.sum += is_value ? static_cast<Sum<T>>(value_of(row[j])) : 0;
                    values.count += is_value ? 1 : 0;
                }
            }
        }
        std::transform(sums_.begin(), sums_.end(), out, [&](const Values& values) {
            return values.count == 0 ? invalid_of(mark_) : mean_of<T>(values.sum, values.count);
        });
    }

  private:
    struct Values {
        Sum<T> sum = 0;
        std::int64_t count = 0;
    };

    InvalidMark<T> mark_;
    std::vector<Values> sums_; ///< of blocks
};

/// NaN where one of the elements is.
template <class T> class Max {
  public:
    void make(const BlockLines<T>& lines, T* out) {
        for (std::int64_t block = 0; block < lines.blocks(); ++block) {
            T most = lines.rows.front()[lines.begin(block)];
            for (const T* const row : lines.rows) {
                for (std::int64_t j = lines.begin(block); j < lines.end(block); ++j) {
                    if (is_nan(row[j])) {
                        most = element_of<T>(std::numeric_limits<double>::quiet_NaN());
                    } else if (value_of(most) < value_of(row[j])) { // never where it is NaN
                        most = row[j];
                    }
                }
            }
            out[block] = most;
        }
    }
};

template <class T> class Nearest {
  public:
    void make(const BlockLines<T>& lines, T* out) {
        const T* const row = lines.rows[static_cast<std::size_t>(lines.nearest)];
        for (std::int64_t block = 0; block < lines.blocks(); ++block) {
            out[block] =
                row[std::min(lines.begin(block) + (lines.factor - 1) / 2, lines.columns - 1)];
        }
    }
};

/// NaN is above all numbers, and -0 below 0.
template <class T> bool is_below(T a, T b) {
    if constexpr (is_real<T>) {
        const auto x = value_of(a);
        const auto y = value_of(b);
        if (std::isnan(x) || std::isnan(y)) {
            return !std::isnan(x);
        }
        return x < y || (x == y && std::signbit(x) && !std::signbit(y));
    } else {
        return a < b;
    }
}

/// What is made of all elements of a block, or of those that are values, which are gathered.
template <class T> class Gathered {
  public:
    explicit Gathered(const std::optional<InvalidMark<T>>& mark) : mark_(mark) {}
    virtual ~Gathered() = default;

    void make(const BlockLines<T>& lines, T* out) {
        for (std::int64_t block = 0; block < lines.blocks(); ++block) {
            elements_.clear();
            for (const T* const row : lines.rows) {
                gather(row + lines.begin(block), row + lines.end(block));
            }
            out[block] = elements_.empty() ? invalid_of(*mark_) : pick(elements_);
        }
    }

  protected:
    virtual T pick(std::vector<T>& elements) const = 0;

  private:
    void gather(const T* begin, const T* end) {
        if (mark_) {
            std::remove_copy_if(begin, end, std::back_inserter(elements_),
                                [&](T element) { return mark_->is_on(element); });
        } else {
            elements_.insert(elements_.end(), begin, end);
        }
    }

    std::optional<InvalidMark<T>> mark_;
    std::vector<T> elements_;
};

/// The first of the largest values, among which is no NaN.
template <class T> class ValidMax final : public Gathered<T> {
  public:
    using Gathered<T>::Gathered;

  private:
    T pick(std::vector<T>& elements) const override {
        return *std::max_element(elements.begin(), elements.end(),
                                 [](T a, T b) { return value_of(a) < value_of(b); });
    }
};

/// The middle one, or the mean of the two in the middle; NaN where one is.
template <class T> class Median final : public Gathered<T> {
  public:
    using Gathered<T>::Gathered;

  private:
    T pick(std::vector<T>& elements) const override {
        if (std::any_of(elements.begin(), elements.end(), is_nan<T>)) {
            return element_of<T>(std::numeric_limits<double>::quiet_NaN());
        }
        const auto middle = elements.begin() + std::ssize(elements) / 2;
        std::nth_element(elements.begin(), middle, elements.end(), is_below<T>);
        if (elements.size() % 2 != 0) {
            return *middle;
        }
        const T below = *std::max_element(elements.begin(), middle, is_below<T>);
        const auto sum =
            static_cast<Sum<T>>(value_of(below)) + static_cast<Sum<T>>(value_of(*middle));
        if constexpr (is_real<T>) {
            return element_of<T>(sum / 2);
        } else {
            return static_cast<T>(rounded_quotient<Sum<T>>(sum, 2));
        }
    }
};

/// The least of those that are there most often. NaNs are one value, and so are -0 and 0.
template <class T> class Mode final : public Gathered<T> {
  public:
    using Gathered<T>::Gathered;

  private:
    T pick(std::vector<T>& elements) const override {
        std::sort(elements.begin(), elements.end(), is_below<T>);
        auto best = elements.begin();
        std::ptrdiff_t most = 0;
        for (auto begin = elements.begin(); begin != elements.end();) {
            const auto end = std::find_if(begin, elements.end(), [&](T each) {
                return value_of(each) != value_of(*begin) && !(is_nan(each) && is_nan(*begin));
            });
            if (end - begin > most) {
                best = begin;
                most = end - begin;
            }
            begin = end;
        }
        return is_nan(*best) ? element_of<T>(std::numeric_limits<double>::quiet_NaN()) : *best;
    }
};

template <class T>
void reduce(const Blocks& blocks, const Downsampling& downsampling, const std::byte* in,
            std::byte* out) {
    const auto make = [&](auto maker) {
        make_row_by_row(blocks, reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out),
                        std::move(maker));
    };
    const std::optional<InvalidMark<T>> mark = invalid_mark<T>(downsampling.invalid);
    switch (downsampling.how) {
    case Downsample::mean: return mark ? make(ValidMean<T>(*mark)) : make(Mean<T>());
    case Downsample::median: return make(Median<T>(mark));
    case Downsample::max: return mark ? make(ValidMax<T>(mark)) : make(Max<T>());
    case Downsample::nearest: return make(Nearest<T>());
    case Downsample::mode: return make(Mode<T>(mark));
    }
}

} // namespace

std::array<std::int64_t, 3> Blocks::counts() const {
    std::array<std::int64_t, 3> counts{};
    std::transform(extents.begin(), extents.end(), factors.begin(), counts.begin(), ceil_divide);
    return counts;
}

void reduce_blocks(const ArrayInfo& array, const Blocks& blocks, const Downsampling& downsampling,
                   const std::byte* in, std::byte* out) {
    if (is_float16(array)) {
        return reduce<Half>(blocks, downsampling, in, out);
    }
    visit_element_type(array.type,
                       [&](auto zero) { reduce<decltype(zero)>(blocks, downsampling, in, out); });
}

} // namespace runner
