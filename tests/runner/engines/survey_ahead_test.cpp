// SPDX-License-Identifier: BSD-3-Clause
// The first pass of a survey beside other work, by readers that a test holds back.
#include "runner/engines/survey_input.hpp"

#include "runner/memory/memory_files.hpp"
#include "runner/prepare/passes.hpp"

#include <array>
#include <functional>
#include <future>
#include <mutex>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Read = std::function<void(std::int64_t first, std::int64_t rows, float* to)>;

class ReaderOf final : public RowReader {
  public:
    ReaderOf(DatasetInfo info, Read read) : info_(std::move(info)), read_(std::move(read)) {}
    const DatasetInfo& info() const override { return info_; }
    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        read_(first, rows, reinterpret_cast<float*>(to));
    }

  private:
    DatasetInfo info_;
    Read read_;
};

/// A job that asks for the least and the greatest of `rows` rows of two elements.
std::shared_ptr<const PreparedJob> prepared_for(std::int64_t rows, const Read& read) {
    MemoryFiles files(memory_info({ElementType::float32, {rows, 2}}, std::nullopt), {});
    const std::string text = "kind = \"rescale\"\n[rescale]\nfrom = \"extremes\"\nto = [0, 1]\n"
                             "[input]\nfile = \"a.h5\"\ndataset = \"/a\"\n"
                             "[output]\nfile = \"b.h5\"\n";
    const auto passes = passes_of(parse_array_job(text, "job"), files, RowOrders::are_passes);
    PreparedJob prepared = prepare_pass(passes.back(), files);
    prepared.layout.way = DatasetLayout::Way::positions;
    prepared.rows = [info = prepared.input, read](int /*threads*/) {
        return std::make_unique<ReaderOf>(info, read);
    };
    return std::make_shared<const PreparedJob>(std::move(prepared));
}

void count_up(std::int64_t first, std::int64_t rows, float* to) {
    for (std::int64_t i = 0; i < 2 * rows; ++i) {
        to[i] = static_cast<float>(2 * first + i);
    }
}

class Ahead : public testing::Test {
  protected:
    std::optional<PreparedJob> finish(const PreparedJob& prepared, SurveyAhead& ahead) {
        return survey_input(prepared, ranks, {1, 1, stop, progress, ProgressStyle::silent, &ahead});
    }

    const Ranks ranks{Ranks::Alone{}};
    RunProgress progress;
    Stop stop = Stop(std::vector<std::string>{});
};

/// More rows than are ever read.
constexpr std::int64_t endless = std::int64_t{1} << 40;

TEST_F(Ahead, ReadsBesideTheCaller) {
    std::promise<void> caller_is_here;
    const std::shared_future<void> go = caller_is_here.get_future().share();
    const auto prepared = prepared_for(3, [go](auto first, auto rows, float* to) {
        go.wait();
        count_up(first, rows, to);
    });
    SurveyAhead ahead(prepared, ranks, {0}, progress);
    caller_is_here.set_value(); // else the constructor would not have returned
    const std::optional<PreparedJob> found = finish(*prepared, ahead);
    ASSERT_TRUE(found);
    const std::unique_ptr<Survey> plain = prepared->job->survey();
    CpuQueue queue(1);
    const std::array<float, 6> values = {0, 1, 2, 3, 4, 5};
    plain->add(queue, 0, 3, reinterpret_cast<const std::byte*>(values.data()));
    EXPECT_EQ(ahead.survey().findings().most, plain->findings().most);
    EXPECT_EQ(ahead.survey().findings().least, plain->findings().least);
    EXPECT_NE(plain->findings().most, plain->findings().least);
    EXPECT_EQ(progress.surveyed_rows, 0) << "before the only part";
    EXPECT_FALSE(found->job->survey());
}

TEST_F(Ahead, TellsAFailureWhereTheSurveyIsAwaited) {
    const auto prepared = prepared_for(3, [](auto, auto, float*) {
        throw Error(ExitCode::input, {"cannot read", "a.h5", "", ""});
    });
    SurveyAhead ahead(prepared, ranks, {0}, progress);
    try {
        (void)finish(*prepared, ahead);
        FAIL();
    } catch (const AgreedError& error) {
        EXPECT_EQ(error.code(), ExitCode::input);
        EXPECT_EQ(error.text().what, "cannot read");
    }
}

TEST_F(Ahead, EndsWhereSomethingAsksToStop) {
    const auto prepared = prepared_for(endless, count_up);
    SurveyAhead ahead(prepared, ranks, {0}, progress);
    stop.ask("a test");
    EXPECT_FALSE(finish(*prepared, ahead));
}

TEST_F(Ahead, EndsWithItsOwner) {
    std::promise<void> begun;
    std::once_flag once;
    const auto prepared = prepared_for(endless, [&](auto first, auto rows, float* to) {
        std::call_once(once, [&] { begun.set_value(); });
        count_up(first, rows, to);
    });
    {
        const SurveyAhead ahead(prepared, ranks, {0}, progress);
        begun.get_future().wait();
    }
    EXPECT_LT(progress.surveyed_rows, endless);
}

} // namespace
} // namespace runner
