// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/stream_plan.hpp"

#include "base/durations.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "runner/plan/border_plan.hpp"
#include "runner/plan/plan_text.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// Small enough that all lanes together stay in the processor's caches between reading, copying and
/// writing: on an H200 host the stream takes 1.27 s with 4 MiB chunks, 1.57 s with 16 MiB ones
/// (bench/results).
constexpr std::int64_t wanted_stream_bytes = 4 * MiB;
constexpr std::int64_t wanted_chunks_a_rank = 32;
/// Where larger chunks reach more files that are written at once.
constexpr std::int64_t least_chunks_a_rank = 8;
/// What is lost of a chunk when a run stops is little beside a start, and lanes overlap.
constexpr double most_chunk_seconds = 4;
/// Chunks that take less are not made smaller for the lanes' sake.
constexpr double short_chunk_seconds = 0.25;
/// Operations a second as jobs count them, so about, for chunks: docs/memory-and-plan.md.
constexpr double core_rate = 1e10;
constexpr double gpu_rate = 8e12;

/// Page-locked memory that rows pass through to a device and back. Few and large enough that a link
/// of 50 GB/s is kept busy and all I/O threads have a share of each.
constexpr std::int64_t in_portion_bytes = 32 * MiB;
constexpr std::int64_t out_portion_bytes = 16 * MiB;

/// Border rows of the rank that holds most, and a periodic border's early rows. Of very many ranks
/// the first and last are asked: those between hold what their neighbours do.
std::int64_t most_border_rows(const Decomposition& d) {
    constexpr int asked_at_each_end = 64;
    std::int64_t most = 0;
    for (int rank = 0; rank < d.ranks; ++rank) {
        if (rank < asked_at_each_end || rank >= d.ranks - asked_at_each_end) {
            most = std::max(most, make_border_plan(d, rank).held_rows());
        }
    }
    return most + (d.border == RowBorder::periodic ? 2 * d.halo : 0);
}

/// A chunk in the middle of a frame, with the halo on both sides.
RowBlock usual_block(const Decomposition& d) {
    const std::int64_t rows = std::min(d.chunk_rows, d.rows);
    const std::int64_t first = (d.rows - rows) / 2 / d.alignment * d.alignment;
    const RowRange window = d.window(first, first + rows);
    const std::int64_t frames = d.whole_frames() ? d.chunk_rows / d.rows : 1;
    return {frames, window.first, window.count(), first, rows};
}

/// Fewer than `wanted` rows where these take too long, or leave lanes without a chunk.
std::int64_t quick_rows(const StreamJob& job, const StreamPlan& frame, std::int64_t wanted,
                        std::int64_t lanes) {
    const Decomposition& d = frame.decomposition;
    const std::int64_t slab = d.total_rows() / d.ranks;
    const std::int64_t step = round_up(frame.shape.rows_between, d.alignment);
    const std::int64_t least = std::min(wanted, round_up(frame.shape.enough_rows, d.alignment));
    std::int64_t rows = wanted;
    for (; rows > least; rows = std::max(least, rows - step)) {
        const double seconds = with_chunks(job, frame, rows, lanes).chunk_seconds;
        const bool overlaps = rows <= slab / (2 * lanes) || seconds <= short_chunk_seconds;
        if (overlaps && seconds <= most_chunk_seconds) {
            break;
        }
    }
    return rows;
}

std::int64_t wanted_chunk_rows(const StreamJob& job, const StreamPlan& frame, std::int64_t lanes,
                               std::int64_t write_rows) {
    const StreamShape& shape = frame.shape;
    const Decomposition& d = frame.decomposition;
    const std::int64_t row_bytes =
        std::max<std::int64_t>(1, std::max(shape.in_row_bytes, shape.out_row_bytes));
    const std::int64_t slab = std::max<std::int64_t>(1, d.total_rows() / d.ranks);
    if (shape.wanted_rows > 0) {
        const std::int64_t wanted = round_up(std::min(shape.wanted_rows, slab), d.alignment);
        return shape.enough_rows > 0 ? quick_rows(job, frame, wanted, lanes) : wanted;
    }
    std::int64_t rows = std::max<std::int64_t>(1, wanted_stream_bytes / row_bytes);
    rows = std::min(rows, std::max(slab / wanted_chunks_a_rank, 1 * MiB / row_bytes));
    rows = std::max(rows, std::min(write_rows, slab / least_chunks_a_rank));
    // Halo rows are computed again for every chunk, which a GPU hardly notices beside its copies.
    rows = std::max(rows, (frame.backend == Backend::cuda ? 2 : 4) * shape.halo);
    rows = std::clamp<std::int64_t>(rows, 1, slab);
    if (rows > shape.rows) {
        rows = rows / shape.rows * shape.rows;
    }
    return round_up(rows, d.alignment);
}

/// The rows of the input whose output is there.
RowSet rows_done(const Decomposition& d, const RowSet& out) {
    std::vector<RowRange> done;
    for (const RowRange& range : out) {
        if (const RowRange rows = d.rows_within(range); !rows.empty()) {
            done.push_back(rows);
        }
    }
    return make_row_set(std::move(done));
}

/// What the job's side images take, in all the memory that they leave where it helps.
void add_images(const StreamJob& job, StreamPlan& plan) {
    std::int64_t wanted = 0;
    std::int64_t least = 0;
    for (const auto& image : job.side_images()) {
        plan.need.images += image->bytes();
        wanted = std::max(wanted, image->wanted_bytes());
        least = std::max(least, image->least_bytes());
    }
    plan.need.images_work = std::max(least, std::min(wanted, plan.host_memory - plan.need.images));
}

[[noreturn]] void refuse(const StreamPlan& plan) {
    const JobPlan::Shortage shortage = plan.shortage();
    throw Error(ExitCode::usage,
                {"the job does not fit", shortage.key,
                 "chunks of " + counted(plan.decomposition.chunk_rows, "row") + " in " +
                     counted(plan.lanes, "lane") + " take " + size_text(shortage.need) +
                     " a rank and " + size_text(shortage.limit) + " are allowed",
                 "Set " + shortage.key + " = \"" + enough_text(shortage.need) + "\" or more" +
                     (plan.decomposition.chunk_rows > plan.decomposition.alignment
                          ? ", or run.chunk_rows lower"
                          : "")});
}

/// The time of what takes long enough to be felt.
std::string time_text(const StreamPlan& plan) {
    constexpr double felt = 0.1;
    return plan.chunk_seconds < felt
               ? ""
               : "  computing a chunk takes about " + duration_text(plan.chunk_seconds) + "\n";
}

/// The largest chunk rows that fit with this many lanes; 0 when none does.
std::int64_t largest_fitting(const StreamJob& job, const StreamPlan& frame, std::int64_t wanted,
                             std::int64_t lanes) {
    const std::int64_t step = frame.decomposition.alignment;
    std::int64_t low = 0; // fits, in steps; 0 stands for nothing
    std::int64_t high = wanted / step + 1;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (with_chunks(job, frame, middle * step, lanes).fits() ? low : high) = middle;
    }
    return low * step;
}

/// The images whose rows the plan cuts.
struct Images {
    std::int64_t count = 1;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    std::int64_t pixels_a_row = 1; ///< rows of the dataset that make a row of an image
    bool has_colour = false;
};

/// The images of an array, if it has as many rows as the plan cuts.
std::optional<Images> images_of(std::vector<std::int64_t> shape, int channels,
                                const StreamPlan& plan) {
    const bool has_colour = channels > 1;
    if (has_colour && !shape.empty()) {
        shape.pop_back(); // the samples of a pixel
    }
    if (shape.size() < 2) {
        return std::nullopt;
    }
    Images images;
    images.has_colour = has_colour;
    images.columns = shape.back();
    images.rows = shape[shape.size() - 2];
    shape.resize(shape.size() - 2);
    images.count = checked_product(shape);
    images.pixels_a_row = has_colour ? images.columns : 1;
    const bool is_alike =
        images.count * images.rows * images.pixels_a_row == plan.decomposition.total_rows();
    return is_alike ? std::optional(images) : std::nullopt;
}

/// The images of the output, where a row of it stands for each row of the input; else of the input.
std::optional<Images> images_of(const StreamPlan& plan) {
    if (!plan.shape.fields.empty()) {
        return std::nullopt;
    }
    const std::optional<Images> made = images_of(plan.shape.output.shape, plan.channels, plan);
    return made ? made : images_of(plan.input_shape, plan.input_channels, plan);
}

/// "30 images of 200 rows x 250 columns, halo 1 row", "1 volume of 30 images of …, halo 2 images".
std::string frames_text(const StreamPlan& plan) {
    const Decomposition& d = plan.decomposition;
    const std::optional<Images> images = images_of(plan);
    if (!images) {
        return counted(d.frames, "frame of ", "frames of ") + counted(d.rows, "row") + ", halo " +
               counted(d.halo, "row");
    }
    const std::int64_t image_rows = images->rows * images->pixels_a_row; // of the dataset
    const std::int64_t layers = d.rows / std::max<std::int64_t>(1, image_rows);
    const std::string image = (layers > 1 ? counted(layers, "image of ", "images of ") : "") +
                              counted(images->rows, "row") + " x " +
                              counted(images->columns, "column") +
                              (images->has_colour ? " in colour" : "");
    const bool is_volume = layers > 1;
    const bool in_images = is_volume && d.halo % image_rows == 0;
    return counted(is_volume ? d.frames : images->count, is_volume ? "volume of " : "image of ",
                   is_volume ? "volumes of " : "images of ") +
           image + ", halo " +
           (in_images ? counted(d.halo / image_rows, "image")
                      : rows_text(d.halo, images->pixels_a_row));
}

} // namespace

double StreamPlan::bytes_a_row() const {
    const OutputRows& made = shape.made;
    return static_cast<double>(shape.in_row_bytes) +
           static_cast<double>(shape.out_row_bytes * made.each) /
               (static_cast<double>(made.layer) * static_cast<double>(made.step));
}

std::int64_t StreamPlan::most_in_portion() const {
    if (backend == Backend::cpu) {
        return in_bytes();
    }
    const std::int64_t row = std::max<std::int64_t>(1, shape.in_row_bytes);
    return std::min(in_bytes(), std::max<std::int64_t>(1, in_portion_bytes / row) * row);
}

Decomposition StreamPlan::out_portions() const {
    Decomposition portions = decomposition;
    portions.done = {}; // no chunk has finished rows
    if (backend == Backend::cpu) {
        return portions;
    }
    const OutputRows& made = shape.made;
    const std::int64_t row = std::max<std::int64_t>(1, shape.out_row_bytes);
    const std::int64_t out = std::max(write_rows, out_portion_bytes / row);
    const std::int64_t rows = std::max<std::int64_t>(1, out / made.each) * made.layer * made.step;
    portions.chunk_rows = std::min(portions.chunk_rows, round_up(rows, portions.alignment));
    return portions;
}

std::int64_t StreamPlan::most_out_portion() const {
    return out_portions().most_out_rows() * shape.out_row_bytes;
}

std::int64_t StreamPlan::bytes_to_read() const {
    return decomposition.rows_to_do({0, decomposition.total_rows()}) * shape.in_row_bytes;
}

std::int64_t StreamPlan::bytes_to_write() const {
    std::int64_t rows = decomposition.out_rows({0, decomposition.total_rows()}).count();
    for (const RowRange& done : decomposition.done) {
        rows -= decomposition.out_rows(done).count();
    }
    return rows * shape.out_row_bytes;
}

std::int64_t StreamPlan::pieces_of_rank(int rank) const {
    return count_chunks(decomposition, rows_of_rank(rank));
}

std::string StreamPlan::text() const {
    const std::optional<Images> images = images_of(*this);
    const std::int64_t pixels = images ? images->pixels_a_row : 1;
    return frames_text(*this) + "; " + means_text(*this, ChunkText::yes, pixels) +
           slabs_text(decomposition, pixels) + time_text(*this) + memory_text(*this) +
           bytes_text(*this);
}

std::vector<PlanFact> StreamPlan::facts() const {
    const Decomposition& d = decomposition;
    return {{"frames", d.frames},
            {"rows_per_frame", d.rows},
            {"halo_rows", d.halo},
            {"chunk_rows", d.chunk_rows}};
}

StreamPlan with_chunks(const StreamJob& job, const StreamPlan& frame, std::int64_t chunk_rows,
                       std::int64_t lanes) {
    StreamPlan plan = frame;
    plan.decomposition.chunk_rows = chunk_rows;
    plan.lanes = static_cast<int>(lanes);
    plan.scratch_bytes = job.scratch_bytes(plan.backend, plan.decomposition.largest_block());
    plan.carried_bytes = plan.carries ? job.carried_bytes(plan.decomposition.largest_block()) : 0;
    plan.chunk_seconds = job.operations(usual_block(plan.decomposition)) /
                         (plan.backend == Backend::cuda ? gpu_rate : core_rate * plan.cores);
    const std::int64_t in = plan.in_bytes() * plan.input_slots();
    const std::int64_t out = plan.out_bytes() * plan.lanes;
    const std::int64_t scratch =
        plan.scratch_bytes * plan.lanes + plan.carried_bytes + job.kept_bytes(plan.backend);
    if (plan.backend == Backend::cuda) {
        plan.need.staging = plan.most_in_portion() * plan.input_slots() +
                            plan.most_out_portion() * plan.out_portions_a_lane() * plan.lanes;
        plan.need.device = in + out + scratch;
    } else {
        plan.need.staging =
            in + out + scratch + plan.cores * job.thread_bytes(plan.decomposition.largest_block());
    }
    return plan;
}

StreamPlan make_plan(const StreamJob& job, const PlanRequest& request) {
    StreamPlan frame;
    frame.start_from(request);
    frame.cores = std::max(1, request.cores);
    frame.stored_rows = request.alignment;
    frame.write_rows = request.write_rows;
    frame.shape = job.shape();
    frame.channels = job.channels();
    frame.input_shape = request.input_shape;
    frame.input_channels = request.input_channels;
    const std::int64_t alignment = chunk_alignment(frame.shape, request.alignment);
    frame.decomposition = {frame.shape.frames, frame.shape.rows,
                           frame.shape.halo,   frame.shape.border,
                           alignment,          1,
                           request.ranks,      {},
                           frame.shape.made};
    frame.decomposition.done = rows_done(frame.decomposition, request.done);
    frame.need.border = most_border_rows(frame.decomposition) * frame.shape.in_row_bytes;
    add_images(job, frame);

    const std::int64_t first_lanes = request.lanes.value_or(JobPlan::wanted_lanes);
    const std::int64_t wanted =
        request.chunk_rows ? round_up(*request.chunk_rows, alignment)
                           : wanted_chunk_rows(job, frame, first_lanes, request.write_rows);
    const std::int64_t last_lanes = request.lanes.value_or(1);
    const std::int64_t least = request.chunk_rows ? wanted : alignment;
    for (const bool carries : {true, false}) {
        frame.carries = carries;
        for (std::int64_t lanes = first_lanes; lanes >= last_lanes; --lanes) {
            const std::int64_t rows = largest_fitting(job, frame, wanted, lanes);
            // Fewer rows than the halo would move more halo than image: rather fewer lanes.
            const std::int64_t enough =
                frame.shape.wanted_rows > 0 ? wanted : std::min(wanted, frame.shape.halo);
            const bool small = rows < enough && lanes > last_lanes;
            if (rows >= least && rows > 0 && !small) {
                return with_chunks(job, frame, rows, lanes);
            }
        }
    }
    refuse(with_chunks(job, frame, least, last_lanes));
}

std::optional<StreamPlan> halved(const StreamJob& job, const StreamPlan& plan) {
    const Decomposition& d = plan.decomposition;
    if (d.chunk_rows > d.alignment) {
        return with_chunks(job, plan,
                           std::max(d.alignment, d.chunk_rows / 2 / d.alignment * d.alignment),
                           plan.lanes);
    }
    if (plan.lanes > 1) {
        return with_chunks(job, plan, d.chunk_rows, plan.lanes - 1);
    }
    return std::nullopt;
}

} // namespace runner
