// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve.hpp"

#include "tests/support/convolve_cases.hpp"
#include "tests/support/convolve_targets.hpp"

namespace runner {
namespace {

TEST(ConvolveTargets, EveryVectorSetGivesTheBytesOfTheReference) {
    ConvolveCases cases(11);
    for (const ElementType in : convolution_types) {
        for (const ElementType out : convolution_types) {
            const Boundary boundary = all_boundaries[static_cast<std::size_t>(cases.number(0, 4))];
            for (const std::int64_t radius : {0, 1, 2, 9, 40}) {
                const Convolution c =
                    cases.convolution(in, out, cases.number(1, 90), cases.number(1, 400), radius,
                                      cases.number(0, 10), boundary);
                const std::vector<std::byte> image = cases.image(in, 2 * c.frame_rows * c.columns);
                expect_on_every_target(c, image, 2);
            }
        }
    }
}

TEST(ConvolveTargets, EveryVectorSetWritesPastTheCachesAlike) {
    ConvolveCases cases(12);
    for (const ElementType type : {ElementType::float32, ElementType::float64}) {
        const Convolution c = cases.convolution(type, type, 1033, 2176, 1, 1, Boundary::wrap);
        const std::vector<std::byte> image = cases.image(type, c.frame_rows * c.columns);
        expect_on_every_target(c, image);
    }
}

TEST(ConvolveTargets, EveryVectorSetConvertsSpecialValuesAlike) {
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
            expect_on_every_target(c, image);
        }
    }
}

} // namespace
} // namespace runner
