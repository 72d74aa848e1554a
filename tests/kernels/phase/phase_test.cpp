// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/phase/phase.hpp"

#include "kernels/fourier/fourier_length.hpp"
#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"
#include "tests/support/vector_sets.hpp"

#include <cmath>
#include <complex>
#include <utility>

namespace runner {
namespace {

constexpr double pi = 3.14159265358979323846;
using Complex = std::complex<double>;

PaganinFilter phase_of(std::int64_t rows, std::int64_t columns, std::int64_t margin,
                       double strength,
                       PaganinFilter::Method method = PaganinFilter::Method::paganin) {
    PaganinFilter phase;
    phase.rows = rows;
    phase.columns = columns;
    phase.padded_rows = next_fourier_length(rows + 2 * margin);
    phase.padded_columns = next_fourier_length(columns + 2 * margin);
    phase.strength = strength;
    phase.method = method;
    return phase;
}

/// The output, and how many values were raised.
template <class T, class Q>
std::pair<std::vector<float>, std::uint64_t> made_by(Q& queue, PaganinFilter phase,
                                                     std::int64_t frames, const std::vector<T>& in,
                                                     std::size_t offset = 0) {
    phase.in_type = element_type_of<T>();
    const DeviceBytes<Q> tables(queue, phase_tables(phase));
    const DeviceBytes<Q> counts(queue, bytes_of(std::vector<PhaseCounts>{{1000, 2000}}));
    const auto bytes = made_on(
        queue, bytes_of(in), in.size() * sizeof(float),
        [&](const std::byte* from, std::byte* to) {
            const Buffer scratch = allocate_device(queue, phase_scratch_bytes(phase, frames));
            retrieve_phase(queue, phase, frames, from, reinterpret_cast<float*>(to), tables.data(),
                           scratch.data(), reinterpret_cast<PhaseCounts*>(counts.data()));
            queue.synchronize();
        },
        offset);
    const PhaseCounts made = values_of<PhaseCounts>(counts.fetch())[0];
    const std::vector<float> out = values_of<float>(bytes);
    EXPECT_EQ(made.nans - 2000,
              std::count_if(out.begin(), out.end(), [](float value) { return std::isnan(value); }));
    return {out, made.raised - 1000};
}

std::size_t reflected(std::int64_t i, std::int64_t extent) {
    while (i < 0 || i >= extent) {
        i = i < 0 ? -1 - i : 2 * extent - 1 - i;
    }
    return static_cast<std::size_t>(i);
}

/// Transforms `lines` lines of `length` values that are `step` apart, by the sum.
void slow_transform(std::vector<Complex>& values, std::int64_t lines, std::int64_t line_step,
                    std::int64_t length, std::int64_t step, double sign) {
    std::vector<Complex> line(static_cast<std::size_t>(length));
    for (std::int64_t l = 0; l < lines; ++l) {
        for (std::int64_t k = 0; k < length; ++k) {
            Complex sum = 0;
            for (std::int64_t i = 0; i < length; ++i) {
                const double angle = sign * 2 * pi * static_cast<double>(i * k % length) /
                                     static_cast<double>(length);
                sum += values[static_cast<std::size_t>(l * line_step + i * step)] *
                       std::polar(1.0, angle);
            }
            line[static_cast<std::size_t>(k)] = sum;
        }
        for (std::int64_t k = 0; k < length; ++k) {
            values[static_cast<std::size_t>(l * line_step + k * step)] =
                line[static_cast<std::size_t>(k)];
        }
    }
}

/// docs/phase.md in float64, by the sums of the transforms, without the logarithm.
std::vector<double> reference(const PaganinFilter& p, const float* frame) {
    const std::int64_t rows = p.padded_rows;
    const std::int64_t columns = p.padded_columns;
    const auto at = [&](std::int64_t y, std::int64_t x) {
        return static_cast<std::size_t>(y * columns + x);
    };
    std::vector<Complex> values(static_cast<std::size_t>(rows * columns));
    const std::int64_t top = (rows - p.rows) / 2;
    const std::int64_t left = (columns - p.columns) / 2;
    for (std::int64_t y = 0; y < rows; ++y) {
        for (std::int64_t x = 0; x < columns; ++x) {
            values[at(y, x)] =
                frame[reflected(y - top, p.rows) * static_cast<std::size_t>(p.columns) +
                      reflected(x - left, p.columns)];
        }
    }
    const auto transform = [&](double sign) {
        slow_transform(values, rows, columns, columns, 1, sign);
        slow_transform(values, columns, 1, rows, columns, sign);
    };
    const auto term = [&](std::int64_t k, std::int64_t n) {
        const double omega =
            2 * pi * static_cast<double>(std::min(k, n - k)) / static_cast<double>(n);
        return p.method == PaganinFilter::Method::pixel ? 2 - 2 * std::cos(omega) : omega * omega;
    };
    transform(-1);
    for (std::int64_t y = 0; y < rows; ++y) {
        for (std::int64_t x = 0; x < columns; ++x) {
            values[at(y, x)] /= (1 + p.strength * (term(y, rows) + term(x, columns))) *
                                static_cast<double>(rows * columns);
        }
    }
    transform(1);
    std::vector<double> made;
    for (std::int64_t y = 0; y < p.rows; ++y) {
        for (std::int64_t x = 0; x < p.columns; ++x) {
            made.push_back(values[at(y + top, x + left)].real());
        }
    }
    return made;
}

std::vector<float> transmissions(const PaganinFilter& phase, std::int64_t frames,
                                 std::mt19937_64& random) {
    std::uniform_real_distribution<float> value(0.1F, 1.1F);
    std::vector<float> values(static_cast<std::size_t>(frames * phase.rows * phase.columns));
    for (float& each : values) {
        each = value(random);
    }
    return values;
}

template <class Q> class PhaseTest : public QueueTest<Q> {};
TYPED_TEST_SUITE(PhaseTest, TestQueues);

TYPED_TEST(PhaseTest, IsTheFilterInFloat64) {
    std::mt19937_64 random(1);
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                        {1, 9},
                                        {9, 1},
                                        {2, 2},
                                        {17, 13},
                                        {18, 23},
                                        {31, 40}}) {
        for (const PaganinFilter::Method method :
             {PaganinFilter::Method::paganin, PaganinFilter::Method::pixel}) {
            for (const std::int64_t margin : {0, 1, 5, 20}) {
                const PaganinFilter phase = phase_of(
                    rows, columns, margin, 0.3 + 4.0 * static_cast<double>(margin), method);
                const std::vector<float> in = transmissions(phase, 3, random);
                const auto [out, raised] = made_by(this->queue(), phase, 3, in);
                const std::vector<double> right = reference(phase, &in[in.size() / 3 * 2]);
                double most = 0;
                for (std::size_t i = 0; i < right.size(); ++i) {
                    most = std::max(most, std::abs(right[i] - out[in.size() / 3 * 2 + i]));
                }
                EXPECT_LT(most, 1e-6) << rows << " x " << columns << ", margin " << margin;
                EXPECT_EQ(raised, 0U);
            }
        }
    }
}

TYPED_TEST(PhaseTest, WithoutStrengthNothingChanges) {
    std::mt19937_64 random(2);
    const PaganinFilter phase = phase_of(37, 29, 3, 0);
    const std::vector<float> in = transmissions(phase, 1, random);
    const std::vector<float> out = made_by(this->queue(), phase, 1, in).first;
    for (std::size_t i = 0; i < in.size(); ++i) {
        EXPECT_NEAR(in[i], out[i], 1e-6);
    }
}

TYPED_TEST(PhaseTest, LogarithmOfWhatIsAboveTheFloor) {
    PaganinFilter phase = phase_of(4, 6, 0, 0);
    phase.takes_log = true;
    phase.floor = 0.25F;
    std::vector<float> in(24, 0.5F);
    const auto half = made_by(this->queue(), phase, 1, in);
    EXPECT_NEAR(half.first[7], std::log(2.0), 1e-6);
    EXPECT_EQ(half.second, 0U);
    std::fill(in.begin(), in.begin() + 12, -1.0F);
    const auto raised = made_by(this->queue(), phase, 1, in);
    EXPECT_EQ(raised.second, 12U);
    EXPECT_EQ(raised.first[5], static_cast<float>(std::log(4.0)));
    EXPECT_NEAR(raised.first[12], std::log(2.0), 1e-6);
}

template <class T, class Q>
void expect_bytes_of_one_thread(Q& queue, const PaganinFilter& phase, std::int64_t frames,
                                const std::vector<T>& in, std::size_t offset = 0) {
    CpuQueue alone(1);
    const auto right = made_by(alone, phase, frames, in);
    const auto got = made_by(queue, phase, frames, in, offset * sizeof(double));
    EXPECT_EQ(bytes_of(right.first), bytes_of(got.first))
        << phase.rows << " x " << phase.columns << ": " << first_difference(right.first, got.first);
    EXPECT_EQ(right.second, got.second);
}

TYPED_TEST(PhaseTest, EveryQueueMakesTheSameBytes) {
    std::mt19937_64 random(3);
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                        {7, 1031},
                                        {1021, 5},
                                        {301, 517},
                                        {64, 128},
                                        {255, 256},
                                        {2, 16384},
                                        {16384, 1}}) {
        for (const bool takes_log : {false, true}) {
            const std::int64_t margin = std::max(rows, columns) < 10000 ? 40 : 0;
            PaganinFilter phase = phase_of(rows, columns, margin, 17.3);
            phase.takes_log = takes_log;
            phase.floor = 0.5F;
            expect_bytes_of_one_thread(this->queue(), phase, 3, transmissions(phase, 3, random), 1);
        }
    }
}

TYPED_TEST(PhaseTest, AllTypes) {
    std::mt19937_64 random(4);
    for (const ElementType type : all_element_types) {
        visit_element_type(type, [&](auto zero) {
            using T = decltype(zero);
            PaganinFilter phase = phase_of(19, 23, 6, 2, PaganinFilter::Method::pixel);
            phase.takes_log = true;
            std::vector<T> in(2 * 19 * 23);
            for (T& element : in) {
                element = static_cast<T>(random() % 100);
            }
            expect_bytes_of_one_thread(this->queue(), phase, 2, in);
        });
    }
}

/// Numbers of all sizes, infinities and NaNs: the frame that has one becomes the quiet NaN.
TYPED_TEST(PhaseTest, ANaNFillsItsFrame) {
    std::mt19937_64 random(5);
    for (const float odd :
         {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
          std::numeric_limits<float>::infinity()}) {
        for (const bool takes_log : {false, true}) {
            PaganinFilter phase = phase_of(21, 34, 3, 5);
            phase.takes_log = takes_log;
            std::vector<float> in = transmissions(phase, 3, random);
            in[21 * 34 + 100] = odd;
            expect_bytes_of_one_thread(this->queue(), phase, 3, in);
            const std::vector<float> out = made_by(this->queue(), phase, 3, in).first;
            for (std::size_t i = 0; i < out.size(); ++i) {
                EXPECT_EQ(std::isnan(out[i]), i / (21 * 34) == 1) << i;
            }
        }
    }
}

/// Frames that do not pass the scratch memory at once.
TYPED_TEST(PhaseTest, ManyFrames) {
    std::mt19937_64 random(6);
    const PaganinFilter phase = phase_of(511, 700, 100, 30);
    EXPECT_LT(phase_scratch_bytes(phase, 40), 40 * phase_scratch_bytes(phase, 1));
    expect_bytes_of_one_thread(this->queue(), phase, 40, transmissions(phase, 40, random));
}

TEST(PhaseTargets, EveryVectorSetGivesTheSameBytes) {
    std::mt19937_64 random(7);
    CpuQueue queue(2);
    PaganinFilter phase = phase_of(35, 41, 4, 5);
    phase.takes_log = true;
    const std::vector<float> in = transmissions(phase, 1, random);
    const auto right = made_by(queue, phase, 1, in);
    for (const std::int64_t target : usable_targets()) {
        const OnlyTarget only(target);
        EXPECT_EQ(bytes_of(right.first), bytes_of(made_by(queue, phase, 1, in).first))
            << hwy::TargetName(target);
    }
}

} // namespace
} // namespace runner
