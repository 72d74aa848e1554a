// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/profile/kernel_use.hpp"

#include <algorithm>
#include <bit>
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

namespace {

constexpr std::int64_t all_timed = 32;
constexpr std::int64_t timed_of_doubling = 16;

std::int64_t blocks_of(const KernelUse& use) { return use.grid[0] * use.grid[1] * use.grid[2]; }

void add_use(KernelUse& all, const KernelUse& more) {
    if (blocks_of(more) > blocks_of(all)) {
        all.grid = more.grid;
    }
    all.launches += more.launches;
    all.timed += more.timed;
    all.seconds += more.seconds;
    all.bytes += more.bytes;
    all.operations += more.operations;
}

} // namespace

void add_uses(std::vector<KernelUse>& all, const std::vector<KernelUse>& more) {
    for (const KernelUse& use : more) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const KernelUse& other) {
            return other.name == use.name && other.block == use.block &&
                   other.shared_bytes == use.shared_bytes && other.registers == use.registers;
        });
        if (same == all.end()) {
            all.push_back(use);
        } else {
            add_use(*same, use);
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const KernelUse& a, const KernelUse& b) { return a.seconds > b.seconds; });
}

std::int64_t launches_timed_by(std::int64_t nth) {
    if (nth <= all_timed) {
        return 1;
    }
    const auto doubling = std::bit_floor(static_cast<std::uint64_t>(nth));
    return static_cast<std::int64_t>(doubling) / timed_of_doubling;
}

bool is_timed(std::int64_t nth) { return nth % launches_timed_by(nth) == 0; }

std::optional<LimitShare> share_of_limit(const KernelUse& use, const DeviceRates& rates) {
    const double multiply_adds =
        use.doubles ? rates.float64_multiply_adds : rates.float32_multiply_adds;
    if (!rates.known() || use.seconds <= 0 || (use.bytes <= 0 && use.operations <= 0)) {
        return std::nullopt;
    }
    const double moving = use.bytes / rates.copy_bytes;
    const double computing = multiply_adds > 0 ? use.operations / (2 * multiply_adds) : 0;
    return LimitShare{std::max(moving, computing) / use.seconds,
                      moving >= computing ? "copy" : "multiply-add"};
}

double least_link_seconds(const DeviceRates& rates, double up, double down) {
    if (rates.upload_bytes <= 0 || rates.download_bytes <= 0 || rates.both_ways_bytes <= 0) {
        return 0;
    }
    return std::max({up / rates.upload_bytes, down / rates.download_bytes,
                     (up + down) / rates.both_ways_bytes});
}

} // namespace runner
