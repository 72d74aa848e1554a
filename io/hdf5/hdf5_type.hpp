// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/hdf5/hdf5_handle.hpp"

#include <optional>
#include <string>

#include <hdf5.h>

namespace runner {

/// HDF5's type for numbers in memory and in files that we write; owned by HDF5.
hid_t hdf5_type(ElementType type);

/// HDF5's type for the array's elements in memory and in files that we write, whatever they are.
TypeHandle memory_type(const ArrayInfo& array);

/// Whether the bits of a number, of a float its fields, lie in its bytes. HDF5 does not check this,
/// and converts a damaged type's elements to anything.
bool fits_its_bytes(hid_t type);

/// The type by which numbers that are stored as `stored` are read in place of `memory`: integers in
/// the byte order of the file, where has_other_order() of the two tells to turn their bytes round
/// afterwards. HDF5 1.10 does that without a look at which bits of them count.
TypeHandle type_to_read(hid_t stored, hid_t memory);
bool has_other_order(const TypeHandle& read, hid_t memory);

/// The element type that holds every value of `type`, if it is
/// * an integer or IEEE number of 1, 2, 4 or 8 bytes of either byte order;
/// * a compound of two float32 or float64 that are called r and i, re and im, or real and imag;
/// * anything else of 1, 2, 4, 8 or 16 bytes without references and parts of any length: a bytes
///   type. Arrays alone are none, which numpy takes for axes of the dataset.
std::optional<ElementType> element_type_of(hid_t type);

/// What memory_type() needs to know of elements of `type`, which element_type_of() says are
/// `element`: nothing of numbers. Complex numbers are stored in this machine's byte order, bytes as
/// they are.
StoredType stored_type_of(hid_t type, ElementType element);

/// Whether `type` is stored as the array's elements are in memory; of numbers, but for the order of
/// their bytes.
bool is_plain(hid_t type, const ArrayInfo& array);

/// "big-endian int32", "string of 12 bytes", "compound of 2 members {a: int8, b: int8}": for
/// people, all printable. Two types of one text hold the same.
std::string describe_type(hid_t type);

/// IEEE numbers of 16 bits in this machine's byte order, which HDF5 files hold as elements of two
/// bytes (ElementType::bytes2).
StoredType float16_type();

} // namespace runner
