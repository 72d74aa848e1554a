// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/pipeline/carried_rows.hpp"

#include "base/rounding.hpp"

#include <algorithm>
#include <variant>

namespace runner {
namespace {

void copy(Queue& queue, std::byte* to, const std::byte* from, std::int64_t bytes) {
    if (bytes > 0) {
        std::visit([&](auto& backend) { copy_on_device(backend, to, from, bytes); }, queue);
    }
}

} // namespace

CarriedRows::CarriedRows(const StepChain& chain, std::span<const StreamShape> steps)
    : places_(steps.size()) {
    for (std::size_t i = 1; i < steps.size(); ++i) {
        const std::int64_t rows = chain.most_carried(i);
        const std::int64_t bytes = aligned_bytes(rows * steps[i].in_row_bytes);
        places_[i] = {places_[i - 1].end + bytes, steps[i].in_row_bytes, rows};
    }
}

void CarriedRows::take(Queue& queue, const std::byte* carried, std::size_t i, const StepWork& work,
                       std::byte* buffer) const {
    const std::int64_t bytes = work.carried * places_[i].row_bytes;
    copy(queue, buffer, carried + places_[i].end - bytes, bytes);
}

void CarriedRows::leave(Queue& queue, std::byte* carried, std::size_t i, const StepWork& work,
                        const std::byte* buffer) const {
    const Place& place = places_[i];
    const std::int64_t rows = std::min(place.most_rows, work.held);
    copy(queue, carried + place.end - rows * place.row_bytes,
         buffer + (work.held - rows) * place.row_bytes, rows * place.row_bytes);
}

} // namespace runner
