// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/image_sources.hpp"

#include "base/sizes.hpp"
#include "kernels/correct/image_stacks.hpp"
#include "kernels/correct/trimmed_stacks.hpp"
#include "kernels/correct/valid_stacks.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/queue/cpu_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

namespace runner {
namespace {

/// The bytes of images that are read at once: enough for all threads; smaller buffers stay in more
/// caches.
constexpr std::int64_t read_bytes = 64 * MiB;
/// Where a chunk is unpacked again for every band of rows that is read of it.
constexpr std::int64_t packed_read_bytes = 1 * GiB;
constexpr int most_threads = 32; ///< that compute, each with a buffer of its own

/// As many as fit, in whole chunks where these fit.
std::int64_t fitting(std::int64_t room, std::int64_t each, std::int64_t most, std::int64_t chunk) {
    const std::int64_t count = std::clamp<std::int64_t>(room / each, 1, most);
    return count < most && count > chunk ? count / chunk * chunk : count;
}

/// The threads that compute, and memory that goes back to the system when it is released.
CpuQueue all_cores() {
    return CpuQueue(std::min(most_threads, oneapi::tbb::this_task_arena::max_concurrency()));
}

template <class Work> void for_pixels(CpuQueue& queue, std::int64_t pixels, Work work) {
    constexpr std::int64_t grain = 1 << 13;
    queue.run([&] {
        oneapi::tbb::parallel_for(
            oneapi::tbb::blocked_range<std::int64_t>(0, pixels, grain),
            [&](const auto& range) { work(range.begin(), range.end() - range.begin()); },
            oneapi::tbb::simple_partitioner());
    });
}

class OneImage : public SideImage::Source {
  public:
    explicit OneImage(Images images) : images_(std::move(images)) {}

    std::int64_t wanted_bytes() const override {
        return images_.reader_bytes + std::min(read_bytes, images_.rows * images_.row_bytes());
    }
    std::int64_t least_bytes() const override { return images_.reader_bytes + images_.row_bytes(); }
    void compute(std::int64_t first, std::int64_t rows, std::int64_t most_bytes, float* to,
                 const std::function<void()>& check) override {
        const std::int64_t band = fitting(most_bytes - images_.reader_bytes, images_.row_bytes(),
                                          rows, images_.packed_rows);
        CpuQueue queue = all_cores();
        const Buffer bytes = allocate_staging(queue, band * images_.row_bytes());
        for (std::int64_t done = 0; done < rows; done += band) {
            check();
            const std::int64_t count = std::min(band, rows - done);
            images_.read(0, 1, first + done, count, bytes.data());
            float* const values = to + done * images_.columns;
            load_elements(images_.type(), bytes.data(), count * images_.columns, values);
            if (images_.invalid) {
                mark_invalid(queue,
                             {images_.type(), *images_.invalid, ElementType::float32,
                              std::numeric_limits<double>::quiet_NaN()},
                             count * images_.columns, bytes.data(),
                             reinterpret_cast<std::byte*>(values));
            }
        }
    }

  private:
    Images images_;
};

/// Blocks of images are read one after the other and added pixel by pixel, in the images' order.
class MeanImage : public SideImage::Source {
  public:
    explicit MeanImage(Images images) : images_(std::move(images)) {}

    std::int64_t wanted_bytes() const override {
        const std::int64_t together =
            images_.rows * (sums_row() + images_.packed_together * images_.row_bytes());
        const std::int64_t all = images_.rows * (sums_row() + images_.count * images_.row_bytes());
        return images_.reader_bytes +
               std::min(all, std::max(read_bytes, std::min(together, packed_read_bytes)));
    }
    std::int64_t least_bytes() const override {
        return images_.reader_bytes + sums_row() + images_.row_bytes();
    }
    void compute(std::int64_t first, std::int64_t rows, std::int64_t most_bytes, float* to,
                 const std::function<void()>& check) override {
        const std::int64_t room = most_bytes - images_.reader_bytes;
        const std::int64_t band =
            fitting(room, sums_row() + images_.packed_together * images_.row_bytes(), rows,
                    images_.packed_rows);
        const std::int64_t images = fitting(room - band * sums_row(), band * images_.row_bytes(),
                                            images_.count, images_.packed_together);
        CpuQueue queue = all_cores();
        const Buffer bytes = allocate_staging(queue, images * band * images_.row_bytes());
        const Buffer sums = allocate_staging(queue, band * sums_row());
        for (std::int64_t done = 0; done < rows; done += band) {
            add_band(queue, first + done, std::min(band, rows - done), images, bytes.data(),
                     reinterpret_cast<double*>(sums.data()), to + done * images_.columns, check);
        }
    }

  private:
    /// Bytes of a row of sums, and where elements may be invalid of counts of the valid ones.
    std::int64_t sums_row() const {
        return images_.columns * static_cast<std::int64_t>(sizeof(double)) *
               (images_.invalid ? 2 : 1);
    }
    /// `bytes`: for the elements of `most` images at once.
    void add_band(CpuQueue& queue, std::int64_t first, std::int64_t band, std::int64_t most,
                  std::byte* bytes, double* sums, float* to,
                  const std::function<void()>& check) const {
        const std::int64_t pixels = band * images_.columns;
        const std::int64_t element = size_of(images_.type());
        double* const counts = sums + pixels; // where elements may be invalid
        std::fill_n(sums, images_.invalid ? 2 * pixels : pixels, 0);
        for (std::int64_t image = 0; image < images_.count; image += most) {
            check();
            const std::int64_t images = std::min(most, images_.count - image);
            images_.read(image, images, first, band, bytes);
            for_pixels(queue, pixels, [&](std::int64_t pixel, std::int64_t count) {
                for (std::int64_t i = 0; i < images; ++i) {
                    const std::byte* const from = bytes + (i * pixels + pixel) * element;
                    if (images_.invalid) {
                        add_valid_elements(images_.type(), *images_.invalid, from, count,
                                           sums + pixel, counts + pixel);
                    } else {
                        add_elements(images_.type(), from, count, sums + pixel);
                    }
                }
            });
        }
        if (images_.invalid) { // NaN where none is valid
            std::transform(sums, sums + pixels, counts, to, [](double sum, double count) {
                return count > 0 ? static_cast<float>(sum / count)
                                 : std::numeric_limits<float>::quiet_NaN();
            });
            return;
        }
        std::transform(sums, sums + pixels, to, [&](double sum) {
            return static_cast<float>(sum / static_cast<double>(images_.count));
        });
    }

    Images images_;
};

/// The median or trimmed mean of images: all are read, a band of rows at a time.
class SortedImages : public SideImage::Source {
  public:
    explicit SortedImages(Images images) : images_(std::move(images)) {}

    std::int64_t wanted_bytes() const override {
        const std::int64_t most = images_.is_packed ? packed_read_bytes : read_bytes;
        return own_bytes() + std::max(stack_row(), std::min(most, images_.rows * stack_row()));
    }
    std::int64_t least_bytes() const override { return own_bytes() + stack_row(); }
    void compute(std::int64_t first, std::int64_t rows, std::int64_t most_bytes, float* to,
                 const std::function<void()>& check) override {
        const std::int64_t band =
            fitting(most_bytes - own_bytes(), stack_row(), rows, images_.packed_rows);
        CpuQueue queue = all_cores();
        const Buffer bytes = allocate_staging(queue, band * stack_row());
        for (std::int64_t done = 0; done < rows; done += band) {
            check();
            const std::int64_t count = std::min(band, rows - done);
            images_.read(0, images_.count, first + done, count, bytes.data());
            for_pixels(queue, count * images_.columns,
                       [&](std::int64_t pixel, std::int64_t pixels) {
                           const ImageStack stack{images_.type(),
                                                  bytes.data() + pixel * size_of(images_.type()),
                                                  images_.count, count * images_.row_bytes()};
                           reduce(stack, pixels, to + done * images_.columns + pixel);
                       });
        }
    }

  private:
    void reduce(const ImageStack& stack, std::int64_t pixels, float* to) const {
        if (images_.reduce == Reduce::trimmed) {
            trimmed_mean_of_images(stack, images_.invalid, pixels, to);
        } else if (images_.invalid) {
            median_of_valid(stack, *images_.invalid, pixels, to);
        } else {
            median_of_images(stack, pixels, to);
        }
    }

    std::int64_t stack_row() const { return images_.count * images_.row_bytes(); }
    std::int64_t thread_bytes() const {
        if (images_.reduce == Reduce::trimmed) {
            return trimmed_mean_bytes(images_.type(), images_.count);
        }
        return images_.invalid ? median_of_valid_bytes(images_.type(), images_.count)
                               : median_bytes(images_.type(), images_.count);
    }
    std::int64_t own_bytes() const { return images_.reader_bytes + most_threads * thread_bytes(); }

    Images images_;
};

/// The images of groups of frames, one below the other.
class GroupImages : public SideImage::Source {
  public:
    /// `rows`, `columns`: of each image.
    GroupImages(std::vector<std::unique_ptr<Source>> groups, std::int64_t rows,
                std::int64_t columns)
        : groups_(std::move(groups)), rows_(rows), columns_(columns) {}

    std::int64_t wanted_bytes() const override { return most(&Source::wanted_bytes); }
    std::int64_t least_bytes() const override { return most(&Source::least_bytes); }
    void compute(std::int64_t first, std::int64_t rows, std::int64_t most_bytes, float* to,
                 const std::function<void()>& check) override {
        const std::int64_t end = first + rows;
        for (std::int64_t row = first; row < end;) {
            const std::int64_t count = std::min(end - row, rows_ - row % rows_);
            groups_[static_cast<std::size_t>(row / rows_)]->compute(
                row % rows_, count, most_bytes, to + (row - first) * columns_, check);
            row += count;
        }
    }

  private:
    std::int64_t most(std::int64_t (Source::*bytes)() const) const {
        std::int64_t most = 0;
        for (const auto& group : groups_) {
            most = std::max(most, (*group.*bytes)());
        }
        return most;
    }

    std::vector<std::unique_ptr<Source>> groups_;
    std::int64_t rows_;
    std::int64_t columns_;
};

} // namespace

std::unique_ptr<SideImage::Source> source_of(Images images) {
    switch (images.reduce) {
    case Reduce::mean: return std::make_unique<MeanImage>(std::move(images));
    case Reduce::median:
    case Reduce::trimmed: return std::make_unique<SortedImages>(std::move(images));
    case Reduce::none: break;
    }
    return std::make_unique<OneImage>(std::move(images));
}

std::unique_ptr<SideImage::Source>
source_of_groups(std::vector<std::unique_ptr<SideImage::Source>> groups, std::int64_t rows,
                 std::int64_t columns) {
    return std::make_unique<GroupImages>(std::move(groups), rows, columns);
}

} // namespace runner
