// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe_limits.hpp"
#include "runner/probe_words.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <limits>

// What a probe does with files is in tests/end_to_end/bad_input.py.

namespace runner {
namespace {

TEST(ProbeWords, CarryRules) {
    for (const auto outside : {InputRules::Outside::beside, InputRules::Outside::anywhere}) {
        for (const std::optional<std::int64_t> bytes :
             {std::optional<std::int64_t>(), std::optional<std::int64_t>(1),
              std::optional(std::numeric_limits<std::int64_t>::max())}) {
            const InputRules back = rules_from_text(to_text(InputRules{bytes, outside}));
            EXPECT_EQ(back.outside, outside);
            EXPECT_EQ(back.max_logical_bytes, bytes);
        }
    }
}

TEST(ProbeWords, CarryAnErrorWithItsParts) {
    const std::string answer =
        answer_text(Error(ExitCode::input, {"what", "where", "", "try % this"}));
    EXPECT_FALSE(is_good(answer));
    const std::optional<Error> error = error_of(answer);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::input);
    EXPECT_STREQ(error->what(), "what (where). try % this");
    EXPECT_TRUE(is_good(answer_text(std::nullopt)));
    EXPECT_FALSE(error_of(answer_text(std::nullopt)));
}

TEST(ProbeWords, AreNotTrusted) {
    for (const std::string& text : {std::string(), std::string("good"), std::string("error"),
                                    std::string("good\0good\0", 10), std::string(70000, 'x')}) {
        EXPECT_FALSE(is_good(text)) << text.substr(0, 20);
        EXPECT_FALSE(error_of(text)) << text.substr(0, 20);
    }
    // A code that would tell a good end, and a line that would look like another message.
    const std::string text("error\0"
                           "0\0a\nb\0c\0d\0e\0",
                           18);
    const std::optional<Error> error = error_of(text);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::input);
    EXPECT_STREQ(error->what(), "a\\x0ab (c): d. e");
}

TEST(ProbeLimits, EndWhatComputesForEver) {
    ProbeLimits limits = probe_limits("/nowhere");
    EXPECT_EQ(limits.cpu_seconds, 3);
    limits.cpu_seconds = 1;
    limits.seconds = 600; // a second of a busy processor's time
    EXPECT_EXIT(
        {
            enter_limits(limits);
            for (std::atomic<int> turns = 0;; ++turns) {
            }
        },
        testing::KilledBySignal(SIGXCPU), "");
}

} // namespace
} // namespace runner
