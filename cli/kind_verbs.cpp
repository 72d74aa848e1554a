// SPDX-License-Identifier: BSD-3-Clause
#include "cli/kind_verbs.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "cli/job_draft.hpp"
#include "cli/run_options.hpp"
#include "cli/verb_parser.hpp"
#include "jobs/kind.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/argument_words.hpp"
#include "runner/job_file/job_file.hpp"

#include <algorithm>
#include <stdexcept>

namespace runner::cli {
namespace {

std::string option_of(const KeyText& key) {
    std::string name = "--" + key.name;
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

/// A command line that the kind takes: the keys that must be there have values to start from.
std::string example_of(const Kind& kind) {
    std::string line = "runner " + std::string(kind.name) + " in.h5:/data out.h5";
    for (const KeyText& key : kind.keys()) {
        if (key.usual.starts_with("required") && !key.sample.empty()) {
            line += " " + option_of(key) + " " + shell_word(argument_of(key.sample));
        }
    }
    return line;
}

/// An option for each key of a kind.
class KeyOptions {
  public:
    KeyOptions(VerbParser& parser, const Kind& kind)
        : parser_(parser), keys_(kind.keys()), values_(keys_.size()) {
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            const KeyText& key = keys_[i];
            if (key.type == "boolean") {
                parser.add_switch(option_of(key), values_[i], key_line(key));
            } else if (key.usual == "required") {
                parser.add_option(option_of(key), values_[i], "VALUE", key_line(key),
                                  VerbParser::Presence::required);
            } else {
                parser.add_option(option_of(key), values_[i], "VALUE", key_line(key));
            }
        }
    }

    void add_to(JobDraft& draft) const {
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            const std::string option = option_of(keys_[i]);
            if (parser_.is_given(option)) {
                draft.set_key(0, keys_[i].name, values_[i], option + " " + values_[i]);
            }
        }
    }

  private:
    const VerbParser& parser_;
    std::vector<KeyText> keys_;
    std::vector<std::string> values_;
};

/// What the verbs of this file have in common: the files, the output's most common keys, --set and
/// the options of a run.
class JobOptions {
  public:
    explicit JobOptions(VerbParser& parser) : parser_(parser), run_(parser) {
        parser.add_argument("IN", input_, "the input: FILE or FILE:/dataset");
        parser.add_argument("OUT", output_, "the output: FILE or FILE:/dataset",
                            VerbParser::Presence::optional);
        parser.add_option("-o,--output", named_output_, "FILE", "the output, in place of OUT");
        parser.add_option(dtype, type_, "TYPE", "the output's element type");
        parser.add_option(compression, compression_, "NAME", "the output's compression");
        parser.add_option(chunk, chunk_, "Z,Y,X", "extents of the output's HDF5 or Zarr chunks");
        parser.add_switch(overwrite, overwrite_, "replace an existing output");
        parser.add_repeatable("--set", settings_, "KEY=VALUE",
                              "set another table.key of the job file; repeatable");
        parser.add_option("--save-job", saved_, "FILE.toml",
                          "write the job file that this stands for, and do not run it");
    }

    void add_to(JobDraft& draft) const {
        add_file(draft, "IN", "input", input_);
        if (output_.empty() == named_output_.empty()) {
            parser_.refuse(output_.empty() ? "OUT is required"
                                           : "OUT and --output are two outputs");
        }
        add_file(draft, output_.empty() ? "--output" : "OUT", "output",
                 output_.empty() ? named_output_ : output_);
        for (const auto& [option, value] : {std::pair(dtype, &type_),
                                            {compression, &compression_},
                                            {chunk, &chunk_},
                                            {overwrite, &overwrite_}}) {
            if (parser_.is_given(option)) {
                draft.set("output." + std::string(option).substr(2) + "=" + *value,
                          std::string(option) + " " + *value);
            }
        }
        for (const std::string& setting : settings_) {
            draft.set(setting, "");
        }
    }

    Command command(const JobDraft& draft) const {
        RunCommand command;
        run_.apply_to(command);
        const std::string text = draft.text();
        if (parser_.is_given("--save-job")) {
            return SaveJobCommand{saved_, text};
        }
        command.job = draft.name();
        command.text = text;
        return command;
    }

  private:
    static constexpr const char* dtype = "--dtype";
    static constexpr const char* compression = "--compression";
    static constexpr const char* chunk = "--chunk";
    static constexpr const char* overwrite = "--overwrite";

    void add_file(JobDraft& draft, const std::string& argument, const std::string& table,
                  const std::string& given) const {
        if (!is_utf8(given)) {
            parser_.refuse(argument +
                               " is no text of UTF-8, which a job file is: " + quoted_text(given),
                           "Rename the file, or make a link to it with another name");
        }
        const DatasetName name = parser_.dataset(argument, given);
        draft.set(table + ".file=" + toml_text(name.file), argument + " " + quoted_text(given));
        if (!name.dataset.empty()) {
            draft.set(table + ".dataset=" + toml_text(name.dataset),
                      argument + " " + quoted_text(given));
        }
    }

    const VerbParser& parser_;
    RunOptions run_;
    std::string input_;
    std::string output_;
    std::string named_output_;
    std::string type_;
    std::string compression_;
    std::string chunk_;
    std::string overwrite_;
    std::vector<std::string> settings_;
    std::string saved_;
};

const Kind* find_kind(std::string_view name) {
    const std::span<const Kind> all = kinds();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Kind& kind) { return kind.name == name; });
    return found == all.end() ? nullptr : &*found;
}

Command parse_kind_verb(const Verb& verb, std::span<const std::string> arguments) {
    const Kind& kind = *find_kind(verb.name);
    const std::string name = "runner " + std::string(kind.name);
    VerbParser parser(verb, example_of(kind));
    const KeyOptions keys(parser, kind);
    const JobOptions options(parser);
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    JobDraft draft(name, {std::string(kind.name)}, JobDraft::Form::kind);
    options.add_to(draft);
    keys.add_to(draft);
    return options.command(draft);
}

std::vector<ListedStep> steps_of(const VerbParser& parser, const std::string& text) {
    try {
        std::vector<ListedStep> steps = parse_steps_text(text);
        for (const ListedStep& step : steps) {
            parser.index_of("each step of --steps", step.kind, kind_names());
        }
        return steps;
    } catch (const std::invalid_argument& wrong) {
        parser.refuse(std::string("--steps: ") + wrong.what());
    }
}

Command parse_pipeline_verb(const Verb& verb, std::span<const std::string> arguments) {
    const std::string name = "runner " + std::string(verb.name);
    VerbParser parser(verb, name + " scan.h5 clean.h5 --steps \"median size=3,3, rescale "
                                   "dtype=uint16\"");
    std::string text;
    parser.add_option("--steps", text, "STEPS",
                      "steps with commas between them: a kind and its keys, as in "
                      "\"median size=3,3, bin factors=2,2\"",
                      VerbParser::Presence::required);
    const JobOptions options(parser);
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    const std::vector<ListedStep> steps = steps_of(parser, text);
    std::vector<std::string> chosen(steps.size());
    std::transform(steps.begin(), steps.end(), chosen.begin(),
                   [](const ListedStep& step) { return step.kind; });
    JobDraft draft(name, chosen, JobDraft::Form::steps);
    options.add_to(draft);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        for (const auto& [key, value] : steps[i].keys) {
            draft.set_key(i, key, value,
                          fmt::format("--steps, {} {}={}", steps[i].kind, key, value));
        }
    }
    return options.command(draft);
}

} // namespace

std::span<const Verb> kind_verbs() {
    static const std::vector<Verb> all = [] {
        std::vector<Verb> made;
        for (const Kind& kind : kinds()) {
            made.push_back({kind.name, "IN OUT", kind.summary, parse_kind_verb});
        }
        made.push_back({pipeline_kind, "IN OUT", "several steps in one pass", parse_pipeline_verb});
        return made;
    }();
    return all;
}

std::vector<Verb> all_verbs() {
    std::vector<Verb> all(verbs().begin(), verbs().end());
    all.insert(all.end(), kind_verbs().begin(), kind_verbs().end());
    return all;
}

} // namespace runner::cli
