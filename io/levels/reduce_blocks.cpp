// SPDX-License-Identifier: BSD-3-Clause
#include "io/levels/reduce_blocks.hpp"

#include "base/rounding.hpp"
#include "io/rows/file_elements.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace runner {
namespace {

template <class T> constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, Half>;

template <class T> auto value_of(T element) {
    if constexpr (std::is_same_v<T, Half>) {
        return half_value(element);
    } else {
        return element;
    }
}

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

/// sum / count, to nearest, ties to even.
template <class S> S rounded_quotient(S sum, S count) {
    S quotient = 0;
    S rest = 0;
    if ((count & (count - 1)) == 0) {
        quotient = sum >> std::countr_zero(static_cast<std::uint64_t>(count));
        rest = sum & (count - 1);
    } else {
        quotient = sum / count;
        rest = sum % count;
        if (rest < 0) {
            rest += count;
            --quotient;
        }
    }
    const S twice = 2 * rest;
    return quotient + (twice > count || (twice == count && (quotient & 1) != 0) ? 1 : 0);
}

/// The rows of one row of blocks: lines of elements in the order z, y.
template <class T> struct Lines {
    std::vector<const T*> rows;
    std::int64_t columns = 0; ///< of each
    std::int64_t factor = 1;  ///< columns of a block
    std::int64_t nearest = 0; ///< the row that the blocks' middle is in

    std::int64_t blocks() const { return ceil_divide(columns, factor); }
    std::int64_t begin(std::int64_t block) const { return block * factor; }
    std::int64_t end(std::int64_t block) const { return std::min(columns, (block + 1) * factor); }
    std::int64_t elements(std::int64_t block) const {
        return std::ssize(rows) * (end(block) - begin(block));
    }
};

/// Adds each element to its block's sum, in the order x.
template <class T, class S>
void add_row(const T* row, std::int64_t columns, std::int64_t factor, S* sums) {
    const std::int64_t whole = columns / factor;
    if (factor == 2) {
        for (std::int64_t i = 0; i < whole; ++i) {
            sums[i] = (sums[i] + static_cast<S>(value_of(row[2 * i]))) +
                      static_cast<S>(value_of(row[2 * i + 1]));
        }
    } else {
        for (std::int64_t i = 0; i < whole; ++i) {
            for (std::int64_t j = 0; j < factor; ++j) {
                sums[i] += static_cast<S>(value_of(row[i * factor + j]));
            }
        }
    }
    for (std::int64_t j = whole * factor; j < columns; ++j) {
        sums[whole] += static_cast<S>(value_of(row[j]));
    }
}

template <class T> class Mean {
  public:
    void make(const Lines<T>& lines, T* out) {
        sums_.assign(static_cast<std::size_t>(lines.blocks()), 0);
        for (const T* const row : lines.rows) {
            add_row(row, lines.columns, lines.factor, sums_.data());
        }
        for (std::int64_t block = 0; block < lines.blocks(); ++block) {
            const Sum<T> sum = sums_[static_cast<std::size_t>(block)];
            if constexpr (is_real<T>) {
                out[block] = element_of<T>(sum / static_cast<double>(lines.elements(block)));
            } else {
                out[block] = static_cast<T>(rounded_quotient<Sum<T>>(sum, lines.elements(block)));
            }
        }
    }

  private:
    std::vector<Sum<T>> sums_;
};

template <class T> bool is_nan(T element) {
    if constexpr (is_real<T>) {
        return std::isnan(value_of(element));
    } else {
        return false;
    }
}

/// NaN where one of the elements is.
template <class T> class Max {
  public:
    void make(const Lines<T>& lines, T* out) {
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
    void make(const Lines<T>& lines, T* out) {
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

/// What is made of all elements of a block, which are gathered.
template <class T> class Gathered {
  public:
    virtual ~Gathered() = default;

    void make(const Lines<T>& lines, T* out) {
        for (std::int64_t block = 0; block < lines.blocks(); ++block) {
            elements_.clear();
            for (const T* const row : lines.rows) {
                elements_.insert(elements_.end(), row + lines.begin(block), row + lines.end(block));
            }
            out[block] = pick(elements_);
        }
    }

  protected:
    virtual T pick(std::vector<T>& elements) const = 0;

  private:
    std::vector<T> elements_;
};

/// The middle one, or the mean of the two in the middle; NaN where one is.
template <class T> class Median final : public Gathered<T> {
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

template <class T, class Made, class Maker>
void make_all(const Blocks& blocks, const T* from, Made* to, Maker maker) {
    const auto [depth, height, width] = blocks.extents;
    const auto [deep, high, wide] = blocks.factors;
    const auto counts = blocks.counts();
    const bool is_dense = blocks.pitches[1] == 0;
    const std::int64_t row = is_dense ? width : blocks.pitches[1];
    const std::int64_t layer = is_dense ? height * width : blocks.pitches[0];
    Lines<T> lines;
    lines.columns = width;
    lines.factor = wide;
    for (std::int64_t z = 0; z < depth; z += deep) {
        for (std::int64_t y = 0; y < height; y += high) {
            const std::int64_t z_end = std::min(depth, z + deep);
            const std::int64_t y_end = std::min(height, y + high);
            lines.rows.clear();
            for (std::int64_t i = z; i < z_end; ++i) {
                for (std::int64_t j = y; j < y_end; ++j) {
                    lines.rows.push_back(from + i * layer + j * row);
                }
            }
            lines.nearest = std::min((deep - 1) / 2, z_end - z - 1) * (y_end - y) +
                            std::min((high - 1) / 2, y_end - y - 1);
            maker.make(lines, to);
            to += counts[2];
        }
    }
}

/// The sums of blocks of integers, into the caller's memory: of the rows first, which takes no
/// shuffles, and then along the row that is left.
template <class T> class Sums {
  public:
    void make(const Lines<T>& lines, std::int64_t* out) {
        constexpr std::size_t most_rows = 32768; // so many of 16 bits are below 2^31
        if (sizeof(T) <= 2 && lines.rows.size() <= most_rows) {
            add(lines, narrow_, out);
        } else {
            add(lines, wide_, out);
        }
    }

  private:
    template <class S>
    static void add(const Lines<T>& lines, std::vector<S>& sums, std::int64_t* out) {
        const std::int64_t columns = lines.columns;
        sums.assign(lines.rows.front(), lines.rows.front() + columns);
        S* const sum = sums.data();
        std::for_each(lines.rows.begin() + 1, lines.rows.end(), [&](const T* row) {
            for (std::int64_t i = 0; i < columns; ++i) {
                sum[i] += static_cast<S>(row[i]);
            }
        });
        std::fill_n(out, lines.blocks(), 0);
        add_row(sum, columns, lines.factor, out);
    }

    std::vector<std::int32_t> narrow_;
    std::vector<std::int64_t> wide_;
};

template <class T>
void reduce(const Blocks& blocks, Downsample how, const std::byte* in, std::byte* out) {
    const auto* const from = reinterpret_cast<const T*>(in);
    auto* const to = reinterpret_cast<T*>(out);
    switch (how) {
    case Downsample::mean: return make_all(blocks, from, to, Mean<T>());
    case Downsample::median: return make_all(blocks, from, to, Median<T>());
    case Downsample::max: return make_all(blocks, from, to, Max<T>());
    case Downsample::nearest: return make_all(blocks, from, to, Nearest<T>());
    case Downsample::mode: return make_all(blocks, from, to, Mode<T>());
    }
}

/// Sums of blocks of as many elements each, as means.
template <class T>
void divide_row(const std::int64_t* sums, std::int64_t blocks, std::int64_t elements, T* to) {
    if (elements > 1 && (elements & (elements - 1)) == 0) {
        // Vectors of SSE2 shift numbers without a sign alone.
        using Sum = std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t>;
        const int shift = std::countr_zero(static_cast<std::uint64_t>(elements));
        const auto below_half = static_cast<Sum>(elements / 2 - 1);
        for (std::int64_t i = 0; i < blocks; ++i) { // an odd quotient takes a half up
            const auto sum = static_cast<Sum>(sums[i]);
            to[i] = static_cast<T>((sum + below_half + (sum >> shift & 1)) >> shift);
        }
        return;
    }
    for (std::int64_t i = 0; i < blocks; ++i) {
        to[i] = static_cast<T>(rounded_quotient(sums[i], elements));
    }
}

/// Calls `use` with a zero of the element type of an array that has exact sums.
template <class Use> void visit_small_integer(const ArrayInfo& array, const Use& use) {
    visit_element_type(array.type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) {
            use(zero);
        }
    });
}

} // namespace

std::array<std::int64_t, 3> Blocks::counts() const {
    std::array<std::int64_t, 3> counts{};
    std::transform(extents.begin(), extents.end(), factors.begin(), counts.begin(), ceil_divide);
    return counts;
}

void reduce_blocks(const ArrayInfo& array, const Blocks& blocks, Downsample how,
                   const std::byte* in, std::byte* out) {
    if (is_float16(array)) {
        return reduce<Half>(blocks, how, in, out);
    }
    visit_element_type(array.type,
                       [&](auto zero) { reduce<decltype(zero)>(blocks, how, in, out); });
}

bool has_exact_sums(const ArrayInfo& array) {
    bool has = false;
    if (is_number(array.type)) {
        visit_small_integer(array, [&](auto /*zero*/) { has = true; });
    }
    return has;
}

void sum_blocks(const ArrayInfo& array, const Blocks& blocks, const std::byte* in,
                std::int64_t* sums) {
    visit_small_integer(array, [&](auto zero) {
        using T = decltype(zero);
        make_all(blocks, reinterpret_cast<const T*>(in), sums, Sums<T>());
    });
}

void sum_blocks(const Blocks& blocks, const std::int64_t* in, std::int64_t* sums) {
    make_all(blocks, in, sums, Sums<std::int64_t>());
}

void mean_blocks(const ArrayInfo& array, const Blocks& blocks, const std::int64_t* sums,
                 std::byte* out) {
    visit_small_integer(array, [&](auto zero) {
        using T = decltype(zero);
        const auto counts = blocks.counts();
        const auto length = [&](std::size_t axis, std::int64_t block) {
            const std::int64_t factor = blocks.factors[axis];
            return std::min(factor, blocks.extents[axis] - block * factor);
        };
        auto* to = reinterpret_cast<T*>(out);
        const std::int64_t whole = blocks.extents[2] / blocks.factors[2]; // blocks of a row
        for (std::int64_t z = 0; z < counts[0]; ++z) {
            for (std::int64_t y = 0; y < counts[1]; ++y) {
                const std::int64_t in_plane = length(0, z) * length(1, y);
                divide_row(sums, whole, in_plane * blocks.factors[2], to);
                if (whole < counts[2]) {
                    divide_row(sums + whole, 1, in_plane * length(2, whole), to + whole);
                }
                sums += counts[2];
                to += counts[2];
            }
        }
    });
}

} // namespace runner
