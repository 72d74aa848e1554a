// SPDX-License-Identifier: BSD-3-Clause
#include "runner/assemble_on_all.hpp"

#include "io/output/level_files.hpp"
#include "io/rows/written_format.hpp"
#include "runner/output/complete_output.hpp"

#include <string>

namespace runner {

Extremes assemble_on_all(const PreparedJob& prepared, const PartLayout& parts,
                         const AssemblyShare& share, const RunPlace& place) {
    const Ranks& ranks = place.ranks;
    place.log.phases.begin("assembling the output");
    OutputDataset output = output_dataset(prepared, parts);
    // Only the first rank reads files; the others store slices and levels by the same axes.
    if (folder_of(output.layout) != nullptr) {
        std::string axes;
        ranks.first_alone([&] { axes = to_text(output_axes(prepared, place.prober)); });
        output.axes =
            axes_of_text(ranks.broadcast(axes), output.array.shape.size()).value_or(Axes{});
    }
    output.invalid_value = prepared.job->invalid();
    ranks.together([&] { assemble_output(output, share); });
    const bool is_pyramid = !coarser_levels(output).empty();
    if (!is_pyramid && !stated_channels(output)) {
        return {};
    }
    place.log.phases.begin(is_pyramid ? "making coarser levels" : "counting extremes of channels");
    ranks.together([&] { prepare_levels(output, share); });
    const Extremes own = ranks.together([&] { return reduce_levels(output, share); });
    ranks.together([&] { store_levels(output, share); });
    Extremes all;
    for (const std::string& each : ranks.gather(to_text(own))) {
        join(all, extremes_of_text(each, output.array).value_or(Extremes{}));
    }
    return all;
}

} // namespace runner
