// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/file_elements.hpp"

#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace runner {
namespace {

template <class Word, class Swap>
void swap_words(std::byte* elements, std::int64_t count, const Swap& swap) {
    for (std::int64_t i = 0; i < count; ++i) {
        Word value{};
        std::memcpy(&value, elements + i * std::int64_t{sizeof(Word)}, sizeof(Word));
        value = swap(value);
        std::memcpy(elements + i * std::int64_t{sizeof(Word)}, &value, sizeof(Word));
    }
}

constexpr std::int64_t half_bytes = 2;

const std::vector<float>& half_values() {
    static const std::vector<float> values = [] {
        std::vector<float> all(65536);
        for (std::size_t bits = 0; bits < all.size(); ++bits) {
            all[bits] = half_value({static_cast<std::uint16_t>(bits)});
        }
        return all;
    }();
    return values;
}

/// Makes `count` numbers in `to`, whose last bytes are those to make them from. A number is never
/// written over one that is yet to be read: both run to the same end, and what is written is wider.
void widen(std::byte* to, std::int64_t count, bool swapped) {
    const std::vector<float>& values = half_values();
    constexpr std::int64_t block = 1024;
    std::array<std::uint16_t, block> some{};
    std::array<float, block> made{};
    const std::byte* from = to + count * half_bytes;
    for (std::int64_t done = 0; done < count; done += block) {
        const auto now = static_cast<std::size_t>(std::min(block, count - done));
        std::memcpy(some.data(), from + done * half_bytes, now * sizeof(some[0]));
        for (std::size_t i = 0; i < now; ++i) {
            const unsigned bits = some[i];
            made[i] = values[swapped ? (bits << 8U | bits >> 8U) & 0xffffU : bits];
        }
        std::memcpy(to + done * std::int64_t{sizeof(float)}, made.data(), now * sizeof(made[0]));
    }
}

class WidenedRows final : public RowReader {
  public:
    explicit WidenedRows(std::unique_ptr<RowReader> rows)
        : rows_(std::move(rows)), info_(rows_->info()),
          swapped_(info_.array.stored.text == swapped_float16_text) {
        info_.array = {ElementType::float32, info_.array.shape};
        info_.offset.reset();
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        const std::int64_t count = rows * row_elements(info_.array);
        rows_->read(first, rows, to + count * half_bytes);
        widen(to, count, swapped_);
    }

    void read_runs(const RowRuns& runs, std::byte* to) override {
        const bool one_axis = info_.array.shape.size() == 1;
        const std::int64_t count = (one_axis ? 1 : runs.runs * runs.rows) * runs.columns;
        rows_->read_runs(runs, to + count * half_bytes);
        widen(to, count, swapped_);
    }

  private:
    std::unique_ptr<RowReader> rows_;
    DatasetInfo info_;
    bool swapped_; ///< their bytes are in the other order
};

} // namespace

void swap_bytes(std::byte* elements, std::int64_t count, std::int64_t size) {
    switch (size) {
    case 2:
        return swap_words<std::uint16_t>(
            elements, count, [](std::uint16_t value) { return __builtin_bswap16(value); });
    case 4:
        return swap_words<std::uint32_t>(
            elements, count, [](std::uint32_t value) { return __builtin_bswap32(value); });
    case 8:
        return swap_words<std::uint64_t>(
            elements, count, [](std::uint64_t value) { return __builtin_bswap64(value); });
    default: return;
    }
}

bool is_float16(const ArrayInfo& array) {
    return array.type == ElementType::bytes2 &&
           (array.stored.text == float16_text || array.stored.text == swapped_float16_text);
}

bool is_truth(const ArrayInfo& array) {
    return array.stored.text == "enumeration of int8 {FALSE = 0x00, TRUE = 0x01}";
}

std::unique_ptr<RowReader> open_widened_rows(std::unique_ptr<RowReader> rows) {
    if (!is_float16(rows->info().array)) {
        return rows;
    }
    return std::make_unique<WidenedRows>(std::move(rows));
}

} // namespace runner
