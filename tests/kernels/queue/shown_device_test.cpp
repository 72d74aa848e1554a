// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/shown_device.hpp"
#include "tests/io/scratch_folder.hpp"

#include <fstream>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(ShownDevice, GoesRoundTheList) {
    EXPECT_EQ(nth_of_devices("3,GPU-5d2c,7", 0), "3");
    EXPECT_EQ(nth_of_devices("3,GPU-5d2c,7", 1), "GPU-5d2c");
    EXPECT_EQ(nth_of_devices("3,GPU-5d2c,7", 2), "7");
    EXPECT_EQ(nth_of_devices("3,GPU-5d2c,7", 4), "GPU-5d2c");
    EXPECT_EQ(nth_of_devices("5", 3), "5");
    EXPECT_EQ(nth_of_devices("", 0), "");
    EXPECT_EQ(nth_of_devices("", 2), "");
}

TEST(ShownDevice, IsOfTheDriversFiles) {
    const ScratchFolder folder;
    const std::string path = folder / "dev";
    EXPECT_EQ(list_of_devices(path), "");
    std::filesystem::create_directory(path);
    EXPECT_EQ(list_of_devices(path), "");
    for (const char* name : {"nvidiactl", "nvidia-uvm", "nvidia", "nvidia2", "nvidia10", "null",
                             "nvidia1x", "nvidia0"}) {
        std::ofstream(path + "/" + name).put('x');
    }
    EXPECT_EQ(list_of_devices(path), "0,1,2");
}

} // namespace
} // namespace runner
