// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/value_lists.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace runner {
namespace {

/// Means of blocks, as float64 where the numbers are integers. The last block may be shorter.
PlainValue block_means(const PlainValue& values, std::int64_t block, std::int64_t count) {
    PlainValue made;
    made.space = PlainValue::Space::simple;
    made.shape = {count};
    made.type = values.type == ElementType::float32 ? ElementType::float32 : ElementType::float64;
    made.bytes.resize(static_cast<std::size_t>(count * size_of(made.type)));
    visit_element_type(values.type, [&](auto number) {
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t end = std::min((i + 1) * block, values.count());
            double sum = 0;
            for (std::int64_t j = i * block; j < end; ++j) {
                std::memcpy(&number, values.bytes.data() + j * std::int64_t{sizeof(number)},
                            sizeof(number));
                sum += static_cast<double>(number);
            }
            const double mean = sum / static_cast<double>(end - i * block);
            std::byte* const to = made.bytes.data() + i * size_of(made.type);
            if (made.type == ElementType::float32) {
                const auto rounded = static_cast<float>(mean);
                std::memcpy(to, &rounded, sizeof(rounded));
            } else {
                std::memcpy(to, &mean, sizeof(mean));
            }
        }
    });
    return made;
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
        return values;
    }
    if (values.count() == extent) {
        return block_means(values, block, count);
    }
    std::vector<std::int64_t> edges = evenly(0, block, count + 1);
    edges.back() = std::min(edges.back(), extent);
    return chosen(values, edges);
}

} // namespace runner
