// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/invalid.hpp"

#include <cmath>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {

double invalid_value(ElementType out, double value) {
    return visit_element_type(out, [value](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_floating_point_v<T>) {
            return std::numeric_limits<double>::quiet_NaN();
        } else {
            const T element = converted<T>(value);
            return !std::isnan(value) && static_cast<double>(element) == value
                       ? value
                       : static_cast<double>(std::numeric_limits<T>::max());
        }
    });
}

bool has_element(ElementType type, double number) {
    return is_number(type) && visit_element_type(type, [number](auto zero) {
               using T = decltype(zero);
               return std::is_floating_point_v<T> ||
                      (!std::isnan(number) && static_cast<double>(converted<T>(number)) == number);
           });
}

void mark_invalid(CpuQueue& queue, const InvalidMapping& mapping, std::int64_t count,
                  const std::byte* in, std::byte* out) {
    constexpr std::int64_t block = 1 << 14;
    using Range = tbb::blocked_range<std::int64_t>;
    visit_element_type(mapping.in_type, [&](auto in_zero) {
        using In = decltype(in_zero);
        const InvalidTest<In> is_invalid = invalid_test<In>(mapping.in_value);
        const auto* from = reinterpret_cast<const In*>(in);
        visit_element_type(mapping.out_type, [&](auto out_zero) {
            using Out = decltype(out_zero);
            const Out mark = invalid_element<Out>(mapping.out_value);
            auto* to = reinterpret_cast<Out*>(out);
            queue.run([&] {
                tbb::parallel_for(Range(0, count, block), [&](const Range& range) {
                    for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                        to[i] = is_invalid(from[i]) ? mark : to[i];
                    }
                });
            });
        });
    });
}

} // namespace runner
