// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/own_mpi.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

class OwnMpi : public testing::Test {
  protected:
    OwnMpi() : root_(fs::path(testing::TempDir()) / ("own-mpi-" + std::to_string(::getpid()))) {
        fs::create_directories(root_ / "bin");
        fs::create_directories(root_ / "openmpi" / "bin");
        std::ofstream(root_ / "openmpi" / "bin" / "mpirun") << "#!/bin/sh\n";
    }
    ~OwnMpi() override { fs::remove_all(root_); }

    fs::path program() const { return root_ / "bin" / "runner"; }
    fs::path folder() const { return root_ / "openmpi"; }

  private:
    fs::path root_;
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
