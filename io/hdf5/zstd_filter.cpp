// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/zstd_filter.hpp"

#include "io/hdf5/hdf5_handle.hpp"

#include <array>

#include <zstd.h>

namespace runner {
namespace {

constexpr unsigned long long largest_chunk = 0xffffffffULL;

/// Replaces HDF5's buffer by ours; what the filter returns to HDF5.
std::size_t hand_over(void* made, std::size_t room, std::size_t used, std::size_t* buffer_size,
                      void** buffer) {
    (void)H5free_memory(*buffer);
    *buffer = made;
    *buffer_size = room;
    return used;
}

std::size_t decompress(std::size_t bytes, std::size_t* buffer_size, void** buffer) {
    const unsigned long long size = ZSTD_getFrameContentSize(*buffer, bytes);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size == 0 ||
        size > largest_chunk) {
        return 0;
    }
    void* out = H5allocate_memory(size, false);
    if (out == nullptr) {
        return 0;
    }
    const std::size_t got = ZSTD_decompress(out, size, *buffer, bytes);
    if (ZSTD_isError(got) != 0 || got != size) {
        (void)H5free_memory(out);
        return 0;
    }
    return hand_over(out, size, size, buffer_size, buffer);
}

std::size_t compress(int level, std::size_t bytes, std::size_t* buffer_size, void** buffer) {
    const std::size_t room = ZSTD_compressBound(bytes);
    void* out = H5allocate_memory(room, false);
    if (out == nullptr) {
        return 0;
    }
    const std::size_t got = ZSTD_compress(out, room, *buffer, bytes, level);
    if (ZSTD_isError(got) != 0) {
        (void)H5free_memory(out);
        return 0;
    }
    return hand_over(out, room, got, buffer_size, buffer);
}

std::size_t filter(unsigned flags, std::size_t parameters, const unsigned* values,
                   std::size_t bytes, std::size_t* buffer_size, void** buffer) {
    if ((flags & H5Z_FLAG_REVERSE) != 0) {
        return decompress(bytes, buffer_size, buffer);
    }
    const int level = parameters > 0 ? static_cast<int>(values[0]) : ZSTD_CLEVEL_DEFAULT;
    return compress(level, bytes, buffer_size, buffer);
}

} // namespace

void register_zstd_filter() {
    const H5Z_class2_t description = {H5Z_CLASS_T_VERS, zstd_filter_id, 1,       1,
                                      "zstd",           nullptr,        nullptr, filter};
    hdf5_must(H5Zregister(&description), "H5Zregister");
}

} // namespace runner
