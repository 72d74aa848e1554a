// SPDX-License-Identifier: BSD-3-Clause
#include "views/compare.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/input/file_access.hpp"
#include "io/rows/row_geometry.hpp"
#include "views/pictures/array_name.hpp"
#include "views/row_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// Elements of two datasets that differ in a byte.
struct ByteDifferences {
    std::int64_t different = 0;
    std::int64_t first = -1; ///< the first one's number, counted in row-major order; -1: none
};

/// Compares two datasets of one shape and element type, in bounded memory (or a row of each, where
/// rows are longer). @throws Error (input) when one cannot be read.
ByteDifferences compare_bytes(RowReader& a, RowReader& b) {
    constexpr std::int64_t memory = 64 * MiB;
    const ArrayInfo& array = a.info().array;
    const std::int64_t row = row_bytes(array);
    const std::int64_t rows = row_count(array);
    const auto size = static_cast<std::size_t>(size_of(array.type));
    const std::int64_t step = std::clamp<std::int64_t>(memory / row, 1, rows);
    std::vector<std::byte> of_a(static_cast<std::size_t>(step * row));
    std::vector<std::byte> of_b(of_a.size());
    ByteDifferences result;
    for (std::int64_t first = 0; first < rows; first += step) {
        const std::int64_t count = std::min(step, rows - first);
        a.read(first, count, of_a.data());
        b.read(first, count, of_b.data());
        const auto bytes = static_cast<std::size_t>(count * row);
        if (std::memcmp(of_a.data(), of_b.data(), bytes) == 0) {
            continue;
        }
        for (std::size_t at = 0; at < bytes; at += size) {
            if (std::memcmp(of_a.data() + at, of_b.data() + at, size) != 0) {
                if (result.different++ == 0) {
                    result.first =
                        first * row_elements(array) + static_cast<std::int64_t>(at / size);
                }
            }
        }
    }
    return result;
}

constexpr std::int64_t block_elements = 1 << 16;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// An extreme by the element's number.
struct Candidate {
    double value = 0;
    std::int64_t element = -1;
    double a = 0;
    double b = 0;

    void offer(const Candidate& other) {
        if (other.element >= 0 && (element < 0 || other.value > value)) {
            *this = other;
        }
    }
};

/// What a block of elements adds to the comparison.
struct Part {
    std::int64_t different = 0;
    std::int64_t infinite = 0;
    Candidate first; ///< by its number, not its value
    Candidate absolute;
    Candidate relative;
    double squares = 0;
    double least_a = infinity;
    double greatest_a = -infinity;
    std::map<int, std::int64_t> decades;

    /// Adds a part that follows this one.
    void add(const Part& next) {
        different += next.different;
        infinite += next.infinite;
        if (first.element < 0) {
            first = next.first;
        }
        absolute.offer(next.absolute);
        relative.offer(next.relative);
        squares += next.squares;
        least_a = std::min(least_a, next.least_a);
        greatest_a = std::max(greatest_a, next.greatest_a);
        for (const auto& [decade, count] : next.decades) {
            decades[decade] += count;
        }
    }
};

/// What extremes and ranges are told of: of a complex number its modulus.
template <class Wide> double real_of(Wide value) {
    if constexpr (is_complex_number<Wide>) {
        return std::abs(value);
    } else {
        return static_cast<double>(value);
    }
}

template <class Wide> bool is_nan(Wide value) {
    if constexpr (is_complex_number<Wide>) {
        return std::isnan(value.real()) || std::isnan(value.imag());
    } else {
        return std::isnan(value);
    }
}

template <class Wide> void add_difference(Wide a, Wide b, std::int64_t element, Part& part) {
    const double value_a = real_of(a);
    const double value_b = real_of(b);
    auto distance = static_cast<double>(std::abs(a - b));
    if (std::isnan(distance)) {
        distance = infinity;
    }
    ++part.different;
    if (part.first.element < 0) {
        part.first = {distance, element, value_a, value_b};
    }
    part.squares += distance * distance;
    part.absolute.offer({distance, element, value_a, value_b});
    const double scale = std::max(std::abs(value_a), std::abs(value_b));
    const double relative = std::isinf(distance) ? infinity : distance / scale;
    part.relative.offer({relative, element, value_a, value_b});
    if (std::isinf(distance)) {
        ++part.infinite;
    } else {
        ++part.decades[static_cast<int>(std::floor(std::log10(distance)))];
    }
}

template <class Wide>
Part compare_block(const Wide* a, const Wide* b, std::int64_t first, std::int64_t count) {
    Part part;
    for (std::int64_t i = 0; i < count; ++i) {
        if (const double value = real_of(a[i]); std::isfinite(value)) {
            part.least_a = std::min(part.least_a, value);
            part.greatest_a = std::max(part.greatest_a, value);
        }
        const bool equal = a[i] == b[i] || (is_nan(a[i]) && is_nan(b[i]));
        if (!equal) {
            add_difference(a[i], b[i], first + i, part);
        }
    }
    return part;
}

/// Blocks in parallel, their parts added in order: the same sums on any number of threads.
template <class Wide>
Part compare_rows(const std::vector<Wide>& a, const std::vector<Wide>& b, std::int64_t first,
                  std::int64_t count) {
    const std::int64_t blocks = (count + block_elements - 1) / block_elements;
    std::vector<Part> parts(static_cast<std::size_t>(blocks));
    tbb::parallel_for(std::int64_t{0}, blocks, [&](std::int64_t block) {
        const std::int64_t begin = block * block_elements;
        parts[static_cast<std::size_t>(block)] =
            compare_block(a.data() + begin, b.data() + begin, first + begin,
                          std::min(block_elements, count - begin));
    });
    Part sum;
    for (const Part& part : parts) {
        sum.add(part);
    }
    return sum;
}

template <class Wide> Part compare_all(RowReader& a, RowReader& b) {
    RowPairs<Wide> pairs(a, b);
    Part sum;
    const std::int64_t width = row_elements(a.info().array);
    for (std::int64_t first = 0; first < pairs.rows(); first += pairs.step()) {
        const std::int64_t rows = std::min(pairs.step(), pairs.rows() - first);
        pairs.read(first, rows);
        sum.add(compare_rows(pairs.a(), pairs.b(), first * width, rows * width));
    }
    return sum;
}

bool is_wide(const ArrayInfo& array) {
    return array.type == ElementType::int64 || array.type == ElementType::uint64;
}

/// The width of an integer type's range; that of the finite elements of others.
double peak_of(ElementType type, const Part& part) {
    const double range = part.greatest_a >= part.least_a ? part.greatest_a - part.least_a : 0.0;
    if (is_complex(type)) {
        return range;
    }
    return visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_floating_point_v<T>) {
            return range;
        } else {
            return std::ldexp(1.0, 8 * static_cast<int>(sizeof(T))) - 1;
        }
    });
}

std::vector<std::int64_t> position_of(std::int64_t element,
                                      const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> position(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        position[axis] = element % shape[axis];
        element /= shape[axis];
    }
    return position;
}

Extreme extreme_of(const Candidate& candidate, const std::vector<std::int64_t>& shape) {
    if (candidate.element < 0) {
        return {};
    }
    return {candidate.value, position_of(candidate.element, shape), candidate.a, candidate.b};
}

bool has_values(const ArrayInfo& array) { return is_number(array.type) || is_complex(array.type); }

/// Elements that are no values are equal or not.
void compare_elements(RowReader& a, RowReader& b, Comparison& result) {
    const CompareRequest& request = result.request;
    if (result.a.stored != result.b.stored) {
        throw Error(ExitCode::differs, {"the element types differ", "",
                                        array_name(request.file_a, request.dataset_a) + " is " +
                                            type_text(result.a) + ", " + request.file_b + ":" +
                                            request.dataset_b + " is " + type_text(result.b),
                                        "Name datasets of numbers, or of one type"});
    }
    const ByteDifferences found = compare_bytes(a, b);
    result.as_bytes = true;
    result.different = found.different;
    if (found.different > 0) {
        result.absolute.value = infinity;
        result.first = {infinity, position_of(found.first, result.a.shape), infinity, infinity};
    }
}

void check_shapes(const std::string& name_a, const ArrayInfo& a, const std::string& name_b,
                  const ArrayInfo& b) {
    if (a.shape != b.shape) {
        throw Error(ExitCode::differs, {"the shapes differ", "",
                                        name_a + " is " + shape_text(a.shape) + ", " + name_b +
                                            " is " + shape_text(b.shape),
                                        "Name datasets of one shape"});
    }
}

/// One pass more, over all three.
DividedDifferences divide(RowReader& a, RowReader& b, RowReader& by) {
    RowPairs<double> pairs(a, b);
    RowValues<double> divisors{&by};
    DividedDifferences result;
    std::int64_t finite = 0;
    for (std::int64_t first = 0; first < pairs.rows(); first += pairs.step()) {
        const std::int64_t rows = std::min(pairs.step(), pairs.rows() - first);
        pairs.read(first, rows);
        divisors.read(first, rows);
        for (std::size_t i = 0; i < divisors.wide.size(); ++i) {
            const double distance = std::abs(pairs.a()[i] - pairs.b()[i]);
            const double share = distance == 0 ? 0 : distance / std::abs(divisors.wide[i]);
            if (!std::isfinite(share)) {
                ++result.infinite;
                continue;
            }
            ++finite;
            result.mean += share;
            if (share > 0) {
                ++result.decades[static_cast<int>(std::floor(std::log10(share)))];
            }
        }
    }
    result.mean /= static_cast<double>(std::max<std::int64_t>(1, finite));
    return result;
}

} // namespace

Comparison compare_rows(RowReader& a, RowReader& b, CompareRequest request) {
    Comparison result;
    result.request = std::move(request);
    result.a = a.info().array;
    result.b = b.info().array;
    check_shapes(array_name(result.request.file_a, result.request.dataset_a), result.a,
                 array_name(result.request.file_b, result.request.dataset_b), result.b);
    result.elements = element_count(result.a);
    if (!has_values(result.a) || !has_values(result.b)) {
        compare_elements(a, b, result);
        return result;
    }

    // long double holds every 64-bit integer and every double.
    const bool wide = is_wide(result.a) || is_wide(result.b);
    const bool complex = is_complex(result.a.type) || is_complex(result.b.type);
    const Part sum = complex ? compare_all<std::complex<double>>(a, b)
                     : wide  ? compare_all<long double>(a, b)
                             : compare_all<double>(a, b);
    result.different = sum.different;
    result.infinite = sum.infinite;
    result.first = extreme_of(sum.first, result.a.shape);
    result.absolute = extreme_of(sum.absolute, result.a.shape);
    result.relative = extreme_of(sum.relative, result.a.shape);
    result.decades = sum.decades;
    result.rmse = std::sqrt(sum.squares / static_cast<double>(result.elements));
    result.peak = peak_of(result.a.type, sum);
    if (result.rmse > 0 && std::isfinite(result.rmse) && result.peak > 0) {
        result.psnr = 20 * std::log10(result.peak / result.rmse);
    }
    if (result.different == 0) {
        result.ssim = 1.0;
    } else if (!complex) {
        result.ssim = mean_ssim(a, b, result.peak);
    }
    return result;
}

Comparison compare(FileAccess& files, const CompareRequest& request) {
    const auto a = open_rows_of(files, request.file_a, request.dataset_a, request.threads);
    const auto b = open_rows_of(files, request.file_b, request.dataset_b, request.threads);
    const ArrayInfo& array_a = a->info().array;
    const ArrayInfo& array_b = b->info().array;
    if (!request.file_by.empty() && array_a.shape == array_b.shape &&
        (!is_number(array_a.type) || !is_number(array_b.type))) {
        throw Error(ExitCode::input,
                    {"cannot divide the differences", array_name(request.file_a, request.dataset_a),
                     "not both are real numbers: they are " + type_text(array_a) + " and " +
                         type_text(array_b),
                     "Leave out --divide-by"});
    }
    Comparison result = compare_rows(*a, *b, request);
    if (!request.file_by.empty()) {
        const auto by = open_rows_of(files, request.file_by, request.dataset_by, request.threads);
        check_shapes(array_name(request.file_a, request.dataset_a), result.a,
                     array_name(request.file_by, request.dataset_by), by->info().array);
        result.divided = divide(*a, *b, *by);
    }
    return result;
}

} // namespace runner
