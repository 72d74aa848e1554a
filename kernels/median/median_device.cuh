// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/ordered_key.hpp"
#include "kernels/median/median_network.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <cuda_runtime.h>

namespace runner::median_cuda {

// How elements are held in words of 32 bits whose minima and maxima are one instruction. `flip` is
// the sign bit of types whose order as words needs it turned, 0 for others.

/// Elements of 8 or 16 bits: two to a word, each an unsigned number of 16 bits.
template <class Raw_> struct PairKeys {
    using Raw = Raw_;
    using Word = std::uint32_t;
    static constexpr int lanes = 2;

    static __device__ Word key(Raw element, std::uint32_t flip) { return element ^ flip; }
    static __device__ Raw element(Word key, std::uint32_t flip) {
        return static_cast<Raw>(key ^ flip);
    }
    static __device__ Word least(Word a, Word b) { return __vminu2(a, b); }
    static __device__ Word most(Word a, Word b) { return __vmaxu2(a, b); }
    static __device__ double distance(Raw a, Raw b, std::uint32_t flip) {
        return abs(static_cast<int>(key(a, flip)) - static_cast<int>(key(b, flip)));
    }
};

/// Integers of 32 bits, as signed ones.
struct IntKeys {
    using Raw = std::uint32_t;
    using Word = std::int32_t;
    static constexpr int lanes = 1;

    static __device__ Word key(Raw element, std::uint32_t flip) {
        return static_cast<Word>(element ^ flip);
    }
    static __device__ Raw element(Word key, std::uint32_t flip) {
        return static_cast<Raw>(key) ^ flip;
    }
    static __device__ Word least(Word a, Word b) { return min(a, b); }
    static __device__ Word most(Word a, Word b) { return max(a, b); }
    static __device__ double distance(Raw a, Raw b, std::uint32_t flip) {
        const std::int64_t apart = std::int64_t{key(a, flip)} - key(b, flip);
        return static_cast<double>(apart < 0 ? -apart : apart);
    }
};

struct FloatKeys {
    using Raw = float;
    using Word = std::int32_t;
    static constexpr int lanes = 1;

    static __device__ Word key(Raw element, std::uint32_t /*flip*/) { return ordered_key(element); }
    static __device__ Raw element(Word key, std::uint32_t /*flip*/) {
        return element_of_key<float>(key);
    }
    static __device__ Word least(Word a, Word b) { return min(a, b); }
    static __device__ Word most(Word a, Word b) { return max(a, b); }
    static __device__ double distance(Raw a, Raw b, std::uint32_t /*flip*/) {
        return fabs(static_cast<double>(a) - static_cast<double>(b));
    }
};

/// A network's numbers as device code can read them: each a constant of a built-in type.
template <int count> struct SortingNetwork {
    static constexpr const MedianNetwork& net() { return MedianNetworks<count, 1>::sorting; }
};
template <int count, int lines> struct PairNetwork {
    static constexpr const MedianNetwork& net() { return MedianNetworks<count, lines>::pair; }
};
template <class Network> struct Counts {
    static constexpr int inputs = Network::net().inputs;
    static constexpr int steps = Network::net().steps;
};
template <class Network, std::size_t i> struct Step {
    static constexpr int a = Network::net().step[i].a;
    static constexpr int b = Network::net().step[i].b;
    static constexpr bool is_max = Network::net().step[i].is_max;
};
template <class Network, std::size_t i> struct Output {
    static constexpr int place = Network::net().output[i];
};

template <class Keys, class Network, std::size_t i>
__device__ inline void run_step(typename Keys::Word* values) {
    using At = Step<Network, i>;
    values[Counts<Network>::inputs + i] = At::is_max ? Keys::most(values[At::a], values[At::b])
                                                     : Keys::least(values[At::a], values[At::b]);
}

template <class Keys, class Network, std::size_t... steps>
__device__ inline void run_steps(typename Keys::Word* values,
                                 std::index_sequence<steps...> /*steps*/) {
    (run_step<Keys, Network, steps>(values), ...);
}

/// Values of a network: its inputs, and room for the results of its steps.
template <class Keys, class Network> struct NetworkValues {
    typename Keys::Word at[Counts<Network>::inputs + Counts<Network>::steps];

    __device__ void run() {
        run_steps<Keys, Network>(at, std::make_index_sequence<Counts<Network>::steps>());
    }
    template <int i> __device__ typename Keys::Word output() const {
        return at[Output<Network, i>::place];
    }
};

} // namespace runner::median_cuda
