// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/attributes.hpp"
#include "io/output/publish_output.hpp"
#include "runner/output/begin_output.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/probe/prober.hpp"

#include <functional>
#include <string>
#include <vector>

namespace runner {

/// The attribute of a finished output that holds Beginning::identity.
inline constexpr const char* identity_attribute = "identity";

/// The attribute of a finished output in HDF5 that holds the Digest of its frames' generations.
inline constexpr const char* generations_checksum_attribute = "generation_checksum";

/// What an output is completed with.
struct Completion {
    std::vector<Attribute> facts;     ///< attributes about the run, beside those of the job
    std::function<void()> check_name; ///< throws where the output may not get its name
    Overwrite overwrite = Overwrite::no;
};

/// Completes the output on rank 0, once every rank has written its last row: checks that all rows
/// are there and that the input has not changed, stores checksums, attributes and what is still
/// true of the input's metadata, and publishes the output. Returns warnings about metadata that the
/// output does not have. @throws Error (output), and (input) where the input has changed.
std::vector<std::string> complete_output(const PreparedJob& prepared, const Beginning& beginning,
                                         Completion completion, Prober& prober);

} // namespace runner
