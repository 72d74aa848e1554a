// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fourier/fourier_length.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace runner {
namespace {

constexpr std::array<int, 9> all_radices = {16, 10, 9, 8, 7, 5, 4, 3, 2};

/// What a pass costs: it moves all values, and a butterfly has some operations a value.
constexpr int pass_cost(int radix) { return 24 + radix; }

/// The radices whose passes cost least together; of equal ones those of the first in all_radices.
struct Division {
    int cost = std::numeric_limits<int>::max();
    std::vector<int> radices;
};

const Division& best_division(std::int64_t length, std::map<std::int64_t, Division>& known) {
    const auto [place, is_new] = known.try_emplace(length);
    Division& best = place->second;
    if (!is_new) {
        return best;
    }
    best.cost = length == 1 ? 0 : best.cost;
    for (const int radix : all_radices) {
        if (length % radix != 0) {
            continue;
        }
        const Division& rest = best_division(length / radix, known);
        if (rest.cost + pass_cost(radix) < best.cost) {
            best = {rest.cost + pass_cost(radix), rest.radices};
            best.radices.push_back(radix);
        }
    }
    return best;
}

/// Radices of a length, odd ones first: a GPU stores what the first pass makes at odd distances,
/// which lie in different banks of its shared memory; and else at short ones.
std::vector<int> radices_of(std::int64_t length) {
    std::map<std::int64_t, Division> known;
    std::vector<int> radices = best_division(length, known).radices;
    std::sort(radices.begin(), radices.end(),
              [](int a, int b) { return std::pair(a % 2 == 0, a) < std::pair(b % 2 == 0, b); });
    return radices;
}

} // namespace

bool is_fourier_length(std::int64_t length) {
    if (length < 1 || length > most_fourier_length) {
        return false;
    }
    for (const int radix : {2, 3, 5, 7}) {
        while (length % radix == 0) {
            length /= radix;
        }
    }
    return length == 1;
}

std::int64_t next_fourier_length(std::int64_t wanted) {
    for (; wanted <= most_fourier_length; ++wanted) {
        if (is_fourier_length(wanted)) {
            return wanted;
        }
    }
    return 0;
}

FourierPasses fourier_passes(std::int64_t length) {
    FourierPasses passes;
    passes.length = static_cast<int>(length);
    std::uint32_t before = 1;
    for (const int radix : radices_of(length)) {
        const auto i = static_cast<std::size_t>(passes.count++);
        passes.radix.at(i) = radix;
        passes.before.at(i) = make_divisor(before);
        before *= static_cast<std::uint32_t>(radix);
    }
    return passes;
}

std::vector<ComplexFloat> fourier_factors(const FourierPasses& passes) {
    std::vector<ComplexFloat> factors;
    for (std::size_t i = 1; i < static_cast<std::size_t>(passes.count); ++i) {
        const std::int64_t before = passes.before.at(i).value;
        const std::int64_t radix = passes.radix.at(i);
        for (std::int64_t r = 1; r < radix; ++r) {
            for (std::int64_t k = 0; k < before; ++k) {
                factors.push_back(unit_root(r * k, radix * before).to_float());
            }
        }
    }
    return factors;
}

double fourier_operations(std::int64_t length) {
    return 5 * static_cast<double>(length) * std::log2(static_cast<double>(length) + 1);
}

} // namespace runner
