// SPDX-License-Identifier: BSD-3-Clause
#include "runner/assemble_on_all.hpp"

#include "io/files/file_mark.hpp"
#include "io/output/level_files.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/written_format.hpp"
#include "runner/output/complete_output.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_from(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// An array in the output's folder, whose files all ranks have written since `begin`.
LevelReport level_report(const OutputDataset& level, Clock::time_point begin) {
    const FolderOfChunks& folder = *folder_of(level.layout);
    LevelReport report{level.array.shape, folder.files(level),
                       ChunkGrid(level.array, level.layout).count(), 0, seconds_from(begin)};
    for (std::int64_t file = 0; file < report.files; ++file) {
        const FileMark mark = mark_of(level.file + "/" + folder.file(level, file).name);
        report.bytes += std::max<std::int64_t>(mark.bytes, 0);
    }
    return report;
}

/// The regions of levels that some rank has made. `ahead`: of this one, or null.
MadeRegions made_ahead(const LevelsAhead* ahead, const Ranks& ranks) {
    MadeRegions all;
    for (const MadeRegions& own : ranks.gather(ahead != nullptr ? ahead->made() : MadeRegions())) {
        all.resize(std::max(all.size(), own.size()), '0');
        for (std::size_t i = 0; i < own.size(); ++i) {
            all[i] = std::max(all[i], own[i]);
        }
    }
    return ranks.broadcast(all);
}

void make_levels_on_all(const OutputDataset& output, const LevelsAhead* ahead,
                        const AssemblyShare& share, const RunPlace& place, Assembled& made) {
    const Ranks& ranks = place.ranks;
    const std::vector<CoarserLevel> levels = coarser_levels(output);
    place.log.phases.begin(levels.empty() ? "counting extremes of channels"
                                          : "making coarser levels");
    const MadeRegions regions = made_ahead(ahead, ranks);
    Extremes own = ranks.together([&] { return reduce_levels(output, share, regions); });
    join(own, ahead != nullptr ? ahead->extremes() : Extremes());
    if (folder_of(output.layout) != nullptr && !levels.empty()) {
        place.log.phases.begin("storing coarser levels");
        for (std::size_t level = 0; level < levels.size(); ++level) {
            const auto begin = Clock::now();
            ranks.together([&] { store_level(output, level, share); });
            if (ranks.first()) {
                made.levels.push_back(level_report(levels[level].dataset, begin));
            }
        }
    }
    for (const std::string& each : ranks.gather(to_text(own))) {
        join(made.extremes, extremes_of_text(each, output.array).value_or(Extremes{}));
    }
}

} // namespace

OutputDataset begin_levels(const PreparedJob& prepared, const PartLayout& parts,
                           const RunPlace& place) {
    const Ranks& ranks = place.ranks;
    OutputDataset output = output_dataset(prepared, parts);
    // Only the first rank reads files; the others store slices and levels by the same axes.
    if (folder_of(output.layout) != nullptr) {
        std::string axes;
        ranks.first_alone([&] { axes = to_text(output::output_axes(prepared, place.prober)); });
        output.axes =
            axes_of_text(ranks.broadcast(axes), output.array.shape.size()).value_or(Axes{});
    }
    output.invalid_value = prepared.job->invalid();
    ranks.first_alone([&] { prepare_levels(output, {}); });
    return output;
}

Assembled assemble_on_all(const OutputDataset& output, const LevelsAhead* ahead,
                          const AssemblyShare& share, const RunPlace& place) {
    const Ranks& ranks = place.ranks;
    place.log.phases.begin("assembling the output");
    const auto begin = Clock::now();
    ranks.together([&] { assemble_output(output, share); });
    Assembled made;
    if (ranks.first() && folder_of(output.layout) != nullptr && !is_in_slices(output.layout)) {
        made.levels.push_back(level_report(output, begin));
    }
    if (!coarser_levels(output).empty() || stated_channels(output)) {
        make_levels_on_all(output, ahead, share, place, made);
    }
    return made;
}

} // namespace runner
