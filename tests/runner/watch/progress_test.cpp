// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/progress.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace runner {
namespace {

using File = std::unique_ptr<std::FILE, decltype([](std::FILE* file) { std::fclose(file); })>;

std::string content(std::FILE* file) {
    std::rewind(file);
    std::string text(10000, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    return text;
}

TEST(ProgressText, SaysShareRateTimeAndBusiestStage) {
    // 32.1 GB in 10 s.
    EXPECT_EQ(progress_text({25, 100, 32'100'000'000, 10, {{"read", 9.3}, {"write", 4.0}}}, 30),
              "25.0 %  3.21 GB/s  30 s left  busiest: read 93 %");
    EXPECT_EQ(progress_text({1, 3, 5'000'000, 60, {{"read", 1.0}, {"compute", 61.0}}}, 120),
              "33.3 %  0 MB/s  2:00 min left  busiest: compute 100 %");
    EXPECT_EQ(progress_text({1, 100, 6'000'000'000, 75, {}}, 7425),
              "1.0 %  80 MB/s  2:03:45 h left");
}

TEST(ProgressText, LeavesOutWhatIsNotKnown) {
    EXPECT_EQ(progress_text({0, 100, 0, 0, {{"read", 0.0}}}), "0.0 %");
    EXPECT_EQ(progress_text({0, 100, 0, 2.5, {}}), "0.0 %  0 MB/s");
    EXPECT_EQ(progress_text({100, 100, 1000000, 1, {}}, 0), "100.0 %  1 MB/s");
    EXPECT_EQ(progress_text({0, 0, 0, 0, {}}), "100.0 %");
    EXPECT_EQ(progress_text({9999.9, 10000, 0, 0, {}}), "99.9 %"); // not 100 yet
}

TEST(Progress, RedrawsOneLineAndEndsIt) {
    const File file(std::tmpfile());
    Progress progress(file.get(), ProgressStyle::redrawn, "job");
    progress.update({0, 4, 0, 0, {}});
    progress.update({1, 4, 0, 0, {}});
    progress.clear();
    progress.finish({4, 4, 0, 0, {}});
    EXPECT_EQ(content(file.get()), "\rjob  0.0 %\x1b[K\rjob  25.0 %\x1b[K"
                                   "\r\x1b[K\rjob  100.0 %\x1b[K\n");
}

TEST(Progress, RedrawnLineFitsTheTerminal) {
    const File file(std::tmpfile());
    Progress progress(file.get(), ProgressStyle::redrawn, std::string(200, 'j'));
    progress.update({0, 4, 0, 0, {}});
    EXPECT_EQ(content(file.get()), "\r" + std::string(79, 'j') + "\x1b[K");
}

TEST(Progress, WritesALineEveryTenSecondsToALog) {
    const File file(std::tmpfile());
    Progress progress(file.get(), ProgressStyle::lines, "job");
    for (const double seconds : {0.5, 9.9, 10.0, 15.0, 19.9, 20.5, 29.0}) {
        progress.update({1, 1, seconds * 2e6, seconds, {}});
    }
    progress.clear();
    progress.finish({1, 1, 0, 31, {}});
    EXPECT_EQ(content(file.get()),
              "job  100.0 %  2 MB/s\njob  100.0 %  2 MB/s\njob  100.0 %  0 MB/s\n");
}

TEST(Progress, SaysHowLongItTakesFromPartsOfRowsToo) {
    const File file(std::tmpfile());
    Progress progress(file.get(), ProgressStyle::lines, "job");
    for (int second = 0; second <= 10; ++second) {
        progress.update({second / 200.0, 1, 0, static_cast<double>(second), {}});
    }
    progress.finish({0.05, 1, 0, 10, {}}); // stopped: nothing more is done
    EXPECT_EQ(content(file.get()), "job  5.0 %  0 MB/s  3:10 min left\njob  5.0 %  0 MB/s\n");
}

TEST(Progress, IsSilentWhenAsked) {
    const File file(std::tmpfile());
    Progress progress(file.get(), ProgressStyle::silent, "job");
    progress.update({1, 2, 0, 100, {}});
    progress.clear();
    progress.finish({2, 2, 0, 200, {}});
    EXPECT_EQ(content(file.get()), "");
}

TEST(Progress, AFileIsNoTerminal) {
    const File file(std::tmpfile());
    EXPECT_EQ(progress_style(file.get()), ProgressStyle::lines);
}

} // namespace
} // namespace runner
