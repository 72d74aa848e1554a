// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/sand/sand.hpp"

#include "tests/reference/sand_reference.hpp"
#include "tests/support/queues.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace runner {

/// Random sand jobs and scenes, the same for the same seed.
class SandCases {
  public:
    explicit SandCases(std::uint64_t seed) : random_(seed) {}

    std::int64_t number(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }

    std::uint32_t bits() { return static_cast<std::uint32_t>(random_()); }

    /// Thresholds of every sort: the usual ones, certain and impossible ones, odd ones.
    SandThresholds thresholds() {
        SandThresholds t;
        if (number(0, 2) == 0) {
            return t;
        }
        for (std::uint32_t* value :
             {&t.sand_slide, &t.sand_fall, &t.water_fall, &t.water_diagonal, &t.water_spread}) {
            switch (number(0, 5)) {
            case 0: *value = 0; break;
            case 1: *value = 65536; break;
            case 2: *value = 65535; break;
            case 3: *value = static_cast<std::uint32_t>(number(1, 65534)); break;
            default: break;
            }
        }
        return t;
    }

    Sand job(std::int64_t rows, std::int64_t columns) {
        return {rows, columns, number(0, 2) == 0 ? 0 : bits(), thresholds()};
    }

    sand_reference::Cells noise(const Sand& job) {
        sand_reference::Cells cells(static_cast<std::size_t>(job.rows * job.columns));
        const std::int64_t kinds = number(1, 3);
        for (auto& cell : cells) {
            const std::int64_t value = number(0, kinds);
            cell = static_cast<std::uint8_t>(value == 3 && number(0, 2) != 0 ? 0 : value);
        }
        return cells;
    }

    /// Rectangles of one material each.
    sand_reference::Cells boxes(const Sand& job) {
        sand_reference::Cells cells(static_cast<std::size_t>(job.rows * job.columns));
        for (std::int64_t i = number(1, 12); i > 0; --i) {
            const std::int64_t y0 = number(0, job.rows - 1);
            const std::int64_t y1 = number(y0, std::min(job.rows - 1, y0 + job.rows / 3));
            const std::int64_t x0 = number(0, job.columns - 1);
            const std::int64_t x1 = number(x0, std::min(job.columns - 1, x0 + job.columns / 3));
            const auto value = static_cast<std::uint8_t>(number(0, 3));
            for (std::int64_t y = y0; y <= y1; ++y) {
                std::fill_n(cells.begin() + y * job.columns + x0, x1 - x0 + 1, value);
            }
        }
        return cells;
    }

    sand_reference::Cells scene(const Sand& job) {
        return number(0, 1) == 0 ? noise(job) : boxes(job);
    }

  private:
    std::mt19937_64 random_;
};

/// The rows of `band` of a whole grid.
inline sand_reference::Cells rows_of(const Sand& job, const sand_reference::Cells& cells,
                                     const SandBand& band) {
    const auto begin = cells.begin() + band.first_row * job.columns;
    return {begin, begin + band.rows * job.columns};
}

/// A band of a grid in a queue's memory.
template <class Q> class SandState {
  public:
    SandState(Q& queue, const Sand& job, const SandBand& band, const sand_reference::Cells& cells)
        : queue_(queue), job_(job), band_(band),
          tables_(allocate_device(queue, sand_table_bytes(backend, job))),
          from_(allocate_device(queue, state_bytes())), to_(allocate_device(queue, state_bytes())),
          cells_(allocate_device(queue, cell_count())),
          staging_(allocate_staging(queue, std::max<std::int64_t>(cell_count(), 8))),
          wrong_(allocate_device(queue, 8)) {
        make_sand_tables(queue, job, tables_.data());
        put(cells);
    }

    /// Packs the band's cells.
    void put(const sand_reference::Cells& cells) {
        std::memcpy(staging_.data(), cells.data(), cells.size());
        upload(queue_, cells_.data(), staging_.data(), cell_count());
        pack_sand(queue_, band_.rows, job_.columns, cells_.data(), from_.data(),
                  reinterpret_cast<std::int64_t*>(wrong_.data()));
        queue_.synchronize();
    }

    std::int64_t first_wrong() {
        std::int64_t value = 0;
        download(queue_, staging_.data(), wrong_.data(), 8);
        queue_.synchronize();
        std::memcpy(&value, staging_.data(), 8);
        return value;
    }

    void advance(std::uint64_t generation, std::int64_t generations) {
        advance_sand(queue_, job_, band_, generation, generations, from_.data(), to_.data(),
                     tables_.data());
        std::swap(from_, to_);
    }

    sand_reference::Cells cells() {
        unpack_sand(queue_, band_.rows, job_.columns, from_.data(), cells_.data());
        download(queue_, staging_.data(), cells_.data(), cell_count());
        queue_.synchronize();
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(staging_.data());
        return {bytes, bytes + cell_count()};
    }

  private:
    static constexpr Backend backend = std::is_same_v<Q, CpuQueue> ? Backend::cpu : Backend::cuda;

    std::int64_t state_bytes() const { return band_.rows * sand_row_bytes(job_.columns); }
    std::int64_t cell_count() const { return band_.rows * job_.columns; }

    Q& queue_;
    Sand job_;
    SandBand band_;
    Buffer tables_;
    Buffer from_;
    Buffer to_;
    Buffer cells_;
    Buffer staging_;
    Buffer wrong_;
};

/// Empty when both grids are equal, else where they first differ.
inline std::string first_difference(std::int64_t columns, const sand_reference::Cells& expected,
                                    const sand_reference::Cells& got) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (i >= got.size() || expected[i] != got[i]) {
            const auto place = static_cast<std::int64_t>(i);
            return "row " + std::to_string(place / columns) + ", column " +
                   std::to_string(place % columns) + ": " + std::to_string(expected[i]) +
                   " expected, " + (i < got.size() ? std::to_string(got[i]) : "nothing");
        }
    }
    return expected.size() == got.size() ? "" : "more cells than expected";
}

inline std::string describe(const Sand& job) {
    const SandThresholds& t = job.thresholds;
    return std::to_string(job.rows) + " x " + std::to_string(job.columns) + " seed " +
           std::to_string(job.seed) + " thresholds " + std::to_string(t.sand_slide) + " " +
           std::to_string(t.sand_fall) + " " + std::to_string(t.water_fall) + " " +
           std::to_string(t.water_diagonal) + " " + std::to_string(t.water_spread);
}

} // namespace runner
