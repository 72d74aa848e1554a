// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/generations.hpp"

#include "base/array_info.hpp"
#include "base/element_type.hpp"
#include "base/format.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/input/file_access.hpp"

#include <cstddef>
#include <cstring>
#include <memory>

namespace runner {
namespace {

constexpr const char* what_generations = "cannot take the frames' generations";

[[noreturn]] void refuse_generations(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input, {what_generations, where, why,
                                  "Rename or remove that dataset if it is something else"});
}

/// Elements of type T as generations.
template <class T>
std::vector<std::uint64_t> numbers_of(const std::vector<std::byte>& bytes,
                                      const std::string& where) {
    std::vector<std::uint64_t> numbers(bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        T value{};
        std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
        if (value < T{}) {
            refuse_generations(where, fmt::format("that of frame {} is {}", i, value));
        }
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): it is not below 0
        numbers[i] = static_cast<std::uint64_t>(value);
    }
    return numbers;
}

} // namespace

std::string generations_name(const std::string& dataset) {
    const std::size_t slash = dataset.rfind('/');
    return (slash == std::string::npos ? "/" : dataset.substr(0, slash + 1)) + "generation";
}

std::optional<std::vector<std::uint64_t>> read_generations(FileAccess& files,
                                                           const std::string& file,
                                                           const std::string& dataset,
                                                           std::int64_t frames) {
    const std::string name = generations_name(dataset);
    if (!files.has_dataset(file, name)) {
        return std::nullopt;
    }
    const std::string where = file_and_dataset(file, name);
    const std::unique_ptr<RowReader> reader = open_rows_of(files, file, name, 1);
    const ArrayInfo& array = reader->info().array;
    if (!is_number(array.type) || array.type == ElementType::float32 ||
        array.type == ElementType::float64) {
        refuse_generations(where, "its elements are no integers");
    }
    if (array.shape != std::vector<std::int64_t>{frames}) {
        refuse_generations(where,
                           fmt::format("its shape is {}, and {} has {}{}", shape_text(array.shape),
                                       dataset, frames, (frames == 1 ? " frame" : " frames")));
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(array)));
    reader->read(0, frames, bytes.data());
    return visit_element_type(array.type,
                              [&](auto zero) { return numbers_of<decltype(zero)>(bytes, where); });
}

void write_frame_numbers(const std::string& file, const std::string& name,
                         std::span<const std::uint64_t> numbers, const std::string& what_of) {
    FileHandle handle = update_hdf5(file);
    const hsize_t count = numbers.size();
    const SpaceHandle space(hdf5_must(H5Screate_simple(1, &count, nullptr), "H5Screate_simple"));
    const PropertyHandle creation(hdf5_must(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
    // No times: the same job makes the same bytes.
    hdf5_must(H5Pset_obj_track_times(creation.get(), false), "H5Pset_obj_track_times");
    DatasetHandle stored(H5Dcreate2(handle.get(), name.c_str(), H5T_STD_U64LE, space.get(),
                                    H5P_DEFAULT, creation.get(), H5P_DEFAULT));
    if (!stored.valid() ||
        H5Dwrite(stored.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) <
            0 ||
        !stored.close()) {
        throw_hdf5(ExitCode::output, "cannot store " + what_of, file_and_dataset(file, name),
                   "Check the space on that file system");
    }
    close_hdf5(std::move(handle), file);
}

void write_generations(const std::string& file, const std::string& dataset,
                       std::span<const std::uint64_t> generations) {
    write_frame_numbers(file, generations_name(dataset), generations, "the frames' generations");
}

} // namespace runner
