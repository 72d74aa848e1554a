// SPDX-License-Identifier: BSD-3-Clause
// The CUDA form of convolve against the definition, computed here as slowly as it is written.
#include "tests/support/convolve_cuda_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST_F(ConvolveCuda, FloatsForEveryRadiusEqualOnBothAxes) {
    Random random(1);
    for (std::int64_t radius = 0; radius <= Convolution::fused_radius; ++radius) {
        for (const int type : {2, 3}) {
            const std::int64_t columns = draw(random, 1, 300) * (radius % 2 == 0 ? 4 : 1);
            const auto c = random_convolution(random, draw(random, 1, 90), columns, radius, radius);
            compare_any(random, c, random_block(random, c), type, type, 0, true);
        }
    }
}

// Passes of several launches each, with a last one of one tap, of 256 and of others.
TEST_F(ConvolveCuda, WideRadii) {
    Random random(31);
    for (const std::int64_t radius : {129, 256, 300, 383, 1000, 4096}) {
        for (int i = 0; i < 8; ++i) {
            const auto other = draw(random, 0, 3) == 0 ? radius : draw(random, 0, 40);
            auto c = random_convolution(random, draw(random, 1, 60),
                                        draw(random, 1, radius < 1000 ? 2500 : 300), radius, other);
            if (draw(random, 0, 1) == 1) {
                std::swap(c.row_taps, c.column_taps);
            }
            compare_any(random, c, random_block(random, c), static_cast<int>(draw(random, 0, 3)),
                        static_cast<int>(draw(random, 0, 3)), 0, false);
        }
    }
}

TEST_F(ConvolveCuda, FloatsForUnequalRadii) {
    Random random(9);
    for (std::int64_t radius = 0; radius <= 64; radius += radius < 34 ? 1 : 3) {
        for (const int type : {2, 3}) {
            for (const std::int64_t other : {draw(random, 0, 4), draw(random, 0, radius + 4)}) {
                const std::int64_t columns = draw(random, 1, 300) * (other % 2 == 0 ? 4 : 1);
                auto c = random_convolution(random, draw(random, 1, 90), columns, radius, other);
                if (draw(random, 0, 1) == 1) {
                    std::swap(c.row_taps, c.column_taps);
                }
                compare_any(random, c, random_block(random, c), type, type,
                            other % 2 == 0 ? 0 : draw(random, 0, 17), true);
            }
        }
    }
}

// Kernels that pad taps with zeros: of float64 those of radii above 9.
TEST_F(ConvolveCuda, BackgroundsThatZerosWouldChange) {
    Random random(12);
    const double backgrounds[] = {0.0, -0.0, std::numeric_limits<double>::quiet_NaN(),
                                  -std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::denorm_min()};
    for (const std::int64_t radius : {11, 16, 17, 24, 31, 32, 64}) {
        for (const double background : backgrounds) {
            background_ = background;
            for (const double sign : {1.0, -1.0}) {
                auto c = random_convolution(random, draw(random, 60, 150), 272, radius,
                                            draw(random, 0, 3) == 0 ? radius : draw(random, 0, 64));
                for (double& tap : c.column_taps) {
                    tap = sign * std::abs(tap);
                }
                compare_any(random, c, whole(c, 1), 3, 3, 0, false);
            }
        }
    }
}

TEST_F(ConvolveCuda, RadiiAbove64) {
    Random random(17);
    for (const std::int64_t radius : {65, 72, 81, 104, 120, 121, 128}) {
        for (int boundary = 0; boundary < 5; ++boundary) {
            for (const int type : {0, 1, 2, 3}) {
                const auto other = draw(random, 0, 1) == 0 ? radius : draw(random, 0, radius);
                auto c = random_convolution(random, draw(random, 1, 400), draw(random, 1, 400),
                                            radius, other);
                if (draw(random, 0, 1) == 1) {
                    std::swap(c.row_taps, c.column_taps);
                }
                c.boundary = static_cast<Boundary>(boundary);
                compare_any(random, c, random_block(random, c), type, type, draw(random, 0, 17),
                            false);
            }
        }
    }
}

// A strip of 128 columns and more rows than a segment has, none of them special.
TEST_F(ConvolveCuda, WideImagesOfLargeRadii) {
    Random random(13);
    for (const std::int64_t radius : {10, 12, 13, 16, 17, 23, 28, 29, 32, 33, 48, 63, 64}) {
        for (int boundary = 0; boundary < 5; ++boundary) {
            auto c = random_convolution(random, draw(random, 500, 700), draw(random, 60, 140) * 2,
                                        radius, radius);
            c.boundary = static_cast<Boundary>(boundary);
            compare_any(random, c, random_block(random, c), 3, 3, 0, false);
        }
    }
}

// So many frames that a block makes hundreds of rows of one: tensor cores resume behind those that
// zero taps would change.
TEST_F(ConvolveCuda, TallTilesWithFewInfinities) {
    Random random(14);
    infinities_ = 150;
    for (const auto& [row, column] : {std::pair{12, 12}, {9, 18}, {32, 26}, {48, 48}, {21, 59}}) {
        const auto c = random_convolution(random, draw(random, 700, 900), 24, row, column);
        compare_any(random, c, whole(c, 140), 3, 3, 0, false);
    }
}

TEST_F(ConvolveCuda, ManySegmentsOfUnequalRadii) {
    Random random(10);
    for (const auto& [row, column] : {std::pair{0, 32}, {32, 0}, {3, 9}, {17, 4}, {29, 21}}) {
        for (const int type : {2, 3}) {
            const auto c = random_convolution(random, 3001, draw(random, 1, 600), row, column);
            compare_any(random, c, whole(c, 1), type, type, 0, true);
        }
    }
}

TEST_F(ConvolveCuda, Uint8ForEveryRadius) { integers_for_every_radius(7, 0); }

TEST_F(ConvolveCuda, Uint16ForEveryRadius) { integers_for_every_radius(11, 1); }

TEST_F(ConvolveCuda, IntegersWithSumsAndFillsThatZerosWouldChange) {
    Random random(8);
    const double infinity = std::numeric_limits<double>::infinity();
    for (const int type : {0, 1}) {
        for (const double fill :
             {infinity, -infinity, std::nan(""), -1.0, 0.5, 255.0, 256.0, 65535.0, 65536.0}) {
            auto c = random_convolution(random, 23, 70, 5, 3);
            c.fill = fill;
            for (const Boundary boundary : {Boundary::constant, Boundary::wrap}) {
                c.boundary = boundary;
                compare_any(random, c, whole(c, 1), type, type, 0, false);
            }
        }
        auto c = random_convolution(random, 23, 70, 5, 3);
        for (double& tap : c.row_taps) {
            tap *= 1e37; // some sums along a row are infinite
        }
        compare_any(random, c, whole(c, 1), type, type, 0, false);
    }
}

// Zeros have signs in floats: most of each image is 0, and taps have either sign on each axis. Some
// taps are so small that products are rounded to zeros.
TEST_F(ConvolveCuda, IntegersToFloats) {
    Random random(16);
    background_ = 0;
    const auto make = [&](std::vector<double>& taps, int sign) {
        const double unit = draw(random, 0, 2) == 0 ? std::ldexp(1.0, -72) : 1.0;
        for (double& tap : taps) {
            tap = unit * (sign == 0 ? tap : sign * std::abs(tap));
        }
    };
    for (const std::int64_t radius : {0, 1, 4, 5, 8, 11, 12, 13, 17, 32, 40, 64}) {
        for (const int type : {0, 1}) {
            for (const int rows : {1, -1, 0}) {
                for (const int columns : {1, -1, 0}) {
                    const auto other = draw(random, 0, 2) == 0 ? radius : draw(random, 0, radius);
                    auto c = random_convolution(random, draw(random, 1, 60),
                                                draw(random, 1, 80) * (columns == 0 ? 1 : 16),
                                                other, radius);
                    if (draw(random, 0, 1) == 1) {
                        std::swap(c.row_taps, c.column_taps);
                    }
                    make(c.row_taps, rows);
                    make(c.column_taps, columns);
                    const double fills[] = {0.0, -0.0, 7.0, c.fill};
                    c.fill = fills[draw(random, 0, 3)];
                    compare_any(random, c, random_block(random, c), type, 2,
                                draw(random, 0, 3) == 0 ? draw(random, 0, 17) : 0, false);
                }
            }
        }
    }
}

TEST_F(ConvolveCuda, InteriorStripsAlignedAndNot) {
    Random random(2);
    for (const std::int64_t radius : {1, 2, 5, 8, 12, 15, 16, 20, 24, 32, 48, 64}) {
        for (const int type : {0, 1, 2, 3}) {
            for (const std::int64_t columns : {1024, 1023}) {
                auto c = random_convolution(random, draw(random, 20, 60), columns, radius, radius);
                compare_any(random, c, whole(c, 1), type, type, columns == 1024 ? 16 : 1, false);
            }
        }
    }
}

// Rows that begin anywhere between multiples of 4 bytes.
TEST_F(ConvolveCuda, IntegersOfAnyWidthAndPlace) {
    Random random(15);
    for (const std::int64_t radius : {1, 3, 4, 7, 8, 10, 11, 12, 16, 17, 32, 33, 64}) {
        for (const int type : {0, 1}) {
            for (int i = 0; i < 4; ++i) {
                const auto c = random_convolution(random, draw(random, 5, 80),
                                                  draw(random, 500, 1300), radius, radius);
                compare_any(random, c, random_block(random, c), type, type, draw(random, 0, 17),
                            false);
            }
        }
    }
}

TEST_F(ConvolveCuda, ManySegmentsOfRows) {
    Random random(3);
    for (const std::int64_t radius : {1, 3, 8, 16, 64, 17}) {
        for (const int type : {0, 1, 2, 3}) {
            const auto c = random_convolution(random, 3001, draw(random, 1, 40), radius, radius);
            compare_any(random, c, whole(c, 1), type, type, 0, false);
        }
    }
}

TEST_F(ConvolveCuda, AnyTypesRadiiBoundariesBlocks) {
    Random random(4);
    for (int i = 0; i < 600; ++i) {
        const auto most = draw(random, 0, 3) == 0 ? Convolution::fused_radius : 12;
        const auto c = random_convolution(random, draw(random, 1, 70), draw(random, 1, 200),
                                          draw(random, 0, most), draw(random, 0, most));
        compare_any(random, c, random_block(random, c), i % 4, i / 4 % 4, draw(random, 0, 5), true);
    }
}

TEST_F(ConvolveCuda, Frames) {
    Random random(5);
    for (int i = 0; i < 60; ++i) {
        const auto radius = draw(random, 0, 20);
        const auto c = random_convolution(random, draw(random, 1, 20), draw(random, 1, 50), radius,
                                          i % 3 == 0 ? draw(random, 0, 20) : radius);
        compare_any(random, c, whole(c, draw(random, 2, 9)), i % 4, i / 4 % 4, 0, true);
    }
}

TEST_F(ConvolveCuda, MoreFramesThanAGridIsHigh) {
    Random random(6);
    const auto c = random_convolution(random, 1, 2, 1, 1);
    compare_any(random, c, whole(c, 70000), 2, 2, 0, false);
}

} // namespace
} // namespace runner
