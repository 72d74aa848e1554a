// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/dataset_digest.hpp"

#include "base/sizes.hpp"
#include "io/files/hash.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <oneapi/tbb/parallel_invoke.h>

namespace runner::verify {
namespace {

/// Rows read at once, where one is not longer.
constexpr std::int64_t digest_piece_bytes = 64 * MiB;

/// The checksums of one dataset, whose rows come in their order.
class FieldDigest {
  public:
    FieldDigest(const OutputField& field, std::int64_t rows_per_checksum)
        : row_bytes_(row_bytes(field.array)), rows_per_checksum_(rows_per_checksum) {
        result_.dataset = field.dataset;
        result_.type = element_name(field.array);
        result_.shape = field.array.shape;
        result_.rows_per_checksum = rows_per_checksum;
    }

    std::int64_t row_size() const { return row_bytes_; }

    void add(std::int64_t rows, const std::byte* from) {
        tbb::parallel_invoke([&] { all_.add(from, rows * row_bytes_); },
                             [&] { add_to_blocks(rows, from); });
    }

    DatasetDigest finish() {
        if (rows_in_block_ > 0) {
            close_block();
        }
        result_.checksum = all_.hex();
        return std::move(result_);
    }

  private:
    void add_to_blocks(std::int64_t rows, const std::byte* from) {
        while (rows > 0) {
            const std::int64_t count = std::min(rows, rows_per_checksum_ - rows_in_block_);
            block_.add(from, count * row_bytes_);
            rows_in_block_ += count;
            if (rows_in_block_ == rows_per_checksum_) {
                close_block();
            }
            from += count * row_bytes_;
            rows -= count;
        }
    }

    void close_block() {
        result_.row_checksums.push_back(block_.hash());
        block_ = BytesHasher();
        rows_in_block_ = 0;
    }

    std::int64_t row_bytes_;
    std::int64_t rows_per_checksum_;
    std::int64_t rows_in_block_ = 0;
    BytesHasher block_;
    Digest all_;
    DatasetDigest result_;
};

/// Compares runs of rows, which come in their order, with their checksums.
class RunComparer {
  public:
    RunComparer(std::span<const RowHash> runs, std::int64_t row_bytes)
        : runs_(runs), row_bytes_(row_bytes) {}

    void add(std::int64_t first, std::int64_t rows, const std::byte* from) {
        while (rows > 0 && !runs_.empty()) {
            const RowHash& run = runs_.front();
            const std::int64_t count = std::min(rows, run.first + run.rows - first);
            hasher_.add(from, count * row_bytes_);
            first += count;
            rows -= count;
            from += count * row_bytes_;
            if (first == run.first + run.rows) {
                if (hasher_.hash() != run.hash && !wrong_) {
                    wrong_ = {run.first, first};
                }
                hasher_ = BytesHasher();
                runs_ = runs_.subspan(1);
            }
        }
    }

    std::optional<RowRange> wrong() const { return wrong_; }

  private:
    std::span<const RowHash> runs_;
    std::int64_t row_bytes_;
    BytesHasher hasher_;
    std::optional<RowRange> wrong_;
};

/// Gives each field its part of joined rows.
class FieldRows {
  public:
    FieldRows(const DigestRequest& request, std::int64_t joined_bytes)
        : joined_bytes_(joined_bytes) {
        for (const OutputField& field : request.fields) {
            fields_.emplace_back(field, request.rows_per_checksum);
        }
    }

    void add(std::int64_t rows, const std::byte* from) {
        if (fields_.size() == 1) {
            fields_.front().add(rows, from);
            return;
        }
        for (FieldDigest& field : fields_) {
            const std::int64_t bytes = field.row_size();
            own_.resize(static_cast<std::size_t>(rows * bytes));
            for (std::int64_t row = 0; row < rows; ++row) {
                std::memcpy(own_.data() + row * bytes, from + row * joined_bytes_,
                            static_cast<std::size_t>(bytes));
            }
            field.add(rows, own_.data());
            from += bytes;
        }
    }

    std::vector<DatasetDigest> finish() {
        std::vector<DatasetDigest> all;
        for (FieldDigest& field : fields_) {
            all.push_back(field.finish());
        }
        return all;
    }

  private:
    std::int64_t joined_bytes_;
    std::vector<FieldDigest> fields_;
    std::vector<std::byte> own_; ///< rows of one field
};

} // namespace

std::int64_t DatasetDigest::rows() const { return row_count({ElementType::uint8, shape}); }

std::string element_name(const ArrayInfo& array) {
    return array.stored.text.empty() ? std::string(name_of(array.type)) : array.stored.text;
}

std::int64_t usual_rows_per_checksum(std::int64_t rows) {
    constexpr std::int64_t most_checksums = 4096;
    return (rows - 1) / most_checksums + 1;
}

DigestedRows digest_rows(RowReader& reader, const DigestRequest& request) {
    const ArrayInfo& array = reader.info().array;
    const std::int64_t bytes = row_bytes(array);
    const std::int64_t rows = row_count(array);
    const std::int64_t step = std::clamp<std::int64_t>(digest_piece_bytes / bytes, 1, rows);
    const auto piece =
        std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(step * bytes));
    FieldRows fields(request, bytes);
    RunComparer runs(request.runs, bytes);
    for (std::int64_t first = 0; first < rows; first += step) {
        const std::int64_t count = std::min(step, rows - first);
        reader.read(first, count, piece.get());
        tbb::parallel_invoke([&] { fields.add(count, piece.get()); },
                             [&] { runs.add(first, count, piece.get()); });
    }
    return {fields.finish(), runs.wrong()};
}

} // namespace runner::verify
