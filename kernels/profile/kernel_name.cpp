// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/profile/kernel_name.hpp"

#include <cstdlib>
#include <memory>
#include <regex>
#include <string_view>

#include <cxxabi.h>

namespace runner {
namespace {

std::string demangled(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? text.get() : symbol;
}

/// Where the parameters begin; the end where there are none.
std::size_t parameters_of(std::string_view text) {
    int depth = 0; // of template arguments
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
        if (text[i] == '(' && depth == 0) {
            return i;
        }
    }
    return text.size();
}

} // namespace

std::string kernel_name(const std::string& symbol) {
    constexpr std::size_t longest = 120;
    static const std::regex space(R"(\(anonymous namespace\)::|\brunner::|\b\w+_cuda::)");
    std::string name = std::regex_replace(demangled(symbol), space, "");
    name.resize(parameters_of(name));
    if (name.starts_with("void ")) {
        name.erase(0, std::string_view("void ").size());
    }
    if (name.size() > longest) {
        name.resize(longest);
        name += "...";
    }
    return name;
}

} // namespace runner
