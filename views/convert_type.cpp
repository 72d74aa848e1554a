// SPDX-License-Identifier: BSD-3-Clause
#include "views/convert_type.hpp"

#include "base/error.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"
#include "views/convert_number.hpp"
#include "views/frame_source.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr const char* what = "cannot convert the elements";

/// Calls `f` with a zero of the array's number type.
template <class F> decltype(auto) visit_number_type(const ArrayInfo& array, F&& f) {
    return is_float16(array) ? f(Half{}) : visit_element_type(array.type, f);
}

template <class V> std::string number_text(V value) {
    if constexpr (std::is_integral_v<V>) {
        return std::to_string(value);
    } else {
        std::array<char, 32> text{};
        const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
        return {text.data(), end};
    }
}

template <class To> std::string range_text() {
    if constexpr (is_half<To>) {
        return "-65504 to 65504";
    } else {
        using Limits = std::numeric_limits<To>;
        return number_text(Limits::lowest()) + " to " + number_text(Limits::max());
    }
}

/// The first element that does not fit, and what to say of it.
struct Misfit {
    std::int64_t at = 0;
    std::string why;
    bool is_number = true;
};

/// Converts dense elements; stops at the first that does not fit.
template <class From, class To>
std::optional<Misfit> convert_elements(const From* from, std::int64_t count, Beyond beyond,
                                       To* to) {
    for (std::int64_t i = 0; i < count; ++i) {
        const auto value = value_of(from[i]);
        const Fit fit = convert_number(value, to[i]);
        if (fit == Fit::not_a_number) {
            return Misfit{i, "it is NaN, which no integer stands for", false};
        }
        if (fit != Fit::good && beyond == Beyond::refuse) {
            return Misfit{i,
                          "it is " + number_text(value) + ", and the range is " + range_text<To>()};
        }
    }
    return std::nullopt;
}

void swap_pairs(std::byte* bytes, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        std::swap(bytes[2 * i], bytes[2 * i + 1]);
    }
}

class TypedReader final : public RowReader {
  public:
    TypedReader(std::unique_ptr<RowReader> reader, const ArrayInfo& type, Beyond beyond,
                std::string where)
        : reader_(std::move(reader)), beyond_(beyond), where_(std::move(where)),
          info_(reader_->info()) {
        info_.array.type = type.type;
        info_.array.stored = type.stored;
        info_.big_endian = false;
        info_.offset.reset(); // plain reads would find the source's type there
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        const std::int64_t columns = row_elements(info_.array);
        const std::int64_t step =
            std::max<std::int64_t>(1, convert_buffer_bytes / row_bytes(source()));
        for (std::int64_t done = 0; done < rows; done += step) {
            const std::int64_t count = std::min(step, rows - done);
            reader_->read(first + done, count, buffer(count * columns));
            convert({first + done, count, 1, 0, 0, columns}, to + done * row_bytes(info_.array));
        }
    }

    void read_runs(const RowRuns& runs, std::byte* to) override {
        reader_->read_runs(runs, buffer(runs.rows * runs.runs * runs.columns));
        convert(runs, to);
    }

  private:
    const ArrayInfo& source() const { return reader_->info().array; }

    std::byte* buffer(std::int64_t elements) {
        const auto bytes = static_cast<std::size_t>(elements * size_of(source().type));
        if (buffer_.size() < bytes) {
            buffer_.resize(bytes);
        }
        return buffer_.data();
    }

    /// What the buffer holds of these rows.
    void convert(const RowRuns& runs, std::byte* to) {
        const std::int64_t count = runs.rows * runs.runs * runs.columns;
        if (source().stored.text == swapped_float16_text) {
            swap_pairs(buffer_.data(), count);
        }
        const std::optional<Misfit> misfit = visit_number_type(source(), [&](auto from) {
            return visit_number_type(info_.array, [&](auto made) {
                return convert_elements(reinterpret_cast<const decltype(from)*>(buffer_.data()),
                                        count, beyond_, reinterpret_cast<decltype(made)*>(to));
            });
        });
        if (misfit) {
            refuse(*misfit, runs);
        }
    }

    [[noreturn]] void refuse(const Misfit& misfit, const RowRuns& runs) const {
        const std::int64_t row = misfit.at / runs.columns;
        const std::int64_t in_file = runs.first + row / runs.rows * runs.stride + row % runs.rows;
        const std::vector<std::int64_t>& shape = info_.array.shape;
        std::vector<std::int64_t> position(shape.size());
        std::int64_t rest = in_file;
        for (std::size_t axis = row_axes(shape); axis-- > 0;) {
            position[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        const std::int64_t column = runs.first_column + misfit.at % runs.columns;
        // The columns of one axis of a read are further elements of it.
        position.back() = shape.size() == 1 ? in_file + column : column;
        throw Error(
            ExitCode::input,
            {"a value does not fit " + type_text({info_.array.type, {}, info_.array.stored}),
             where_ + ", element " + shape_text(position), misfit.why,
             misfit.is_number ? "Choose a type that holds it, or add --clip for the nearest "
                                "value that fits"
                              : "Choose a float type, or write numbers there"});
    }

    std::unique_ptr<RowReader> reader_;
    Beyond beyond_;
    std::string where_;
    DatasetInfo info_;
    std::vector<std::byte> buffer_; ///< elements of the source's type
};

} // namespace

std::optional<ArrayInfo> convertible_type(std::string_view name) {
    if (name == float16_text) {
        return ArrayInfo{ElementType::bytes2, {}, float16_type()};
    }
    const std::optional<ElementType> type = element_type(name);
    return type ? std::optional(ArrayInfo{*type, {}}) : std::nullopt;
}

std::string convertible_type_names() { return element_type_names() + " and float16"; }

std::unique_ptr<RowReader> with_type(std::unique_ptr<RowReader> reader, const ArrayInfo& type,
                                     Beyond beyond, const std::string& where) {
    const ArrayInfo& source = reader->info().array;
    if (!is_number(source.type) && !is_float16(source)) {
        throw Error(ExitCode::input, {what, where, "they are " + type_text(source),
                                      "Numbers are converted: " + convertible_type_names()});
    }
    return std::make_unique<TypedReader>(std::move(reader), type, beyond, where);
}

} // namespace runner
