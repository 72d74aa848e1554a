// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/prober.hpp"

#include "base/error.hpp"
#include "runner/probe/probe_words.hpp"
#include "runner/watch/stop.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

// This program starts itself to probe inputs, as the runner does; what it does then is chosen by
// the name of the file. Whole batches of such files are in tests/end_to_end/batch_cases.py.

namespace runner {
namespace {

/// Status and answer as the process that forks writes them.
void write_answer(int status, const std::string& answer) {
    const std::string all = answer_head(status, answer.size()) + answer;
    if (::write(STDOUT_FILENO, all.data(), all.size()) != static_cast<ssize_t>(all.size())) {
        std::_Exit(3);
    }
}

/// Answers one request after another, as the files' names say.
int answer_as_told() {
    while (const std::optional<ProbeRequest> request = read_request(STDIN_FILENO)) {
        const std::string& file = request->file;
        if (file == "good") {
            write_answer(0, answer_text("reply"));
        } else if (file == "who") { // tells its process's number
            write_answer(0, answer_text(Error(ExitCode::input,
                                              {"process", "", std::to_string(::getpid()), ""})));
        } else if (file == "hangs") {
            for (;;) {
                ::pause();
            }
        } else if (file == "hangs in its answer") {
            (void)!::write(STDOUT_FILENO, "0 ", 2);
            for (;;) {
                ::pause();
            }
        } else if (file == "crashed") {
            write_answer(SIGSEGV, "");
        } else if (file == "killed") {
            write_answer(SIGKILL, "");
        } else if (file == "says nothing") {
            write_answer(0, "");
        } else if (file == "lies about its length") {
            const std::string head = answer_head(0, 99999);
            (void)!::write(STDOUT_FILENO, head.data(), head.size());
            return 1;
        } else if (file == "promises too much") {
            const std::string head = answer_head(0, ProbeProcess::longest_answer + 1);
            (void)!::write(STDOUT_FILENO, head.data(), head.size());
        } else { // ends
            return 1;
        }
    }
    return 0;
}

/// A second for what never ends, and longer for all else than starting a process ever takes.
ProbeLimits limits_by_name(const std::string& file) {
    ProbeLimits limits;
    limits.seconds = file.starts_with("hangs") ? 1 : 600;
    return limits;
}

class ProberTest : public testing::Test {
  protected:
    std::string ask(const std::string& file) {
        return prober_.ask({"read", file, "/image", {}, {}});
    }

    std::string number_of_process() {
        try {
            (void)ask("who");
            return "none";
        } catch (const Error& error) {
            return error.text().why;
        }
    }

    /// The code and words of the error that is thrown.
    std::string thrown_for(const std::string& file) {
        try {
            (void)ask(file);
            return "nothing";
        } catch (const Error& error) {
            return std::to_string(static_cast<int>(error.code())) + " " + error.what();
        }
    }

    Prober prober_{limits_by_name};
};

TEST_F(ProberTest, KeepsOneProcessForManyFiles) {
    EXPECT_EQ(ask("good"), "reply");
    const std::string process = number_of_process();
    EXPECT_NE(process, "none");
    EXPECT_NE(process, std::to_string(::getpid()));
    for (const char* file : {"crashed", "killed", "says nothing"}) {
        EXPECT_NE(thrown_for(file), "nothing") << file;
    }
    EXPECT_EQ(number_of_process(), process);
}

TEST_F(ProberTest, TellsWhatBecameOfALook) {
    EXPECT_EQ(thrown_for("crashed").rfind("3 the file is damaged or malicious", 0), 0U);
    EXPECT_NE(thrown_for("crashed").find("SIGSEGV"), std::string::npos);
    EXPECT_NE(thrown_for("killed").find("came from outside"), std::string::npos);
    EXPECT_EQ(thrown_for("says nothing")[0], '3');
}

TEST_F(ProberTest, ReplacesAProcessThatHangs) {
    for (const char* file : {"hangs", "hangs in its answer"}) {
        const std::string process = number_of_process();
        EXPECT_NE(thrown_for(file).find("took longer than 1 s"), std::string::npos) << file;
        EXPECT_NE(::kill(std::stoi(process), 0), 0) << file << ": it is there yet";
        EXPECT_NE(number_of_process(), process) << file;
        EXPECT_EQ(ask("good"), "reply") << file;
    }
}

TEST_F(ProberTest, ReplacesAProcessThatEnds) {
    for (const char* file : {"ends", "lies about its length", "promises too much"}) {
        const std::string process = number_of_process();
        EXPECT_NE(thrown_for(file).find("ends at once"), std::string::npos) << file;
        EXPECT_NE(number_of_process(), process) << file;
    }
    // Ended between two looks, by whatever it was: nobody need know.
    ASSERT_EQ(::kill(std::stoi(number_of_process()), SIGKILL), 0);
    EXPECT_EQ(ask("good"), "reply");
}

TEST_F(ProberTest, EndsWithASignalThatEndsTheRun) {
    // In a process of its own, since signals are counted for all of it.
    EXPECT_EXIT(
        {
            take_signals_over();
            std::jthread sender([] { (void)::kill(::getpid(), SIGTERM); });
            try {
                Prober patient([](const std::string& /*file*/) {
                    ProbeLimits limits;
                    limits.seconds = 3600;
                    return limits;
                });
                (void)patient.ask({"read", "hangs", "/image", {}, {}});
            } catch (const Error& error) {
                std::_Exit(static_cast<int>(error.code()));
            }
        },
        testing::ExitedWithCode(static_cast<int>(ExitCode::stopped)), "");
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    if (argc == 2 && argv[1] == runner::many_probes_verb) {
        return runner::answer_as_told();
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
