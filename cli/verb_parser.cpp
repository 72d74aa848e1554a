// SPDX-License-Identifier: BSD-3-Clause
#include "cli/verb_parser.hpp"

#include "base/durations.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/formats/rows_format.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/job_file.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include <CLI/CLI.hpp>

namespace runner::cli {
namespace {

std::string did_you_mean(const std::optional<std::string>& near) {
    return near ? "Did you mean " + *near + "?" : "";
}

bool reads_whole(const std::string& given, auto& value) {
    const char* const end = given.data() + given.size();
    const auto [stop, failure] = std::from_chars(given.data(), end, value);
    return failure == std::errc{} && stop == end;
}

} // namespace

VerbParser::VerbParser(const Verb& verb, const std::string& example)
    : verb_("runner " + std::string(verb.name)), example_(example),
      app_(std::make_unique<CLI::App>(std::string(verb.summary), verb_)) {
    constexpr std::size_t names_width = 30;
    app_->footer("Example:\n  " + example);
    app_->get_formatter()->column_width(names_width);
    app_->set_help_flag("-h,--help", "this help");
}

VerbParser::~VerbParser() = default;

bool VerbParser::is_given(const std::string& option) const { return app_->count(option) > 0; }

void VerbParser::add_argument(const std::string& name, std::string& value,
                              const std::string& meaning, Presence presence) {
    app_->add_option(name, value, meaning)->required(presence == Presence::required)->type_name("");
}

void VerbParser::add_arguments(const std::string& name, std::vector<std::string>& values,
                               const std::string& meaning) {
    app_->add_option(name, values, meaning)->required()->type_name("");
}

void VerbParser::add_option(const std::string& name, std::string& value, const std::string& type,
                            const std::string& meaning, Presence presence) {
    app_->add_option(name, value, meaning)
        ->type_name(type)
        ->required(presence == Presence::required);
}

void VerbParser::add_repeatable(const std::string& name, std::vector<std::string>& values,
                                const std::string& type, const std::string& meaning) {
    // Without this an option would swallow the job file after its value.
    app_->add_option(name, values, meaning)->allow_extra_args(false)->type_name(type);
}

void VerbParser::add_switch(const std::string& name, std::string& value,
                            const std::string& meaning) {
    app_->add_flag(name, value, meaning);
}

void VerbParser::add_flag(const std::string& name, bool& value, const std::string& meaning) {
    app_->add_flag(name, value, meaning);
}

void VerbParser::add_job(std::string& job, std::vector<std::string>& settings) {
    add_argument("JOB", job, "the job file (docs/job-file.md)");
    add_repeatable("--set", settings, "KEY=VALUE",
                   "override table.key of the job file with a TOML value; repeatable");
    add_option("-i,--input", input_, "FILE", "the job's input.file: FILE or FILE:/dataset");
    add_option("-o,--output", output_, "FILE", "the job's output.file: FILE or FILE:/dataset");
    add_option("--until", until_, "STEP",
               "run a pipeline up to this step: its name, or its number from 1");
    settings_ = &settings;
}

void VerbParser::add_trust() {
    add_flag("--trust-input", trusted_, "read linked files in any folder, and data of any size");
    add_option(
        "--missing", missing_, "NAME",
        "of files that are not there: fail, skip (of a stack) or fill (of a virtual dataset)");
}

void VerbParser::add_backend() {
    add_option("--backend", backend_, "NAME", "auto, cpu or cuda; overrides run.backend");
}

void VerbParser::add_frames() {
    add_option("--frame", frame_, "I", "the frame, counted from 0 over all leading axes");
    add_option("--frames", frames_, "A:B:STEP",
               "a sequence: frames from A up to but without B, or all; pictures are named "
               "OUT-NUMBER.png");
}

void VerbParser::add_palette() {
    add_option(
        "--palette", palette_, "NAME",
        "sand or grey: materials in colours, or values as they are (default: sand for sand)");
}

std::optional<PrintCommand> VerbParser::parse(std::span<const std::string> arguments) {
    // CLI11 takes them from the back.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
        app_->parse(std::move(reversed));
        add_settings();
        return std::nullopt;
    } catch (const CLI::CallForHelp&) {
        return PrintCommand{app_->help(), usage()};
    } catch (const CLI::ExtrasError&) {
    } catch (const CLI::ParseError& failure) {
        refuse(failure.what());
    }
    const std::string extra = app_->remaining().front();
    if (!extra.starts_with('-')) {
        refuse("unexpected argument " + quoted_text(extra));
    }
    std::vector<std::string> names;
    for (const CLI::Option* option : app_->get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    refuse("there is no option " + quoted_text(extra),
           did_you_mean(nearest_name(extra.substr(0, extra.find('=')), names)));
}

void VerbParser::add_settings() {
    if (settings_ == nullptr) {
        return;
    }
    for (const auto& [option, table, given] :
         {std::tuple("--input", "input", &input_), {"--output", "output", &output_}}) {
        if (!is_given(option)) {
            continue;
        }
        const DatasetName name = dataset(option, *given);
        settings_->push_back(std::string(table) + ".file=" + toml_text(name.file));
        if (!name.dataset.empty()) {
            settings_->push_back(std::string(table) + ".dataset=" + toml_text(name.dataset));
        }
    }
    if (is_given("--until")) {
        settings_->push_back("until=" + toml_text(until_));
    }
}

VerbUsage VerbParser::usage() const {
    VerbUsage usage;
    usage.example = example_;
    for (const CLI::Option* option : app_->get_options()) {
        VerbOption told;
        told.meaning = option->get_description();
        if (option->get_positional()) {
            told.names = {option->get_name(true, false)};
            usage.arguments.push_back(std::move(told));
            continue;
        }
        for (const std::string& name : option->get_snames()) {
            told.names.push_back("-" + name);
        }
        for (const std::string& name : option->get_lnames()) {
            told.names.push_back("--" + name);
        }
        told.type = option->get_expected_max() == 0 ? "" : option->get_type_name();
        usage.options.push_back(std::move(told));
    }
    return usage;
}

std::optional<BackendChoice> VerbParser::backend() const {
    return choice("--backend", backend_, {backend_names.begin(), backend_names.end()},
                  std::array{BackendChoice::automatic, BackendChoice::cpu, BackendChoice::cuda});
}

std::optional<FrameChoice> VerbParser::frames() const {
    if (is_given("--frame") && is_given("--frames")) {
        refuse("--frame and --frames are both given", "Give one of them");
    }
    if (is_given("--frame")) {
        return one_frame(
            integer("--frame", frame_, 0, std::numeric_limits<std::int64_t>::max() - 1));
    }
    if (!is_given("--frames")) {
        return std::nullopt;
    }
    const std::optional<FrameChoice> choice = parse_frames(frames_);
    if (!choice) {
        refuse("--frames is all, A:B or A:B:STEP with A below B, not " + quoted_text(frames_));
    }
    return choice;
}

std::optional<Palette> VerbParser::palette() const {
    return choice("--palette", palette_, {"sand", "grey"},
                  std::array{Palette::sand, Palette::grey});
}

InputRules VerbParser::rules() const {
    using Missing = InputRules::Missing;
    InputRules rules;
    if (trusted_) {
        rules.max_logical_bytes = std::numeric_limits<std::int64_t>::max();
        rules.outside = InputRules::Outside::anywhere;
    }
    rules.missing = choice("--missing", missing_, {"fail", "skip", "fill"},
                           std::array{Missing::fail, Missing::skip, Missing::fill})
                        .value_or(Missing::fail);
    return rules;
}

std::size_t VerbParser::index_of(const std::string& option, const std::string& given,
                                 const std::vector<std::string>& names) const {
    std::string all;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == given) {
            return i;
        }
        all += (i == 0 ? "" : ", ") + names[i];
    }
    refuse(option + " is one of " + all + ", not " + quoted_text(given),
           did_you_mean(nearest_name(given, names)));
}

std::optional<std::int64_t> VerbParser::size(const std::string& option,
                                             const std::string& given) const {
    if (!is_given(option)) {
        return std::nullopt;
    }
    const std::optional<MemorySize> parsed = parse_memory_size(given);
    if (!parsed || parsed->fraction != 0) {
        refuse(option + " is a size like 64GiB, not " + quoted_text(given));
    }
    return parsed->bytes;
}

std::optional<double> VerbParser::duration(const std::string& option,
                                           const std::string& given) const {
    if (!is_given(option)) {
        return std::nullopt;
    }
    const std::optional<double> seconds = parse_duration(given);
    if (!seconds) {
        refuse(option + " is a time like 90s, 30min, 2h or 1:30:00, not " + quoted_text(given));
    }
    return seconds;
}

std::int64_t VerbParser::integer(const std::string& option, const std::string& given,
                                 std::int64_t least, std::int64_t most) const {
    std::int64_t value = 0;
    if (!reads_whole(given, value) || value < least || value > most) {
        const bool bounded = most != std::numeric_limits<std::int64_t>::max();
        refuse(fmt::format("{} is an integer of at least {}{}, not {}", option, least,
                           (bounded ? " and at most " + std::to_string(most) : ""),
                           quoted_text(given)));
    }
    return value;
}

std::vector<std::int64_t> VerbParser::extents(const std::string& option,
                                              const std::string& given) const {
    std::vector<std::int64_t> extents;
    for (std::size_t begin = 0; begin <= given.size();) {
        const std::size_t comma = std::min(given.find(',', begin), given.size());
        extents.push_back(
            integer("each extent of " + option, given.substr(begin, comma - begin), 1));
        begin = comma + 1;
    }
    constexpr std::size_t most_axes = 32; // of every file that is read, as of an HDF5 dataset
    if (extents.size() > most_axes) {
        refuse(fmt::format("{} has {} extents, and a file has at most {} axes", option,
                           extents.size(), most_axes));
    }
    return extents;
}

ElementType VerbParser::element(const std::string& option, const std::string& given) const {
    std::vector<std::string> names;
    names.reserve(all_element_types.size());
    for (const ElementType each : all_element_types) {
        names.emplace_back(name_of(each));
    }
    return all_element_types.at(index_of(option, given, names));
}

double VerbParser::amount(const std::string& option, const std::string& given) const {
    double value = 0;
    if (!reads_whole(given, value) || !(value >= 0)) {
        refuse(option + " is a number of at least 0, not " + quoted_text(given));
    }
    return value;
}

DatasetName VerbParser::dataset(const std::string& argument, const std::string& given) const {
    const std::size_t colon = given.rfind(":/");
    if (given.empty() || colon == 0 || (colon != std::string::npos && colon + 2 == given.size())) {
        refuse(argument + " is a file and a dataset in it, not " + quoted_text(given));
    }
    if (colon == std::string::npos) {
        return {given, ""};
    }
    return {given.substr(0, colon), given.substr(colon + 1)};
}

void VerbParser::refuse(const std::string& why, const std::string& try_this) const {
    throw Error(ExitCode::usage, {"the command line is wrong", verb_, why,
                                  try_this.empty() ? "See " + verb_ + " --help" : try_this});
}

} // namespace runner::cli
