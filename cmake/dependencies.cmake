# The libraries of others that rooms name as FOREIGN.
find_package(Threads REQUIRED)
find_package(TBB REQUIRED)
find_package(ZLIB REQUIRED)
find_package(BZip2 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
set(MPI_CXX_SKIP_MPICXX ON) # the C interface only
find_package(MPI REQUIRED COMPONENTS CXX)

find_package(PkgConfig REQUIRED)
# Always the serial HDF5: the parallel one hangs where storage fails (docs/adr).
pkg_check_modules(hdf5 REQUIRED IMPORTED_TARGET hdf5-serial)
pkg_check_modules(fmt REQUIRED IMPORTED_TARGET fmt)
pkg_check_modules(deflate REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(blosc REQUIRED IMPORTED_TARGET blosc)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(png REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(tiff REQUIRED IMPORTED_TARGET libtiff-4>=4.5)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
# libaec has no file for pkg-config.
find_path(RUNNER_AEC_HEADERS libaec.h REQUIRED)
find_library(RUNNER_AEC aec REQUIRED)
add_library(runner_aec UNKNOWN IMPORTED)
set_target_properties(runner_aec PROPERTIES
  IMPORTED_LOCATION ${RUNNER_AEC}
  INTERFACE_INCLUDE_DIRECTORIES ${RUNNER_AEC_HEADERS})
# The shared library: toml++ compiled into ours would abort on bad text in a build with assertions.
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
