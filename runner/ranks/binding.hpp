// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/devices.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace runner {

/// What a rank of one host offers to the choice: made by every rank, gathered on all.
struct HostRank {
    int rank = 0;
    std::vector<DeviceInfo> devices; ///< visible to it; may differ from rank to rank
};

/// The GPU of each of a host's ranks.
struct GpuChoice {
    int device = -1; ///< CUDA's index in that rank; −1 when it sees none
    std::string uuid;
    int sharers = 1; ///< ranks of this host on that GPU, itself counted in
};

/// Deals the GPUs to the ranks in order: each takes, of those it sees, the one that the fewest
/// ranks have so far, the earliest of these. So a rank that sees one gets that one, ranks that see
/// all get one each and then share, and GPUs are told apart by UUID, whatever their indices are.
std::vector<GpuChoice> choose_gpus(const std::vector<HostRank>& ranks);

/// Processor numbers.
using CpuList = std::vector<int>;

/// "0-3,8".
std::string cpu_list_text(const CpuList& cpus);

/// The machine's cores and what is near to what, as hwloc sees it within this cgroup; inspected
/// only when asked, since that takes a tenth of a second on a large machine.
class HostTopology {
  public:
    HostTopology();
    ~HostTopology();
    HostTopology(const HostTopology&) = delete;
    HostTopology& operator=(const HostTopology&) = delete;

    /// The cores this process may use: its affinity mask; or all of its cgroup's, where the mask
    /// only comes from mpirun's default of binding each rank to one core.
    CpuList allowed_cpus();

    /// The cores among `allowed` on the NUMA node of the device at this PCI address; all when
    /// there is no such device, no such node, or none of its cores is allowed.
    CpuList cpus_near(const std::string& pci, const CpuList& allowed);

    /// The NUMA node of the device at this PCI address; −1 if unknown.
    int numa_node_of(const std::string& pci);

  private:
    struct Loaded;
    Loaded& loaded();
    std::unique_ptr<Loaded> loaded_;
};

/// This rank's share when `sharers` ranks have the same cores, this the `index`th of them: an equal
/// run of them, or all where there are fewer cores than ranks.
CpuList share_of(const CpuList& cpus, int index, int sharers);

/// Confines this process and its later threads to `cpus`; a refusal is not an error, since the job
/// is right anywhere. Returns whether it worked.
bool bind_process(const CpuList& cpus);

} // namespace runner
