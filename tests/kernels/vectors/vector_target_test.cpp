// SPDX-License-Identifier: BSD-3-Clause
// Which vector instructions a function that Highway dispatches is compiled for, when it is called.
#include "base/error.hpp"
#include "kernels/vectors/vector_target.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/vectors/vector_target_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
inline std::int64_t compiled_for() { return HWY_TARGET; }
} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {
namespace {

HWY_EXPORT(compiled_for);

std::string dispatched() {
    std::string name = hwy::TargetName(HWY_DYNAMIC_DISPATCH(compiled_for)());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

class VectorTarget : public testing::Test {
  protected:
    void TearDown() override {
        (void)::unsetenv(vectors_variable);
        allow_all();
    }

    static void allow_all() {
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().DeInit();
    }

    static std::string refusal(const std::string& name) {
        try {
            use_vectors(name);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage);
            return error.what();
        }
        return "";
    }
};

TEST_F(VectorTarget, IsTheBestUnlessOneIsChosen) {
    use_vectors_of_environment();
    EXPECT_EQ(vectors_in_use(), usable_vectors().back());
    EXPECT_EQ(dispatched(), usable_vectors().back());
}

TEST_F(VectorTarget, EachCanBeChosen) {
    for (const std::string& name : usable_vectors()) {
        (void)::setenv(vectors_variable, name.c_str(), 1);
        use_vectors_of_environment();
        EXPECT_EQ(vectors_in_use(), name);
        EXPECT_EQ(dispatched(), name);
        EXPECT_EQ(usable_vectors().back(), name); // and from now on no better one
        allow_all();
    }
}

TEST_F(VectorTarget, OthersAreRefused) {
    const std::string best = vectors_in_use();
    for (const char* name : {"", "AVX2", "avx", "avx9", "unknown", "sse4 ", "avx2,sse4"}) {
        const std::string text = refusal(name);
        EXPECT_NE(text.find("(RUNNER_VECTORS): \"" + std::string(name) + "\" is not a set"),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find("one of: " + usable_vectors().front()), std::string::npos) << text;
    }
    EXPECT_EQ(vectors_in_use(), best);
}

TEST_F(VectorTarget, OneThatTheProcessorLacksIsRefused) {
    const std::vector<std::string> names = usable_vectors();
    if (names.size() < 2) {
        GTEST_SKIP() << "compiled for one set alone";
    }
    use_vectors(names.front()); // as if the processor had no better one
    EXPECT_EQ(refusal(names.back()),
              "cannot choose the vector instructions (RUNNER_VECTORS): this processor lacks " +
                  names.back() + ". Unset it, or set it to one of: " + names.front());
}

} // namespace
} // namespace runner
#endif
