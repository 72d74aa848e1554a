// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/hdf5_handle.hpp"

#include "base/format.hpp"
#include "io/filters/codec.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string_view>
#include <utility>

namespace runner {
namespace {

herr_t keep_innermost(unsigned position, const H5E_error2_t* entry, void* text) {
    if (position == 0 && entry->desc != nullptr) {
        *static_cast<std::string*>(text) = entry->desc;
    }
    return 0;
}

constexpr std::string_view checksum_words = "metadata checksum";
constexpr const char* checksum_differs = "a checksum of HDF5's structures does not match";

bool& damage_of_thread() {
    thread_local bool found = false;
    return found;
}

herr_t look_for_checksum(unsigned /*position*/, const H5E_error2_t* entry, void* found) {
    if (entry->desc != nullptr &&
        std::string_view(entry->desc).find(checksum_words) != std::string_view::npos) {
        *static_cast<bool*>(found) = true;
    }
    return 0;
}

/// HDF5 calls this for each of its functions that fails. Prints nothing.
herr_t see_failure(hid_t stack, void* /*unused*/) {
    return H5Ewalk2(stack, H5E_WALK_UPWARD, look_for_checksum, &damage_of_thread());
}

bool start_library() {
    // A program that used HDF5 before has its own handler by now; that is no fault of ours.
    (void)H5dont_atexit();
    (void)H5Eset_auto2(H5E_DEFAULT, see_failure, nullptr);
    register_filters();
    return true;
}

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

void start_hdf5() {
    [[maybe_unused]] static const bool library = start_library();
    [[maybe_unused]] thread_local const bool thread =
        H5Eset_auto2(H5E_DEFAULT, see_failure, nullptr) >= 0;
}

bool is_interrupted_closing() {
    std::string text;
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &text);
    return text.starts_with("unable to close file, errno = " + std::to_string(EINTR) + ",");
}

std::string hdf5_error_text() {
    std::string text;
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &text);
    (void)H5Eclear2(H5E_DEFAULT); // a thread that ends does not give its texts back
    // The system's own words stand in the middle of a long line of numbers.
    constexpr std::string_view mark = "error message = '";
    if (const auto begin = text.find(mark); begin != std::string::npos) {
        const auto from = begin + mark.size();
        text = text.substr(from, text.find('\'', from) - from);
    }
    if (text.find(checksum_words) != std::string::npos) {
        return checksum_differs;
    }
    return text.empty() ? "HDF5 gives no reason" : text;
}

bool found_damaged_structure() { return damage_of_thread(); }

Error damaged_structure(const std::string& where) {
    return {ExitCode::input,
            {"the file is damaged", where, checksum_differs,
             "Copy it again, or make it again; h5ls -r shows what can be read"}};
}

std::string newer_format_remedy(const std::string& reason) {
    if (reason.find("version number") == std::string::npos &&
        reason.find("unknown version") == std::string::npos) {
        return "";
    }
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    (void)H5get_libversion(&major, &minor, &release);
    return fmt::format(
        "A newer HDF5 wrote it in a format that HDF5 {}.{}.{}, used here, cannot read; or it is "
        "damaged. Rewrite it with the newer HDF5: h5repack --low=0 --high=2 -f GZIP=1 FILE NEW.h5, "
        "or write it with h5py.File(NAME, \"w\", libver=(\"earliest\", \"v110\"))",
        major, minor, release);
}

namespace {

[[noreturn]] void throw_with(ExitCode code, ErrorText text) {
    if (std::string remedy = newer_format_remedy(text.why); !remedy.empty()) {
        text.try_this = std::move(remedy);
    }
    throw Error(code, std::move(text));
}

} // namespace

void throw_hdf5(ExitCode code, std::string what, std::string where, std::string try_this) {
    throw_with(code, {std::move(what), std::move(where), hdf5_error_text(), std::move(try_this)});
}

void throw_hdf5_of(hid_t object, ExitCode code, std::string what, std::string try_this) {
    std::string reason = hdf5_error_text(); // before the next call, which clears it
    std::string file;
    if (const ssize_t length = H5Fget_name(object, nullptr, 0); length > 0) {
        file.resize(static_cast<std::size_t>(length));
        (void)H5Fget_name(object, file.data(), file.size() + 1);
    }
    throw_with(code, {std::move(what), std::move(file), std::move(reason), std::move(try_this)});
}

void register_filters() {
    register_filter<filter_id::bzip2>();
    register_filter<filter_id::lzf>();
    register_filter<filter_id::blosc>();
    register_filter<filter_id::lz4>();
    register_filter<filter_id::bitshuffle>();
    register_filter<filter_id::zstd>();
}

} // namespace runner
