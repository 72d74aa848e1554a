// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/probe/probe_child.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

/// The program of a test whose Prober reads files: it starts the test's own program, as it does the
/// runner.
int main(int argc, char** argv) {
    if (runner::is_probe(std::vector<std::string>{argv + 1, argv + argc})) {
        return static_cast<int>(runner::answer_probes());
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
