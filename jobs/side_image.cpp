// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/side_image.hpp"

#include "base/sizes.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

/// For whoever computes an image outside of a run, which has a plan.
constexpr std::int64_t unplanned_bytes = 64 * MiB;

} // namespace

SideImage::SideImage(std::unique_ptr<Source> source, std::int64_t rows, std::int64_t columns)
    : rows_(rows), columns_(columns), wanted_bytes_(source->wanted_bytes()),
      least_bytes_(source->least_bytes()), source_(std::move(source)) {}

std::int64_t SideImage::bytes() const {
    return rows_ * columns_ * static_cast<std::int64_t>(sizeof(float));
}

void SideImage::compute(std::int64_t first, std::int64_t rows, std::int64_t most_bytes, float* to,
                        const std::function<void()>& check) const {
    source_->compute(first, rows, most_bytes, to, check);
}

bool SideImage::is_known() const {
    const std::lock_guard lock(mutex_);
    return source_ == nullptr;
}

void SideImage::set(std::vector<float> values) const {
    const std::lock_guard lock(mutex_);
    values_ = std::move(values);
    source_.reset();
}

const std::vector<float>& SideImage::values() const {
    const std::lock_guard lock(mutex_);
    if (source_) {
        std::vector<float> values(static_cast<std::size_t>(rows_ * columns_));
        source_->compute(0, rows_, std::max(least_bytes_, std::min(unplanned_bytes, wanted_bytes_)),
                         values.data(), [] {});
        values_ = std::move(values);
        source_.reset();
    }
    return values_;
}

} // namespace runner
