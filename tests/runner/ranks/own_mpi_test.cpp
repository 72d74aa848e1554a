// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/own_mpi.hpp"

#include "tests/io/scratch_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include <gtest/gtest.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

class OwnMpi : public testing::Test {
  protected:
    OwnMpi() {
        fs::create_directories(root() / "bin");
        fs::create_directories(folder() / "bin");
        std::ofstream(folder() / "bin" / "mpirun") << "#!/bin/sh\n";
    }

    fs::path program() const { return root() / "bin" / "runner"; }
    fs::path folder() const { return root() / "openmpi"; }

  private:
    fs::path root() const { return scratch_ / "root"; }

    ScratchFolder scratch_;
};

TEST_F(OwnMpi, IsBesideTheProgramsFolderIfItsMpirunCanBeStarted) {
    EXPECT_EQ(own_mpi(program()), std::nullopt);
    fs::permissions(folder() / "bin" / "mpirun", fs::perms::owner_exec, fs::perm_options::add);
    EXPECT_EQ(own_mpi(program()), folder());
    EXPECT_EQ(own_mpi(folder() / "bin" / "runner"), std::nullopt);
}

TEST_F(OwnMpi, ReplacesTheFoldersOfTheHosts) {
    (void)::setenv("OPAL_PREFIX", "/usr", 1);
    use_own_mpi(folder());
    EXPECT_EQ(std::getenv("OPAL_PREFIX"), folder().string());
    EXPECT_EQ(std::getenv("OMPI_MCA_mca_base_component_path"),
              (folder() / "lib" / "openmpi").string());
}

} // namespace
} // namespace runner
