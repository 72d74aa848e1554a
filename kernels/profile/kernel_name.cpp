// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/profile/kernel_name.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
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

/// How many characters of a name stand at the beginning.
std::size_t word_length(std::string_view text) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    return std::min(text.find_first_not_of(letters), text.size());
}

/// The length of a namespace of this program, with its colons, at the beginning; 0 where none is.
std::size_t namespace_length(std::string_view text) {
    constexpr std::string_view unnamed = "(anonymous namespace)::";
    if (text.starts_with(unnamed)) {
        return unnamed.size();
    }
    const std::string_view word = text.substr(0, word_length(text));
    const bool is_ours = word == "runner" || word.ends_with("_cuda");
    return is_ours && text.substr(word.size()).starts_with("::") ? word.size() + 2 : 0;
}

std::string without_namespaces(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t left_out = namespace_length(text);
        const std::size_t kept = left_out > 0 ? 0 : std::max<std::size_t>(word_length(text), 1);
        result += text.substr(0, kept);
        text.remove_prefix(left_out + kept);
    }
    return result;
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
    std::string name = without_namespaces(demangled(symbol));
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
