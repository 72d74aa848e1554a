// SPDX-License-Identifier: BSD-3-Clause
#include "cli/manual.hpp"

#include "base/element_type.hpp"
#include "cli/kind_verbs.hpp"
#include "io/rows/output_layout.hpp"
#include "jobs/kind.hpp"
#include "runner/job_file/job_file.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace runner::cli {
namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : " ") + word;
    }
    return text;
}

Words verb_names() {
    Words names;
    for (const Verb& verb : all_verbs()) {
        names.emplace_back(verb.name);
    }
    return names;
}

/// "bin.factors=" and every other key of a kind, for --set.
Words key_settings() {
    Words settings;
    for (const Kind& kind : kinds()) {
        for (const KeyText& key : kind.keys()) {
            settings.push_back(std::string(kind.name) + "." + key.name + "=");
        }
    }
    return settings;
}

Words type_names() {
    Words names;
    for (const ElementType type : all_element_types) {
        names.emplace_back(name_of(type));
    }
    return names;
}

Words option_names(const VerbUsage& usage) {
    Words names = {"--help"};
    for (const VerbOption& option : usage.options) {
        for (const std::string& name : option.names) {
            if (name != "--help" && name.starts_with("--")) {
                names.push_back(name);
            }
        }
    }
    return names;
}

/// A case of what stands before the word, and the words that may follow.
std::string choice_case(std::string_view word, const Words& choices) {
    return "    " + std::string(word) + ") COMPREPLY=($(compgen -W '" + joined(choices) +
           "' -- \"$word\")); return;;\n";
}

/// Options whose value is a word or a number that no list holds: nothing is offered for them.
std::string free_values() {
    std::set<std::string> names;
    for (const Verb& verb : all_verbs()) {
        for (const VerbOption& option : usage_of(verb).options) {
            const bool is_set = option.names.front() == "--set";
            if (!is_set && !option.type.empty() && option.type.find("FILE") == std::string::npos &&
                option.type != "DIR") {
                names.insert(option.names.begin(), option.names.end());
            }
        }
    }
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : "|") + name;
    }
    return "    " + text + ") return;;\n";
}

std::string option_cases() {
    std::string text;
    for (const Verb& verb : all_verbs()) {
        text += "    " + std::string(verb.name) + ") options='" +
                joined(option_names(usage_of(verb))) + "';;\n";
    }
    return text;
}

} // namespace

std::string bash_completion() {
    Words first = verb_names();
    first.insert(first.end(), {"--help", "--version"});
    return "# Completion of runner for bash, made by `runner completion bash`.\n"
           "_runner() {\n"
           "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "  local verb=${COMP_WORDS[1]} options=\n"
           "  COMPREPLY=()\n"
           "  case $before in\n" +
           choice_case("--backend", {backend_names.begin(), backend_names.end()}) +
           choice_case("--resume", {resume_names.begin(), resume_names.end()}) +
           choice_case("--palette", {"sand", "grey"}) +
           choice_case("--project", {"max", "min", "mean"}) + choice_case("--dtype", type_names()) +
           choice_case("--compression", {compression_names.begin(), compression_names.end()}) +
           "    --set) COMPREPLY=($(compgen -W '" + joined(key_settings()) +
           "' -- \"$word\")); compopt -o nospace; return;;\n" + free_values() +
           "  esac\n"
           "  case $verb:$COMP_CWORD in\n" +
           choice_case("init:2", kind_names()) + choice_case("keys:2", kind_names()) +
           choice_case("generate:2", generate_patterns()) +
           choice_case("completion:2", {"bash", "zsh"}) +
           "  esac\n"
           "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "    COMPREPLY=($(compgen -W '" +
           joined(first) +
           "' -- \"$word\"))\n"
           "    [[ $word == -* ]] || COMPREPLY+=($(compgen -f -X '!*.toml' -- \"$word\")"
           " $(compgen -d -- \"$word\"))\n"
           "    return\n"
           "  fi\n"
           "  case $verb in\n" +
           option_cases() + "    *) options='" + joined(option_names(usage_of(verbs().front()))) +
           "';;\n"
           "  esac\n"
           "  if [[ $word == -* ]]; then\n"
           "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
           "  else\n"
           "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
           "  fi\n"
           "}\n"
           "complete -o filenames -F _runner runner\n";
}

std::string zsh_completion() {
    // Zsh loads it at the first completion, which this last line then does.
    return "#compdef runner\nautoload -Uz bashcompinit && bashcompinit\n" + bash_completion() +
           "[[ $funcstack[1] != _runner ]] || _bash_complete -o filenames -F _runner\n";
}

} // namespace runner::cli
