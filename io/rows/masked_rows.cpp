// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/masked_rows.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace runner {
namespace {

/// How many elements of a mask are read at once.
constexpr std::int64_t mask_portion = 1 << 20;

template <class T> bool is_flagged(T element, MaskBits bits) {
    if constexpr (std::is_integral_v<T>) {
        constexpr std::uint64_t flaws = 0xffff;
        return bits == MaskBits::nexus ? (static_cast<std::uint64_t>(element) & flaws) != 0
                                       : element != 0;
    } else {
        return element != 0; // as NaN is
    }
}

/// Sets the flags of elements that the mask marks; the others stay.
void add_flags(ElementType type, MaskBits bits, const std::byte* elements, std::int64_t count,
               std::uint8_t* flags) {
    const auto add = [&](auto element) {
        for (std::int64_t i = 0; i < count; ++i) {
            std::memcpy(&element, elements + i * std::int64_t{sizeof(element)}, sizeof(element));
            flags[i] |= static_cast<std::uint8_t>(is_flagged(element, bits));
        }
    };
    if (is_number(type)) {
        visit_element_type(type, add);
    } else {
        add(std::uint8_t{0}); // h5py's bool
    }
}

/// Writes `mark` where a flag is set. Returns whether another element was equal to it.
template <class Word>
bool mark_words(const std::uint8_t* flags, std::int64_t count, Word mark, std::byte* to) {
    bool equal = false;
    for (std::int64_t i = 0; i < count; ++i) {
        std::byte* const at = to + i * std::int64_t{sizeof(Word)};
        Word word{};
        std::memcpy(&word, at, sizeof(Word));
        equal |= flags[i] == 0 && word == mark;
        word = flags[i] != 0 ? mark : word;
        std::memcpy(at, &word, sizeof(Word));
    }
    return equal;
}

bool mark_elements(const std::uint8_t* flags, std::int64_t count,
                   const std::vector<std::byte>& mark, std::byte* to) {
    const auto with = [&](auto word) {
        std::memcpy(&word, mark.data(), sizeof(word));
        return mark_words(flags, count, word, to);
    };
    switch (mark.size()) {
    case 1: return with(std::uint8_t{0});
    case 2: return with(std::uint16_t{0});
    case 4: return with(std::uint32_t{0});
    default: return with(std::uint64_t{0});
    }
}

/// Calls `take(runs, done)` for parts of `all` that have at most `most` elements each and are in
/// its order; `done`: the elements before.
template <class Take>
void for_each_portion(const RowRuns& all, std::int64_t most, const Take& take) {
    const std::int64_t columns = std::min(all.columns, most);
    const std::int64_t rows =
        columns < all.columns ? 1 : std::clamp<std::int64_t>(most / columns, 1, all.rows);
    const std::int64_t runs = columns < all.columns || rows < all.rows
                                  ? 1
                                  : std::clamp<std::int64_t>(most / columns / rows, 1, all.runs);
    for (std::int64_t run = 0; run < all.runs; run += runs) {
        for (std::int64_t row = 0; row < all.rows; row += rows) {
            for (std::int64_t column = 0; column < all.columns; column += columns) {
                take(RowRuns{all.first + run * all.stride + row, std::min(rows, all.rows - row),
                             std::min(runs, all.runs - run), all.stride, all.first_column + column,
                             std::min(columns, all.columns - column)},
                     (run * all.rows + row) * all.columns + column);
            }
        }
    }
}

class MaskedRows final : public RowReader {
  public:
    MaskedRows(std::unique_ptr<RowReader> rows, std::shared_ptr<const MaskFlags> flags,
               std::vector<MaskRows> masks, MaskedElement element, int threads)
        : rows_(std::move(rows)), flags_(std::move(flags)), masks_(std::move(masks)),
          element_(std::move(element)), info_(rows_->info()),
          one_axis_(info_.array.shape.size() == 1), width_(info_.array.shape.back()),
          threads_(threads) {
        info_.offset.reset();
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        rows_->read(first, rows, to);
        mark(one_axis_ ? RowRuns{0, 1, 1, 0, first, rows} : RowRuns{first, rows, 1, 0, 0, width_},
             to);
    }

    void read_runs(const RowRuns& runs, std::byte* to) override {
        rows_->read_runs(runs, to);
        mark(one_axis_ ? RowRuns{0, 1, 1, 0, runs.first_column, runs.columns} : runs, to);
    }

  private:
    void mark(const RowRuns& runs, std::byte* to) {
        const std::int64_t most =
            masks_.empty() ? std::numeric_limits<std::int64_t>::max() : mask_portion;
        for_each_portion(runs, most, [&](const RowRuns& some, std::int64_t done) {
            mark_portion(some, to + done * size_of(info_.array.type));
        });
    }

    void mark_portion(const RowRuns& runs, std::byte* to) {
        if (!masks_.empty()) {
            read_masks(runs);
        }
        const bool whole = runs.columns == width_; // the rows of a run are one span
        const std::int64_t spans = whole ? 1 : runs.rows;
        const std::int64_t length = whole ? runs.rows * width_ : runs.columns;
        for (std::int64_t i = 0; i < runs.runs * spans; ++i) {
            const std::int64_t row = runs.first + i / spans * runs.stride + i % spans;
            mark_span(row * width_ + runs.first_column, length, i * length,
                      to + i * length * size_of(info_.array.type));
        }
    }

    /// The flags of a portion by the masks that are read beside the rows.
    void read_masks(const RowRuns& runs) {
        const std::int64_t count = runs.runs * runs.rows * runs.columns;
        read_.assign(static_cast<std::size_t>(count), 0);
        for (const MaskRows& mask : masks_) {
            const ElementType type = mask.rows->info().array.type;
            elements_.resize(static_cast<std::size_t>(count * size_of(type)));
            if (runs.runs == 1 && runs.columns == width_) {
                mask.rows->read(runs.first, one_axis_ ? width_ : runs.rows, elements_.data());
            } else {
                mask.rows->read_runs(runs, elements_.data());
            }
            add_flags(type, mask.bits, elements_.data(), count, read_.data());
        }
    }

    /// Marks elements from `first` on, of which the flags that were read begin at `read`.
    void mark_span(std::int64_t first, std::int64_t count, std::int64_t read, std::byte* to) {
        const std::int64_t size = size_of(info_.array.type);
        const auto part = [&](std::int64_t begin, std::int64_t bytes) {
            mark_part(first + begin / size, bytes / size, read + begin / size, to + begin);
        };
        if (count * size <= block_for(0, 1)) {
            part(0, count * size);
        } else {
            threads_.run_blocks(count * size, part);
        }
    }

    void mark_part(std::int64_t first, std::int64_t count, std::int64_t read, std::byte* to) {
        if (!masks_.empty()) {
            std::uint8_t* const flags = read_.data() + read;
            if (flags_ != nullptr) {
                for (std::int64_t i = 0; i < count; ++i) {
                    flags[i] |=
                        (*flags_)[static_cast<std::size_t>((first + i) % std::ssize(*flags_))];
                }
            }
            return mark_with(flags, first, count, to);
        }
        while (flags_ != nullptr && count > 0) {
            const std::int64_t at = first % std::ssize(*flags_);
            const std::int64_t now = std::min(count, std::ssize(*flags_) - at);
            mark_with(flags_->data() + at, first, now, to);
            first += now;
            count -= now;
            to += now * size_of(info_.array.type);
        }
    }

    void mark_with(const std::uint8_t* flags, std::int64_t first, std::int64_t count,
                   std::byte* to) const {
        if (mark_elements(flags, count, element_.bytes, to) &&
            element_.equal == MaskedElement::Equal::error) {
            const auto size = std::ssize(element_.bytes);
            std::int64_t i = 0;
            while (flags[i] != 0 ||
                   std::memcmp(to + i * size, element_.bytes.data(), element_.bytes.size()) != 0) {
                ++i;
            }
            refuse_equal(first + i);
        }
    }

    [[noreturn]] void refuse_equal(std::int64_t element) const {
        std::vector<std::int64_t> index;
        for (std::size_t axis = info_.array.shape.size(); axis-- > 0;) {
            index.insert(index.begin(), element % info_.array.shape[axis]);
            element /= info_.array.shape[axis];
        }
        throw Error(
            ExitCode::input,
            {"a valid element is the number that stands for the masked ones", element_.where,
             fmt::format("element {} of the input is {} and not masked", shape_text(index),
                         element_.name),
             "Write value = a number that no valid element has into the table input.invalid; or "
             "value = " +
                 element_.name + " if all elements that are it are invalid"});
    }

    std::unique_ptr<RowReader> rows_;
    std::shared_ptr<const MaskFlags> flags_;
    std::vector<MaskRows> masks_;
    MaskedElement element_;
    DatasetInfo info_;
    bool one_axis_;
    std::int64_t width_;
    MaskFlags read_;                  ///< of a portion
    std::vector<std::byte> elements_; ///< of a portion of a mask
    IoThreads threads_;
};

} // namespace

bool can_be_mask(const ArrayInfo& mask) { return is_number(mask.type) || is_truth(mask); }

MaskFlags flags_of(RowReader& mask, MaskBits bits) {
    const ArrayInfo& array = mask.info().array;
    const std::int64_t rows = row_count(array);
    const std::int64_t width = row_elements(array);
    const std::int64_t most = std::clamp<std::int64_t>(mask_portion / width, 1, rows);
    MaskFlags flags(static_cast<std::size_t>(rows * width));
    std::vector<std::byte> some(static_cast<std::size_t>(most * row_bytes(array)));
    for (std::int64_t row = 0; row < rows; row += most) {
        const std::int64_t now = std::min(most, rows - row);
        mask.read(row, now, some.data());
        add_flags(array.type, bits, some.data(), now * width, flags.data() + row * width);
    }
    return flags;
}

MaskFlags joined_flags(MaskFlags flags, MaskFlags more) {
    if (flags.size() < more.size()) {
        flags.swap(more);
    }
    for (std::size_t i = 0; !more.empty() && i < flags.size(); ++i) {
        flags[i] |= more[i % more.size()];
    }
    return flags;
}

std::unique_ptr<RowReader> open_masked_rows(std::unique_ptr<RowReader> rows,
                                            std::shared_ptr<const MaskFlags> flags,
                                            std::vector<MaskRows> masks, MaskedElement element,
                                            int threads) {
    return std::make_unique<MaskedRows>(std::move(rows), std::move(flags), std::move(masks),
                                        std::move(element), threads);
}

std::int64_t masked_rows_bytes(std::size_t masks) {
    constexpr std::int64_t largest = 1 + std::int64_t{sizeof(double)};
    return masks == 0 ? 0 : mask_portion * largest;
}

} // namespace runner
