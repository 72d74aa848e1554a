// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/check_runs.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/files/hash.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include <oneapi/tbb/parallel_for.h>

namespace runner::verify {
namespace {

/// Rows read at once, where one is not longer.
constexpr std::int64_t piece_bytes = 64 * MiB;

/// Why rows cannot be read; a damaged size asks for more memory than there is.
std::string reason_of(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    return known == nullptr
               ? std::string("cannot be read: ") + error.what()
               : format_error({known->text().what, known->text().where, known->text().why, ""});
}

class RunChecker {
  public:
    explicit RunChecker(RowReader& stored)
        : stored_(stored), row_bytes_(row_bytes(stored.info().array)),
          most_rows_(std::clamp<std::int64_t>(piece_bytes / row_bytes_, 1,
                                              row_count(stored.info().array))) {}

    std::vector<WrongRows> check(std::span<const RowHash> runs) {
        while (!runs.empty()) {
            const std::size_t count = adjacent(runs);
            check_adjacent(runs.first(count));
            runs = runs.subspan(count);
        }
        return std::move(wrong_);
    }

  private:
    /// How many of the first runs follow one another and fit the piece; one at least.
    std::size_t adjacent(std::span<const RowHash> runs) const {
        const std::int64_t first = runs.front().first;
        std::size_t count = 1;
        while (count < runs.size() &&
               runs[count].first == runs[count - 1].first + runs[count - 1].rows &&
               runs[count].first + runs[count].rows - first <= most_rows_) {
            ++count;
        }
        return count;
    }

    void check_adjacent(std::span<const RowHash> runs) {
        std::vector<std::uint64_t> hashes(runs.size());
        try {
            if (runs.size() == 1) {
                hashes.front() = hash_run(runs.front());
            } else {
                hash_runs(runs, hashes);
            }
        } catch (const std::exception& error) {
            if (runs.size() == 1) {
                add(runs.front(), reason_of(error), std::nullopt);
                return;
            }
            for (const RowHash& run : runs) {
                check_adjacent({&run, 1});
            }
            return;
        }
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (hashes[i] != runs[i].hash) {
                add(runs[i], "the checksum differs", hashes[i]);
            }
        }
    }

    /// Taken where what goes wrong is the rows' fault: a damaged shape may ask for any size.
    std::byte* piece() {
        if (!piece_) {
            piece_ = std::make_unique_for_overwrite<std::byte[]>(
                static_cast<std::size_t>(most_rows_ * row_bytes_));
        }
        return piece_.get();
    }

    void hash_runs(std::span<const RowHash> runs, std::vector<std::uint64_t>& hashes) {
        const std::int64_t first = runs.front().first;
        std::byte* const rows = piece();
        stored_.read(first, runs.back().first + runs.back().rows - first, rows);
        tbb::parallel_for(std::size_t{0}, runs.size(), [&](std::size_t i) {
            hashes[i] =
                hash_bytes(rows + (runs[i].first - first) * row_bytes_, runs[i].rows * row_bytes_);
        });
    }

    std::uint64_t hash_run(const RowHash& run) {
        BytesHasher hasher;
        for (std::int64_t done = 0; done < run.rows; done += most_rows_) {
            const std::int64_t rows = std::min(most_rows_, run.rows - done);
            stored_.read(run.first + done, rows, piece());
            hasher.add(piece(), rows * row_bytes_);
        }
        return hasher.hash();
    }

    void add(const RowHash& run, std::string why, std::optional<std::uint64_t> hash) {
        wrong_.push_back({{run.first, run.first + run.rows}, std::move(why), hash});
    }

    RowReader& stored_;
    std::int64_t row_bytes_;
    std::int64_t most_rows_;
    std::unique_ptr<std::byte[]> piece_;
    std::vector<WrongRows> wrong_;
};

} // namespace

std::vector<WrongRows> check_runs(RowReader& stored, std::span<const RowHash> runs) {
    return RunChecker(stored).check(runs);
}

RowSet rows_of(const std::vector<WrongRows>& wrong) {
    std::vector<RowRange> rows;
    rows.reserve(wrong.size());
    for (const WrongRows& each : wrong) {
        rows.push_back(each.rows);
    }
    return make_row_set(std::move(rows));
}

bool same_elements(ElementType type, std::span<const std::byte> a, std::span<const std::byte> b) {
    const auto is_same = [&](std::size_t first, std::size_t count) {
        const auto from = a.subspan(first, count);
        return std::equal(from.begin(), from.end(), b.subspan(first, count).begin());
    };
    if (is_same(0, a.size())) {
        return true;
    }
    return visit_element_type(type, [&](auto number) {
        using Number = decltype(number);
        const auto is_nan = [](std::span<const std::byte> elements, std::size_t first) {
            Number value{};
            std::memcpy(&value, elements.data() + first, sizeof(value));
            return std::isnan(static_cast<double>(value));
        };
        for (std::size_t i = 0; i < a.size(); i += sizeof(Number)) {
            if (!is_same(i, sizeof(Number)) && !(is_nan(a, i) && is_nan(b, i))) {
                return false;
            }
        }
        return true;
    });
}

} // namespace runner::verify
