// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/float16.hpp"

#include "io/hdf5/hdf5_handle.hpp"
#include "io/hdf5/hdf5_type.hpp"

namespace runner {

StoredType float16_type() {
    start_hdf5();
    const TypeHandle type(hdf5_must(H5Tcopy(H5T_IEEE_F32LE), "H5Tcopy"));
    // Sign in bit 15, five bits of exponent from bit 10, ten of mantissa; then the size may shrink.
    hdf5_must(H5Tset_fields(type.get(), 15, 10, 5, 0, 10), "H5Tset_fields");
    hdf5_must(H5Tset_size(type.get(), 2), "H5Tset_size");
    hdf5_must(H5Tset_ebias(type.get(), 15), "H5Tset_ebias");
    return stored_type_of(type.get(), ElementType::bytes2);
}

} // namespace runner
