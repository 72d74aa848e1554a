// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/inspect/scan_setup.hpp"
#include "io/rows/axes.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/frame_roles.hpp"
#include "io/rows/rows.hpp"
#include "jobs/job.hpp"
#include "jobs/key_text.hpp"
#include "jobs/table.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

class FileAccess;

/// A dataset that a job reads.
struct InputDataset {
    std::string file;
    std::string dataset;
};

/// What a job says of the invalid elements of datasets that its kind reads beside the input.
struct InvalidRule {
    bool heeds = true;                 ///< whether there are any
    std::optional<double> number = {}; ///< that they are; nothing: as the dataset's own file says
    bool is_of_file = false; ///< the input's file alone says which elements of it are invalid
};

/// A mask of the extents of all of a job's source, for frames that its kind reads beside the input.
class SourceMask {
  public:
    virtual ~SourceMask() = default;
    /// A part of the source, as `rows` reads it, in which masked elements are number(), whatever a
    /// step before makes of those of the input. @throws Error (input).
    virtual std::unique_ptr<RowReader> mark(std::unique_ptr<RowReader> rows,
                                            const DatasetPart& part, int threads) const = 0;
    virtual double number() const = 0;
    /// Bytes in memory that it takes.
    virtual std::int64_t bytes(int threads) const = 0;
};

/// The input that a job is made for.
struct JobInput {
    ArrayInfo array;
    InputDataset source = {};         ///< without a name where the file is yet to be made
    std::optional<int> channels = {}; ///< as DatasetInfo's
    /// By which the kind's own inputs and what else the input's file holds are read. Null only
    /// where the file is yet to be made and the kind has no inputs of its own.
    FileAccess* files = nullptr;
    FrameRoles roles = {};                ///< of each frame of the source
    std::optional<DatasetPart> part = {}; ///< of the source, that `array` is
    /// Which axis of the source each of `array` is; -1: none, or one that nobody knows. Empty: they
    /// are its own.
    std::vector<std::int64_t> source_axes = {};
    /// Whether a step before makes `array`, of the source.
    bool is_of_step = false;
    /// Invalid elements (kernels/elements/invalid.hpp), which kinds heed that take them; nothing:
    /// all are values.
    std::optional<double> invalid = {};
    InvalidRule invalid_rule = {};
    std::shared_ptr<const SourceMask> source_mask = {}; ///< null: there is none
    /// Which sample of the source's colour pixels `array` has (jobs/each_sample_job.hpp), for
    /// messages; nothing: all.
    std::optional<int> sample = {};
    ScanSetup setup = {}; ///< of the scan whose frames `array` has, as its file says it
    Axes axes = {};       ///< of `array`; they may say nothing
};

/// The parameters of one kind as the job file gives them, checked as far as they can be without the
/// input.
class KindParameters {
  public:
    virtual ~KindParameters() = default;

    /// The datasets that make() reads beside the job's input.
    virtual std::vector<InputDataset> inputs() const = 0;

    /// What elements an input may have, before make() says which numbers.
    enum class Elements { numbers, any };
    virtual Elements elements() const { return Elements::numbers; }
    /// Whether bool is read as uint8 and float16 as float32, as for a kind that takes numbers.
    virtual bool reads_numbers() const { return elements() == Elements::numbers; }

    /// Whether an element of the output is made of one of the input, so that what its neighbours
    /// are does not matter.
    virtual bool takes_elements_alone() const { return false; }

    /// Whether make() heeds JobInput::invalid, or needs it; and whether its output then has no
    /// invalid elements.
    enum class Invalid { ignores, heeds, requires_some, removes };
    virtual Invalid invalid() const { return Invalid::ignores; }

    /// The job for this input, whose elements are as elements() says. `output_type`: output.dtype,
    /// or nothing for the kind's default.
    /// @throws Error (usage or input) when parameters and input do not fit.
    virtual std::unique_ptr<Job> make(const JobInput& input,
                                      std::optional<ElementType> output_type) const = 0;

    /// The parameters as lines of TOML without the table's head, with every default filled in: for
    /// `explain`. A default that depends on the input is a comment.
    virtual std::string canonical() const = 0;

    /// The same for this input, with all values in effect and no comments: for the job's identity.
    virtual std::string canonical_for(const ArrayInfo& /*input*/) const { return canonical(); }
};

/// A kind of job: what the job file's `kind` may name, and how its table is read.
struct Kind {
    std::string_view name;
    std::string_view summary;       ///< half a line for --help
    std::vector<KeyText> (*keys)(); ///< those of its table, in the order of the canonical text
    std::string_view dataset;       ///< input.dataset where the job file names none; "": it must
    /// Reads the kind's table, finish() left to the caller; reports what is wrong to the reader and
    /// then may return nothing.
    std::unique_ptr<KindParameters> (*parse)(TableReader& table);
    /// The datasets of its output where they are several: a row of each is a row of the output, and
    /// output.dataset is the group that they are in. Empty: it is one.
    std::span<const std::string_view> datasets = {};
    /// The ending of files, beside HDF5's, that its output may be. Empty: there are none.
    std::string_view own_format = {};
};

/// Every kind of this build: the table in registry.cpp.
std::span<const Kind> kinds();

std::vector<std::string> kind_names();

} // namespace runner
