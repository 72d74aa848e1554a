// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/write_setup.hpp"

#include "base/error.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/inspect/nexus_file.hpp"
#include "io/metadata/metadata.hpp"
#include "io/metadata/write_value.hpp"

#include <cstring>
#include <span>
#include <utility>

namespace runner {
namespace {

PlainValue text_of(const std::string& text) {
    PlainValue value;
    value.kind = PlainValue::Kind::text;
    value.utf8 = true;
    value.texts = {text};
    return value;
}

/// One number, or a list.
PlainValue numbers_of(std::span<const double> numbers, PlainValue::Space space) {
    PlainValue value;
    value.space = space;
    value.type = ElementType::float64;
    if (space == PlainValue::Space::simple) {
        value.shape = {std::ssize(numbers)};
    }
    value.bytes.resize(numbers.size_bytes());
    std::memcpy(value.bytes.data(), numbers.data(), numbers.size_bytes());
    return value;
}

class SetupWriter {
  public:
    explicit SetupWriter(const std::string& file) : file_(file), handle_(update_hdf5(file)) {}

    void write(const std::string& path, const PlainValue& value, const std::string& unit) {
        make_groups(path);
        write_value(handle_.get(), file_, path, value, {{"units", text_of(unit)}});
    }

    void close() { close_hdf5(std::move(handle_), file_); }

  private:
    /// Those that a path leads through and that are not there.
    void make_groups(const std::string& path) {
        for (std::size_t end = path.find('/', 1); end != std::string::npos;
             end = path.find('/', end + 1)) {
            const std::string group = path.substr(0, end);
            if (H5Lexists(handle_.get(), group.c_str(), H5P_DEFAULT) > 0) {
                continue;
            }
            const ObjectHandle made(
                H5Gcreate2(handle_.get(), group.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            if (!made.valid()) {
                throw_hdf5(ExitCode::output, "cannot write " + group, file_,
                           "Check the space on that file system");
            }
        }
    }

    const std::string& file_;
    FileHandle handle_;
};

} // namespace

void write_setup(const std::string& file, const ScanSetup& setup, const std::string& detector,
                 const std::vector<double>& angles) {
    SetupWriter writer(file);
    for (const auto& [name, number] : setup.all()) {
        if (number->usable()) {
            writer.write(number->path,
                         numbers_of(std::span(&number->value, 1), PlainValue::Space::scalar),
                         number->unit);
        }
    }
    writer.write(path_below(entry_above(detector), "sample/rotation_angle"),
                 numbers_of(angles, PlainValue::Space::simple), "degrees");
    writer.close();
}

} // namespace runner
