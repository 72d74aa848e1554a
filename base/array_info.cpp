// SPDX-License-Identifier: BSD-3-Clause
#include "base/array_info.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

namespace runner {
namespace {

std::int64_t checked_multiply(std::int64_t a, std::int64_t b, std::span<const std::int64_t> shape) {
    std::int64_t product = 0;
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) {
        throw Error(ExitCode::input, {"the array is too large", shape_text(shape),
                                      "its size is no 63-bit number", "Check the shape"});
    }
    return product;
}

} // namespace

std::int64_t checked_product(std::span<const std::int64_t> extents) {
    std::int64_t product = 1;
    for (const std::int64_t extent : extents) {
        product = checked_multiply(product, extent, extents);
    }
    return product;
}

std::int64_t element_count(const ArrayInfo& info) { return checked_product(info.shape); }

std::int64_t byte_count(const ArrayInfo& info) {
    return checked_multiply(element_count(info), size_of(info.type), info.shape);
}

std::string type_text(const ArrayInfo& info) {
    constexpr std::size_t most = 160;
    const std::string& text = info.stored.text;
    if (text.empty()) {
        return std::string(name_of(info.type));
    }
    return text.size() <= most ? text : text.substr(0, most) + "...";
}

std::string shape_text(std::span<const std::int64_t> shape) {
    std::string text = "[";
    for (const std::int64_t extent : shape) {
        text += fmt::format("{}{}", (text.size() == 1 ? "" : ", "), extent);
    }
    return text + "]";
}

} // namespace runner
