// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/text_file.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/own_file.hpp"

#include <array>
#include <ctime>
#include <span>

namespace runner {

void write_text_file(const std::string& path, const std::string& text) {
    replace_file(path, std::as_bytes(std::span(text)));
}

std::string read_text_file(const std::string& path, std::int64_t most_bytes) {
    const File file(path, File::Mode::read);
    const std::int64_t bytes = file.size();
    if (bytes > most_bytes) {
        throw Error(
            ExitCode::input,
            {"cannot read", path, "it has more than " + size_text(most_bytes), "Check the path"});
    }
    std::string text(static_cast<std::size_t>(bytes), '\0');
    file.read(0, bytes, reinterpret_cast<std::byte*>(text.data()));
    return text;
}

std::string utc_text(long long seconds_since_1970) {
    const auto time = static_cast<std::time_t>(seconds_since_1970);
    std::tm parts{};
    std::array<char, 32> text{};
    if (::gmtime_r(&time, &parts) == nullptr) {
        return "";
    }
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string precise_utc_text(std::int64_t nanoseconds_since_1970) {
    constexpr std::int64_t second = 1'000'000'000;
    std::int64_t seconds = nanoseconds_since_1970 / second;
    std::int64_t rest = nanoseconds_since_1970 % second;
    if (rest < 0) {
        --seconds;
        rest += second;
    }
    const std::string whole = utc_text(seconds);
    return fmt::format("{}.{:09}Z", whole.substr(0, whole.size() - 1), rest);
}

} // namespace runner
