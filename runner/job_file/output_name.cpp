// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/output_name.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
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

/// The pattern, or a part of it, with its words filled in.
std::string filled(std::string_view pattern, const NameParts& parts) {
    std::string text;
    std::size_t done = 0;
    for (std::size_t at = 0; (at = pattern.find('{', done)) != std::string_view::npos;) {
        const std::size_t end = pattern.find('}', at);
        text += pattern.substr(done, at - done);
        text += meaning(std::string(pattern.substr(at + 1, end - at - 1)), parts);
        done = end + 1;
    }
    return text.append(pattern.substr(done));
}

std::vector<std::string> components_of(std::string_view path) {
    std::vector<std::string> components(1);
    for (const char each : path) {
        if (each == '/') {
            components.emplace_back();
        } else {
            components.back() += each;
        }
    }
    return components;
}

/// What a component of the pattern is filled to must not be.
std::string fault_of_component(const std::string& component, bool is_first,
                               const NameParts& parts) {
    const std::string text = filled(component, parts);
    if (text.find('\0') != std::string::npos) {
        return "holds the character U+0000";
    }
    std::vector<std::string> names = components_of(text);
    if (component.find("{dir}") == std::string::npos) {
        return names.size() > 1              ? "holds a slash"
               : text.empty()                ? "is empty"
               : text == "." || text == ".." ? "is no name of a file or folder"
                                             : "";
    }
    for (const char* word : {"{stem}", "{kind}", "{name}"}) {
        if (component.find(word) != std::string::npos &&
            filled(word, parts).find('/') != std::string::npos) {
            return "holds a slash";
        }
    }
    if (is_first && component.starts_with("{dir}")) { // it leads to where the input is
        const bool is_dir = component == "{dir}";
        return !is_dir && (names.back() == ".." || names.back() == ".")
                   ? "ends in " + quoted_text(names.back())
                   : "";
    }
    return std::find(names.begin(), names.end(), "..") != names.end() ? "leads out of the folder"
                                                                      : "";
}

} // namespace

std::optional<std::string> filling_fault(const std::string& pattern, const NameParts& parts) {
    bool is_first = true;
    for (const std::string& component : components_of(pattern)) {
        const std::string fault = component.find('{') == std::string::npos
                                      ? ""
                                      : fault_of_component(component, is_first, parts);
        if (!fault.empty()) {
            return quoted_text(component) + " in the name " + quoted_text(pattern) + " becomes " +
                   quoted_text(filled(component, parts)) + " for the input " +
                   quoted_text(parts.input) + ", and that " + fault;
        }
        is_first = is_first && component == ".";
    }
    return std::nullopt;
}

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
    if (const std::optional<std::string> fault = filling_fault(pattern, parts)) {
        throw Error(ExitCode::usage, {"cannot name the output", pattern, *fault,
                                      "Rename the input, or write another pattern"});
    }
    return fs::path(filled(pattern, parts)).lexically_normal().string();
}

std::string common_folder(const std::string& pattern) {
    const fs::path folder = fs::path(pattern.substr(0, pattern.find('{')) + "x").parent_path();
    return folder.empty() ? "." : folder.lexically_normal().string();
}

} // namespace runner
