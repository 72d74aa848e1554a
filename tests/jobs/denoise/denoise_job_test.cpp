// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/denoise_job.hpp"

#include "base/error.hpp"
#include "jobs/stream_job.hpp"
#include "tests/support/table_values.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace runner {
namespace {

const TableEntry bm4d = {"method", of(std::string("bm4d"))};
const TableEntry all = {"count", of(std::string("all"))};
const TableEntry sigma_of_two = {"sigma", of(2.0)};
const ArrayInfo volume = {ElementType::uint16, {40, 9, 11}};
const ArrayInfo image = {ElementType::uint16, {9, 11}};

std::unique_ptr<Job> make(const TableEntries& entries, const ArrayInfo& input,
                          std::optional<int> channels = {},
                          std::optional<ElementType> output = {}) {
    JobInput given{input, {"scan.h5", "/volume"}, channels};
    return parsed("denoise", parse_denoise, entries)->make(given, output);
}

const StreamJob& stream(const std::unique_ptr<Job>& job) {
    return dynamic_cast<const StreamJob&>(*job);
}

std::string canonical(const TableEntries& entries) {
    return parsed("denoise", parse_denoise, entries)->canonical();
}

std::string canonical_for(const TableEntries& entries, const ArrayInfo& input) {
    return parsed("denoise", parse_denoise, entries)->canonical_for(input);
}

TEST(DenoiseJob, TakesTheDefaultsOfItsMethod) {
    const auto rest = [](int step) {
        return "count = 16\nstep = " + std::to_string(step) +
               "\nthreshold = inf\norder = \"ascending\"\nselection = \"fast\"\n";
    };
    EXPECT_EQ(canonical({}), "method = \"nlm\"\nsigma = \"auto\"\nstrength = 0.6\n"
                             "stabilise = \"none\"\n"
                             "# patch: [3, 3, 3]; for an image [1, 3, 3]\n"
                             "# window: [11, 11, 11]; for an image [1, 11, 11]\n" +
                                 rest(1));
    EXPECT_EQ(canonical_for({}, image),
              "method = \"nlm\"\nsigma = \"auto\"\nstrength = 0.6\nstabilise = \"none\"\n"
              "patch = [1, 3, 3]\nwindow = [1, 11, 11]\n" +
                  rest(1));
    EXPECT_EQ(canonical_for({bm4d}, volume),
              "method = \"bm4d\"\nsigma = \"auto\"\nstabilise = \"none\"\n"
              "patch = [4, 4, 4]\nwindow = [11, 11, 11]\n" +
                  rest(3));
    EXPECT_EQ(
        canonical_for({bm4d, sigma_of_two, {"stabilise", of(std::string("anscombe"))}}, image),
        "method = \"bm4d\"\nsigma = 2.0\nstabilise = \"anscombe\"\n"
        "patch = [1, 4, 4]\nwindow = [1, 11, 11]\n" +
            rest(3));
}

TEST(DenoiseJob, OfWholeWindowsHasNoKeysThatChoose) {
    EXPECT_EQ(canonical({all}), "method = \"nlm\"\nsigma = \"auto\"\nstrength = 0.6\n"
                                "stabilise = \"none\"\n"
                                "# patch: [3, 3, 3]; for an image [1, 3, 3]\n"
                                "# window: [11, 11, 11]; for an image [1, 11, 11]\n"
                                "count = \"all\"\n");
    EXPECT_EQ(canonical_for({all, {"step", of(std::int64_t{1})}}, image),
              "method = \"nlm\"\nsigma = \"auto\"\nstrength = 0.6\nstabilise = \"none\"\n"
              "patch = [1, 3, 3]\nwindow = [1, 11, 11]\ncount = \"all\"\n");
    EXPECT_NE(make({all}, volume)->computation(), make({}, volume)->computation());
}

TEST(DenoiseJob, MakesWhatItsInputIs) {
    for (const TableEntries& entries : {TableEntries{}, TableEntries{bm4d}, TableEntries{all}}) {
        const auto job = make(entries, volume);
        const StreamShape shape = stream(job).shape();
        EXPECT_EQ(shape.output, (ArrayInfo{ElementType::float32, {40, 9, 11}}));
        EXPECT_EQ(shape.rows, 360);
        EXPECT_EQ(shape.in_row_bytes, 22);
        EXPECT_EQ(shape.out_row_bytes, 44);
        EXPECT_EQ(shape.made.layer, 9);
        EXPECT_EQ(shape.made.each, 9);
        EXPECT_EQ(shape.made.before(360), 360);
        EXPECT_TRUE(shape.fields.empty());
        EXPECT_EQ(make(entries, image)->output(), (ArrayInfo{ElementType::float32, {9, 11}}));
        const auto same = make(entries, volume, {}, ElementType::uint16);
        EXPECT_EQ(stream(same).shape().out_row_bytes, 22);
        EXPECT_EQ(same->output().type, ElementType::uint16);
    }
}

/// nlm: that of the matches. bm4d: twice what its references' windows reach, 2 x 5 and a patch.
TEST(DenoiseJob, ReachesAsFarAsItsMethod) {
    EXPECT_EQ(stream(make({}, volume)).shape().halo, (5 + 2) * 9);
    EXPECT_EQ(stream(make({all}, volume)).shape().halo, (5 + 2) * 9);
    EXPECT_EQ(stream(make({bm4d}, volume)).shape().halo, 2 * (10 + 3) * 9);
    EXPECT_EQ(stream(make({bm4d}, {ElementType::uint8, {12, 9, 11}})).shape().halo, 12 * 9)
        << "no more than there is";
    EXPECT_EQ(stream(make({}, image)).shape().halo, 0);
    EXPECT_EQ(stream(make({bm4d, {"patch", integers({1, 4, 4})}}, image)).shape().halo, 0);

    using Three = std::array<std::int64_t, 3>;
    for (const TableEntries& entries : {TableEntries{}, TableEntries{all}}) {
        const Locality near = make(entries, volume)->locality().value();
        EXPECT_EQ(near.reach, (Three{5 + 3, 5 + 3, 5 + 3}));
        EXPECT_EQ(near.step, (Three{1, 1, 1}));
    }
    const Locality far = make({bm4d}, volume)->locality().value();
    EXPECT_EQ(far.reach, (Three{4 * 5 + 2 * 4, 4 * 5 + 2 * 4, 4 * 5 + 2 * 4}));
    EXPECT_EQ(far.step, (Three{3, 3, 3}));
    const Locality flat = make({}, image)->locality().value();
    EXPECT_EQ(flat.reach, (Three{0, 8, 8}));
    EXPECT_FALSE(flat.wraps);
}

/// Pieces of whole 256 bytes. The lists are of 9 layers with 9 x 9 references each: those of two
/// layers before reach into the block.
TEST(DenoiseJob, TakesScratchForVoxelsSumsAndLists) {
    const RowBlock block{1, 0, 63, 0, 63};
    TableEntries entries = {sigma_of_two};
    const auto bytes = [&](ElementType type, std::optional<ElementType> output) {
        const auto job = make(entries, {type, {7, 9, 11}}, {}, output);
        return stream(job).scratch_bytes(Backend::cpu, block);
    };
    const std::int64_t sums = 5632;                  // 693 of int64
    const std::int64_t lists = 93440 + 46848 + 3072; // 729 x 16 of 8 and of 4 bytes; 729 of 4
    const std::int64_t voxels = 2816;                // 693 of float32
    EXPECT_EQ(bytes(ElementType::float32, {}), sums + lists + voxels) << "to scale them";
    EXPECT_EQ(bytes(ElementType::uint16, {}), sums + lists + voxels);
    EXPECT_EQ(bytes(ElementType::uint16, ElementType::uint16), sums + lists + 2 * voxels);
    entries.push_back(all);
    EXPECT_EQ(bytes(ElementType::float32, {}), voxels) << "whole windows need no lists";
    EXPECT_EQ(bytes(ElementType::uint16, ElementType::uint16), 2 * voxels);
}

TEST(DenoiseJob, RefusesWrongKeys) {
    const auto complaints = [](const TableEntries& entries) {
        return complaints_of("denoise", parse_denoise, entries);
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(complaints({{"sigma", of(-1.0)}, {"strength", of(-0.5)}}),
              (Texts{"denoise.sigma: must be 0 or more, got -1.0",
                     "denoise.strength: must be 0 or more, got -0.5"}));
    EXPECT_EQ(complaints({{"sigma", of(std::string("much"))}}),
              (Texts{"denoise.sigma: expected \"auto\" or a number, got a string, \"much\""}));
    EXPECT_EQ(complaints({{"sigma", of(std::string("auto"))}}), Texts{});
    EXPECT_EQ(complaints({bm4d, {"strength", of(0.6)}}),
              (Texts{"denoise.strength: bm4d has none, its thresholds follow from sigma; leave it "
                     "out, or write a larger sigma for a smoother result"}));
    EXPECT_EQ(complaints({bm4d, {"patch", integers({8, 8, 8})}}),
              (Texts{"denoise.count: a group of 16 patches of [8, 8, 8] has 8192 voxels, and bm4d "
                     "takes 4096; write 8, or a smaller patch"}));
    EXPECT_EQ(complaints({bm4d, {"patch", integers({8, 8, 8})}, {"count", of(std::int64_t{15})}}),
              Texts{})
        << "a group of 8";
    EXPECT_EQ(complaints({{"patch", integers({8, 8, 8})}}), Texts{}) << "nlm has no groups";
    EXPECT_EQ(complaints({{"count", of(std::string("most"))}}),
              (Texts{"denoise.count: expected an integer or \"all\", got a string, \"most\""}));
    EXPECT_EQ(complaints({bm4d, all}), (Texts{"denoise.count: expected an integer, got a string"}));
    const std::string left_out =
        "count = \"all\" takes every candidate of every patch; leave it out";
    EXPECT_EQ(complaints({all,
                          {"step", of(std::int64_t{2})},
                          {"threshold", of(2.5)},
                          {"selection", of(std::string("serial"))}}),
              (Texts{"denoise.step: " + left_out, "denoise.threshold: " + left_out,
                     "denoise.selection: " + left_out}));
    for (const auto& [key, value] :
         {TableEntry{"method", of(std::string("bm3d"))}, TableEntry{"sigma", of(true)},
          TableEntry{"stabilise", of(std::string("log"))}, TableEntry{"count", of(std::int64_t{0})},
          TableEntry{"window", integers({4, 3, 3})}, TableEntry{"noise", of(1.0)}}) {
        const Texts texts = complaints({{key, value}});
        ASSERT_EQ(texts.size(), 1U) << key;
        EXPECT_NE(texts.front().find(key), std::string::npos) << texts.front();
    }
}

TEST(DenoiseJob, RefusesInputsThatDoNotFit) {
    const auto failure = [](const TableEntries& entries, const ArrayInfo& input,
                            std::optional<int> channels, std::optional<ElementType> output) {
        try {
            (void)make(entries, input, channels, output);
            return std::pair(0, std::string());
        } catch (const Error& error) {
            return std::pair(static_cast<int>(error.code()), error.text().where);
        }
    };
    using Failure = std::pair<int, std::string>;
    EXPECT_EQ(failure({}, {ElementType::int32, {7, 9, 11}}, {}, {}), (Failure{0, ""}));
    EXPECT_EQ(failure({}, {ElementType::complex64, {7, 9, 11}}, {}, {}), (Failure{3, ""}));
    EXPECT_EQ(failure({}, {ElementType::uint8, {7, 9, 3}}, 3, {}), (Failure{0, ""}));
    EXPECT_EQ(failure({}, {ElementType::uint8, {2, 7, 9, 8, 3}}, 3, {}),
              (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure({}, volume, {}, ElementType::uint8), (Failure{2, "output.dtype"}));
    EXPECT_EQ(failure({{"step", of(std::int64_t{4})}}, volume, {}, {}),
              (Failure{2, "denoise.step"}));
    EXPECT_EQ(failure({{"step", of(std::int64_t{3})}}, volume, {}, {}), (Failure{0, ""}));
    EXPECT_EQ(failure({{"step", of(std::int64_t{3})}}, image, {}, {}), (Failure{0, ""}))
        << "one reference along z";
    EXPECT_EQ(failure({}, {ElementType::uint8, {2, 9, 11}}, {}, {}), (Failure{2, "denoise.patch"}));
}

/// The noise of the voxels, where it is not given; of floats how large they may be.
TEST(DenoiseJob, SurveysWhatItDoesNotKnow) {
    const TableEntry counts = {"stabilise", of(std::string("anscombe"))};
    for (const TableEntries& method : {TableEntries{}, TableEntries{bm4d}, TableEntries{all}}) {
        const auto surveys = [&](std::optional<TableEntry> entry, ElementType type) {
            TableEntries entries = method;
            if (entry) {
                entries.push_back(*entry);
            }
            return make(entries, {type, {7, 9, 11}})->survey() != nullptr;
        };
        EXPECT_TRUE(surveys({}, ElementType::uint8));
        EXPECT_FALSE(surveys(sigma_of_two, ElementType::uint8));
        EXPECT_FALSE(surveys(counts, ElementType::uint16));
        EXPECT_TRUE(surveys(sigma_of_two, ElementType::float32));
        EXPECT_TRUE(surveys(sigma_of_two, ElementType::int32));
        EXPECT_TRUE(surveys(counts, ElementType::float32));
    }
    EXPECT_EQ(make({sigma_of_two}, volume)->attributes(), (std::vector<Attribute>{{"sigma", 2.0}}));
    const auto unsurveyed = make({}, volume);
    Queue queue(CpuQueue(1));
    EXPECT_THROW(stream(unsurveyed).run(queue, {1, 0, 360, 0, 360}, nullptr, nullptr, {}), Error);
}

/// Averages of a constant are that constant.
TEST(DenoiseJob, LeavesAConstantAsItIs) {
    for (const TableEntries& entries :
         {TableEntries{sigma_of_two}, TableEntries{bm4d, sigma_of_two},
          TableEntries{all, sigma_of_two}}) {
        for (const std::optional<ElementType> output :
             {std::optional<ElementType>{}, std::optional{ElementType::uint16}}) {
            const auto job = make(entries, {ElementType::uint16, {5, 6, 7}}, {}, output);
            const RowBlock block{1, 0, 30, 0, 30};
            const std::vector<std::uint16_t> in(210, 1234);
            std::vector<float> floats(210);
            std::vector<std::uint16_t> integers(210);
            std::vector<std::byte> scratch(
                static_cast<std::size_t>(stream(job).scratch_bytes(Backend::cpu, block)));
            Queue queue(CpuQueue(1));
            stream(job).run(queue, block, reinterpret_cast<const std::byte*>(in.data()),
                            output ? reinterpret_cast<std::byte*>(integers.data())
                                   : reinterpret_cast<std::byte*>(floats.data()),
                            {.scratch = scratch.data()});
            if (output) {
                EXPECT_EQ(integers, in);
            } else {
                for (const float value : floats) {
                    EXPECT_NEAR(value, 1234.0F, 1e-3F);
                }
            }
        }
    }
}

/// With invalid elements the halo is filled too, from as far as the method reaches.
TEST(DenoiseJob, ReachesFartherToFill) {
    const auto invalid = [](const TableEntries& entries, const ArrayInfo& input, double value) {
        JobInput given{input, {"scan.h5", "/volume"}};
        given.invalid = value;
        return parsed("denoise", parse_denoise, entries)->make(given, {});
    };
    for (const TableEntries& entries : {TableEntries{}, TableEntries{all}}) {
        EXPECT_EQ(stream(invalid(entries, volume, 9)).shape().halo, 2 * (5 + 2) * 9);
        EXPECT_EQ(invalid(entries, volume, 9)->locality()->reach,
                  (std::array<std::int64_t, 3>{5 + 3 + 7, 5 + 3 + 7, 5 + 3 + 7}));
    }
    const ArrayInfo long_one = {ElementType::uint16, {200, 9, 11}};
    EXPECT_EQ(stream(invalid({bm4d}, long_one, 9)).shape().halo, 4 * (10 + 3) * 9);
    EXPECT_EQ(stream(invalid({bm4d}, volume, 9)).shape().halo, 40 * 9) << "no more than there is";
    EXPECT_EQ(stream(invalid({}, image, 9)).shape().halo, 0);
    const TableEntry flat_window = {"window", integers({1, 5, 9})};
    EXPECT_EQ(
        stream(invalid({{"patch", integers({1, 2, 2})}, flat_window}, volume, 9)).shape().halo, 0)
        << "layers are images";
    EXPECT_EQ(
        stream(invalid({{"patch", integers({2, 2, 2})}, flat_window}, volume, 9)).shape().halo,
        (1 + 5) * 9)
        << "as far along z as along x";
    const auto job = invalid({sigma_of_two}, volume, 9);
    EXPECT_EQ(job->computation(), "nlm 2, filled 1");
    EXPECT_TRUE(std::isnan(job->invalid().value()));
    EXPECT_EQ(job->attributes(), (std::vector<Attribute>{{"sigma", 2.0}}));
    EXPECT_EQ(make({sigma_of_two}, volume)->invalid(), std::nullopt);
}

/// The largest block says only how many rows it has; a block in the middle needs as much.
TEST(DenoiseJob, TakesScratchToFill) {
    for (const TableEntries& entries :
         {TableEntries{sigma_of_two}, TableEntries{bm4d, sigma_of_two},
          TableEntries{all, sigma_of_two}}) {
        JobInput given{volume, {"scan.h5", "/volume"}};
        given.invalid = 9;
        const auto job = parsed("denoise", parse_denoise, entries)->make(given, {});
        const std::int64_t halo = stream(job).shape().halo;
        const std::int64_t rows = std::min<std::int64_t>(360, 2 * halo + 9);
        EXPECT_EQ(stream(job).scratch_bytes(Backend::cpu, {1, 0, rows, 0, 9}),
                  stream(job).scratch_bytes(Backend::cpu, {1, 180 - halo, rows, 180, 9}));
    }
}

/// 1 of 3 is invalid, and the others are 1234: so is their mean.
TEST(DenoiseJob, LeavesAConstantBesideInvalidOnes) {
    for (const TableEntries& entries :
         {TableEntries{sigma_of_two}, TableEntries{bm4d, sigma_of_two},
          TableEntries{all, sigma_of_two}}) {
        JobInput given{{ElementType::uint16, {5, 6, 7}}, {"scan.h5", "/volume"}};
        given.invalid = 9;
        const auto job =
            parsed("denoise", parse_denoise, entries)->make(given, ElementType::uint16);
        const RowBlock block{1, 0, 30, 0, 30};
        std::vector<std::uint16_t> in(210, 1234);
        for (std::size_t i = 0; i < in.size(); i += 3) {
            in[i] = 9;
        }
        std::vector<std::uint16_t> out(210);
        std::vector<std::byte> scratch(
            static_cast<std::size_t>(stream(job).scratch_bytes(Backend::cpu, block)));
        Queue queue(CpuQueue(1));
        stream(job).run(queue, block, reinterpret_cast<const std::byte*>(in.data()),
                        reinterpret_cast<std::byte*>(out.data()), {.scratch = scratch.data()});
        EXPECT_EQ(out, in);
        EXPECT_EQ(job->invalid(), 9);
    }
}

/// Where check_rows() finds fault with row 12; empty where it does not.
std::string refused_voxel(const StreamJob& job, const std::byte* row) {
    try {
        job.check_rows(12, 1, row);
        return "";
    } catch (const Error& error) {
        return error.text().where;
    }
}

/// What is invalid need not be finite.
TEST(DenoiseJob, ChecksValidVoxels) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (const TableEntries& entries : {TableEntries{}, TableEntries{bm4d}, TableEntries{all}}) {
        JobInput given{{ElementType::float32, {7, 9, 11}}, {"scan.h5", "/volume"}};
        given.invalid = nan;
        const auto job = parsed("denoise", parse_denoise, entries)->make(given, {});
        std::vector<float> row(11, 0.0F);
        const auto* const bytes = reinterpret_cast<const std::byte*>(row.data());
        row[2] = nan;
        stream(job).check_rows(12, 1, bytes);
        row[5] = std::numeric_limits<float>::infinity();
        EXPECT_EQ(refused_voxel(stream(job), bytes), "scan.h5:/volume, voxel [1, 3, 5]");
    }
}

TEST(DenoiseJob, NamesAVoxelThatIsNoNumber) {
    for (const TableEntries& entries : {TableEntries{}, TableEntries{bm4d}, TableEntries{all}}) {
        const auto job = make(entries, {ElementType::float32, {7, 9, 11}});
        EXPECT_TRUE(stream(job).checks_rows());
        std::vector<float> row(11, 0.0F);
        const auto* const bytes = reinterpret_cast<const std::byte*>(row.data());
        stream(job).check_rows(12, 1, bytes);
        row[5] = std::numeric_limits<float>::infinity();
        EXPECT_EQ(refused_voxel(stream(job), bytes), "scan.h5:/volume, voxel [1, 3, 5]");
    }
}

} // namespace
} // namespace runner
