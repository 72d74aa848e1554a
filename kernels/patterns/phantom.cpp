// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/patterns/phantom.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// An ellipsoid, turned about the z axis.
struct Ellipsoid {
    double value;
    double half_x, half_y, half_z;
    double x, y, z;
    double cosine, sine;

    double at(double pz, double py, double px) const {
        const double dx = px - x;
        const double dy = py - y;
        const double u = (dx * cosine + dy * sine) / half_x;
        const double v = (dy * cosine - dx * sine) / half_y;
        const double w = (pz - z) / half_z;
        return u * u + v * v + w * w <= 1 ? value : 0;
    }

    /// Along the line of phantom_shadow().
    double along(double turn_cosine, double turn_sine, double pz, double s) const {
        const auto turned = [&](double dx, double dy) {
            return std::array{(dx * cosine + dy * sine) / half_x,
                              (dy * cosine - dx * sine) / half_y};
        };
        const double w = (pz - z) / half_z;
        const auto [u, v] = turned(s * turn_cosine - x, s * turn_sine - y);
        const auto [du, dv] = turned(-turn_sine, turn_cosine);
        const double a = du * du + dv * dv;
        const double b = u * du + v * dv;
        const double root = b * b - a * (u * u + v * v + w * w - 1);
        return root > 0 ? 2 * value * std::sqrt(root) / a : 0;
    }
};

constexpr double cos_18 = 0.9510565162951535;
constexpr double sin_18 = 0.3090169943749474;

constexpr std::array<Ellipsoid, 10> ellipsoids = {{
    {1.0, 0.69, 0.92, 0.81, 0, 0, 0, 1, 0},
    {-0.8, 0.6624, 0.874, 0.78, 0, -0.0184, 0, 1, 0},
    {-0.2, 0.11, 0.31, 0.22, 0.22, 0, 0, cos_18, -sin_18},
    {-0.2, 0.16, 0.41, 0.28, -0.22, 0, 0, cos_18, sin_18},
    {0.1, 0.21, 0.25, 0.41, 0, 0.35, -0.15, 1, 0},
    {0.1, 0.046, 0.046, 0.05, 0, 0.1, 0.25, 1, 0},
    {0.1, 0.046, 0.046, 0.05, 0, -0.1, 0.25, 1, 0},
    {0.1, 0.046, 0.023, 0.05, -0.08, -0.605, 0, 1, 0},
    {0.1, 0.023, 0.023, 0.02, 0, -0.606, 0, 1, 0},
    {0.1, 0.023, 0.046, 0.02, 0.06, -0.605, 0, 1, 0},
}};

/// Where elements lie in the head.
class Places {
  public:
    explicit Places(std::span<const std::int64_t> shape) {
        for (std::size_t i = 0; i < std::min<std::size_t>(3, shape.size()); ++i) {
            extent_[2 - i] = shape[shape.size() - 1 - i];
        }
    }

    double value(std::int64_t element) const {
        const auto middle = [&](std::int64_t i, std::size_t axis) {
            return (2 * static_cast<double>(i) + 1) / static_cast<double>(extent_[axis]) - 1;
        };
        return phantom_value(middle(element / extent_[2] / extent_[1] % extent_[0], 0),
                             -middle(element / extent_[2] % extent_[1], 1),
                             middle(element % extent_[2], 2));
    }

  private:
    std::array<std::int64_t, 3> extent_ = {1, 1, 1};
};

std::uint64_t finalise(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// Numbers in (0, 1) for one element, one after the other.
class Draws {
  public:
    Draws(std::uint64_t seed, std::int64_t element)
        : state_(finalise(finalise(seed) + static_cast<std::uint64_t>(element) + 1)) {}

    double next() {
        state_ += 0x9e3779b97f4a7c15ULL;
        return (static_cast<double>(finalise(state_) >> 12) + 0.5) * 0x1p-52;
    }

  private:
    std::uint64_t state_;
};

/// A Poisson number: by products of uniform ones where few are needed, else by Hörmann's
/// transformed rejection (PTRS, 1993), which draws about 1.2 pairs.
double poisson(double mean, Draws& draws) {
    if (mean < 10) {
        const double limit = std::exp(-mean);
        double product = draws.next();
        double count = 0;
        for (; product > limit; ++count) {
            product *= draws.next();
        }
        return count;
    }
    const double root = std::sqrt(mean);
    const double b = 0.931 + 2.53 * root;
    const double a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    const double most = 0.9277 - 3.6224 / (b - 2);
    while (true) {
        const double u = draws.next() - 0.5;
        const double v = draws.next();
        const double s = 0.5 - std::abs(u);
        const double count = std::floor((2 * a / s + b) * u + mean + 0.43);
        if (s >= 0.07 && v <= most) {
            return count;
        }
        if (count < 0 || (s < 0.013 && v > s)) {
            continue;
        }
        // The logarithm of count's factorial by Stirling's series, since lgamma is not reentrant.
        const double n = count + 1;
        double factorial = 0;
        double shift = n;
        for (; shift < 16; ++shift) {
            factorial -= std::log(shift);
        }
        constexpr double half_log_two_pi = 0.9189385332046727;
        factorial += (shift - 0.5) * std::log(shift) - shift + half_log_two_pi + 1 / (12 * shift) -
                     1 / (360 * shift * shift * shift);
        if (std::log(v * inverse_alpha / (a / (s * s) + b)) <=
            count * std::log(mean) - mean - factorial) {
            return count;
        }
    }
}

double middle(std::int64_t i, std::int64_t extent) {
    return (2 * static_cast<double>(i) + 1) / static_cast<double>(extent) - 1;
}

/// Projections of the phantom over half a turn.
class Projections {
  public:
    Projections(std::int64_t count, std::int64_t rows, std::int64_t columns)
        : count_(count), rows_(rows), columns_(columns) {}

    /// Along the line through a pixel's middle, which may lie beside the camera.
    double shadow(std::int64_t projection, std::int64_t row, std::int64_t column) const {
        constexpr double half_turn = 3.14159265358979323846;
        const double angle =
            half_turn * static_cast<double>(projection) / static_cast<double>(count_);
        return phantom_shadow(std::cos(angle), std::sin(angle), -middle(row, rows_),
                              middle(column, columns_));
    }

    double light(std::int64_t projection, std::int64_t row, std::int64_t column) const {
        return std::exp(-shadow(projection, row, column));
    }

    /// The same in the coherent beam.
    double fringed(std::int64_t projection, std::int64_t row, std::int64_t column,
                   double strength) const {
        const double here = light(projection, row, column);
        const double around =
            light(projection, row - 1, column) + light(projection, row + 1, column) +
            light(projection, row, column - 1) + light(projection, row, column + 1);
        return std::max(0.0, here - strength * (around - 4 * here));
    }

  private:
    std::int64_t count_;
    std::int64_t rows_;
    std::int64_t columns_;
};

enum class Beam { plain, coherent };

/// A scan of the phantom (fill_scan(), fill_phase_scan()).
class Scan {
  public:
    Scan(std::span<const std::int64_t> shape, std::uint64_t seed, double counts, Beam beam)
        : rows_(shape[1]), columns_(shape[2]), keys_(scan_keys(shape[0])), seed_(seed),
          counts_(counts), first_(std::find(keys_.begin(), keys_.end(), 0) - keys_.begin()),
          projections_(shape[0] - first_, rows_, columns_), beam_(beam),
          strength_(phase_scan_beam.strength()) {}

    double value(std::int64_t element) const {
        const std::int64_t pixel = element % (rows_ * columns_);
        Draws of_pixel(~seed_, pixel);
        constexpr double dead = 1.0 / 1000;
        if (of_pixel.next() < dead) {
            return 0;
        }
        const double offset = 0.02 + 0.02 * of_pixel.next();
        const double gain = 0.9 + 0.2 * of_pixel.next();
        const double y = middle(pixel / columns_, rows_);
        const double x = middle(pixel % columns_, columns_);
        const std::int64_t frame = element / (rows_ * columns_);
        const std::int32_t key = keys_[static_cast<std::size_t>(frame)];
        double light = key == 2 ? 0 : gain * (1 - 0.4 * (x * x + y * y));
        if (key == 0) {
            light *= through(frame - first_, pixel / columns_, pixel % columns_);
        }
        Draws draws(seed_, element);
        constexpr double struck = 1.0 / 5000;
        const double more = draws.next() < struck && key == 0 ? std::floor(4 * counts_) : 0;
        return poisson(counts_ * (offset + light), draws) + more;
    }

  private:
    /// The share of the light that a pixel of a projection gets, or says that it does.
    double through(std::int64_t projection, std::int64_t row, std::int64_t column) const {
        if (beam_ == Beam::plain) {
            return projections_.light(projection, row, column);
        }
        Draws of_column(seed_, -1 - column); // no element has this number
        constexpr double stripes = 1.0 / 25;
        const bool is_stripe = of_column.next() < stripes;
        const double response = is_stripe ? 0.9 + 0.2 * of_column.next() : 1;
        return response * projections_.fringed(projection, row, column, strength_);
    }

    std::int64_t rows_;
    std::int64_t columns_;
    std::vector<std::int32_t> keys_;
    std::uint64_t seed_;
    double counts_;
    std::int64_t first_; ///< projection
    Projections projections_;
    Beam beam_;
    double strength_;
};

/// out[i] = make(first + i) as the type.
template <class Make>
void fill(CpuQueue& queue, ElementType type, std::int64_t first, std::int64_t count, std::byte* out,
          const Make& make) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        T* elements = reinterpret_cast<T*>(out);
        using Range = tbb::blocked_range<std::int64_t>;
        queue.run([&] {
            tbb::parallel_for(Range(0, count, 1 << 12), [&](const Range& range) {
                for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                    elements[i] = make(T{}, first + i);
                }
            });
        });
    });
}

/// A number ≥ 0 as the type; what is more than its most is that.
template <class T> T saturated(double value) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(value);
    } else {
        constexpr T most = std::numeric_limits<T>::max();
        // The largest number of 64 bits is no double, and the next one is past it.
        return value >= static_cast<double>(most) ? most : static_cast<T>(value);
    }
}

/// A grey of 0 … 1 as the type: of integers that share of their most.
template <class T> T grey(double value) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(value);
    } else {
        constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
        return saturated<T>(std::floor(value * most + 0.5));
    }
}

} // namespace

double phantom_value(double z, double y, double x) {
    double sum = 0;
    for (const Ellipsoid& ellipsoid : ellipsoids) {
        sum += ellipsoid.at(z, y, x);
    }
    return std::clamp(sum, 0.0, 1.0);
}

double phantom_shadow(double cosine, double sine, double z, double s) {
    double sum = 0;
    for (const Ellipsoid& ellipsoid : ellipsoids) {
        sum += ellipsoid.along(cosine, sine, z, s);
    }
    return sum;
}

std::vector<std::int32_t> scan_keys(std::int64_t frames) {
    const std::int64_t each = std::max<std::int64_t>(1, frames / 20);
    std::vector<std::int32_t> keys(static_cast<std::size_t>(frames), 0);
    std::fill_n(keys.begin(), each, 2);
    std::fill_n(keys.begin() + each, each, 1);
    return keys;
}

void fill_phantom(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
                  std::int64_t first_element, std::int64_t count, std::byte* out) {
    const Places places(shape);
    fill(queue, type, first_element, count, out, [&](auto zero, std::int64_t element) {
        return grey<decltype(zero)>(places.value(element));
    });
}

void fill_xray(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
               std::uint64_t seed, double counts, std::int64_t first_element, std::int64_t count,
               std::byte* out) {
    const Places places(shape);
    fill(queue, type, first_element, count, out, [&](auto zero, std::int64_t element) {
        Draws draws(seed, element);
        return saturated<decltype(zero)>(poisson(counts * std::exp(-places.value(element)), draws));
    });
}

void fill_scan(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
               std::uint64_t seed, double counts, std::int64_t first_element, std::int64_t count,
               std::byte* out) {
    const Scan scan(shape, seed, counts, Beam::plain);
    fill(queue, type, first_element, count, out, [&](auto zero, std::int64_t element) {
        return saturated<decltype(zero)>(scan.value(element));
    });
}

double PhaseScanBeam::strength() const {
    constexpr double pi = 3.14159265358979323846;
    constexpr double wavelength_of_1_kev = 1.2398419843320026e-3; // µm: Planck's constant times c
    constexpr double um_in_metre = 1e6;
    return delta_beta * (wavelength_of_1_kev / energy) * (distance * um_in_metre) /
           (4 * pi * pixel_size * pixel_size);
}

void fill_phase_scan(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
                     std::uint64_t seed, double counts, std::int64_t first_element,
                     std::int64_t count, std::byte* out) {
    const Scan scan(shape, seed, counts, Beam::coherent);
    fill(queue, type, first_element, count, out, [&](auto zero, std::int64_t element) {
        return saturated<decltype(zero)>(scan.value(element));
    });
}

void fill_shadows(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
                  std::int64_t first_element, std::int64_t count, std::byte* out) {
    const std::int64_t rows = shape[1];
    const std::int64_t columns = shape[2];
    const Projections projections(shape[0], rows, columns);
    fill(queue, type, first_element, count, out, [&](auto zero, std::int64_t element) {
        return grey<decltype(zero)>(projections.shadow(
            element / columns / rows, element / columns % rows, element % columns));
    });
}

} // namespace runner
