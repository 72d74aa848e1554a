// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/vectors/vector_target.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>

#include <hwy/highway.h>

namespace runner {
namespace {

// Among Highway's targets, one bit each, the better has the lower bit.
constexpr std::int64_t compiled = HWY_TARGETS;

std::string name_of(std::int64_t target) {
    std::string name = hwy::TargetName(target);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

/// Every processor that the program runs on has the static one, which Highway need not list.
std::int64_t usable() { return (hwy::SupportedTargets() & compiled) | HWY_STATIC_TARGET; }

std::int64_t best_of(std::int64_t targets) { return targets & -targets; }

std::vector<std::int64_t> least_first(std::int64_t targets) {
    std::vector<std::int64_t> list;
    for (; targets != 0; targets &= targets - 1) {
        list.insert(list.begin(), best_of(targets));
    }
    return list;
}

std::string why_not(const std::string& name) {
    for (const std::int64_t target : least_first(compiled)) {
        if (name_of(target) == name) {
            return "this processor lacks " + name;
        }
    }
    return fmt::format("\"{}\" is not a set that this program has", name);
}

} // namespace

std::vector<std::string> usable_vectors() {
    std::vector<std::string> names;
    for (const std::int64_t target : least_first(usable())) {
        names.push_back(name_of(target));
    }
    return names;
}

std::string vectors_in_use() { return name_of(best_of(usable())); }

void use_vectors(const std::string& name) {
    std::string names;
    for (const std::int64_t target : least_first(usable())) {
        if (name_of(target) == name) {
            // Not by DisableTargets(): in Highway 1.0 the next SupportedTargets() would make
            // kernels use the best set again.
            hwy::SetSupportedTargetsForTest(usable() & ~(target - 1));
            hwy::GetChosenTarget().Update(hwy::SupportedTargets());
            return;
        }
        names += (names.empty() ? "" : ", ") + name_of(target);
    }
    throw Error(ExitCode::usage, {"cannot choose the vector instructions", vectors_variable,
                                  why_not(name), "Unset it, or set it to one of: " + names});
}

void use_vectors_of_environment() {
    if (const char* const name = std::getenv(vectors_variable)) {
        use_vectors(name);
    }
}

} // namespace runner
