// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/patterns/patterns.hpp"

#include "kernels/patterns/phantom.hpp"
#include "kernels/sand/sand_samples.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

constexpr std::int64_t block_elements = 1 << 16;

std::uint64_t finalise(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

template <class T> struct Noise {
    static constexpr int bits = 8 * sizeof(T);
    static constexpr std::int64_t elements_per_word = 8 / sizeof(T);

    std::uint64_t key;

    explicit Noise(std::uint64_t seed) : key(finalise(seed)) {}

    std::uint64_t word(std::int64_t index) const {
        return finalise(key + (static_cast<std::uint64_t>(index) + 1) * 0x9e3779b97f4a7c15ULL);
    }

    static T value(std::uint64_t word, std::int64_t place) {
        const std::uint64_t shifted = word >> (static_cast<int>(place) * bits);
        if constexpr (std::is_same_v<T, double>) {
            return static_cast<double>(shifted >> 11) * 0x1p-53;
        } else if constexpr (std::is_same_v<T, float>) {
            return static_cast<float>(static_cast<std::uint32_t>(shifted) >> 8) * 0x1p-24F;
        } else {
            return static_cast<T>(shifted);
        }
    }

    T element(std::int64_t i) const {
        return value(word(i / elements_per_word), i % elements_per_word);
    }

    void fill(std::int64_t first, std::int64_t count, T* out) const {
        const std::int64_t end = first + count;
        std::int64_t i = first;
        for (; i < end && i % elements_per_word != 0; ++i) {
            *out++ = element(i);
        }
        for (; i + elements_per_word <= end; i += elements_per_word) {
            const std::uint64_t bits_now = word(i / elements_per_word);
            for (std::int64_t place = 0; place < elements_per_word; ++place) {
                *out++ = value(bits_now, place);
            }
        }
        for (; i < end; ++i) {
            *out++ = element(i);
        }
    }
};

template <class T> struct Index {
    void fill(std::int64_t first, std::int64_t count, T* out) const {
        for (std::int64_t i = 0; i < count; ++i) {
            out[i] = static_cast<T>(first + i);
        }
    }
};

template <class T> struct Gradient {
    std::int64_t rows;
    std::int64_t columns;

    explicit Gradient(std::span<const std::int64_t> shape)
        : rows(shape.size() > 1 ? shape[shape.size() - 2] : 1), columns(shape.back()) {}

    T value(std::int64_t k) const {
        const std::int64_t last = std::max<std::int64_t>(rows + columns - 2, 1);
        if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(static_cast<double>(k) / static_cast<double>(last));
        } else {
            using Unsigned = std::make_unsigned_t<T>;
            __extension__ using Wide = unsigned __int128;
            const auto span = static_cast<Wide>(std::numeric_limits<Unsigned>::max());
            const auto step =
                static_cast<Unsigned>(static_cast<Wide>(k) * span / static_cast<Wide>(last));
            // Modulo 2^bits, so that the sum with the least value is right for signed types.
            return static_cast<T>(
                static_cast<Unsigned>(step + static_cast<Unsigned>(std::numeric_limits<T>::min())));
        }
    }

    void fill(std::int64_t first, std::int64_t count, T* out) const {
        std::int64_t done = 0;
        const T* above = nullptr; // the row above in this block, whole up to its last column
        while (done < count) {
            const std::int64_t row = (first + done) / columns % rows;
            const std::int64_t column = (first + done) % columns;
            const std::int64_t run = std::min(columns - column, count - done);
            T* line = out + done;
            std::int64_t made = 0;
            if (above != nullptr && row > 0) {
                // A division an element is slow, and this row is the one above, one column on.
                made = std::min(run, columns - 1);
                std::copy_n(above + 1, made, line);
            }
            for (; made < run; ++made) {
                line[made] = value(row + column + made);
            }
            above = column == 0 ? line : nullptr;
            done += run;
        }
    }
};

/// A sand sample, repeated along the last two axes.
template <class T> struct Sample {
    SandSample sample;
    std::int64_t rows;
    std::int64_t columns;

    Sample(int number, std::span<const std::int64_t> shape)
        : sample(number), rows(shape.size() > 1 ? shape[shape.size() - 2] : 1),
          columns(shape.back()) {}

    void fill(std::int64_t first, std::int64_t count, T* out) const {
        std::vector<std::uint8_t> cells(static_cast<std::size_t>(sample.columns()));
        std::int64_t done = 0;
        while (done < count) {
            const std::int64_t row = (first + done) / columns % rows % sample.rows();
            const std::int64_t column = (first + done) % columns;
            const std::int64_t place = column % sample.columns();
            const std::int64_t run =
                std::min({sample.columns() - place, columns - column, count - done});
            sample.fill_row(row, place, place + run, cells.data());
            std::transform(cells.begin(), cells.begin() + run, out + done,
                           [](std::uint8_t cell) { return static_cast<T>(cell); });
            done += run;
        }
    }
};

template <class T> struct SandNoise {
    Noise<std::uint8_t> noise;

    explicit SandNoise(std::uint64_t seed) : noise(seed) {}

    static T cell(std::uint8_t byte) {
        const int material = (byte >= 154 ? 1 : 0) + (byte >= 192 ? 1 : 0) + (byte >= 248 ? 1 : 0);
        return static_cast<T>(material);
    }

    void fill(std::int64_t first, std::int64_t count, T* out) const {
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
        noise.fill(first, count, bytes.data());
        std::transform(bytes.begin(), bytes.end(), out, cell);
    }
};

int sample_number(Pattern pattern) {
    return 1 + static_cast<int>(pattern) - static_cast<int>(Pattern::sample_1);
}

template <class Filler, class T>
void fill_blocks(CpuQueue& queue, const Filler& filler, std::int64_t first, std::int64_t count,
                 T* out) {
    queue.run([&] {
        tbb::parallel_for(std::int64_t{0}, (count + block_elements - 1) / block_elements,
                          [&](std::int64_t block) {
                              const std::int64_t begin = block * block_elements;
                              filler.fill(first + begin, std::min(block_elements, count - begin),
                                          out + begin);
                          });
    });
}

} // namespace

std::optional<Pattern> pattern_named(std::string_view name) {
    for (const auto& [known, pattern] : all_patterns) {
        if (known == name) {
            return pattern;
        }
    }
    return std::nullopt;
}

bool is_sand_pattern(Pattern pattern) {
    return pattern >= Pattern::sample_1 && pattern <= Pattern::sand_noise;
}

std::optional<std::vector<std::int64_t>> usual_shape(Pattern pattern) {
    if (pattern < Pattern::sample_1 || pattern > Pattern::sample_4) {
        return std::nullopt;
    }
    const SandSample sample(sample_number(pattern));
    return std::vector<std::int64_t>{1, sample.rows(), sample.columns()};
}

std::string pattern_names() {
    std::string names;
    for (const auto& [name, pattern] : all_patterns) {
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return names;
}

void fill_pattern(CpuQueue& queue, Pattern pattern, ElementType type,
                  std::span<const std::int64_t> shape, std::uint64_t seed,
                  std::int64_t first_element, std::int64_t count, std::byte* out, double counts) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        T* elements = reinterpret_cast<T*>(out);
        switch (pattern) {
        case Pattern::noise:
            return fill_blocks(queue, Noise<T>(seed), first_element, count, elements);
        case Pattern::index: return fill_blocks(queue, Index<T>(), first_element, count, elements);
        case Pattern::gradient:
            return fill_blocks(queue, Gradient<T>(shape), first_element, count, elements);
        case Pattern::sample_1:
        case Pattern::sample_2:
        case Pattern::sample_3:
        case Pattern::sample_4:
            return fill_blocks(queue, Sample<T>(sample_number(pattern), shape), first_element,
                               count, elements);
        case Pattern::sand_noise:
            return fill_blocks(queue, SandNoise<T>(seed), first_element, count, elements);
        case Pattern::phantom: return fill_phantom(queue, type, shape, first_element, count, out);
        case Pattern::xray:
            return fill_xray(queue, type, shape, seed, counts, first_element, count, out);
        case Pattern::tomo_scan:
            return fill_scan(queue, type, shape, seed, counts, first_element, count, out);
        case Pattern::phase_scan:
            return fill_phase_scan(queue, type, shape, seed, counts, first_element, count, out);
        case Pattern::shadows: return fill_shadows(queue, type, shape, first_element, count, out);
        }
    });
}

} // namespace runner
