// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The rows and columns of the input that a thread's windows need, and the elements that it stores.

#include "kernels/elements/elementwise.cuh"
#include "kernels/median/median_call.hpp"
#include "kernels/median/median_device.cuh"

#include <cstdint>
#include <limits>
#include <utility>

namespace runner::median_cuda {

/// What a kernel needs beside the call.
template <class Raw> struct Walk {
    const Raw* in;
    Raw* out;
    KeyForm form;
    Raw fill;
    std::uint32_t strips;
    std::int64_t segments; ///< of a run of rows
    std::int64_t segment_rows;
};

/// map_index() of an index that is little beyond an extent, without divisions, which take many
/// instructions wherever they stand.
__device__ inline std::int64_t near_index(std::int64_t i, std::int64_t extent, Boundary boundary) {
    if (boundary == Boundary::constant || boundary == Boundary::nearest) {
        const std::int64_t held = i < 0 ? 0 : min(i, extent - 1);
        return boundary == Boundary::nearest || held == i ? held : -1;
    }
    if (extent == 1) {
        return 0;
    }
    const int repeated = boundary == Boundary::reflect ? 1 : 0; // the border elements themselves
    while (i < 0 || i >= extent) {
        if (boundary == Boundary::wrap) {
            i += i < 0 ? extent : -extent;
        } else {
            i = (i < 0 ? 0 : 2 * extent - 2) - i + (i < 0 ? -repeated : repeated);
        }
    }
    return i;
}

/// Where the columns of a window stand in a row: −1 for the fill value. Columns that no window of
/// the image needs may be asked for.
__device__ inline int held_column(const MedianCall& call, int column) {
    return column >= call.columns + call.radius_x
               ? 0
               : static_cast<int>(near_index(column, call.columns, call.boundary));
}

/// The rows of the input that a thread's windows need.
template <class Raw, int z_size> class Layers {
  public:
    __device__ Layers(const MedianCall& call, const Raw* in, std::int64_t layer) : in_(in) {
        first_ = z_size == 1 ? call.in_first : 0;
        last_ = z_size == 1 ? call.in_first + call.in_rows : call.rows;
#pragma unroll
        for (int z = 0; z < z_size; ++z) {
            offset_[z] = z_size == 1 ? -call.in_first * call.columns
                                     : layer_offset(call, layer + z - z_size / 2);
        }
    }

    /// Elements from row 0 of a layer to its row `y`, which may be beyond the image.
    __device__ std::int64_t row(const MedianCall& call, std::int64_t y) const {
        if (y >= first_ && y < last_) {
            return y * call.columns;
        }
        const std::int64_t mapped = near_index(y, call.rows, call.boundary);
        return mapped < 0 ? outside : mapped * call.columns;
    }
    /// The row of a layer that row() gave; null where the fill value stands.
    const __device__ Raw* at(int z, std::int64_t row) const {
        return row == outside || offset_[z] == outside ? nullptr : in_ + offset_[z] + row;
    }

  private:
    static constexpr std::int64_t outside = std::numeric_limits<std::int64_t>::min();

    /// Elements from the buffer's first row to the layer's, which may be beyond the volume.
    static __device__ std::int64_t layer_offset(const MedianCall& call, std::int64_t layer) {
        std::int64_t row = layer * call.rows - call.in_first;
        if (row < 0 || row >= call.in_rows) {
            const std::int64_t mapped = near_index(layer, call.layers, call.boundary);
            if (mapped < 0) {
                return outside;
            }
            row = mapped * call.rows - call.in_first;
        }
        return row * call.columns;
    }

    const Raw* in_;
    std::int64_t first_;
    std::int64_t last_;
    std::int64_t offset_[z_size];
};

/// Columns of a thread in an image whose rows begin at multiples of what a thread loads, and have
/// as many columns as some threads have.
template <class Keys, int radius, int words> class AlignedColumns {
  public:
    using Raw = typename Keys::Raw;
    using Word = typename Keys::Word;
    using Memory = typename Keys::Memory;
    static constexpr int elements = words * Keys::lanes;
    static constexpr int body = elements / Keys::per;                   ///< memory words
    static constexpr int margin = (radius + Keys::per - 1) / Keys::per; ///< on either side

    __device__ AlignedColumns(const MedianCall& call, const Walk<Raw>& walk, int first)
        : first_(first), at_left_(first < radius),
          at_right_(first + elements + radius > call.columns) {
        fill_ = walk.fill;
        if constexpr (Keys::per > 1) {
            fill_ *= static_cast<Memory>(Keys::per == 4 ? 0x01010101U : 0x00010001U);
        }
#pragma unroll
        for (int i = 0; i < radius; ++i) {
            left_[i] = at_left_ ? held_column(call, first - 1 - i) : 0;
            right_[i] = at_right_ ? held_column(call, first + elements + i) : 0;
        }
    }

    /// What a row holds of the thread's columns and those around; `row` null: the fill value.
    struct Fetched {
        Memory memory[body + 2 * margin];
    };
    __device__ void fetch(const Raw* row, const Walk<Raw>& walk, Fetched& to) const {
        if (row == nullptr) {
#pragma unroll
            for (int i = 0; i < body + 2 * margin; ++i) {
                to.memory[i] = fill_;
            }
        } else {
            load_memory(row, walk, to.memory);
        }
    }

    /// The keys of the columns, from `radius` before the thread's first one on.
    static __device__ void make_keys(Fetched& from, const KeyForm& form,
                                     Word (&to)[words + 2 * radius]) {
#pragma unroll
        for (int i = 0; i < body + 2 * margin; ++i) {
            from.memory[i] = Keys::keys(from.memory[i], form);
        }
        arrange(from.memory, to, std::make_integer_sequence<int, words + 2 * radius>());
    }

    /// Medians as elements of the output's row; the input's own where they differ too little.
    /// Returns how many are medians, where there is a difference; else 0.
    __device__ int store(const MedianCall& call, const Walk<Raw>& walk, const Raw* own, Raw* row,
                         const Word (&medians)[words]) const {
        ElementVector<Memory, body> result;
        make_memory(medians, walk.form, result, std::make_integer_sequence<int, body>());
        const int replaced = call.has_difference ? keep_near(call, walk, own, result) : 0;
        *reinterpret_cast<ElementVector<Memory, body>*>(row + first_) = result;
        return replaced;
    }

  private:
    __device__ void load_memory(const Raw* row, const Walk<Raw>& walk,
                                Memory (&memory)[body + 2 * margin]) const {
        const auto* from = reinterpret_cast<const Memory*>(row + first_);
        const auto loaded = *reinterpret_cast<const ElementVector<Memory, body>*>(from);
#pragma unroll
        for (int i = 0; i < body; ++i) {
            memory[margin + i] = loaded.at[i];
        }
#pragma unroll
        for (int i = 0; i < margin; ++i) {
            memory[margin - 1 - i] = at_left_ ? Memory{0} : from[-1 - i];
            memory[margin + body + i] = at_right_ ? Memory{0} : from[body + i];
        }
        const auto put = [&](int column, Memory& word, int place) {
            const Raw raw = column < 0 ? walk.fill : row[column];
            word |= static_cast<Memory>(raw) << (8 * sizeof(Raw) * place);
        };
        if (at_left_) {
#pragma unroll
            for (int i = 0; i < radius; ++i) {
                put(left_[i], memory[margin - 1 - i / Keys::per], Keys::per - 1 - i % Keys::per);
            }
        }
        if (at_right_) {
#pragma unroll
            for (int i = 0; i < radius; ++i) {
                put(right_[i], memory[margin + body + i / Keys::per], i % Keys::per);
            }
        }
    }

    template <int... i>
    static __device__ void arrange(const Memory (&memory)[body + 2 * margin],
                                   Word (&to)[words + 2 * radius],
                                   std::integer_sequence<int, i...> /*columns*/) {
        constexpr int skipped = margin * Keys::per - radius;
        ((to[i] = Keys::template word<skipped + i, skipped + i + words>(memory)), ...);
    }

    template <int... i>
    static __device__ void make_memory(const Word (&medians)[words], const KeyForm& form,
                                       ElementVector<Memory, body>& to,
                                       std::integer_sequence<int, i...> /*words*/) {
        ((to.at[i] = Keys::template memory<words, i>(medians, form)), ...);
    }

    __device__ int keep_near(const MedianCall& call, const Walk<Raw>& walk, const Raw* own,
                             ElementVector<Memory, body>& result) const {
        int replaced = elements;
        const auto held = *reinterpret_cast<const ElementVector<Memory, body>*>(own + first_);
#pragma unroll
        for (int i = 0; i < elements; ++i) {
            constexpr int bits = 8 * sizeof(Raw);
            const int shift = i % Keys::per * bits;
            Memory& word = result.at[i / Keys::per];
            const auto x = static_cast<Raw>(held.at[i / Keys::per] >> shift);
            const auto median = static_cast<Raw>(word >> shift);
            if (!call.is_far(Keys::excess(x, median, walk.form))) {
                word ^= static_cast<Memory>(static_cast<Raw>(x ^ median)) << shift;
                --replaced;
            }
        }
        return replaced;
    }

    int first_;
    bool at_left_;
    bool at_right_;
    Memory fill_;
    int left_[radius];
    int right_[radius];
};

/// Columns of a thread in any image: loaded and stored one by one.
template <class Keys, int radius, int words> class SingleColumns {
  public:
    using Raw = typename Keys::Raw;
    using Word = typename Keys::Word;
    static constexpr int elements = words * Keys::lanes;

    __device__ SingleColumns(const MedianCall& call, const Walk<Raw>& /*walk*/, int first)
        : first_(first), held_(min(elements, static_cast<int>(call.columns) - first)) {
#pragma unroll
        for (int i = 0; i < elements + 2 * radius; ++i) {
            column_[i] = held_column(call, first - radius + i);
        }
    }

    struct Fetched {
        Raw raw[elements + 2 * radius];
    };
    __device__ void fetch(const Raw* row, const Walk<Raw>& walk, Fetched& to) const {
#pragma unroll
        for (int i = 0; i < elements + 2 * radius; ++i) {
            to.raw[i] = row == nullptr || column_[i] < 0 ? walk.fill : row[column_[i]];
        }
    }

    static __device__ void make_keys(const Fetched& from, const KeyForm& form,
                                     Word (&to)[words + 2 * radius]) {
#pragma unroll
        for (int i = 0; i < words + 2 * radius; ++i) {
            if constexpr (Keys::lanes == 2) {
                to[i] = Keys::pair(from.raw[i], from.raw[i + words], form);
            } else {
                to[i] = static_cast<Word>(Keys::keys(from.raw[i], form));
            }
        }
    }

    __device__ int store(const MedianCall& call, const Walk<Raw>& walk, const Raw* own, Raw* row,
                         const Word (&medians)[words]) const {
        int replaced = 0;
        Raw result[elements];
        make_elements(medians, walk.form, result, std::make_integer_sequence<int, elements>());
#pragma unroll
        for (int i = 0; i < elements; ++i) {
            if (i < held_) {
                const int column = first_ + i;
                if (call.has_difference) {
                    const bool is_far =
                        call.is_far(Keys::excess(own[column], result[i], walk.form));
                    result[i] = is_far ? result[i] : own[column];
                    replaced += is_far ? 1 : 0;
                }
                row[column] = result[i];
            }
        }
        return replaced;
    }

  private:
    template <int... i>
    static __device__ void make_elements(const Word (&medians)[words], const KeyForm& form,
                                         Raw (&to)[elements],
                                         std::integer_sequence<int, i...> /*elements*/) {
        if constexpr (Keys::lanes == 2) {
            ((to[i] = Keys::template element<i / words>(medians[i % words], form)), ...);
        } else {
            ((to[i] = Keys::template memory<words, i>(medians, form)), ...);
        }
    }

    int first_;
    int held_;
    int column_[elements + 2 * radius];
};

} // namespace runner::median_cuda
