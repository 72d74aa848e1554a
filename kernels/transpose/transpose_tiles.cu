// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose_tiles.cuh"

#include "kernels/queue/launch.cuh"
#include "kernels/transpose/transpose_ways.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace runner {
namespace {

using namespace transpose_cuda;

using TileKernel = void (*)(TileCall);

template <class... Forms> struct TileForms {
    static constexpr std::array<TransposeTileForm, sizeof...(Forms)> forms = {
        TransposeTileForm{Forms::element, Forms::in, Forms::out, Forms::across, Forms::along,
                          Forms::threads, Forms::step, Forms::start}...};

    static TileKernel kernel(const TransposeTileForm& form) {
        static constexpr std::array<TileKernel, sizeof...(Forms)> kernels = {tile_kernel<Forms>...};
        return kernels[static_cast<std::size_t>(std::find(forms.begin(), forms.end(), form) -
                                                forms.begin())];
    }
};

// The first is meant of those that fill their tiles alike, so the widest accesses come first.
using AllForms = TileForms<
    // element, in, out, across, along, threads
    TileForm<4, 16, 16, 64, 64, 256>, TileForm<4, 16, 16, 32, 64, 128>,
    TileForm<4, 4, 16, 64, 64, 256>, TileForm<4, 4, 16, 32, 128, 256, RowStart::anywhere>,
    TileForm<4, 4, 16, 64, 64, 256, RowStart::anywhere>,
    TileForm<4, 4, 16, 32, 64, 256, RowStart::anywhere>, TileForm<8, 16, 16, 32, 64, 256>,
    TileForm<8, 8, 16, 32, 64, 256>, TileForm<8, 8, 16, 32, 64, 256, RowStart::anywhere>,
    TileForm<8, 8, 16, 32, 32, 256, RowStart::anywhere>, TileForm<16, 16, 16, 32, 32, 256>,
    TileForm<16, 16, 16, 16, 32, 256>, TileForm<2, 16, 16, 256, 128, 512>,
    TileForm<2, 16, 16, 128, 256, 512>, TileForm<2, 16, 16, 128, 128, 256>,
    TileForm<2, 8, 16, 64, 128, 256>, TileForm<2, 16, 16, 128, 128, 256, RowStart::anywhere>,
    TileForm<2, 8, 16, 64, 128, 256, RowStart::anywhere>, TileForm<1, 16, 16, 256, 256, 256>,
    TileForm<1, 8, 16, 128, 256, 256>, TileForm<1, 8, 16, 128, 128, 128>,
    TileForm<1, 8, 16, 64, 256, 128, RowStart::anywhere>,
    TileForm<1, 8, 16, 128, 128, 128, RowStart::anywhere>,
    TileForm<1, 8, 16, 64, 128, 64, RowStart::anywhere>>;

/// Rows of one side of a tile, in elements: see TileRows.
struct RowAxis {
    std::int64_t extent;
    std::int64_t minor;
    std::int64_t far;
    std::int64_t near;
};

/// The axes by what they are to a tile; without a third one, or where it is folded into another,
/// `c` is a single element.
struct TileAxes {
    RowAxis a; ///< with its strides in the output
    RowAxis b; ///< with its strides in the input
    TransposeAxis c;
};

RowAxis folded(std::int64_t extent, std::int64_t stride, std::int64_t outer_extent,
               std::int64_t outer_stride) {
    return {extent * outer_extent, extent, outer_stride, stride};
}

/// None where `fold` is not possible. @param axes with two different fastest axes of stride 1.
std::optional<TileAxes> tile_axes(const TransposeAxes& axes, TileFold fold) {
    const TransposeAxis& a = axes.axis[static_cast<std::size_t>(axes.in_fastest())];
    const TransposeAxis& b = axes.axis[static_cast<std::size_t>(axes.out_fastest())];
    TileAxes result{{a.extent, 1, a.out, 0}, {b.extent, 1, b.in, 0}, {}};
    if (axes.count == 3) {
        result.c = axes.axis[static_cast<std::size_t>(3 - axes.in_fastest() - axes.out_fastest())];
    }
    const TransposeAxis c = result.c;
    if (fold == TileFold::none) {
        return result;
    }
    if (fold == TileFold::across) {
        result.a = folded(a.extent, a.out, c.extent, c.out);
    } else {
        result.b = folded(b.extent, b.in, c.extent, c.in);
    }
    result.c = {};
    const bool dense = fold == TileFold::across ? c.in == a.extent : c.out == b.extent;
    const std::int64_t extent = fold == TileFold::across ? result.a.extent : result.b.extent;
    constexpr std::int64_t most = std::int64_t{1} << 30; // what a Divisor divides, and a tile more
    return axes.count == 3 && dense && extent < most ? std::optional(result) : std::nullopt;
}

/// Whether an address and lengths are multiples of as many bytes.
bool multiples(int bytes, const std::byte* data, std::initializer_list<std::int64_t> lengths) {
    return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) == 0 &&
           std::all_of(lengths.begin(), lengths.end(),
                       [&](std::int64_t length) { return length % bytes == 0; });
}

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Divisor divisor(std::int64_t n) { return make_divisor(static_cast<std::uint32_t>(n)); }

TileRows tile_rows(const RowAxis& axis, std::int64_t element_bytes) {
    return {divisor(axis.minor), axis.far * element_bytes, axis.near * element_bytes};
}

} // namespace

std::span<const TransposeTileForm> transpose_tile_forms() { return AllForms::forms; }

bool tiles_fit(const TileChoice& choice, const TransposeAxes& axes, const std::byte* in,
               const std::byte* out) {
    const TransposeTileForm& form = choice.form;
    if (axes.count < 2 || form.element_bytes != axes.element_bytes ||
        axes.in_fastest() == axes.out_fastest() ||
        axes.axis[static_cast<std::size_t>(axes.in_fastest())].in != 1 ||
        axes.axis[static_cast<std::size_t>(axes.out_fastest())].out != 1) {
        return false;
    }
    const auto t = tile_axes(axes, choice.fold);
    const std::int64_t e = axes.element_bytes;
    return t && (form.start == RowStart::anywhere ||
                 (multiples(form.in_bytes, in,
                            {t->a.extent * e, t->b.far * e, t->b.near * e, t->c.in * e}) &&
                  multiples(form.out_bytes, out,
                            {t->b.extent * e, t->a.far * e, t->a.near * e, t->c.out * e})));
}

double filled_part(const TileChoice& choice, const TransposeAxes& axes) {
    const auto t = tile_axes(axes, choice.fold);
    const auto filled = [](std::int64_t extent, std::int64_t step, std::int64_t tile) {
        return static_cast<double>(extent) / static_cast<double>(ceil_divide(extent, step) * tile);
    };
    return t ? filled(t->a.extent, choice.form.across, choice.form.across) *
                   filled(t->b.extent, choice.form.step, choice.form.along)
             : 0;
}

bool rows_begin_at_lines(const TileChoice& choice, const TransposeAxes& axes) {
    const auto t = tile_axes(axes, choice.fold);
    const std::int64_t e = axes.element_bytes;
    return t && multiples(128, nullptr, {t->a.far * e, t->a.near * e, t->c.out * e});
}

void transpose_by_tiles(CudaQueue& queue, const TileChoice& choice, const TransposeAxes& axes,
                        const std::byte* in, std::byte* out) {
    const TransposeTileForm& form = choice.form;
    const TileAxes t = tile_axes(axes, choice.fold).value();
    const std::int64_t e = axes.element_bytes;
    const std::int64_t tiles_a = ceil_divide(t.a.extent, form.across);
    const std::int64_t tiles_b = ceil_divide(t.b.extent, form.step);
    const std::int64_t height = std::min<std::int64_t>(choice.group, tiles_b);
    const std::int64_t bands = ceil_divide(tiles_b, height);
    std::int64_t last = 0;
    for (int i = 0; i < axes.count; ++i) {
        const TransposeAxis& axis = axes.axis[static_cast<std::size_t>(i)];
        last += (axis.extent - 1) * axis.in;
    }
    TileCall call{};
    call.in = in;
    call.out = out;
    call.readable = {in, in + (last + 1) * e};
    call.fold = choice.fold;
    call.a = t.a.extent;
    call.b = t.b.extent;
    call.in_rows = tile_rows(t.b, e);
    call.in_c = t.c.in * e;
    call.out_rows = tile_rows(t.a, e);
    call.out_c = t.c.out * e;
    call.plane = divisor(tiles_a * tiles_b);
    call.band = divisor(tiles_a * height);
    call.height = divisor(height);
    call.last_height = divisor(tiles_b - (bands - 1) * height);
    call.last_band = static_cast<std::uint32_t>(bands - 1);
    const auto tiles = static_cast<unsigned>(tiles_a * tiles_b * t.c.extent);
    const auto shared = static_cast<std::size_t>(form.across * form.along * form.element_bytes);
    const KernelWork work{2.0 * static_cast<double>(axes.elements() * e)};
    launch(queue, {dim3(tiles), dim3(static_cast<unsigned>(form.threads)), shared, work},
           AllForms::kernel(form), call);
}

} // namespace runner
