// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace runner {

/// An image of float32 that a job computes before its first chunk from other datasets than its
/// stream's input, for example a mean of flat frames. Its rows can be computed apart, so that ranks
/// share them (runner/engines/share_images.hpp). Thread-safe but for compute().
class SideImage {
  public:
    /// What it is computed from. It lives until the values are known.
    class Source {
      public:
        virtual ~Source() = default;
        /// Host memory that compute() takes for any rows of the image: what is fast, and what is
        /// the least.
        virtual std::int64_t wanted_bytes() const = 0;
        virtual std::int64_t least_bytes() const = 0;
        /// `rows` rows from `first` on, on all cores, in `most_bytes` of host memory beside `to`;
        /// these are at least least_bytes(). `check` is called between reads, and may throw to end
        /// it early. @throws Error (input).
        virtual void compute(std::int64_t first, std::int64_t rows, std::int64_t most_bytes,
                             float* to, const std::function<void()>& check) = 0;
    };

    SideImage(std::unique_ptr<Source> source, std::int64_t rows, std::int64_t columns);

    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return columns_; }
    /// The bytes of the values, which stay on the host as long as the job does.
    std::int64_t bytes() const;
    std::int64_t wanted_bytes() const { return wanted_bytes_; }
    std::int64_t least_bytes() const { return least_bytes_; }

    /// Source::compute(). Only while is_known() is false. One call at a time.
    void compute(std::int64_t first, std::int64_t rows, std::int64_t most_bytes, float* to,
                 const std::function<void()>& check) const;

    bool is_known() const;
    /// rows × columns values, row by row: of all rows, as compute() makes them.
    void set(std::vector<float> values) const;
    /// The values, computed here where nobody has. @throws Error (input).
    const std::vector<float>& values() const;

  private:
    std::int64_t rows_;
    std::int64_t columns_;
    std::int64_t wanted_bytes_;
    std::int64_t least_bytes_;
    mutable std::mutex mutex_; ///< of what follows
    mutable std::unique_ptr<Source> source_;
    mutable std::vector<float> values_;
};

} // namespace runner
