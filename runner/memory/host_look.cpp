// SPDX-License-Identifier: BSD-3-Clause
#include "runner/memory/host_look.hpp"

#include "base/sizes.hpp"
#include "io/rows/row_geometry.hpp"
#include "jobs/stream_job.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <variant>

namespace runner {
namespace {

/// The bytes of rows that are on the host at once.
constexpr std::int64_t piece_bytes = 16 * MiB;

/// Calls `see(first, rows, elements)` for all rows of an array in the queue's memory, in order, in
/// pieces of multiples of `step` rows.
template <class Q, class See>
void for_pieces(Q& queue, const ArrayInfo& array, std::int64_t step, const std::byte* data,
                const See& see) {
    const std::int64_t rows = row_count(array);
    const std::int64_t bytes = row_bytes(array);
    const std::int64_t piece =
        std::max<std::int64_t>(1, piece_bytes / std::max<std::int64_t>(1, bytes) / step) * step;
    Buffer host;
    if constexpr (!Q::shares_host_memory) {
        host = allocate_staging(queue, std::min(piece, rows) * bytes);
    }
    for (std::int64_t first = 0; first < rows; first += piece) {
        const std::int64_t count = std::min(piece, rows - first);
        const std::byte* from = data + first * bytes;
        if constexpr (!Q::shares_host_memory) {
            download(queue, host.data(), from, count * bytes);
            queue.synchronize();
            from = host.data();
        }
        see(first, count, from);
    }
}

} // namespace

std::unique_ptr<Job> look_at_input(Queue& queue, const PreparedJob& pass, const std::byte* input) {
    const auto* const stream = dynamic_cast<const StreamJob*>(pass.job.get());
    bool checks = stream != nullptr && stream->checks_rows();
    const std::unique_ptr<Survey> survey = pass.job->survey();
    if (!survey && !checks) {
        return nullptr;
    }
    CpuQueue host(std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
    do {
        std::visit(
            [&](auto& backend) {
                for_pieces(backend, pass.input.array, survey ? survey->step() : 1, input,
                           [&](std::int64_t first, std::int64_t rows, const std::byte* from) {
                               if (checks) {
                                   stream->check_rows(first, rows, from);
                               }
                               if (survey) {
                                   survey->add(host, first, rows, from);
                               }
                           });
            },
            queue);
        checks = false; // once
    } while (survey && survey->needs_another_pass());
    return survey ? pass.job->surveyed(survey->findings()) : nullptr;
}

} // namespace runner
