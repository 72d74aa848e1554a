// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/own_mpi.hpp"

#include <cstdlib>

#include <unistd.h>

namespace runner {

std::optional<std::filesystem::path> own_mpi(const std::filesystem::path& program) {
    std::filesystem::path folder = program.parent_path().parent_path() / "openmpi";
    if (::access((folder / "bin/mpirun").c_str(), X_OK) != 0) {
        return std::nullopt;
    }
    return folder;
}

void use_own_mpi(const std::filesystem::path& folder) {
    // An mpirun of the host may have set these to its own folders: its plug-ins are of another
    // library.
    const auto set = [](const char* name, const std::filesystem::path& value) {
        (void)::setenv(name, value.c_str(), 1);
    };
    set("OPAL_PREFIX", folder);
    set("OPAL_LIBDIR", folder / "lib");
    set("OPAL_PKGDATADIR", folder / "share" / "openmpi");
    set("OPAL_SYSCONFDIR", folder / "etc");
    set("OMPI_MCA_mca_base_component_path", folder / "lib" / "openmpi");
    set("PMIX_INSTALL_PREFIX", folder);
    set("PMIX_MCA_mca_base_component_path", folder / "lib" / "pmix");
}

} // namespace runner
