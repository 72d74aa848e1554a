// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/binding.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

DeviceInfo gpu(int index, const std::string& uuid) {
    DeviceInfo info;
    info.index = index;
    info.uuid = uuid;
    return info;
}

TEST(ChooseGpus, RanksThatSeeAllTakeOneEach) {
    const std::vector<DeviceInfo> all = {gpu(0, "a"), gpu(1, "b")};
    const auto choices = choose_gpus({{0, all}, {1, all}});
    EXPECT_EQ(choices[0].device, 0);
    EXPECT_EQ(choices[1].device, 1);
    EXPECT_EQ(choices[1].sharers, 1);
}

TEST(ChooseGpus, RanksThatSeeOneTakeThatOne) {
    const auto choices = choose_gpus({{0, {gpu(0, "b")}}, {1, {gpu(0, "a")}}});
    EXPECT_EQ(choices[0].uuid, "b");
    EXPECT_EQ(choices[1].uuid, "a");
    EXPECT_EQ(choices[0].device, 0);
    EXPECT_EQ(choices[1].device, 0);
}

TEST(ChooseGpus, TheSameGpuUnderTwoIndicesIsOne) {
    const auto choices =
        choose_gpus({{0, {gpu(0, "a"), gpu(1, "b")}}, {1, {gpu(0, "b"), gpu(1, "a")}}});
    EXPECT_EQ(choices[0].uuid, "a");
    EXPECT_EQ(choices[1].uuid, "b");
    EXPECT_EQ(choices[1].device, 0);
}

TEST(ChooseGpus, MoreRanksThanGpusShareEvenly) {
    const std::vector<DeviceInfo> all = {gpu(0, "a"), gpu(1, "b")};
    const auto choices = choose_gpus({{0, all}, {1, all}, {2, all}});
    EXPECT_EQ(choices[2].uuid, "a");
    EXPECT_EQ(choices[0].sharers, 2);
    EXPECT_EQ(choices[1].sharers, 1);
}

TEST(ChooseGpus, ARankWithoutGpuHasNone) { EXPECT_EQ(choose_gpus({{0, {}}})[0].device, -1); }

TEST(CpuLists, AreSharedAndPrinted) {
    const CpuList cpus = {0, 1, 2, 3, 8};
    EXPECT_EQ(cpu_list_text(cpus), "0-3,8");
    EXPECT_EQ(cpu_list_text({}), "");
    EXPECT_EQ(share_of(cpus, 0, 2), (CpuList{0, 1}));
    EXPECT_EQ(share_of(cpus, 1, 2), (CpuList{2, 3, 8}));
    EXPECT_EQ(share_of({4}, 2, 3), (CpuList{4}));
}

TEST(HostTopology, AllowsSomeCoresAndKnowsNoMissingDevice) {
    HostTopology topology;
    const CpuList allowed = topology.allowed_cpus();
    ASSERT_FALSE(allowed.empty());
    EXPECT_EQ(topology.cpus_near("ffff:ff:1f.7", allowed), allowed);
    EXPECT_EQ(topology.numa_node_of("ffff:ff:1f.7"), -1);
}

} // namespace
} // namespace runner
