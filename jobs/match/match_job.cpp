// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/match/match_job.hpp"

#include "base/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/writers/output_fields.hpp"
#include "jobs/axis_work.hpp"
#include "jobs/match/sample_match_job.hpp"
#include "kernels/match/match.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace runner {
namespace {

/// As many as a block of threads of the GPU takes at once, and whole boxes of the CPU.
constexpr std::int64_t wanted_layers = 12;
/// Whole boxes of the CPU.
constexpr std::int64_t enough_layers = 4;

const KeyList<MatchKeys>& match_list() {
    static const KeyList<MatchKeys> list([] {
        std::vector<Key<MatchKeys>> keys =
            extents_keys<MatchKeys>("`[3, 3, 3]`; for an image `[1, 3, 3]`");
        keys.push_back(key<MatchKeys>("count", &MatchKeys::count, integer_form(1, Match::max_count),
                                      "matches of each reference"));
        for (Key<MatchKeys>& each : choosing_keys<MatchKeys>("`1`")) {
            keys.push_back(std::move(each));
        }
        return keys;
    }());
    return list;
}

class MatchParameters : public ListedParameters<MatchKeys> {
  public:
    using ListedParameters::ListedParameters;

    Invalid invalid() const override { return Invalid::heeds; }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        if (!has_samples(input)) {
            return make_one(input, output_type);
        }
        return std::make_unique<SampleMatchJob>(
            jobs_of_samples(input, [&](const JobInput& one) { return make_one(one, output_type); }),
            canonical_for(sample_of(input, 0).array));
    }

    std::string canonical_for(const ArrayInfo& input) const override {
        MatchKeys effective = keys();
        fill_in(effective, input.shape.size() == 2);
        return list().canonical(effective, CanonicalFor::identity);
    }

  private:
    /// The job for an input of one sample a pixel.
    std::unique_ptr<MatchJob> make_one(const JobInput& input,
                                       std::optional<ElementType> output_type) const {
        Volume volume = make_volume(input, "match", VoxelTypes::usual);
        if (output_type) {
            throw Error(ExitCode::usage,
                        {"match makes uint64, float32 and int32", "output.dtype",
                         "it is " + std::string(name_of(*output_type)), "Leave it out"});
        }
        const Match match = make_match(keys(), volume, "match");
        return std::make_unique<MatchJob>(std::move(volume), match);
    }
};

} // namespace

BlockLayers block_layers(const Volume& volume, const RowBlock& block) {
    const std::int64_t lines = volume.shape[1];
    return {block.in_first / lines, block.in_rows / lines, block.out_first / lines,
            block.out_rows / lines};
}

std::int64_t match_halo(const Match& match) {
    const std::int64_t last = match.volume[0] - match.patch[0];
    const std::int64_t layers = std::min(match.window[0] / 2, last) + match.patch[0] - 1;
    return std::min(layers, match.volume[0]) * match.volume[1];
}

/// A block's scratch.
struct MatchJob::Memory {
    float* volume = nullptr; ///< where what is matched is not the input
    MatchLists lists;
    std::int64_t bytes = 0;

    Memory(const MatchJob& job, std::int64_t in_layers, std::int64_t rows, std::byte* memory) {
        Pieces pieces(memory);
        if (job.volume_.type != ElementType::float32 || job.volume_.invalid) {
            volume = pieces.take<float>(in_layers * job.volume_.layer_voxels());
        }
        lists.index = pieces.take<std::uint64_t>(rows * job.match_.count);
        lists.distance = pieces.take<float>(rows * job.match_.count);
        lists.count = pieces.take<std::int32_t>(rows);
        bytes = pieces.bytes();
    }
};

MatchJob::MatchJob(Volume volume, const Match& match) : volume_(std::move(volume)), match_(match) {
    const auto grid = match_grid(match_);
    const std::int64_t references = checked_product(grid);
    shape_.fields = {
        {std::string(match_datasets[0]), {ElementType::uint64, {references, match.count}}},
        {std::string(match_datasets[1]), {ElementType::float32, {references, match.count}}},
        {std::string(match_datasets[2]), {ElementType::int32, {references}}}};
    shape_.output = joined_array(shape_.fields);
    shape_.rows = volume_.rows();
    shape_.in_row_bytes = volume_.row_bytes();
    shape_.out_row_bytes = match_row_bytes(match_.count);
    shape_.halo = match_halo(match_);
    shape_.made = {volume_.shape[1], grid[1] * grid[2], match_.step,
                   volume_.shape[0] - match_.patch[0]};
    shape_.wanted_rows = wanted_layers * match_.step * volume_.shape[1];
    shape_.enough_rows = enough_layers * match_.step * volume_.shape[1];
    shape_.rows_between = shape_.enough_rows;
}

std::vector<std::string> MatchJob::axis_work(std::size_t axes) const {
    const std::array<std::int64_t, 3> reach = match_mixing(match_).reach;
    WorkAlongFrame frame;
    for (std::size_t i = 0; i < frame.size(); ++i) {
        frame.at(i) = reach.at(i) > 0 ? "searched" : "";
    }
    return work_along(frame, axes, channels());
}

std::vector<Attribute> MatchJob::attributes() const {
    const auto grid = match_grid(match_);
    return {{"references_z", grid[0]}, {"references_y", grid[1]}, {"references_x", grid[2]}};
}

void MatchJob::check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const {
    (void)checked_magnitude(volume_, first, rows, in);
}

std::int64_t MatchJob::scratch_bytes(Backend /*backend*/, const RowBlock& block) const {
    const BlockLayers layers = block_layers(volume_, block);
    return Memory(*this, layers.in_layers, shape_.made.most(block.out_rows), nullptr).bytes;
}

double MatchJob::operations(const RowBlock& block) const {
    const BlockLayers held = block_layers(volume_, block);
    return match_operations(match_, match_layers(match_, held.first, held.layers));
}

void MatchJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                   const RunMemory& given) const {
    const BlockLayers held = block_layers(volume_, block);
    const MatchLayers layers = match_layers(match_, held.first, held.layers);
    const std::int64_t rows = match_rows(match_, layers);
    if (rows == 0) {
        return;
    }
    const Memory memory(*this, held.in_layers, rows, given.scratch);
    std::visit(
        [&](auto& backend) {
            const auto* voxels = reinterpret_cast<const float*>(in);
            if (memory.volume != nullptr) {
                // Distances of patches with NaN are NaN, which is within no threshold.
                read_voxels(backend, volume_, held.in_layers * volume_.layer_voxels(), in,
                            memory.volume);
                voxels = memory.volume;
            }
            voxels += (layers.in_first - held.in_first) * volume_.layer_voxels();
            match_patches(backend, match_, layers, voxels, memory.lists);
            pack_match_rows(backend, rows, match_.count, memory.lists, out);
        },
        queue);
}

std::vector<KeyText> match_keys() { return match_list().texts(); }

std::unique_ptr<KindParameters> parse_match(TableReader& table) {
    return read_parameters<MatchParameters>(match_list(), table);
}

} // namespace runner
