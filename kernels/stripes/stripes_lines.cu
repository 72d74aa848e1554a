// SPDX-License-Identifier: BSD-3-Clause
#include "base/rounding.hpp"
#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/stripes/stripes_lines.hpp"

#include <algorithm>
#include <limits>

namespace runner {
namespace {

constexpr int most_threads = 128;
constexpr std::size_t shared_limit = 48 * 1024; ///< bytes that every device gives a block

/// The keys of a thread's window in rising order, in registers. Slots that the window lacks have
/// the least or the greatest key, so that the median is always in the same one.
template <class Key, int slots_> class RegisterWindow {
  public:
    static constexpr int slots = slots_;
    static std::size_t bytes(std::int64_t /*size*/) { return 0; }

    __device__ explicit RegisterWindow(int size) {
        const int before = slots / 2 - size / 2;
#pragma unroll
        for (int i = 0; i < slots; ++i) {
            keys_[i] = i < before ? std::numeric_limits<Key>::min() : greatest;
        }
    }
    /// Keys from the place of the leaving one on move down by one; the entering key passes those
    /// below it, takes the place of the first above it, and that moves on.
    __device__ void slide(Key leaving, Key entering) {
#pragma unroll
        for (int i = 0; i + 1 < slots; ++i) {
            const Key left = keys_[i] < leaving ? keys_[i] : keys_[i + 1];
            keys_[i] = left < entering ? left : entering;
            entering = left < entering ? entering : left;
        }
        keys_[slots - 1] = entering;
    }
    __device__ Key median() const { return keys_[slots / 2]; }

    static constexpr Key greatest = std::numeric_limits<Key>::max();

  private:
    Key keys_[slots];
};

/// The same of any size, in shared memory.
template <class Key> class SharedWindow {
  public:
    static std::size_t bytes(std::int64_t size) {
        return static_cast<std::size_t>(size) * sizeof(Key);
    }

    __device__ explicit SharedWindow(int size)
        : keys_(reinterpret_cast<Key*>(dynamic_shared()) + threadIdx.x),
          lanes_(static_cast<int>(blockDim.x)), size_(size) {
        for (int i = 0; i < size_; ++i) {
            keys_[i * lanes_] = greatest;
        }
    }
    __device__ void slide(Key leaving, Key entering) {
        constexpr int batch = 8; // loads that wait together
        Key at = keys_[0];
        for (int first = 0; first + 1 < size_; first += batch) {
            Key next[batch];
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                next[i] = first + i + 1 < size_ ? keys_[(first + i + 1) * lanes_] : greatest;
            }
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                if (first + i + 1 < size_) {
                    const Key left = at < leaving ? at : next[i];
                    keys_[(first + i) * lanes_] = left < entering ? left : entering;
                    entering = left < entering ? entering : left;
                    at = next[i];
                }
            }
        }
        keys_[(size_ - 1) * lanes_] = entering;
    }
    __device__ Key median() const { return keys_[size_ / 2 * lanes_]; }

    static constexpr Key greatest = std::numeric_limits<Key>::max();

  private:
    Key* keys_; ///< of this thread, every lanes_ keys
    int lanes_;
    int size_;
};

/// A thread slides a window over the columns of a strip at one rank. Block (ranks, strip, frame).
template <class T, class Window>
__global__ void __launch_bounds__(most_threads)
    smooth_kernel(StripeLines<T> view, std::int64_t strip_columns) {
    using Of = StripeEntry<T>;
    using Key = typename Of::Key;
    const auto size = static_cast<int>(view.size);
    const std::int64_t rank = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t frame = blockIdx.z;
    if (rank >= view.rows) {
        return;
    }
    const auto key = [&](std::int64_t x) {
        return Of::key(view.entries[view.line(frame, x) * view.rows + rank]);
    };
    const std::int64_t first = std::int64_t{blockIdx.y} * strip_columns;
    const std::int64_t last = min(first + strip_columns, view.columns);
    Window window(size);
    for (int i = 0; i + 1 < size; ++i) {
        window.slide(Window::greatest, key(view.window(first) + i));
    }
    Key leaving = Window::greatest;
    Key entering = key(view.window(first) + size - 1);
    for (std::int64_t x = first; x < last; ++x) {
        // What the next column takes is loaded while this one's keys are moved.
        const Key next_leaving = key(view.window(x));
        const Key next_entering = key(view.window(x) + size);
        const std::int64_t line = view.line(frame, x) * view.rows;
        const std::int64_t row = Of::row(view.entries[line + rank]);
        window.slide(leaving, entering);
        view.smooth[line + row] = Of::element(window.median());
        leaving = next_leaving;
        entering = next_entering;
    }
}

unsigned extent(std::int64_t count) { return static_cast<unsigned>(count); }

template <class T, class Window> void launch_smooth(CudaQueue& queue, const StripeLines<T>& lines) {
    const std::size_t bytes = Window::bytes(lines.size);
    std::int64_t threads = most_threads;
    while (static_cast<std::size_t>(threads) * bytes > shared_limit) {
        threads /= 2;
    }
    // A strip's first window is filled key by key: no strips much shorter than a window.
    const std::int64_t columns = std::max<std::int64_t>(2 * lines.size, 64);
    launch(queue,
           {dim3(extent(ceil_divide(lines.rows, threads)),
                 extent(ceil_divide(lines.columns, columns)), extent(lines.frames)),
            dim3(extent(threads)), static_cast<std::size_t>(threads) * bytes},
           smooth_kernel<T, Window>, lines, columns);
}

} // namespace

template <class T> void smooth_lines(CudaQueue& queue, const StripeLines<T>& lines) {
    using Key = typename StripeEntry<T>::Key;
    using Few = RegisterWindow<Key, 32>;
    if (lines.size <= Few::slots) {
        launch_smooth<T, Few>(queue, lines);
    } else {
        launch_smooth<T, SharedWindow<Key>>(queue, lines);
    }
}

template void smooth_lines(CudaQueue&, const StripeLines<std::int8_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::uint8_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::int16_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::uint16_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::int32_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::uint32_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::int64_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::uint64_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<float>&);
template void smooth_lines(CudaQueue&, const StripeLines<double>&);

} // namespace runner
