// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/registered_filters.hpp"

#include "io/filters/codec.hpp"
#include "io/hdf5/hdf5_handle.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace runner {
namespace {

constexpr std::size_t largest_chunk = 0xffffffff;

/// Memory of HDF5's, given back unless release() is called.
class Hdf5Memory {
  public:
    explicit Hdf5Memory(std::size_t bytes) : data_(H5allocate_memory(bytes, false)) {}
    ~Hdf5Memory() { (void)H5free_memory(data_); }
    Hdf5Memory(const Hdf5Memory&) = delete;
    Hdf5Memory(Hdf5Memory&&) = delete;
    Hdf5Memory& operator=(const Hdf5Memory&) = delete;
    Hdf5Memory& operator=(Hdf5Memory&&) = delete;

    std::byte* get() const { return static_cast<std::byte*>(data_); }
    void* release() { return std::exchange(data_, nullptr); }

  private:
    void* data_;
};

/// HDF5 does not say how many bytes must come out: where the packed ones do not either, more and
/// more room is tried. 0 for failure, as HDF5 wants it.
std::size_t unpack(const Codec& codec, Parameters parameters, std::size_t bytes,
                   std::size_t* buffer_size, void** buffer) {
    constexpr std::size_t usual_ratio = 4;
    const Bytes packed(static_cast<const std::byte*>(*buffer), bytes);
    const std::optional<std::size_t> claimed = codec.claimed(parameters, packed);
    CodecMemory memory;
    std::size_t room = claimed.value_or(std::max(bytes, *buffer_size) * usual_ratio);
    for (; room > 0 && room <= largest_chunk; room *= 2) {
        Hdf5Memory out(room);
        if (out.get() == nullptr) {
            return 0;
        }
        if (const auto got = codec.unpack(parameters, packed, {out.get(), room}, memory)) {
            (void)H5free_memory(*buffer);
            *buffer = out.release();
            *buffer_size = room;
            return *got;
        }
        if (claimed) {
            return 0;
        }
    }
    return 0;
}

/// H5Z_func_t of the codec with this id.
template <int id>
std::size_t filter(unsigned flags, std::size_t parameters, const unsigned* values,
                   std::size_t bytes, std::size_t* buffer_size, void** buffer) {
    const Codec* codec = codec_of(id);
    const Parameters all(values, parameters);
    if ((flags & H5Z_FLAG_REVERSE) == 0 || codec == nullptr || !codec->accepts(all)) {
        return 0; // chunks that we store come packed
    }
    try {
        return unpack(*codec, all, bytes, buffer_size, buffer);
    } catch (const std::exception&) { // HDF5 is C
        return 0;
    }
}

template <int id> void register_filter() {
    const H5Z_class2_t description = {H5Z_CLASS_T_VERS,   id,      1,       1,
                                      codec_of(id)->name, nullptr, nullptr, filter<id>};
    hdf5_must(H5Zregister(&description), "H5Zregister");
}

} // namespace

void register_filters() {
    register_filter<filter_id::bzip2>();
    register_filter<filter_id::lzf>();
    register_filter<filter_id::blosc>();
    register_filter<filter_id::lz4>();
    register_filter<filter_id::bitshuffle>();
    register_filter<filter_id::zstd>();
}

} // namespace runner
