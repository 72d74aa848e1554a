// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/median/median_network.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <cuda_runtime.h>

namespace runner::median_cuda {

/// What turns elements into keys and back, of one type.
struct KeyForm {
    std::uint32_t flip;  ///< bits to turn, in each element of a memory word
    bool is_float;       ///< of 8 bytes: whether they are float64
    float negative_zero; ///< −0, which the compiler must not know
};

/// Bits to turn in a word of elements, or the upper half of one of 8 bytes, so that words order as
/// elements do.
inline std::uint32_t turned_bits(ElementType type) {
    switch (type) {
    case ElementType::int8: return 0x80808080U;
    case ElementType::int16: return 0x80008000U;
    case ElementType::uint32:
    case ElementType::uint64: return 0x80000000U;
    default: return 0;
    }
}

// Minima and maxima as assembly: the compiler's optimizer takes half a minute for a network of
// those that it knows, and makes the same instructions of them.

__device__ inline std::uint32_t least_of_pairs(std::uint32_t a, std::uint32_t b) {
    std::uint32_t result; // NOLINT: written below
#if __CUDA_ARCH__ >= 900
    asm("min.u16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
#else
    asm("vmin2.u32.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(0));
#endif
    return result;
}
__device__ inline std::uint32_t most_of_pairs(std::uint32_t a, std::uint32_t b) {
    std::uint32_t result; // NOLINT: written below
#if __CUDA_ARCH__ >= 900
    asm("max.u16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
#else
    asm("vmax2.u32.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(0));
#endif
    return result;
}
__device__ inline std::int32_t least_of(std::int32_t a, std::int32_t b) {
    std::int32_t result; // NOLINT: written below
    asm("min.s32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result;
}
__device__ inline std::int32_t most_of(std::int32_t a, std::int32_t b) {
    std::int32_t result; // NOLINT: written below
    asm("max.s32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

// Keys<bytes…>: a thread has W · lanes columns side by side, in W words: word i holds columns i
// and, with two lanes, i + W. So each word's neighbours are words too. `Memory` is what is loaded
// at once, `per` elements of it.

/// Elements of 8 bits: two to a word, each an unsigned number of 16 bits, whose low byte is the
/// key, and whose high byte is the key or 0.
struct ByteKeys {
    using Raw = std::uint8_t;
    using Memory = std::uint32_t;
    using Word = std::uint32_t;
    static constexpr int lanes = 2;
    static constexpr int per = 4;

    static __device__ Memory keys(Memory word, const KeyForm& form) { return word ^ form.flip; }
    /// Keys of elements `low` and `high` of a thread, from the first of a memory word on.
    template <int low, int high> static __device__ __forceinline__ Word word(const Memory* from) {
        constexpr unsigned a = low % 4;
        constexpr unsigned b = 4 + high % 4;
        return __byte_perm(from[low / 4], from[high / 4], a * 0x11 + b * 0x1100);
    }
    static __device__ __forceinline__ Word pair(Raw low, Raw high, const KeyForm& form) {
        return (low | static_cast<Word>(high) << 16) ^ (form.flip & 0x00FF00FF);
    }
    template <int words, int i>
    static __device__ Memory memory(const Word (&from)[words], const KeyForm& form) {
        static_assert(words == 2 || words == 4);
        if constexpr (words == 2) {
            return __byte_perm(from[0], from[1], 0x6240) ^ form.flip;
        } else {
            constexpr unsigned lane = i * 2;
            const Word left = __byte_perm(from[0], from[1], lane * 0x11 + 0x40);
            const Word right = __byte_perm(from[2], from[3], lane * 0x11 + 0x40);
            return __byte_perm(left, right, 0x5410) ^ form.flip;
        }
    }
    template <int lane> static __device__ Raw element(Word word, const KeyForm& form) {
        return static_cast<Raw>((word >> (16 * lane)) ^ form.flip);
    }
    static __device__ __forceinline__ Word least(Word a, Word b) { return least_of_pairs(a, b); }
    static __device__ __forceinline__ Word most(Word a, Word b) { return most_of_pairs(a, b); }
    static __device__ double excess(Raw a, Raw b, const KeyForm& form) {
        const auto key = [&](Raw raw) { return static_cast<int>((raw ^ form.flip) & 0xFF); };
        return key(a) - key(b);
    }
};

/// Elements of 16 bits: two to a word, as unsigned numbers.
struct HalfKeys {
    using Raw = std::uint16_t;
    using Memory = std::uint32_t;
    using Word = std::uint32_t;
    static constexpr int lanes = 2;
    static constexpr int per = 2;

    static __device__ Memory keys(Memory word, const KeyForm& form) { return word ^ form.flip; }
    template <int low, int high> static __device__ __forceinline__ Word word(const Memory* from) {
        constexpr unsigned a = low % 2 == 0 ? 0x10 : 0x32;
        constexpr unsigned b = high % 2 == 0 ? 0x54 : 0x76;
        return __byte_perm(from[low / 2], from[high / 2], a + b * 0x100);
    }
    static __device__ __forceinline__ Word pair(Raw low, Raw high, const KeyForm& form) {
        return (low | static_cast<Word>(high) << 16) ^ form.flip;
    }
    template <int words, int i>
    static __device__ Memory memory(const Word (&from)[words], const KeyForm& form) {
        constexpr int first = i * 2 % words; // of the columns 2i and 2i + 1
        return __byte_perm(from[first], from[first + 1], i * 2 < words ? 0x5410 : 0x7632) ^
               form.flip;
    }
    template <int lane> static __device__ Raw element(Word word, const KeyForm& form) {
        return static_cast<Raw>((word ^ form.flip) >> (16 * lane));
    }
    static __device__ __forceinline__ Word least(Word a, Word b) { return least_of_pairs(a, b); }
    static __device__ __forceinline__ Word most(Word a, Word b) { return most_of_pairs(a, b); }
    static __device__ double excess(Raw a, Raw b, const KeyForm& form) {
        const auto key = [&](Raw raw) { return static_cast<int>((raw ^ form.flip) & 0xFFFF); };
        return key(a) - key(b);
    }
};

/// Elements that are a word each.
template <class Memory_, class Word_> struct SingleKeys {
    using Raw = Memory_;
    using Memory = Memory_;
    using Word = Word_;
    static constexpr int lanes = 1;
    static constexpr int per = 1;

    template <int low, int /*high*/>
    static __device__ __forceinline__ Word word(const Memory* from) {
        return static_cast<Word>(from[low]);
    }
};

/// Integers of 32 bits, as signed ones.
struct IntKeys : SingleKeys<std::uint32_t, std::int32_t> {
    static __device__ Memory keys(Memory word, const KeyForm& form) { return word ^ form.flip; }
    template <int words, int i>
    static __device__ Memory memory(const Word (&from)[words], const KeyForm& form) {
        return static_cast<Memory>(from[i]) ^ form.flip;
    }
    static __device__ __forceinline__ Word least(Word a, Word b) { return least_of(a, b); }
    static __device__ __forceinline__ Word most(Word a, Word b) { return most_of(a, b); }
    static __device__ double excess(Raw a, Raw b, const KeyForm& form) {
        return static_cast<double>(std::int64_t{static_cast<Word>(a ^ form.flip)} -
                                   static_cast<Word>(b ^ form.flip));
    }
};

/// float32 by ordered_key().
struct FloatKeys : SingleKeys<std::uint32_t, std::int32_t> {
    static __device__ Memory keys(Memory word, const KeyForm& form) {
        // Adding −0 changes no number, and makes every NaN 0x7FFFFFFF, which is its key. It takes
        // no place in the units that the minima need.
        const auto bits =
            std::bit_cast<Word>(__fadd_rn(std::bit_cast<float>(word), form.negative_zero));
        return static_cast<Memory>(bits ^ (bits >> 31 & std::numeric_limits<Word>::max()));
    }
    template <int words, int i>
    static __device__ Memory memory(const Word (&from)[words], const KeyForm& /*form*/) {
        return std::bit_cast<Memory>(element_of_key<float>(from[i]));
    }
    static __device__ __forceinline__ Word least(Word a, Word b) { return least_of(a, b); }
    static __device__ __forceinline__ Word most(Word a, Word b) { return most_of(a, b); }
    static __device__ double excess(Raw a, Raw b, const KeyForm& /*form*/) {
        return static_cast<double>(std::bit_cast<float>(a)) -
               static_cast<double>(std::bit_cast<float>(b));
    }
};

/// Integers and floats of 64 bits.
struct LongKeys : SingleKeys<std::uint64_t, std::int64_t> {
    static __device__ std::uint64_t flip(const KeyForm& form) {
        return std::uint64_t{form.flip} << 32;
    }
    static __device__ Memory keys(Memory word, const KeyForm& form) {
        return form.is_float ? static_cast<Memory>(ordered_key(std::bit_cast<double>(word)))
                             : word ^ flip(form);
    }
    template <int words, int i>
    static __device__ Memory memory(const Word (&from)[words], const KeyForm& form) {
        return form.is_float ? std::bit_cast<Memory>(element_of_key<double>(from[i]))
                             : static_cast<Memory>(from[i]) ^ flip(form);
    }
    // Both make the same comparison, so that the two of a pair share it.
    static __device__ __forceinline__ Word least(Word a, Word b) { return a < b ? a : b; }
    static __device__ __forceinline__ Word most(Word a, Word b) { return a < b ? b : a; }
    static __device__ double excess(Raw a, Raw b, const KeyForm& form) {
        if (form.is_float) {
            return std::bit_cast<double>(a) - std::bit_cast<double>(b);
        }
        const auto x = static_cast<Word>(a ^ flip(form));
        const auto y = static_cast<Word>(b ^ flip(form));
        return x > y ? static_cast<double>(static_cast<Raw>(x) - static_cast<Raw>(y))
                     : -static_cast<double>(static_cast<Raw>(y) - static_cast<Raw>(x));
    }
};

/// A network's numbers as device code can read them: each a constant of a built-in type.
template <int z, int x, int columns> struct RowNetwork {
    static constexpr MedianNetwork net = row_network(z, x, columns);
};
template <int count> struct MergeNetwork {
    static constexpr MedianNetwork net = merge_network(count);
};
template <int count, int lines> struct HalfNetwork {
    static constexpr MedianNetwork net = half_network(count, lines);
};
template <class Network> struct Counts {
    static constexpr int inputs = Network::net.inputs;
    static constexpr int steps = Network::net.steps;
    static constexpr int outputs = Network::net.outputs;
};
template <class Network, std::size_t i> struct Step {
    static constexpr int a = Network::net.step[i].a;
    static constexpr int b = Network::net.step[i].b;
    static constexpr bool is_max = Network::net.step[i].is_max;
};
template <class Network, std::size_t i> struct Output {
    static constexpr int place = Network::net.output[i];
};

/// Values of a network: its inputs, and room for the results of its steps.
template <class Keys, class Network> struct NetworkValues {
    using Word = typename Keys::Word;
    static constexpr int outputs = Counts<Network>::outputs;

    Word at[Counts<Network>::inputs + Counts<Network>::steps];

    /// Calls take(i, value of output i).
    template <class Take> __device__ __forceinline__ void run(const Take& take) {
        run_steps(std::make_index_sequence<Counts<Network>::steps>());
        give_outputs(take, std::make_index_sequence<outputs>());
    }

  private:
    template <std::size_t i> __device__ __forceinline__ void run_step() {
        using At = Step<Network, i>;
        at[Counts<Network>::inputs + i] =
            At::is_max ? Keys::most(at[At::a], at[At::b]) : Keys::least(at[At::a], at[At::b]);
    }
    template <std::size_t... steps>
    __device__ __forceinline__ void run_steps(std::index_sequence<steps...> /*steps*/) {
        (run_step<steps>(), ...);
    }
    template <class Take, std::size_t... i>
    __device__ __forceinline__ void give_outputs(const Take& take,
                                                 std::index_sequence<i...> /*outputs*/) {
        (take(static_cast<int>(i), at[Output<Network, i>::place]), ...);
    }
};

} // namespace runner::median_cuda
