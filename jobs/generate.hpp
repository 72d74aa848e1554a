// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "io/inspect/scan_setup.hpp"
#include "io/output/publish_output.hpp"
#include "io/rows/frame_roles.hpp"
#include "io/rows/output_layout.hpp"
#include "kernels/patterns/patterns.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace runner {

/// A synthetic input: `input.generate` of a job file, and the `generate` verb.
struct GenerateRequest {
    std::string pattern;
    std::vector<std::int64_t> shape;
    ElementType type = ElementType::float32;
    std::uint64_t seed = 0;
    double counts = usual_counts; ///< mean photon count of the pattern "xray"
};

/// What the file will say of the frames: of scans alone it says something.
FrameRoles generated_roles(const GenerateRequest& request);

/// What the file will say of the beam and the camera: of a phase-scan alone it says something.
ScanSetup generated_setup(const GenerateRequest& request, const std::string& dataset);

/// The names of all patterns.
const std::vector<std::string>& generate_patterns();

/// How it is stored.
struct GenerateStorage {
    OutputLayout layout; ///< `format` is chosen by the file's name
    std::int64_t memory = std::numeric_limits<std::int64_t>::max(); ///< that rows may take
    std::function<void()> check = {}; ///< called between pieces, may throw to end it; may be empty
};

/// Makes a file with one dataset of a synthetic pattern (kernels/patterns/patterns.hpp) on
/// `threads` ≥ 1 threads. 64 MiB at a time pass through memory, or the rows of a chunk, or one row
/// where these are more. The file has the name FILE.partial until it is complete.
/// @throws Error: (usage) for an unknown pattern, a shape without elements, or chunks that do not
/// fit it or the memory; (output) for a file that exists and is not to be overwritten, and when
/// storage fails: nothing is left then.
void generate(const GenerateRequest& request, const std::string& file, const std::string& dataset,
              int threads, Overwrite overwrite = Overwrite::no,
              const GenerateStorage& storage = {});

} // namespace runner
