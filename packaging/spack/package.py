# SPDX-License-Identifier: BSD-3-Clause
"""Spack recipe. Not tried here. Copy it to packages/runner/ of a repository of your site, and set
`git` to the repository that you cloned."""
from spack.package import *


class Runner(CMakePackage, CudaPackage):
    """Image and volume jobs that are larger than memory, on the GPUs and cores of many hosts."""

    git = "file:///path/to/runner"
    license("BSD-3-Clause")
    version("main", branch="main")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("bzip2")
    depends_on("c-blosc")
    depends_on("fmt")
    depends_on("hdf5@1.10: ~mpi+shared")
    depends_on("highway")
    depends_on("hwloc")
    depends_on("intel-tbb")
    depends_on("isa-l")
    depends_on("libaec")
    depends_on("libdeflate")
    depends_on("libpng")
    depends_on("libtiff@4.5:")
    depends_on("lz4")
    depends_on("mpi")
    depends_on("tomlplusplus")
    depends_on("xxhash")
    depends_on("zlib-api")
    depends_on("zstd")

    generator("ninja")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU's architecture: cuda_arch=90")

    def cmake_args(self):
        arguments = [
            self.define_from_variant("RUNNER_CUDA", "cuda"),
            self.define("RUNNER_TESTS", False),
            self.define("RUNNER_BENCH", False),
        ]
        if self.spec.satisfies("+cuda"):
            architectures = self.spec.variants["cuda_arch"].value
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(architectures)))
        return arguments
