// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/metadata/carry_metadata.hpp"
#include "io/rows/rows.hpp"
#include "jobs/locality.hpp"
#include "jobs/side_image.hpp"
#include "jobs/snapshots.hpp"
#include "jobs/survey.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// A number of something in a job's output or input, as "step_1.dead_values".
struct JobCount {
    std::string name;
    std::int64_t value = 0;
};

/// What the planner and the evolve engine know of a job: rows of a state that goes from generation
/// to generation, and rows of bytes that it begins with and that its snapshots are.
struct EvolveShape {
    ArrayInfo output;      ///< of the dataset to write: snapshots × rows × what is in a row
    std::int64_t rows = 0; ///< of the state, and of a frame of the input
    std::int64_t in_row_bytes = 0;
    std::int64_t out_row_bytes = 0;
    std::int64_t state_row_bytes = 0;
    std::int64_t cells = 0;       ///< in all rows
    std::int64_t input_frame = 0; ///< that the state begins as
    Snapshots snapshots;          ///< and first and last generation
};

/// A job ready to plan. Each engine has a class derived from it, and runs the jobs that derive from
/// that (runner/engines/engine.hpp).
class Job {
  public:
    virtual ~Job() = default;

    /// Type and extents of the dataset to write.
    virtual ArrayInfo output() const = 0;

    /// The datasets of the output where they are several: output() is then their joined_array()
    /// (io/writers/output_fields.hpp).
    virtual std::vector<OutputField> fields() const { return {}; }

    /// What the output depends on beside the input and KindParameters::canonical(), for the job's
    /// identity: the version of the computation, which changes whenever its bytes may, and a
    /// checksum of what was read from other files or made by functions of the system's library.
    virtual std::string computation() const = 0;

    /// The parameters in effect as lines, where they depend on more than the input; else nothing,
    /// and KindParameters::canonical_for() says them.
    virtual std::optional<std::string> parameters() const { return std::nullopt; }

    /// What the finished output says of the job beside its text, as attributes of its root.
    virtual std::vector<Attribute> attributes() const { return {}; }

    /// What is still true of the output of what the input's file says of it, one step after the
    /// other; nothing where the elements are of another kind.
    virtual std::vector<Likeness> likeness() const { return {}; }

    /// What a part of the input makes as the whole does; nothing where that is not so of any part.
    virtual std::optional<Locality> locality() const { return std::nullopt; }

    /// What is counted in the whole output and known beforehand, for the report.
    virtual std::vector<JobCount> known_counts() const { return {}; }

    /// For people, what is odd about the input and no hindrance, as DatasetInfo::notes.
    virtual std::vector<std::string> notes() const { return {}; }

    /// Channels of the images it makes, as the output's marks say them; 1 for grey.
    virtual int channels() const { return 1; }

    /// Images that it needs beside its input, of a StreamJob. Their values may be computed at any
    /// time before the first chunk; computation() has them computed.
    virtual std::vector<std::shared_ptr<const SideImage>> side_images() const { return {}; }

    /// What must be known of the whole input before the first chunk; null: nothing.
    virtual std::unique_ptr<Survey> survey() const { return nullptr; }
    /// The job that knows what the survey found.
    virtual std::unique_ptr<Job> surveyed(const Findings& /*findings*/) const { return nullptr; }

    /// The shape of a job whose output is snapshots of a state, each made from the one before;
    /// nothing where rows of the output are made from the input alone.
    virtual std::optional<EvolveShape> state() const { return std::nullopt; }
};

} // namespace runner
