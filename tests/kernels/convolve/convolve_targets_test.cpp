// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve.hpp"

#include "tests/support/convolve_cases.hpp"
#include "tests/support/vector_sets.hpp"

#include <set>

namespace runner {
namespace {

TEST(ConvolveTargets, EveryVectorSetGivesTheBytesOfTheReference) {
    CpuQueue queue(2);
    ConvolveCases cases(11);
    const std::set<std::int64_t> targets = usable_targets();
    for (const ElementType in : convolution_types) {
        for (const ElementType out : convolution_types) {
            const Boundary boundary = all_boundaries[static_cast<std::size_t>(cases.number(0, 4))];
            for (const std::int64_t radius : {0, 1, 2, 9, 40}) {
                const Convolution c =
                    cases.convolution(in, out, cases.number(1, 90), cases.number(1, 400), radius,
                                      cases.number(0, 10), boundary);
                const std::vector<std::byte> image = cases.image(in, 2 * c.frame_rows * c.columns);
                const std::vector<std::byte> expected = convolve_reference(c, image);
                const RowBlock block = whole_image(c, 2);
                for (const std::int64_t target : targets) {
                    const OnlyTarget only(target);
                    EXPECT_EQ("",
                              first_difference(out, expected, convolve_on(queue, c, block, image)))
                        << hwy::TargetName(target) << ": " << describe(c, block);
                }
            }
        }
    }
}

TEST(ConvolveTargets, EveryVectorSetWritesPastTheCachesAlike) {
    CpuQueue queue(2);
    ConvolveCases cases(12);
    for (const ElementType type : {ElementType::float32, ElementType::float64}) {
        const Convolution c = cases.convolution(type, type, 1033, 2176, 1, 1, Boundary::wrap);
        const std::vector<std::byte> image = cases.image(type, c.frame_rows * c.columns);
        const std::vector<std::byte> expected = convolve_reference(c, image);
        for (const std::int64_t target : usable_targets()) {
            const OnlyTarget only(target);
            EXPECT_EQ("", first_difference(type, expected,
                                           convolve_on(queue, c, whole_image(c, 1), image)))
                << hwy::TargetName(target);
        }
    }
}

TEST(ConvolveTargets, EveryVectorSetConvertsSpecialValuesAlike) {
    CpuQueue queue(2);
    std::vector<double> values = {-0.0,
                                  0.5,
                                  1.5,
                                  2.5,
                                  254.5,
                                  255.5,
                                  65534.5,
                                  65535.5,
                                  1e10,
                                  -1e10,
                                  1e300,
                                  0x1p-140,
                                  0x1p-149,
                                  0x1p-150,
                                  0x1p-1060,
                                  1 + 0x1p-24,
                                  std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(),
                                  std::nan("")};
    while (values.size() < 200) {
        values.push_back(values[values.size() - 19] * 0.75);
    }
    Convolution c;
    c.row_taps = c.column_taps = {1};
    c.frame_rows = 1;
    c.columns = static_cast<std::int64_t>(values.size());
    const std::vector<float> singles(values.begin(), values.end());
    for (const ElementType in : {ElementType::float32, ElementType::float64}) {
        c.in_type = in;
        const std::vector<std::byte> image =
            in == ElementType::float32 ? bytes_of(singles) : bytes_of(values);
        for (const ElementType out : convolution_types) {
            c.out_type = out;
            const std::vector<std::byte> expected = convolve_reference(c, image);
            for (const std::int64_t target : usable_targets()) {
                const OnlyTarget only(target);
                EXPECT_EQ("", first_difference(out, expected,
                                               convolve_on(queue, c, whole_image(c, 1), image)))
                    << hwy::TargetName(target) << ": " << describe(c, whole_image(c, 1));
            }
        }
    }
}

} // namespace
} // namespace runner
