// SPDX-License-Identifier: BSD-3-Clause
// faulting_run FAULT CHUNK: streams rows through the GPU with a kernel that fails at a chunk, and
// ends as the runner does.
#include "runner/ranks/mpi.hpp"
#include "tests/gpu_host/fault_kernels.hpp"
#include "tests/support/copy_stream.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace runner {
namespace {

constexpr std::int64_t chunk_rows = 31;

class FaultingJob : public CopyJob {
  public:
    FaultingJob(Fault fault, std::int64_t chunk)
        : CopyJob(1, 1001, 4099, 5), fault_(fault), first_row_(chunk * chunk_rows) {}

    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override {
        if (block.out_first == first_row_) {
            launch_fault(std::get<CudaQueue>(queue), fault_);
        }
        CopyJob::run(queue, block, in, out, memory);
    }

  private:
    Fault fault_;
    std::int64_t first_row_;
};

ExitCode faulting_run(Fault fault, std::int64_t chunk) {
    const FaultingJob job(fault, chunk);
    PlanRequest request;
    request.backend = Backend::cuda;
    request.cores = 2;
    request.host_memory = 1 << 30;
    request.device_memory = 1 << 30;
    request.chunk_rows = chunk_rows;
    request.lanes = 3;
    const StreamPlan plan = make_plan(job, request);
    CopyStream stream(job, plan);
    ExitCode code = ExitCode::ok;
    try {
        (void)stream.run([] { return make_queue(Backend::cuda, 0, 1); });
    } catch (const Error& error) {
        (void)std::fprintf(stderr, "runner: error: %s\n", error.what());
        code = error.code();
    }
    if (!stream.writer().right(job.expected(stream.in()))) {
        (void)std::fprintf(stderr, "rows were written that are wrong\n");
    }
    return code;
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    static const std::map<std::string, runner::Fault> faults = {
        {"trap", runner::Fault::trap},
        {"address", runner::Fault::address},
        {"alignment", runner::Fault::alignment}};
    if (argc != 3 || !faults.contains(argv[1])) {
        (void)std::fprintf(stderr, "faulting_run trap|address|alignment CHUNK\n");
        return 2;
    }
    const runner::Ranks ranks;
    ranks.abort(runner::faulting_run(faults.at(argv[1]), std::atoll(argv[2])));
}
