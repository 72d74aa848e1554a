// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "runner/probe/probe_limits.hpp"
#include "runner/probe/probe_process.hpp"
#include "runner/probe/probe_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

// What a probe does with files is in tests/end_to_end/bad_input.py.

namespace runner {
namespace {

TEST(ProbeWords, CarryRules) {
    for (const auto outside : {InputRules::Outside::beside, InputRules::Outside::anywhere}) {
        for (const auto bad : {InputRules::BadChunks::refuse, InputRules::BadChunks::mark}) {
            for (const std::optional<std::int64_t> bytes :
                 {std::optional<std::int64_t>(), std::optional<std::int64_t>(1),
                  std::optional(std::numeric_limits<std::int64_t>::max())}) {
                InputRules rules;
                rules.max_logical_bytes = bytes;
                rules.outside = outside;
                rules.bad_chunks = bad;
                rules.missing = !bytes        ? InputRules::Missing::fail
                                : *bytes == 1 ? InputRules::Missing::skip
                                              : InputRules::Missing::fill;
                const InputRules back = rules_from_text(to_text(rules));
                EXPECT_EQ(back.missing, rules.missing);
                EXPECT_EQ(back.outside, outside);
                EXPECT_EQ(back.bad_chunks, bad);
                EXPECT_EQ(back.max_logical_bytes, bytes);
            }
        }
    }
}

TEST(ProbeWords, CarryRequestsOneAfterAnother) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const std::vector<PackedChunk> chunks = {{{0, 4}, {std::byte{0}, std::byte{7}}}, {{8, 0}, {}}};
    const std::string both =
        to_text(ProbeRequest{"read", "a b\n", "/x", {}, {}}) +
        to_text(
            ProbeRequest{"store", "c", "/y", {7, InputRules::Outside::anywhere}, to_text(chunks)});
    ASSERT_EQ(::write(pipe[1], both.data(), both.size()), std::ssize(both));
    ASSERT_EQ(::close(pipe[1]), 0);
    const auto first = read_request(pipe[0]);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->way, "read");
    EXPECT_EQ(first->where(), "a b\n:/x");
    const auto second = read_request(pipe[0]);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->rules.max_logical_bytes, 7);
    const std::vector<PackedChunk> back = chunks_from_text(second->more);
    ASSERT_EQ(back.size(), 2U);
    EXPECT_EQ(back[0].start, chunks[0].start);
    EXPECT_EQ(back[0].bytes, chunks[0].bytes);
    EXPECT_EQ(back[1].start, chunks[1].start);
    EXPECT_FALSE(read_request(pipe[0]));
    (void)::close(pipe[0]);
}

TEST(ProbeWords, CarryAnErrorWithItsParts) {
    const std::string answer =
        answer_text(Error(ExitCode::input, {"what", "where", "", "try % this"}));
    EXPECT_FALSE(reply_of(answer));
    const std::optional<Error> error = error_of(answer);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::input);
    EXPECT_STREQ(error->what(), "what (where). try % this");
}

TEST(ProbeWords, CarryAnyReply) {
    for (const std::string& reply : {std::string(),
                                     std::string("error\0"
                                                 "3\0",
                                                 8),
                                     std::string(70000, '\0')}) {
        EXPECT_EQ(reply_of(answer_text(reply)), reply);
        EXPECT_FALSE(error_of(answer_text(reply)));
    }
}

TEST(ProbeWords, AreNotTrusted) {
    for (const std::string& text : {std::string(), std::string("good"), std::string("error"),
                                    std::string("goods\0", 6), std::string(70000, 'x')}) {
        EXPECT_FALSE(reply_of(text)) << text.substr(0, 20);
        EXPECT_FALSE(error_of(text)) << text.substr(0, 20);
    }
    // A code that would mean a good end, and a line that would look like another message.
    const std::string text("error\0"
                           "0\0a\nb\0c\0d\0e\0",
                           18);
    const std::optional<Error> error = error_of(text);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::input);
    EXPECT_STREQ(error->what(), "a\\x0ab (c): d. e");
}

TEST(ProbeEnd, IsTheFilesFaultUnlessMemoryIsLimited) {
    ProbeLimits limits;
    limits.memory = std::int64_t{1} << 62;
    const auto code = [&] {
        try {
            explain_probe_end("a.h5", SIGSEGV, limits);
        } catch (const Error& error) {
            return error.code();
        }
    };
    EXPECT_EQ(code(), ExitCode::input);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
    const rlimit lower{rlim_t{1} << 61, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &lower), 0);
    EXPECT_EQ(code(), ExitCode::launch);
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
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
