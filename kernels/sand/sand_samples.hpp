// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace runner {

/// A start state of the sand automaton: a wall one cell wide around it and masses of one material,
/// later ones over earlier ones.
class SandSample {
  public:
    /// Sample 1 … 4.
    explicit SandSample(int number);

    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return columns_; }

    /// Cells [first, end) of a row, 0 ≤ row < rows(), 0 ≤ first ≤ end ≤ columns().
    void fill_row(std::int64_t row, std::int64_t first, std::int64_t end,
                  std::uint8_t* cells) const;

  private:
    struct Circle {
        std::int64_t column;
        std::int64_t row;
        std::int64_t radius;
        std::uint8_t material;
    };
    struct Bar {
        std::int64_t first_row;
        std::int64_t end_row;
        std::int64_t first_column;
        std::int64_t end_column;
        std::uint8_t material;
    };

    void add_third(std::int64_t scale);

    std::int64_t rows_ = 400;
    std::int64_t columns_ = 400;
    std::vector<Circle> circles_;
    std::vector<Bar> bars_; ///< over the circles
};

} // namespace runner
