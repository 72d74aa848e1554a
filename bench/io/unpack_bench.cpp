// SPDX-License-Identifier: BSD-3-Clause
// unpack_bench FILE DATASET RUNS THREADS...: how fast a dataset's rows come, a frame at a time,
// from a file in the page cache. One line for each number of threads, as unpack_bench.py reads it.
#include "io/input/dataset_layout.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace runner {
namespace {

struct Seconds {
    double passed = 0;
    double computed = 0; ///< by all threads
};

double computed_seconds() {
    timespec now{};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// To read all of it, `step` rows at once.
Seconds seconds(const DatasetLayout& layout, int threads, std::int64_t step,
                std::vector<std::byte>& rows) {
    const auto reader = open_layout_rows(layout, threads);
    const auto begin = std::chrono::steady_clock::now();
    const double computed = computed_seconds();
    const std::int64_t count = row_count(layout.info.array);
    for (std::int64_t row = 0; row < count; row += step) {
        reader->read(row, std::min(step, count - row), rows.data());
    }
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
            computed_seconds() - computed};
}

int bench(const std::vector<std::string>& words) {
    const DatasetLayout layout = inspect_layout(words[0], words[1]);
    const int runs = std::stoi(words[2]);
    const std::int64_t rows = layout.info.chunk.size() == 3 ? layout.info.chunk[1] : 1024;
    for (std::size_t i = 3; i < words.size(); ++i) {
        const int threads = std::stoi(words[i]);
        // As many frames at once as there are threads: a chunk is what one thread unpacks.
        const std::int64_t step = rows * threads;
        std::vector<std::byte> room(static_cast<std::size_t>(step * row_bytes(layout.info.array)));
        std::vector<double> passed;
        std::vector<double> computed;
        (void)seconds(layout, threads, step, room); // fills the page cache
        for (int run = 0; run < runs; ++run) {
            const Seconds each = seconds(layout, threads, step, room);
            passed.push_back(each.passed);
            computed.push_back(each.computed);
        }
        std::sort(passed.begin(), passed.end());
        std::sort(computed.begin(), computed.end());
        std::printf("%d %.6f %.6f\n", threads, passed[passed.size() / 2],
                    computed[computed.size() / 2]);
    }
    return 0;
}

} // namespace
} // namespace runner

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    if (words.size() < 4) {
        std::fputs("unpack_bench FILE DATASET RUNS THREADS...\n", stderr);
        return 2;
    }
    return runner::bench(words);
}
