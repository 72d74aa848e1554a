// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/share_images.hpp"

#include "io/rows/rows.hpp"
#include "runner/plan/row_set.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// The rows of an image that a rank passes on to all.
RowRange share_of(const SideImage& image, bool first_knows, int rank, int ranks) {
    if (first_knows) {
        return rank == 0 ? RowRange{0, image.rows()} : RowRange{};
    }
    return {image.rows() * rank / ranks, image.rows() * (rank + 1) / ranks};
}

void exchange_rows(const SideImage& image, bool first_knows, std::vector<float>& values,
                   const Ranks& ranks) {
    std::vector<Message<const std::byte>> sends;
    std::vector<Message<std::byte>> receives;
    const auto part = [&](int rank) {
        const RowRange rows = share_of(image, first_knows, rank, ranks.size());
        return std::as_writable_bytes(
            std::span(values).subspan(static_cast<std::size_t>(rows.first * image.columns()),
                                      static_cast<std::size_t>(rows.count() * image.columns())));
    };
    const std::span<std::byte> own = part(ranks.rank());
    for (int rank = 0; rank < ranks.size(); ++rank) {
        if (rank == ranks.rank()) {
            continue;
        }
        if (!own.empty()) {
            sends.push_back({rank, own.data(), std::ssize(own)});
        }
        if (const std::span<std::byte> theirs = part(rank); !theirs.empty()) {
            receives.push_back({rank, theirs.data(), std::ssize(theirs)});
        }
    }
    ranks.exchange(sends, receives);
}

} // namespace

void share_images(const Job& job, std::int64_t most_bytes, const Ranks& ranks,
                  const std::function<void()>& check) {
    for (const std::shared_ptr<const SideImage>& image : job.side_images()) {
        if (ranks.least(image->is_known() ? 1 : 0) == 1) {
            continue;
        }
        const bool first_knows = ranks.broadcast(image->is_known() ? 1 : 0) == 1;
        const RowRange own = share_of(*image, first_knows, ranks.rank(), ranks.size());
        std::vector<float> values = ranks.together([&] {
            if (image->is_known()) {
                return image->values();
            }
            std::vector<float> computed(static_cast<std::size_t>(image->rows() * image->columns()));
            if (!own.empty()) {
                image->compute(own.first, own.count(), most_bytes,
                               computed.data() + own.first * image->columns(), check);
            }
            return computed;
        });
        exchange_rows(*image, first_knows, values, ranks);
        image->set(std::move(values));
    }
}

} // namespace runner
