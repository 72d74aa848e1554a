// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/job.hpp"

#include "base/format.hpp"
#include "jobs/axis_work.hpp"

#include <algorithm>

namespace runner {
namespace {

/// Multiples of `every` in (first, last].
std::int64_t multiples(std::uint64_t first, std::uint64_t last, std::int64_t every) {
    const auto step = static_cast<std::uint64_t>(every);
    return every == 0 ? 0 : static_cast<std::int64_t>(last / step - first / step);
}

} // namespace

std::vector<std::string> Job::axis_work(std::size_t axes) const {
    const Locality mixed = mixing().value_or(Locality{});
    WorkAlongFrame frame;
    for (std::size_t i = 0; i < frame.size(); ++i) {
        if (mixed.block.at(i) > 1) {
            frame.at(i) = fmt::format("binned by {}", mixed.block.at(i));
        } else if (mixed.reach.at(i) > 0) {
            frame.at(i) = "filtered";
        }
    }
    return work_along(frame, axes, channels());
}

std::int64_t Snapshots::count() const {
    const bool last_is_one =
        every != 0 && generations != 0 && last() % static_cast<std::uint64_t>(every) == 0;
    return multiples(first, last(), every) + (last_is_one ? 0 : 1);
}

std::uint64_t Snapshots::generation(std::int64_t index) const {
    if (index + 1 >= count()) {
        return last();
    }
    const auto step = static_cast<std::uint64_t>(every);
    return (first / step + 1 + static_cast<std::uint64_t>(index)) * step;
}

std::int64_t Snapshots::count_until(std::uint64_t generation) const {
    return generation >= last() ? count() : multiples(first, std::max(first, generation), every);
}

} // namespace runner
