// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/value_lists.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string_view>

namespace runner {
namespace {

std::vector<double> numbers_of(const PlainValue& values) {
    std::vector<double> numbers(static_cast<std::size_t>(values.count()));
    visit_element_type(values.type, [&](auto number) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            std::memcpy(&number, values.bytes.data() + i * sizeof(number), sizeof(number));
            numbers[i] = static_cast<double>(number);
        }
    });
    return numbers;
}

/// The numbers as float32 where `like` is, else as float64.
PlainValue float_list(const std::vector<double>& numbers, ElementType like) {
    PlainValue made;
    made.space = PlainValue::Space::simple;
    made.shape = {std::ssize(numbers)};
    made.type = like == ElementType::float32 ? like : ElementType::float64;
    const auto put = [&](auto number) {
        const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
        made.bytes.insert(made.bytes.end(), bytes, bytes + sizeof(number));
    };
    for (const double number : numbers) {
        if (made.type == ElementType::float32) {
            put(static_cast<float>(number));
        } else {
            put(number);
        }
    }
    return made;
}

/// Means of blocks, as float64 where the numbers are integers. The last block may be shorter.
PlainValue block_means(const PlainValue& values, std::int64_t block, std::int64_t count) {
    const std::vector<double> own = numbers_of(values);
    std::vector<double> means;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t end = std::min((i + 1) * block, std::ssize(own));
        const double sum = std::accumulate(own.begin() + i * block, own.begin() + end, 0.0);
        means.push_back(sum / static_cast<double>(end - i * block));
    }
    return float_list(means, values.type);
}

} // namespace

bool is_list_of_sizes(const std::string& name) {
    constexpr std::array<std::string_view, 5> names = {"element_size_um", "element_size",
                                                       "voxel_size", "pixel_size", "spacing"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

PlainValue chosen(const PlainValue& values, const std::vector<std::int64_t>& numbers) {
    PlainValue made = values;
    made.shape = {std::ssize(numbers)};
    made.bytes.clear();
    const std::int64_t size = size_of(values.type);
    for (const std::int64_t number : numbers) {
        const auto begin = values.bytes.begin() + number * size;
        made.bytes.insert(made.bytes.end(), begin, begin + size);
    }
    return made;
}

std::vector<std::int64_t> evenly(std::int64_t first, std::int64_t step, std::int64_t count) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        numbers[static_cast<std::size_t>(i)] = first + i * step;
    }
    return numbers;
}

PlainValue in_blocks(const PlainValue& values, std::int64_t extent, std::int64_t block,
                     std::int64_t count) {
    if (block == 1) {
        return count == extent ? values
                               : chosen(values, evenly(0, 1, count + values.count() - extent));
    }
    if (values.count() == extent) {
        return block_means(values, block, count);
    }
    std::vector<std::int64_t> edges = evenly(0, block, count + 1);
    edges.back() = std::min(edges.back(), extent);
    return chosen(values, edges);
}

std::optional<PlainValue> continued(const PlainValue& values, std::int64_t extent,
                                    std::int64_t first, std::int64_t count) {
    constexpr double tolerance = 1e-3; // coordinates are often float32
    const std::vector<double> own = numbers_of(values);
    if (own.size() < 2) {
        return std::nullopt;
    }
    const double step = (own.back() - own.front()) / static_cast<double>(own.size() - 1);
    const auto evenly_at = [&](std::int64_t i) { return own[0] + static_cast<double>(i) * step; };
    for (std::size_t i = 0; i < own.size(); ++i) {
        const double off = std::abs(own[i] - evenly_at(static_cast<std::int64_t>(i)));
        if (!(off <= tolerance * std::abs(step))) {
            return std::nullopt;
        }
    }
    std::vector<double> longer;
    for (std::int64_t i = 0; i < count + std::ssize(own) - extent; ++i) {
        const std::int64_t at = first + i;
        const bool is_own = at >= 0 && at < std::ssize(own);
        longer.push_back(is_own ? own[static_cast<std::size_t>(at)] : evenly_at(at));
    }
    return float_list(longer, values.type);
}

} // namespace runner
