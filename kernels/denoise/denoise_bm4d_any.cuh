// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/denoise_bm4d_cube.cuh"
#include "kernels/queue/block_memory.cuh"

#include <cstdint>

namespace runner::bm4d_cuda {

/// Groups of any size and patch, a block each: one patch after another in shared memory.
struct AnyGroup {
    static constexpr int threads = 128;

    /// The bytes of shared memory: a counter and, each as large as the group, its spectrum, that of
    /// the first pass' result where there is one, and what comes between.
    static std::int64_t shared_bytes(std::int64_t values, const Bm4dVolumes& volumes) {
        return static_cast<std::int64_t>(sizeof(uint4)) +
               4 * values * (volumes.first != nullptr ? 3 : 2);
    }

    const Bm4dCall& call;
    const std::uint64_t* corners;
    const float* distances;
    float alike; ///< the most distance of patches that are
    int group;
    int levels;
    std::int64_t last; ///< the group's last corner

    __device__ std::int64_t corner(int g) const {
        return g == group - 1 ? last : static_cast<std::int64_t>(corners[g]);
    }

    /// The weight of patch `g`, in units, exactly.
    __device__ double scaled(float weight, int g, double unit) const {
        return weight * (distances[g] <= alike ? 1 : Bm4d::unlike_part) * unit;
    }

    __device__ int voxels() const { return static_cast<int>(call.patch_voxels); }
    __device__ static int thread() { return static_cast<int>(threadIdx.x); }

    /// How often the estimate of value `i` counts.
    __device__ int window(int i) const {
        const int voxel = i % voxels();
        const auto& [pz, py, px] = call.match.patch;
        return bm4d_window(voxel / px / py, pz) * bm4d_window(voxel / px % py, py) *
               bm4d_window(voxel % px, px);
    }

    /// The place of value `i` in the volume.
    __device__ std::int64_t place(int i) const {
        const int voxel = i % voxels();
        const int x = voxel % call.match.patch[2];
        const int y = voxel / call.match.patch[2] % call.match.patch[1];
        const int z = voxel / call.match.patch[2] / call.match.patch[1];
        return corner(i / voxels()) + call.match.index(z, y, x);
    }

    /// Lines of one axis, `stride` apart in themselves.
    template <class Change>
    __device__ void along(int axis, int stride, float* values, const Change& change) const {
        const int n = call.match.patch[axis];
        for (int i = thread(); i < group * voxels() / n; i += threads) {
            change(call.table[axis], n, values + i / stride * stride * n + i % stride, stride);
        }
        __syncthreads();
    }

    template <class Change> __device__ static void with_extent(int n, const Change& change) {
        switch (n) {
        case 1: break;
        case 2: change(Extent<2>{}); break;
        case 3: change(Extent<3>{}); break;
        case 4: change(Extent<4>{}); break;
        case 5: change(Extent<5>{}); break;
        case 6: change(Extent<6>{}); break;
        case 7: change(Extent<7>{}); break;
        default: change(Extent<8>{}); break;
        }
    }

    template <int n> struct Extent {
        template <Basis basis>
        __device__ static void transform(const DctTable& table, float* values, int stride) {
            float line[n];
            for (int i = 0; i < n; ++i) {
                line[i] = values[i * stride];
            }
            transform_line<basis, n>(table, line);
            for (int i = 0; i < n; ++i) {
                values[i * stride] = line[i];
            }
        }
        template <Basis basis>
        __device__ static void restore(const DctTable& table, float* values, int stride) {
            float line[n];
            for (int i = 0; i < n; ++i) {
                line[i] = values[i * stride];
            }
            restore_line<basis, n>(table, line);
            for (int i = 0; i < n; ++i) {
                values[i * stride] = line[i];
            }
        }
    };

    /// `spare` is as large as `spectrum`.
    template <Basis basis>
    __device__ void transform(const float* volume, float* spectrum, float* spare) const {
        const int count = voxels();
        const std::int64_t before = call.match.index(call.match.in_first, 0, 0);
        for (int i = thread(); i < group * count; i += threads) {
            spare[i] = __ldg(volume + place(i) - before);
        }
        __syncthreads();
        for (int v = thread(); v < count; v += threads) {
            for (int length = group / 2; length > 0; length /= 2) {
                for (int i = 0; i < length; ++i) {
                    const float a = spare[2 * i * count + v];
                    const float b = spare[(2 * i + 1) * count + v];
                    spare[i * count + v] = (a + b) * 0.5F;
                    spectrum[(length + i) * count + v] = (a - b) * 0.5F;
                }
            }
            spectrum[v] = spare[v];
        }
        __syncthreads();
        const auto change = [](const DctTable& table, int n, float* values, int stride) {
            with_extent(n, [&](auto extent) {
                decltype(extent)::template transform<basis>(table, values, stride);
            });
        };
        along(0, call.match.patch[1] * call.match.patch[2], spectrum, change);
        along(1, call.match.patch[2], spectrum, change);
        along(2, 1, spectrum, change);
    }

    /// The patches, in `spare`.
    template <Basis basis> __device__ void restore(float* spectrum, float* spare) const {
        const int count = voxels();
        const auto change = [](const DctTable& table, int n, float* values, int stride) {
            with_extent(n, [&](auto extent) {
                decltype(extent)::template restore<basis>(table, values, stride);
            });
        };
        along(2, 1, spectrum, change);
        along(1, call.match.patch[2], spectrum, change);
        along(0, call.match.patch[1] * call.match.patch[2], spectrum, change);
        for (int v = thread(); v < count; v += threads) {
            spare[v] = spectrum[v];
            for (int length = 1; length < group; length *= 2) {
                for (int i = length - 1; i >= 0; --i) {
                    const float mean = spare[i * count + v];
                    const float half = spectrum[(length + i) * count + v];
                    spare[2 * i * count + v] = mean + half;
                    spare[(2 * i + 1) * count + v] = mean - half;
                }
            }
        }
        __syncthreads();
    }

    /// The number that the hard threshold leaves.
    __device__ int count_large(const float* spectrum, int* left) const {
        if (thread() == 0) {
            *left = 0;
        }
        __syncthreads();
        int stay = 0;
        for (int i = thread(); i < group * voxels(); i += threads) {
            stay += is_large(spectrum, i) ? 1 : 0;
        }
        atomicAdd(left, stay);
        __syncthreads();
        const int all = *left;
        __syncthreads();
        return all;
    }

    __device__ bool is_large(const float* spectrum, int i) const {
        return i == 0 || fabsf(spectrum[i]) >= call.threshold[haar_exponent(i / voxels(), levels)];
    }

    __device__ float inverse_sigma(int g) const {
        return call.inverse_sigma[haar_exponent(g, levels)];
    }

    /// The sum of the squares of the factors of Wiener's filter. `spare` is as large as `first`.
    __device__ float sum_factors(const float* first, float* spare) const {
        const int layers = call.match.patch[0];
        const int layer = voxels() / layers;
        for (int i = thread(); i < group * layers; i += threads) {
            const float inverse = inverse_sigma(i / layers);
            float sum = 0;
            for (int v = i * layer; v < (i + 1) * layer; ++v) {
                const float factor = wiener_factor(first[v], inverse);
                sum += factor * factor;
            }
            spare[i * layer] = sum;
        }
        __syncthreads();
        for (int g = thread(); g < group; g += threads) {
            sum_by_halves(spare + g * voxels(), layers, layer);
        }
        __syncthreads();
        if (thread() == 0) {
            sum_by_halves(spare, group, voxels());
        }
        __syncthreads();
        const float all = spare[0];
        __syncthreads();
        return all;
    }

    __device__ void transform(Basis basis, const float* volume, float* spectrum,
                              float* spare) const {
        if (basis == Basis::cosine) {
            transform<Basis::cosine>(volume, spectrum, spare);
        } else {
            transform<Basis::wavelet>(volume, spectrum, spare);
        }
    }

    /// The spectrum in the basis for which `measure` gives less, which it returns.
    template <class Measure>
    __device__ auto transform_sparser(const float* volume, Basis& basis, float* spectrum,
                                      float* spare, const Measure& measure) const {
        basis = Basis::cosine;
        transform(basis, volume, spectrum, spare);
        const auto cosines = measure();
        if (!call.has_wavelets) {
            return cosines;
        }
        transform(Basis::wavelet, volume, spectrum, spare);
        const auto wavelets = measure();
        if (wavelets < cosines) {
            basis = Basis::wavelet;
            return wavelets;
        }
        transform(basis, volume, spectrum, spare);
        return cosines;
    }

    __device__ void put(float weight, const float* patches, const Bm4dSums& sums) const {
        const std::int64_t layer = call.match.index(1, 0, 0);
        for (int g = thread(); g < group; g += threads) {
            const std::int64_t to = corner(g) - call.weights_first() * layer;
            if (to >= 0 && to < (call.held_layers + call.match.patch[0] - 1) * layer) {
                add_units(sums.weights + to, __double2ll_rn(scaled(weight, g, call.weight_unit)));
            }
        }
        for (int i = thread(); i < group * voxels(); i += threads) {
            const std::int64_t to = place(i) - call.held_first * layer;
            if (to >= 0 && to < call.held_layers * layer) {
                const double unit = scaled(weight, i / voxels(), call.value_unit) * window(i);
                const double units = static_cast<double>(patches[i]) * unit;
                add_units(sums.values + to, __double2ll_rn(units));
            }
        }
    }

    __device__ void add(const Groups& groups, float* shared, int* left) const {
        const int values = group * voxels();
        float* spectrum = shared;
        float* spare = shared + values;
        float weight = 0;
        Basis basis{};
        if (groups.volumes.first != nullptr) {
            float* first = shared + 2 * values;
            weight = wiener_weight(transform_sparser(groups.volumes.first, basis, first, spare,
                                                     [&] { return sum_factors(first, spare); }));
            transform(basis, groups.volumes.noisy, spectrum, spare);
            for (int i = thread(); i < values; i += threads) {
                spectrum[i] *= wiener_factor(first[i], inverse_sigma(i / voxels()));
            }
        } else {
            weight = __fdiv_rn(1, static_cast<float>(transform_sparser(
                                      groups.volumes.noisy, basis, spectrum, spare,
                                      [&] { return count_large(spectrum, left); })));
            for (int i = thread(); i < values; i += threads) {
                spectrum[i] = is_large(spectrum, i) ? spectrum[i] : 0;
            }
        }
        __syncthreads();
        if (basis == Basis::cosine) {
            restore<Basis::cosine>(spectrum, spare);
        } else {
            restore<Basis::wavelet>(spectrum, spare);
        }
        put(weight, spare, groups.sums);
    }
};

/// Rows of the lists, `each` a block, whose group is less than `least`.
__global__ void __launch_bounds__(AnyGroup::threads)
    any_kernel(const __grid_constant__ Bm4dCall call, std::int64_t first_block, int each, int least,
               Groups groups) {
    auto* left = reinterpret_cast<int*>(dynamic_shared());
    auto* shared = reinterpret_cast<float*>(dynamic_shared() + 1);
    const std::int64_t first = (first_block + blockIdx.x) * each;
    const auto mine = static_cast<int>(threadIdx.x);
    const bool less =
        mine < each && first + mine < call.match.rows() && groups.lists.count[first + mine] < least;
    if (__syncthreads_or(less ? 1 : 0) == 0) {
        return;
    }
    for (std::int64_t row = first; row < first + each && row < call.match.rows(); ++row) {
        const int matches = groups.lists.count[row];
        if (matches >= least) {
            continue;
        }
        int group = 1;
        int levels = 0;
        for (; 2 * group <= matches; group *= 2) {
            ++levels;
        }
        const std::uint64_t* index = groups.lists.index + row * call.match.count;
        const float* distance = groups.lists.distance + row * call.match.count;
        const std::int64_t reference = call.reference(row);
        const std::int64_t last = lacks_reference(index, distance, group, reference)
                                      ? reference
                                      : static_cast<std::int64_t>(index[group - 1]);
        const float alike = groups.volumes.first != nullptr ? call.alike_first : call.alike_noisy;
        const AnyGroup any{call, index, distance, alike, group, levels, last};
        any.add(groups, shared, left);
        __syncthreads();
    }
}

} // namespace runner::bm4d_cuda
