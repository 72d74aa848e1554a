// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/output_name.hpp"

#include "base/nearest_name.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace runner {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& words() {
    static const std::vector<std::string> all = {"stem", "dir", "kind", "name"};
    return all;
}

std::string meaning(const std::string& word, const NameParts& parts) {
    const fs::path input(parts.input);
    if (word == "stem") {
        return input.stem().string();
    }
    if (word == "dir") {
        return input.has_parent_path() ? input.parent_path().string() : ".";
    }
    return word == "kind" ? parts.kind : parts.name;
}

} // namespace

std::optional<NameFault> name_fault(const std::string& pattern) {
    for (std::size_t at = 0; (at = pattern.find_first_of("{}", at)) != std::string::npos; ++at) {
        const std::size_t end = pattern.find_first_of("{}", at + 1);
        if (pattern[at] == '}' || end == std::string::npos || pattern[end] == '{') {
            return NameFault{"a brace without its other one", at};
        }
        const std::string word = pattern.substr(at + 1, end - at - 1);
        if (std::find(words().begin(), words().end(), word) == words().end()) {
            const std::optional<std::string> near = nearest_name(word, words());
            return NameFault{"unknown " + quoted_text("{" + word + "}") +
                                 (near ? "; did you mean {" + *near + "}?"
                                       : "; there are {stem}, {dir}, {kind} and {name}"),
                             at};
        }
        at = end;
    }
    if (pattern.empty() || pattern.ends_with('/')) {
        return NameFault{"must be the name of a file", 0};
    }
    return std::nullopt;
}

std::string output_name(const std::string& pattern, const NameParts& parts) {
    std::string path;
    std::size_t done = 0;
    for (std::size_t at = 0; (at = pattern.find('{', done)) != std::string::npos;) {
        const std::size_t end = pattern.find('}', at);
        path +=
            pattern.substr(done, at - done) + meaning(pattern.substr(at + 1, end - at - 1), parts);
        done = end + 1;
    }
    return fs::path(path + pattern.substr(done)).lexically_normal().string();
}

std::string common_folder(const std::string& pattern) {
    const fs::path folder = fs::path(pattern.substr(0, pattern.find('{')) + "x").parent_path();
    return folder.empty() ? "." : folder.lexically_normal().string();
}

} // namespace runner
