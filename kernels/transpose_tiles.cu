// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose_tiles.cuh"

#include "kernels/launch.cuh"
#include "kernels/transpose_tiles.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace runner {
namespace {

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

// The first that fits is meant, so the widest accesses come first.
using AllForms = TileForms<
    // element, in, out, across, along, threads
    TileForm<4, 16, 16, 64, 64, 256>, TileForm<4, 16, 16, 32, 64, 128>,
    TileForm<4, 4, 16, 64, 64, 256>, TileForm<4, 4, 16, 32, 64, 256, RowStart::anywhere>,
    TileForm<4, 4, 16, 64, 64, 256, RowStart::anywhere>,
    TileForm<4, 4, 16, 32, 128, 256, RowStart::anywhere>, TileForm<8, 16, 16, 64, 64, 256>,
    TileForm<8, 16, 16, 32, 64, 256>, TileForm<8, 8, 16, 32, 64, 256>,
    TileForm<8, 8, 16, 32, 64, 256, RowStart::anywhere>,
    TileForm<8, 8, 16, 32, 32, 256, RowStart::anywhere>, TileForm<16, 16, 16, 32, 32, 256>,
    TileForm<16, 16, 16, 16, 32, 256>, TileForm<2, 16, 16, 128, 128, 256>,
    TileForm<2, 8, 16, 64, 128, 256>, TileForm<2, 16, 16, 128, 128, 256, RowStart::anywhere>,
    TileForm<2, 8, 16, 64, 128, 256, RowStart::anywhere>, TileForm<1, 8, 16, 128, 128, 128>,
    TileForm<1, 16, 16, 128, 256, 128>, TileForm<1, 8, 16, 128, 256, 256>,
    TileForm<1, 8, 16, 64, 256, 128, RowStart::anywhere>,
    TileForm<1, 8, 16, 128, 256, 256, RowStart::anywhere>>;

/// The axes by what they are to a tile; without a third one `c` is a single element.
struct TileAxes {
    TransposeAxis a;
    TransposeAxis b;
    TransposeAxis c;
};

TileAxes tile_axes(const TransposeAxes& axes) {
    const int a = axes.in_fastest();
    const int b = axes.out_fastest();
    TileAxes result{
        axes.axis[static_cast<std::size_t>(a)], axes.axis[static_cast<std::size_t>(b)], {}};
    if (axes.count == 3) {
        result.c = axes.axis[static_cast<std::size_t>(3 - a - b)];
    }
    return result;
}

bool multiples(int bytes, const std::byte* data, std::initializer_list<std::int64_t> lengths) {
    return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) == 0 &&
           std::all_of(lengths.begin(), lengths.end(),
                       [&](std::int64_t length) { return length % bytes == 0; });
}

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

} // namespace

std::span<const TransposeTileForm> transpose_tile_forms() { return AllForms::forms; }

bool tile_form_fits(const TransposeTileForm& form, const TransposeAxes& axes, const std::byte* in,
                    const std::byte* out) {
    if (axes.count < 2 || form.element_bytes != axes.element_bytes) {
        return false;
    }
    if (axes.in_fastest() == axes.out_fastest()) {
        return false;
    }
    const TileAxes t = tile_axes(axes);
    const std::int64_t e = axes.element_bytes;
    if (t.a.in != 1 || t.b.out != 1) {
        return false;
    }
    return form.start == RowStart::anywhere ||
           (multiples(form.in_bytes, in, {t.a.extent * e, t.b.in * e, t.c.in * e}) &&
            multiples(form.out_bytes, out, {t.b.extent * e, t.a.out * e, t.c.out * e}));
}

void transpose_by_tiles(CudaQueue& queue, const TransposeTileForm& form, int group,
                        const TransposeAxes& axes, const std::byte* in, std::byte* out) {
    const TileAxes t = tile_axes(axes);
    const std::int64_t e = axes.element_bytes;
    const std::int64_t tiles_a = ceil_divide(t.a.extent, form.across);
    const std::int64_t tiles_b = ceil_divide(t.b.extent, form.step);
    const std::int64_t height = std::min<std::int64_t>(group, tiles_b);
    const std::int64_t bands = ceil_divide(tiles_b, height);
    const auto divisor = [](std::int64_t n) { return make_divisor(static_cast<std::uint32_t>(n)); };
    TileCall call{};
    call.in = in;
    call.out = out;
    call.readable = {
        in,
        in + ((t.a.extent - 1) + (t.b.extent - 1) * t.b.in + (t.c.extent - 1) * t.c.in + 1) * e};
    call.a = t.a.extent;
    call.b = t.b.extent;
    call.in_b = t.b.in * e;
    call.in_c = t.c.in * e;
    call.out_a = t.a.out * e;
    call.out_c = t.c.out * e;
    call.plane = divisor(tiles_a * tiles_b);
    call.band = divisor(tiles_a * height);
    call.height = divisor(height);
    call.last_height = divisor(tiles_b - (bands - 1) * height);
    call.last_band = static_cast<std::uint32_t>(bands - 1);
    const auto tiles = static_cast<unsigned>(tiles_a * tiles_b * t.c.extent);
    const auto shared = static_cast<std::size_t>(form.across * form.along * form.element_bytes);
    launch(queue, {dim3(tiles), dim3(static_cast<unsigned>(form.threads)), shared},
           AllForms::kernel(form), call);
}

} // namespace runner
