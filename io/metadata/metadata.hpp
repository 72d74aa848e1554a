// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "io/files/message.hpp"
#include "io/rows/axes.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// A value that means the same in another file: numbers or texts.
struct PlainValue {
    enum class Kind {
        number, ///< of `type`, in `bytes`, in this machine's byte order
        truth,  ///< h5py's bool: `type` is int8, 0 and 1 in `bytes`
        text    ///< in `texts`
    } kind = Kind::number;
    enum class Space { empty, scalar, simple } space = Space::scalar;

    std::vector<std::int64_t> shape; ///< of simple
    ElementType type = ElementType::int8;
    std::vector<std::byte> bytes;
    std::vector<std::string> texts;
    std::int64_t text_bytes = 0; ///< of texts of a fixed length, zero-padded; 0: of any length
    bool utf8 = false;           ///< of texts; else ASCII

    bool operator==(const PlainValue&) const = default;

    /// How many numbers or texts there are.
    std::int64_t count() const;
};

struct NamedValue {
    std::string name;
    PlainValue value;

    bool operator==(const NamedValue&) const = default;
};

/// Coordinates along one axis of a dataset: one number an element, or one more than there are
/// elements (the edges of bins).
struct Coordinates {
    std::string name;      ///< of the dataset in the NXdata group
    std::int64_t axis = 0; ///< of the dataset that they are coordinates of
    PlainValue values;     ///< numbers, of one axis
    std::vector<NamedValue> attributes;

    bool operator==(const Coordinates&) const = default;
};

/// A dataset or a group of an NXtomo entry, beside the frames.
struct ScanItem {
    std::string path;          ///< below the entry: "sample/name"; "" is the entry itself
    std::string nx_class = {}; ///< of a group
    PlainValue value = {};     ///< of a dataset: one text, or numbers or bool of one axis at most
    std::vector<NamedValue> attributes = {};
    enum class Kind {
        fixed,     ///< a dataset
        of_frames, ///< a dataset with a number for each frame
        group
    } kind = Kind::fixed;

    bool operator==(const ScanItem&) const = default;
};

/// What a file says of a dataset beside its elements.
struct Metadata {
    std::vector<std::int64_t> shape; ///< of the dataset
    std::vector<NamedValue> dataset; ///< its attributes
    std::vector<NamedValue> group;   ///< of its NXdata group, but for those that name its members
    /// NXdata's `axes`: a name or "." for each axis of the dataset; empty where it has none.
    std::vector<std::string> axes;
    std::vector<Coordinates> coordinates;
    std::vector<std::string> left_out; ///< "/data@units: why", for people
    std::vector<ScanItem> scan = {};   ///< of a dataset that is the frames of an NXtomo scan
    Axes placement = {}; ///< as the format of the file has it, or this program wrote it

    bool operator==(const Metadata&) const = default;

    /// True where there is nothing to write.
    bool empty() const {
        return dataset.empty() && group.empty() && axes.empty() && coordinates.empty() &&
               scan.empty() && !placement.known();
    }
};

/// The most that is read of a file: attributes of an object, bytes of one attribute (an HDF5 object
/// header holds 64 KiB), coordinates, and numbers of each. All names together stay within
/// most_object_names (io/hdf5/object_names.hpp).
inline constexpr std::size_t most_attributes = 128;
inline constexpr std::int64_t most_attribute_bytes = 32768;
inline constexpr std::size_t most_coordinates = 8;
inline constexpr std::int64_t most_coordinate_values = std::int64_t{1} << 20;
inline constexpr std::size_t most_coordinate_attributes = 32;
inline constexpr std::size_t most_scan_items = 256;

/// The name of a member of a group or of an attribute that can be written: not empty, no path.
bool is_member_name(const std::string& name);

/// The path of a ScanItem: names of members with slashes between, or nothing.
bool is_item_path(const std::string& path);

/// What a process that reads a file hands over, as bytes. Decoding trusts nothing: what it returns
/// is consistent and within the limits of metadata.hpp, whoever wrote the bytes.
/// decode_metadata(): @throws BadMessage.
std::string encode_metadata(const Metadata& metadata);
Metadata decode_metadata(std::string_view bytes);

} // namespace runner
