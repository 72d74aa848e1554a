// SPDX-License-Identifier: BSD-3-Clause
// Jobs on whole arrays, on the queue of the cores, against the same jobs streamed by an engine.
#include "runner/memory/in_core_job.hpp"

#include "base/error.hpp"
#include "runner/memory/memory_job.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

struct Case {
    std::string text; ///< lines of the job file but input and output
    ArrayInfo input;
    std::vector<NamedArray> arrays = {};
};

std::string job_text(const std::string& lines) {
    const std::size_t table = lines.find('[');
    return lines.substr(0, table) + "\n[input]\nfile = \"a.h5\"\ndataset = \"/a\"\n" +
           "[output]\nfile = \"b.h5\"\n" + lines.substr(table);
}

/// Numbers of the type, all finite; of uint8 below 4, which are cells of sand too.
std::vector<std::byte> random_elements(const ArrayInfo& array) {
    std::mt19937 random(5);
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(array)));
    for (std::int64_t i = 0; i < element_count(array); ++i) {
        const auto number = static_cast<int>(random() % 1000);
        std::byte* const to = bytes.data() + i * size_of(array.type);
        if (array.type == ElementType::float32) {
            const float value = static_cast<float>(number) / 7;
            std::memcpy(to, &value, sizeof(value));
        } else if (array.type == ElementType::float64) {
            const double value = number / 7.0;
            std::memcpy(to, &value, sizeof(value));
        } else if (array.type == ElementType::uint8) {
            to[0] = static_cast<std::byte>(number % 4);
        } else {
            std::memcpy(to, &number,
                        std::min(sizeof(number), static_cast<std::size_t>(size_of(array.type))));
        }
    }
    return bytes;
}

using Arrays = std::vector<std::vector<std::byte>>;

Arrays empty_arrays(const std::vector<ArrayInfo>& infos) {
    Arrays arrays;
    for (const ArrayInfo& info : infos) {
        arrays.emplace_back(static_cast<std::size_t>(byte_count(info)), std::byte{0xAB});
    }
    return arrays;
}

std::vector<std::byte*> pointers(Arrays& arrays) {
    std::vector<std::byte*> all;
    for (std::vector<std::byte>& array : arrays) {
        all.push_back(array.data());
    }
    return all;
}

Arrays streamed(const Case& given, const std::vector<std::byte>& input) {
    MemoryJob job(job_text(given.text), "job", given.input, {}, given.arrays);
    Arrays made = empty_arrays(job.outputs());
    Stop stop({});
    EXPECT_TRUE(job.run(input.data(), pointers(made), {BackendChoice::cpu}, stop));
    return made;
}

/// Memory as a GPU's library gives it: aligned, and kept until the end.
class Memory {
  public:
    std::byte* take(std::int64_t bytes) {
        buffers_.push_back(allocate_device(queue_, bytes));
        return buffers_.back().data();
    }

  private:
    CpuQueue queue_{1};
    std::vector<Buffer> buffers_;
};

Arrays in_core(const Case& given, const std::vector<std::byte>& input, const InCoreLimits& limits) {
    const InCoreJob job(job_text(given.text), "job", given.input, {}, given.arrays);
    Arrays made = empty_arrays(job.outputs());
    Memory memory;
    Queue queue = CpuQueue(2);
    const auto take = [&](std::int64_t bytes) { return memory.take(bytes); };
    job.run(queue, input.data(), pointers(made), take, limits);
    return made;
}

std::vector<Case> cases() {
    const auto volume = [](ElementType type) { return ArrayInfo{type, {7, 40, 33}}; };
    std::vector<Case> all;
    for (const std::string boundary : {"wrap", "reflect", "constant"}) {
        const std::string end = "\nboundary = \"" + boundary + "\"\n";
        all.push_back({"kind = \"convolve\"\n[convolve]\nrow_taps = [0.25, 0.5, 0.25]\n"
                       "column_taps = [0.1, 0.2, 0.3, 0.4, 0.0]" +
                           end,
                       volume(ElementType::float32)});
        all.push_back(
            {"kind = \"convolve\"\n[convolve]\nrow_taps = [1]\ncolumn_taps = [0.5, 0.5, 0]\n"
             "depth_taps = [0.1, 0.2, 0.7]" +
                 end,
             volume(ElementType::int16)});
        all.push_back(
            {"kind = \"median\"\n[median]\nsize = [3, 3, 5]" + end, volume(ElementType::uint16)});
    }
    all.push_back({"kind = \"bin\"\n[bin]\nfactors = [2, 3, 4]\nedge = \"partial\"\n",
                   volume(ElementType::uint16)});
    all.push_back(
        {"kind = \"rescale\"\n[rescale]\nfrom = \"extremes\"\n", volume(ElementType::float64)});
    all.push_back({"kind = \"rescale\"\n[rescale]\nfrom = { percentiles = [5, 90] }\n",
                   volume(ElementType::int16)});
    all.push_back({"kind = \"transpose\"\n[transpose]\npermutation = [2, 0, 1]\n",
                   volume(ElementType::bytes16)});
    all.push_back({"kind = \"sand\"\n[sand]\ngenerations = 50\nsnapshot_every = 20\n",
                   {ElementType::uint8, {40, 70}}});
    all.push_back({"kind = \"match\"\n[match]\nwindow = [3, 5, 5]\ncount = 3\nstep = 2\n",
                   volume(ElementType::float32)});
    all.push_back({"kind = \"match\"\n[match]\npatch = [1, 3, 3]\nwindow = [1, 5, 5]\ncount = 7\n",
                   {ElementType::uint8, {40, 33}}});
    all.push_back({"kind = \"denoise\"\n[denoise]\nmethod = \"nlm\"\nwindow = [5, 5, 5]\n",
                   volume(ElementType::float32)});
    all.push_back({"kind = \"denoise\"\n[denoise]\nmethod = \"bm4d\"\nsigma = 3\n",
                   volume(ElementType::uint16)});
    all.push_back(
        {"kind = \"correct\"\n[correct]\ndark = 3\nflat = 900.5\n", volume(ElementType::uint16)});
    all.push_back({"[[step]]\nkind = \"median\"\nsize = [1, 3, 3]\nboundary = \"wrap\"\n"
                   "[[step]]\nkind = \"rescale\"\nfrom = \"extremes\"\ndtype = \"float32\"\n"
                   "[[step]]\nkind = \"convolve\"\nrow_taps = [0.5, 0.5, 0]\ncolumn_taps = [1]\n"
                   "[[step]]\nkind = \"match\"\nwindow = [3, 3, 3]\ncount = 2\n",
                   volume(ElementType::uint16)});
    return all;
}

TEST(InCoreJob, HasTheBytesOfTheStreamedJob) {
    for (const Case& each : cases()) {
        const std::vector<std::byte> input = random_elements(each.input);
        const Arrays wanted = streamed(each, input);
        EXPECT_EQ(in_core(each, input, {}), wanted) << each.text;
        EXPECT_EQ(in_core(each, input, {1, 1}), wanted) << each.text; // in as many calls as may be
        EXPECT_EQ(in_core(each, input, {20000, 1}), wanted) << each.text;
    }
}

/// (x − dark) / (flat − dark), by hand; dark is the mean of two images.
TEST(InCoreJob, TakesFieldsFromArrays) {
    const std::vector<std::uint8_t> darks = {1, 2, 3, 2};
    const std::vector<float> flat = {6, 10};
    Case given{"kind = \"correct\"\n[correct]\n"
               "dark = { file = \"darks\", dataset = \"/images\" }\n"
               "flat = { file = \"flat\", dataset = \"/images\", reduce = \"none\" }\n",
               {ElementType::uint8, {1, 2}},
               {{"darks", {ElementType::uint8, {2, 1, 2}}, nullptr},
                {"flat", {ElementType::float32, {1, 2}}, nullptr}}};
    given.arrays[0].data = reinterpret_cast<const std::byte*>(darks.data());
    given.arrays[1].data = reinterpret_cast<const std::byte*>(flat.data());
    const std::vector<std::byte> input = {std::byte{4}, std::byte{6}};
    const std::vector<float> wanted = {0.5F, 0.5F};
    for (const Arrays& made : {in_core(given, input, {}), streamed(given, input)}) {
        ASSERT_EQ(made.size(), 1U);
        ASSERT_EQ(made[0].size(), 8U);
        std::vector<float> values(wanted.size());
        std::memcpy(values.data(), made[0].data(), made[0].size());
        EXPECT_EQ(values, wanted);
    }
}

TEST(InCoreJob, SavesNoStep) {
    const std::string text = "[[step]]\nkind = \"median\"\nsize = [3, 3]\nname = \"a\"\n"
                             "save = \"a.h5\"\n[[step]]\nkind = \"median\"\nsize = [3, 3]\n";
    try {
        const InCoreJob job(job_text(text), "job", {ElementType::uint8, {5, 6}}, {});
        FAIL() << "a step was to be saved";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_NE(std::string(error.what()).find("save"), std::string::npos) << error.what();
    }
}

TEST(InCoreJob, RefusesValuesAsTheStreamedJobDoes) {
    const Case sand{"kind = \"sand\"\n[sand]\ngenerations = 1\n", {ElementType::uint8, {5, 6}}};
    std::vector<std::byte> cells(30);
    cells[20] = std::byte{9};
    const auto text_of = [](const auto& call) {
        try {
            call();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::input);
            return std::string(error.what());
        }
        return std::string("no error");
    };
    const std::string of_sand = text_of([&] { (void)in_core(sand, cells, {}); });
    EXPECT_NE(of_sand.find("row 3, column 2"), std::string::npos) << of_sand;
    EXPECT_NE(of_sand.find("it is 9"), std::string::npos) << of_sand;

    const Case match{"kind = \"match\"\n[match]\nwindow = [1, 3, 3]\n",
                     {ElementType::float32, {9, 9}}};
    std::vector<std::byte> voxels = random_elements(match.input);
    const float wrong = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(voxels.data() + 4 * 31, &wrong, 4);
    EXPECT_EQ(text_of([&] { (void)in_core(match, voxels, {}); }).find("no error"),
              std::string::npos);
}

} // namespace
} // namespace runner
