// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/kept_rows.hpp"

#include "base/error.hpp"
#include "io/input/file_access.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/writers/kept_frames.hpp"
#include "runner/probe/served_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace runner::verify {
namespace {

/// Calls take(range of all rows) for what rows of the job are there, frame by frame.
void for_ranges(const FinishedOutput& output, RowRange made,
                const std::function<void(RowRange)>& take) {
    const std::int64_t in_frame =
        row_count(output.stored.array) / output.stored.array.shape.front();
    while (!made.empty()) {
        const std::int64_t frame = made.first / in_frame;
        const std::int64_t last = std::min(made.last, (frame + 1) * in_frame);
        const std::int64_t by =
            (output.frames.made[static_cast<std::size_t>(frame)] - frame) * in_frame;
        take({made.first + by, last + by});
        made.first = last;
    }
}

std::unique_ptr<RowReader> open_scan(const PreparedJob& prepared) {
    return open_kept_frames(prepared, [&](const DatasetLayout& layout) {
        return open_probed_rows(layout, prepared.file.input.rules, 1);
    });
}

} // namespace

std::unique_ptr<RowReader> open_all_rows(FileAccess& files, const FinishedOutput& output,
                                         int threads) {
    return output.keeps_frames() ? files.open(output.layouts.front(), threads)
                                 : open_stored_rows(files, output, threads);
}

std::vector<WrongRows> among_all_rows(const FinishedOutput& output,
                                      const std::vector<WrongRows>& made) {
    if (!output.keeps_frames()) {
        return made;
    }
    std::vector<WrongRows> all;
    for (const WrongRows& each : made) {
        for_ranges(output, each.rows, [&](RowRange rows) {
            all.push_back({rows, each.why, each.hash});
        });
    }
    return all;
}

std::vector<RowRange> among_all_rows(const FinishedOutput& output,
                                     const std::vector<RowRange>& made) {
    if (!output.keeps_frames()) {
        return made;
    }
    std::vector<RowRange> all;
    for (const RowRange& each : made) {
        for_ranges(output, each, [&](RowRange rows) { all.push_back(rows); });
    }
    return all;
}

std::vector<WrongRows> wrong_kept_rows(FileAccess& files, const FinishedOutput& output,
                                       std::span<const RowHash> runs, int threads) {
    return runs.empty() ? std::vector<WrongRows>()
                        : check_runs(*open_all_rows(files, output, threads), runs);
}

void restore_kept_rows(FileAccess& files, const FinishedOutput& output,
                       const PreparedJob& prepared) {
    if (!prepared.kept || prepared.kept->split.kept != output.frames.kept ||
        hashes_of_kept(output.frames, *open_scan(prepared)) != output.kept) {
        const std::string change = input_change(output);
        throw Error(ExitCode::differs,
                    {"cannot repair flats and darks, and left them as they are", output.file,
                     "those of the input " + prepared.file.input.file +
                         " have another checksum than the file lists" +
                         (change.empty() ? "" : "; it has changed: " + change),
                     "Name the input it was made from with --input, or run the job again with "
                     "output.overwrite = true"});
    }
    replace_kept_frames(files, output.file, *open_scan(prepared));
}

} // namespace runner::verify
