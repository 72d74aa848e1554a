// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/nifti_axes.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {
namespace {

using Vector = Affine::Vector;
using Columns = std::array<Vector, 3>; ///< the steps along x, y and z

constexpr std::int64_t pixdim_at = 76;
constexpr std::int64_t units_at = 123;
constexpr std::int64_t time_origin_at = 136;
constexpr std::int64_t qform_code_at = 252;
constexpr std::int64_t sform_code_at = 254;
constexpr std::int64_t quaternion_at = 256;
constexpr std::int64_t qform_origin_at = 268;
constexpr std::int64_t rows_at = 280;
constexpr std::size_t pixdim_axes = 7;
constexpr int space_units = 7; ///< the bits of xyzt_units that are of x, y and z

struct UnitCode {
    int code;
    std::string_view name;
};
constexpr std::array unit_codes = {UnitCode{1, "m"},   UnitCode{2, "mm"},   UnitCode{3, "um"},
                                   UnitCode{8, "s"},   UnitCode{16, "ms"},  UnitCode{24, "us"},
                                   UnitCode{32, "Hz"}, UnitCode{40, "ppm"}, UnitCode{48, "rad/s"}};

std::string unit_of(int code) {
    const auto* found = std::find_if(unit_codes.begin(), unit_codes.end(),
                                     [&](const UnitCode& each) { return each.code == code; });
    return found == unit_codes.end() ? "" : std::string(found->name);
}

/// The code of a unit, by any of its usual names; 0 for one that NIfTI-1 lacks.
int code_of(std::string_view unit) {
    const std::optional<double> metres = metres_in(unit);
    const std::optional<double> seconds = seconds_in(unit);
    const auto* found =
        std::find_if(unit_codes.begin(), unit_codes.end(), [&](const UnitCode& each) {
            return each.name == unit || (metres && metres == metres_in(each.name)) ||
                   (seconds && seconds == seconds_in(each.name));
        });
    return found == unit_codes.end() ? 0 : found->code;
}

double finite(float value) { return std::isfinite(value) ? double{value} : 0; }

double pixdim(const HeaderFields& header, std::size_t axis) {
    return finite(header.at<float>(pixdim_at + 4 * static_cast<std::int64_t>(axis)));
}

/// Steps along x, y and z for the axes of an array, of which x is the last.
Affine affine_of(std::int64_t code, const Columns& columns, const Vector& origin,
                 std::size_t axes) {
    Affine made{code, std::vector<Vector>(axes), {}, origin};
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i < axes) {
            made.steps[axes - 1 - i] = columns[i];
        } else {
            made.beside.push_back(columns[i]);
        }
    }
    return made;
}

std::optional<Affine> sform_of(const HeaderFields& header, std::size_t axes) {
    const auto code = header.at<std::int16_t>(sform_code_at);
    if (code <= 0) {
        return std::nullopt;
    }
    Columns columns{};
    Vector origin{};
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 4; ++column) {
            const auto value =
                header.at<float>(rows_at + static_cast<std::int64_t>(16 * row + 4 * column));
            if (!std::isfinite(value)) {
                return std::nullopt;
            }
            (column < 3 ? columns.at(column) : origin).at(row) = value;
        }
    }
    return affine_of(code, columns, origin, axes);
}

/// The rotation of a quaternion whose first number follows from the others.
Columns rotation(double b, double c, double d) {
    double a = 1 - (b * b + c * c + d * d);
    if (a < 1e-7) { // of a rotation by half a turn
        const double length = std::sqrt(b * b + c * c + d * d);
        b /= length;
        c /= length;
        d /= length;
        a = 0;
    } else {
        a = std::sqrt(a);
    }
    return {{{a * a + b * b - c * c - d * d, 2 * (b * c + a * d), 2 * (b * d - a * c)},
             {2 * (b * c - a * d), a * a + c * c - b * b - d * d, 2 * (c * d + a * b)},
             {2 * (b * d + a * c), 2 * (c * d - a * b), a * a + d * d - c * c - b * b}}};
}

std::optional<Affine> qform_of(const HeaderFields& header, std::size_t axes) {
    const auto code = header.at<std::int16_t>(qform_code_at);
    if (code <= 0) {
        return std::nullopt;
    }
    std::array<double, 6> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto value = header.at<float>(quaternion_at + 4 * static_cast<std::int64_t>(i));
        if (!std::isfinite(value)) {
            return std::nullopt;
        }
        numbers.at(i) = value;
    }
    Columns columns = rotation(numbers[0], numbers[1], numbers[2]);
    const double hand = pixdim(header, 0) < 0 ? -1 : 1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const double size = std::fabs(pixdim(header, i + 1));
        for (double& part : columns.at(i)) {
            part *= (size == 0 ? 1 : size) * (i == 2 ? hand : 1);
        }
    }
    return affine_of(code, columns, {numbers[3], numbers[4], numbers[5]}, axes);
}

double length_of(const Vector& vector) {
    return std::sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double determinant(const Columns& of) {
    const Vector normal = cross(of[0], of[1]);
    return normal[0] * of[2][0] + normal[1] * of[2][1] + normal[2] * of[2][2];
}

/// The steps along x, y and z where these are all that the affine is of.
std::optional<Columns> columns_of(const Affine& affine) {
    const std::size_t axes = affine.steps.size();
    std::vector<Vector> found;
    for (std::size_t i = 0; i < axes; ++i) {
        const Vector& step = affine.steps[axes - 1 - i];
        if ((step == Vector{}) != (i >= 3)) {
            return std::nullopt;
        }
        if (i < 3) {
            found.push_back(step);
        }
    }
    found.insert(found.end(), affine.beside.begin(), affine.beside.end());
    if (found.size() != 3) {
        return std::nullopt;
    }
    const Columns columns{found[0], found[1], found[2]};
    return determinant(columns) == 0 ? std::nullopt : std::optional(columns);
}

void put_sform(HeaderMaker<352>& header, const Affine& affine) {
    const std::optional<Columns> columns = columns_of(affine);
    if (!columns) {
        return;
    }
    header.put(sform_code_at, static_cast<std::int16_t>(affine.code));
    std::int64_t at = rows_at;
    for (std::size_t row = 0; row < 3; ++row) {
        for (const Vector* const vector :
             {columns->data(), columns->data() + 1, columns->data() + 2, &affine.origin}) {
            header.put(at, static_cast<float>(vector->at(row)));
            at += 4;
        }
    }
}

/// b, c and d of the quaternion of a rotation.
Vector quaternion_of(const Columns& of) {
    const auto at = [&](std::size_t row, std::size_t column) { return of.at(column).at(row); };
    const double trace = at(0, 0) + at(1, 1) + at(2, 2);
    std::array<double, 4> q{}; // a, b, c, d
    if (trace > 0) {
        const double a = std::sqrt(trace + 1) / 2;
        q = {a, (at(2, 1) - at(1, 2)) / (4 * a), (at(0, 2) - at(2, 0)) / (4 * a),
             (at(1, 0) - at(0, 1)) / (4 * a)};
    } else {
        std::size_t i = 0;
        for (const std::size_t other : {std::size_t{1}, std::size_t{2}}) {
            i = at(other, other) > at(i, i) ? other : i;
        }
        const std::size_t j = (i + 1) % 3;
        const std::size_t k = (i + 2) % 3;
        const double largest = std::sqrt(1 + at(i, i) - at(j, j) - at(k, k)) / 2;
        q.at(i + 1) = largest;
        q.at(j + 1) = (at(j, i) + at(i, j)) / (4 * largest);
        q.at(k + 1) = (at(k, i) + at(i, k)) / (4 * largest);
        q[0] = (at(k, j) - at(j, k)) / (4 * largest);
    }
    const double sign = q[0] < 0 ? -1 : 1;
    return {sign * q[1], sign * q[2], sign * q[3]};
}

/// The qform needs the sizes of voxels that pixdim has: it is written with them.
void put_qform(HeaderMaker<352>& header, const Affine& affine) {
    std::optional<Columns> columns = columns_of(affine);
    if (!columns) {
        return;
    }
    const double hand = determinant(*columns) < 0 ? -1 : 1;
    header.put(pixdim_at, static_cast<float>(hand));
    for (std::size_t i = 0; i < columns->size(); ++i) {
        const double size = length_of(columns->at(i));
        header.put(pixdim_at + 4 * static_cast<std::int64_t>(i + 1), static_cast<float>(size));
        for (double& part : columns->at(i)) {
            part /= size * (i == 2 ? hand : 1);
        }
    }
    header.put(qform_code_at, static_cast<std::int16_t>(affine.code));
    const Vector quaternion = quaternion_of(*columns);
    for (std::size_t i = 0; i < 3; ++i) {
        const auto byte = 4 * static_cast<std::int64_t>(i);
        header.put(quaternion_at + byte, static_cast<float>(quaternion.at(i)));
        header.put(qform_origin_at + byte, static_cast<float>(affine.origin.at(i)));
    }
}

/// The unit of all axes of space whose spacing is known: their own, or µm where they have several
/// or one that NIfTI-1 lacks. Nothing where one of them is of no length.
std::string space_unit(const std::vector<Axis>& axes) {
    std::string unit;
    bool first = true;
    for (std::size_t i = 0; i < std::min<std::size_t>(axes.size(), 3); ++i) {
        const Axis& axis = axes[axes.size() - 1 - i];
        if (!axis.spacing) {
            continue;
        }
        if (!metres_in(axis.unit)) {
            return "";
        }
        unit = first || metres_in(axis.unit) == metres_in(unit) ? axis.unit : "um";
        first = false;
    }
    return first || (code_of(unit) != 0 && code_of(unit) <= space_units) ? unit : "um";
}

/// The unit of time in which an axis is written: its own, or seconds where NIfTI-1 lacks that.
std::string time_unit(const Axis& axis) {
    return code_of(axis.unit) == 0 && seconds_in(axis.unit) ? "s" : axis.unit;
}

} // namespace

Axes nifti_axes(const HeaderFields& header, const std::vector<std::int64_t>& shape) {
    constexpr std::array<const char*, 4> names = {"x", "y", "z", "t"};
    const std::size_t axes = shape.size();
    const int units = static_cast<unsigned char>(header.at<char>(units_at));
    Axes made;
    made.each.resize(axes);
    for (std::size_t i = 0; i < axes; ++i) {
        Axis& axis = made.each[axes - 1 - i];
        if (const double size = std::fabs(pixdim(header, i + 1)); size > 0) {
            axis.spacing = size;
        }
        if (i < names.size()) {
            axis.name = names.at(i);
            axis.unit = unit_of(i < 3 ? units & space_units : units & 0x38);
        }
        if (i == 3) {
            axis.origin = finite(header.at<float>(time_origin_at));
        }
    }
    made.sform = sform_of(header, axes);
    made.qform = qform_of(header, axes);
    return fitting_axes(std::move(made), shape);
}

void put_nifti_axes(HeaderMaker<352>& header, const Axes& axes, std::size_t count) {
    for (std::size_t i = 0; i <= pixdim_axes; ++i) {
        header.put(pixdim_at + 4 * static_cast<std::int64_t>(i), 1.0F); // where none is known
    }
    if (axes.each.size() != count) {
        return;
    }
    const std::string of_space = space_unit(axes.each);
    int units = code_of(of_space);
    for (std::size_t i = 0; i < count; ++i) {
        const Axis& axis = axes.each[count - 1 - i];
        const double spacing = axis.spacing.value_or(0);
        const std::string of_time = time_unit(axis);
        double scale = 1;
        if (i < 3 && !of_space.empty() && metres_in(axis.unit) != metres_in(of_space)) {
            scale = metres_in(axis.unit).value_or(0) / metres_in(of_space).value_or(1);
        } else if (i == 3 && of_time != axis.unit) {
            scale = seconds_in(axis.unit).value_or(1) / seconds_in(of_time).value_or(1);
        }
        if (spacing * scale > 0) {
            header.put(pixdim_at + 4 * static_cast<std::int64_t>(i + 1),
                       static_cast<float>(spacing * scale));
        }
        if (const int code = code_of(of_time); i == 3 && code > space_units) {
            units |= code;
            header.put(time_origin_at, static_cast<float>(axis.origin.value_or(0) * scale));
        }
    }
    header.put(units_at, static_cast<char>(units));
    if (axes.sform) {
        put_sform(header, *axes.sform);
    }
    if (axes.qform) {
        put_qform(header, *axes.qform);
    }
}

} // namespace runner
