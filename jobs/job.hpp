// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/metadata/carry_metadata.hpp"
#include "io/rows/row_order.hpp"
#include "io/rows/rows.hpp"
#include "jobs/side_image.hpp"
#include "jobs/survey.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Which elements of its input an element of a job's output is computed from: what a box that is
/// cut from the input makes alike. Each array is along z, y and x, the input's last three axes
/// without the channels of colour; along all axes before, elements are independent.
struct Locality {
    std::array<std::int64_t, 3> reach = {0, 0, 0}; ///< elements on either side
    /// A box must begin at multiples of it.
    std::array<std::int64_t, 3> step = {1, 1, 1};
    /// Elements of the input that become one of the output.
    std::array<std::int64_t, 3> block = {1, 1, 1};
    bool wraps = false; ///< elements at one end are computed from those at the other too
    /// All elements along it become others together, so that a box has all of them. The output's
    /// axis, if there is one, is not in their places.
    std::array<bool, 3> joins = {};

    /// The locality of a job that passes its output to the job `next`.
    Locality then(const Locality& next) const {
        Locality all = *this;
        for (std::size_t i = 0; i < reach.size(); ++i) {
            all.reach.at(i) += next.reach.at(i) * block.at(i);
            all.step.at(i) = std::lcm(step.at(i), next.step.at(i) * block.at(i));
            all.block.at(i) *= next.block.at(i);
            all.joins.at(i) = joins.at(i) || next.joins.at(i);
        }
        all.wraps = wraps || next.wraps;
        return all;
    }
};

/// Which generations of a run are kept: after the first one, those that are multiples of `every`,
/// and the last one. With `every` 0, or no generation to go, the last alone.
struct Snapshots {
    std::uint64_t first = 0;      ///< generation that the state begins at
    std::int64_t generations = 0; ///< to go, ≥ 0; first + generations < 2^64
    std::int64_t every = 0;       ///< ≥ 0

    std::uint64_t last() const { return first + static_cast<std::uint64_t>(generations); }
    /// How many are kept, ≥ 1.
    std::int64_t count() const;
    /// The generation of the index-th of them.
    std::uint64_t generation(std::int64_t index) const;
    /// How many of them are of `generation` or before it.
    std::int64_t count_until(std::uint64_t generation) const;

    bool operator==(const Snapshots&) const = default;
};

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
    /// The output's axes are those that likeness() says. A pipeline's steps have one each.
    virtual std::optional<Locality> locality() const { return std::nullopt; }

    /// Which elements of the input become one of the output, as locality() says it, also where no
    /// part makes as the whole does; nothing where distances do not say it.
    virtual std::optional<Locality> mixing() const { return locality(); }

    /// What it does along each of the so many axes of its input, for people (jobs/axis_work.hpp).
    /// As mixing() says it: "filtered", "binned by 2" or each_by_itself.
    virtual std::vector<std::string> axis_work(std::size_t axes) const;

    /// Rows of the output that are computed together, from each multiple of their number on: those
    /// of a frame, where each depends on all of it.
    virtual std::int64_t rows_together() const { return 1; }

    /// The order in which it takes the rows of its input, where that is not theirs.
    virtual std::optional<RowOrder> row_order() const { return std::nullopt; }

    /// What is counted in the whole output and known beforehand, for the report.
    virtual std::vector<JobCount> known_counts() const { return {}; }

    /// For people, what was found of the input: by the survey, or what its file says of keys that
    /// the job file leaves out.
    virtual std::vector<std::string> found() const { return {}; }

    /// For people, what is odd about the input and no hindrance, as DatasetInfo::notes; once it is
    /// surveyed also what the survey found so.
    virtual std::vector<std::string> notes() const { return {}; }

    /// Invalid elements of the output (kernels/elements/invalid.hpp); nothing: all are values.
    virtual std::optional<double> invalid() const { return std::nullopt; }

    /// The least and the greatest value of the output, which greater and smaller ones become;
    /// nothing where it clips none but those that its type does not have.
    virtual std::optional<std::array<double, 2>> clipped_to() const { return std::nullopt; }

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
