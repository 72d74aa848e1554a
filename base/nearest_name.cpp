// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest_name.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace runner {
namespace {

/// Edits that make `a` of `b`: a character put in, taken out, changed, or swapped with the next.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            cost[i][j] =
                std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
            }
        }
    }
    return cost[a.size()][b.size()];
}

std::string lower(std::string_view word) {
    std::string result(word);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

} // namespace

std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names) {
    // A name is compared up to a length no key has, so that a hostile one costs nothing.
    constexpr std::size_t longest = 256;
    if (word.size() > longest) {
        return std::nullopt;
    }
    std::optional<std::string> nearest;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& name : names) {
        // From a word this short hardly anything is left to tell what was meant: gpu is not cpu.
        const bool differs = word.size() <= 3 && !word.empty() && !name.empty() &&
                             std::tolower(word.front()) != std::tolower(name.front());
        if (name.size() > longest || differs) {
            continue;
        }
        const std::size_t distance = edit_distance(lower(word), lower(name));
        if (distance < least && distance < word.size()) {
            least = distance;
            nearest = name;
        }
    }
    return nearest;
}

} // namespace runner
