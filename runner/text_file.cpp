// SPDX-License-Identifier: BSD-3-Clause
#include "runner/text_file.hpp"

#include "base/error.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fstream>

namespace runner {

void write_text_file(const std::string& path, const std::string& text) {
    const std::string partial = path + ".partial";
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
        const std::string why = errno_text(errno);
        (void)std::remove(partial.c_str());
        throw Error(ExitCode::output, {"cannot write", path, why, "Check its folder and the disk"});
    }
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

} // namespace runner
