// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/dense_rows.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// A multiple of every element's size.
constexpr std::int64_t block_bytes = 1 << 20;

/// Elements that lie together in the source, and where they go.
struct Piece {
    std::int64_t element = 0; ///< of the source, counted from the first
    std::int64_t to = 0;      ///< row of the box that the first goes to

    bool operator<(const Piece& other) const { return element < other.element; }
};

class DenseReader final : public RowReader {
  public:
    DenseReader(std::unique_ptr<ByteSource> source, DenseLayout layout, int threads)
        : source_(std::move(source)), layout_(std::move(layout)),
          stored_size_(size_of(layout_.array.type)),
          threads_(source_->access() == ByteSource::Access::anywhere ? threads : 1) {
        info_.array = layout_.array;
        if (layout_.scale) {
            info_.array.type = ElementType::float64;
        }
        info_.big_endian = layout_.bytes == DenseLayout::Bytes::big_endian;
        info_.storage = layout_.storage;
        info_.axes = layout_.axes;
        if (info_.axes.known()) {
            info_.channels = 1; // their last axis is one of space
        }
        info_.stored_bytes = std::min(byte_count(layout_.array), source_->stored_bytes());
        info_.unkept = layout_.unkept;
        info_.notes = layout_.notes;
        info_.order = layout_.array.shape.size() > 1 ? layout_.order : DatasetInfo::Order{};
        if (info_.order == DatasetInfo::Order::last_fastest && !layout_.scale &&
            source_->access() == ByteSource::Access::anywhere) {
            info_.offset = layout_.offset;
        }
        buffers_.resize(static_cast<std::size_t>(threads_.threads()));
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        if (info_.order == DatasetInfo::Order::last_fastest) {
            const std::int64_t width = row_elements(info_.array);
            return read_run(first * width, rows * width, to);
        }
        // Whole rows of one number along the first axis, as many such numbers as there are, and
        // what is over on either side.
        const std::int64_t inner = inner_rows();
        while (rows > 0) {
            const std::int64_t row = first % inner;
            const std::int64_t whole = row == 0 ? rows / inner : 0;
            const std::int64_t count = whole > 0 ? inner : std::min(rows, inner - row);
            const std::int64_t lines = std::max<std::int64_t>(whole, 1);
            read_box({first / inner, lines, row, count}, to);
            first += lines * count;
            rows -= lines * count;
            to += lines * count * row_bytes(info_.array);
        }
    }

    void read_runs(const RowRuns& runs, std::byte* to) override {
        const bool box = info_.order == DatasetInfo::Order::first_fastest &&
                         runs.stride == inner_rows() && runs.first_column == 0 &&
                         runs.columns == row_elements(info_.array) &&
                         runs.first % inner_rows() + runs.rows <= inner_rows();
        if (box) {
            read_box({runs.first / inner_rows(), runs.runs, runs.first % inner_rows(), runs.rows},
                     to);
        } else {
            RowReader::read_runs(runs, to);
        }
    }

  private:
    /// A box of an array whose first axis runs fastest: numbers along that axis, and rows within
    /// each.
    struct FirstAxisBox {
        std::int64_t first = 0;
        std::int64_t count = 0;
        std::int64_t first_row = 0;
        std::int64_t rows = 0;
    };

    /// Rows that have one number along the first axis in common.
    std::int64_t inner_rows() const { return row_count(info_.array) / info_.array.shape.front(); }

    /// Elements that follow one another in the source as they do in the array.
    void read_run(std::int64_t first, std::int64_t count, std::byte* to) {
        const std::int64_t step = block_bytes / size_of(info_.array.type);
        threads_.run((count + step - 1) / step, [&](std::int64_t index, int thread) {
            const std::int64_t begin = index * step;
            const std::int64_t here = std::min(step, count - begin);
            std::byte* target = to + begin * size_of(info_.array.type);
            if (layout_.scale) {
                std::byte* stored = buffer_of(thread, here * stored_size_);
                fetch(first + begin, here, stored);
                scale(stored, here, target);
            } else {
                fetch(first + begin, here, target);
            }
        });
    }

    /// Elements of the source in the order of the machine's bytes.
    void fetch(std::int64_t first, std::int64_t count, std::byte* to) {
        source_->read(layout_.offset + first * stored_size_, count * stored_size_, to);
        if (info_.big_endian) {
            swap_bytes(to, count, stored_size_);
        }
    }

    void scale(const std::byte* stored, std::int64_t count, std::byte* to) const {
        auto* values = reinterpret_cast<double*>(to);
        visit_element_type(layout_.array.type, [&](auto zero) {
            const auto* from = reinterpret_cast<const decltype(zero)*>(stored);
            for (std::int64_t i = 0; i < count; ++i) {
                values[i] =
                    layout_.scale->slope * static_cast<double>(from[i]) + layout_.scale->intercept;
            }
        });
    }

    /// Where the first element of row `inner` within the first number of the first axis lies.
    std::int64_t source_of(std::int64_t inner) const {
        const std::vector<std::int64_t>& shape = info_.array.shape;
        std::int64_t stride = row_count(info_.array);
        std::int64_t element = 0;
        for (std::size_t axis = shape.size() - 1; axis-- > 1;) {
            stride /= shape[axis];
            element += inner % shape[axis] * stride;
            inner /= shape[axis];
        }
        return element;
    }

    /// Fills `to`, [count][rows][columns], column by column: in the source all numbers along the
    /// first axis lie together.
    void read_box(const FirstAxisBox& box, std::byte* to) {
        constexpr std::int64_t most_rows = 1 << 16; // so that the list of pieces stays small
        std::vector<Piece> pieces;
        for (std::int64_t begin = 0; begin < box.rows; begin += most_rows) {
            pieces.clear();
            for (std::int64_t row = begin; row < std::min(box.rows, begin + most_rows); ++row) {
                pieces.push_back({box.first + source_of(box.first_row + row), row});
            }
            std::sort(pieces.begin(), pieces.end());
            read_pieces(box, pieces, to);
        }
    }

    void read_pieces(const FirstAxisBox& box, const std::vector<Piece>& pieces, std::byte* to) {
        // Several columns in turn by one thread, so that their elements meet in its cache.
        constexpr std::int64_t columns_at_once = 16;
        const std::int64_t columns = row_elements(info_.array);
        threads_.run((columns + columns_at_once - 1) / columns_at_once,
                     [&](std::int64_t index, int thread) {
                         const std::int64_t end = std::min(columns, (index + 1) * columns_at_once);
                         for (std::int64_t c = index * columns_at_once; c < end; ++c) {
                             read_column(box, pieces, c, thread, to);
                         }
                     });
    }

    void read_column(const FirstAxisBox& box, const std::vector<Piece>& pieces, std::int64_t column,
                     int thread, std::byte* to) {
        // A gap is read with the rest where that is cheaper than a call of its own.
        constexpr std::int64_t gap_bytes = 16 << 10;
        const std::int64_t most = std::max(box.count, block_bytes / stored_size_);
        const std::int64_t base = column * row_count(info_.array);
        for (std::size_t begin = 0; begin < pieces.size();) {
            std::size_t end = begin + 1;
            const std::int64_t from = pieces[begin].element;
            while (end < pieces.size() &&
                   (pieces[end].element - pieces[end - 1].element - box.count) * stored_size_ <=
                       gap_bytes &&
                   pieces[end].element + box.count - from <= most) {
                ++end;
            }
            const std::int64_t span = pieces[end - 1].element + box.count - from;
            std::byte* stored = buffer_of(thread, span * stored_size_);
            fetch(base + from, span, stored);
            for (; begin < end; ++begin) {
                scatter(stored + (pieces[begin].element - from) * stored_size_, box,
                        pieces[begin].to, column, to);
            }
        }
    }

    void scatter(const std::byte* stored, const FirstAxisBox& box, std::int64_t row,
                 std::int64_t column, std::byte* to) const {
        const std::int64_t columns = row_elements(info_.array);
        const std::int64_t first = row * columns + column;
        const std::int64_t stride = box.rows * columns;
        const bool half = layout_.array.type == ElementType::bytes2; // moved as they are
        visit_element_type(half ? ElementType::uint16 : layout_.array.type, [&](auto zero) {
            using T = decltype(zero);
            const auto* from = reinterpret_cast<const T*>(stored);
            auto* target = reinterpret_cast<T*>(to);
            for (std::int64_t i = 0; i < box.count; ++i) {
                target[first + i * stride] = from[i];
            }
        });
    }

    std::byte* buffer_of(int thread, std::int64_t bytes) {
        std::vector<std::byte>& buffer = buffers_[static_cast<std::size_t>(thread)];
        if (std::ssize(buffer) < bytes) {
            buffer.resize(static_cast<std::size_t>(bytes));
        }
        return buffer.data();
    }

    std::unique_ptr<ByteSource> source_;
    DenseLayout layout_;
    DatasetInfo info_;
    std::int64_t stored_size_;
    IoThreads threads_;
    std::vector<std::vector<std::byte>> buffers_; ///< one a thread
};

/// Plain writes at positions, a block a thread where several can write at once.
class PlainWriter final : public RowWriter {
  public:
    PlainWriter(const OutputDataset& output, std::int64_t offset, int threads)
        : array_(output.array), offset_(offset), file_(output.file, File::Mode::update),
          threads_(file_.one_writer_at_a_time() ? 1 : threads) {}

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        check_rows(array_, first, rows);
        const std::int64_t bytes = rows * row_bytes(array_);
        const std::int64_t offset = offset_ + first * row_bytes(array_);
        threads_.run_blocks(bytes, [&](std::int64_t begin, std::int64_t count) {
            file_.write(offset + begin, count, from + begin);
        });
    }

    void start_sync() noexcept override { file_.start_sync(); }

    void sync() override { file_.sync(); }

    void finish(Sync sync) override {
        if (sync == Sync::yes) {
            file_.sync();
        }
        file_.close();
    }

  private:
    ArrayInfo array_;
    std::int64_t offset_;
    File file_;
    IoThreads threads_;
};

} // namespace

void note_rest(DenseLayout& layout, const std::string& file, std::int64_t file_bytes) {
    const std::int64_t bytes = byte_count(layout.array);
    if (const std::int64_t rest = file_bytes - layout.offset; bytes < rest) {
        layout.notes.push_back(format_error(
            {"more follows the array", fmt::format("{}, byte {}", file, layout.offset + bytes),
             fmt::format("{} bytes, which may be another one", rest - bytes),
             "They are left out"}));
    }
}

void check_readable_shape(const ArrayInfo& array, const std::string& file,
                          const std::string& what) {
    const std::vector<std::int64_t>& shape = array.shape;
    if (shape.empty()) {
        throw Error(ExitCode::input, {what, file, "it holds a scalar, an array without axes",
                                      "Name a file with an array of one axis or more"});
    }
    if (std::any_of(shape.begin(), shape.end(), [](auto extent) { return extent < 1; })) {
        throw Error(ExitCode::input,
                    {what, file, "its shape " + shape_text(shape) + " has an axis without elements",
                     "Name a file with elements"});
    }
    try {
        (void)byte_count(array);
    } catch (const Error&) {
        throw Error(ExitCode::input,
                    {what, file,
                     "its shape is " + shape_text(shape) + ", and its bytes are more than 2^63 - 1",
                     "The file may be damaged: get it again"});
    }
}

std::unique_ptr<RowReader> open_dense_rows(std::unique_ptr<ByteSource> source,
                                           const std::string& file, const std::string& what,
                                           DenseLayout layout, int threads) {
    check_readable_shape(layout.array, file, what);
    const std::int64_t bytes = byte_count(layout.array);
    const std::optional<std::int64_t> there = source->size();
    if (there && (layout.offset > *there || bytes > *there - layout.offset)) {
        throw Error(ExitCode::input,
                    {what, fmt::format("{}, byte {}", file, *there),
                     fmt::format("the file ends there, and {} {} takes {} bytes from byte {} on",
                                 type_text(layout.array), shape_text(layout.array.shape), bytes,
                                 layout.offset),
                     "If it is still being written or copied, wait for that; else get it again"});
    }
    return std::make_unique<DenseReader>(std::move(source), std::move(layout), threads);
}

std::unique_ptr<RowReader> open_raw_rows(const std::string& file, DenseLayout layout, int threads) {
    constexpr const char* what = "cannot read the raw file";
    std::unique_ptr<ByteSource> source = open_plain_source(file);
    check_readable_shape(layout.array, file, what);
    layout.storage = "raw";
    const std::int64_t rest = *source->size() - layout.offset;
    if (const std::int64_t bytes = byte_count(layout.array); bytes < rest) {
        layout.notes.push_back(
            format_error({"more follows the elements", file,
                          fmt::format("{} bytes after the {} of {} {}", rest - bytes, bytes,
                                      name_of(layout.array.type), shape_text(layout.array.shape)),
                          "If that is not what you expect, check --shape, --dtype and --offset"}));
    }
    return open_dense_rows(std::move(source), file, what, std::move(layout), threads);
}

std::unique_ptr<RowWriter> open_plain_writer(const OutputDataset& output, std::int64_t offset,
                                             int threads) {
    return std::make_unique<PlainWriter>(output, offset, threads);
}

void refuse_changed_output(const std::string& where) {
    throw Error(ExitCode::output, {"the output is not the one that was created", where,
                                   "another program changed it", "Restart the job"});
}

} // namespace runner
