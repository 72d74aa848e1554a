// SPDX-License-Identifier: BSD-3-Clause
#include "slurm/site_file.hpp"

#include "base/durations.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "jobs/table.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/job_text.hpp"
#include "runner/toml/toml_errors.hpp"
#include "runner/toml/toml_values.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace runner::slurm {
namespace {

constexpr int most = 1'000'000; // of anything counted here

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// A text that ends no line of a script and begins no other.
std::string line(TableReader& table, std::string_view key) {
    const std::optional<std::string> text = table.text(key);
    if (!text) {
        return "";
    }
    if (text->empty()) {
        table.complain(key, "must not be empty; leave the key out to have none");
    } else if (std::any_of(text->begin(), text->end(), is_control)) {
        table.complain(key, "must be one line without control characters");
    }
    return *text;
}

/// A name that Slurm takes as it is, in a line of its own.
std::string word(TableReader& table, std::string_view key) {
    std::string text = line(table, key);
    if (text.find_first_of(" '\"\\#;$`") != std::string::npos || text.starts_with('-')) {
        table.complain(key, "expected a name without blanks and quotes, got " + quoted_text(text));
    }
    return text;
}

enum class Lines { any, options };

/// Lines of text, which may hold blanks.
std::vector<std::string> lines(TableReader& table, std::string_view key, Lines which) {
    std::vector<std::string> result;
    const TableValue* value = table.value(key);
    if (value == nullptr) {
        return result;
    }
    const auto* array = std::get_if<TableArray>(&value->data);
    if (array == nullptr) {
        table.complain(key, "expected an array of strings, got " + type_name(*value));
        return result;
    }
    for (const TableValue& element : *array) {
        const auto* text = std::get_if<std::string>(&element.data);
        std::string fault;
        if (text == nullptr) {
            fault = "expected an array of strings, got " + type_name(element) + " in it";
        } else if (text->empty() || std::any_of(text->begin(), text->end(), is_control)) {
            fault = "every element must be one line of text, got " + quoted_text(*text);
        } else if (which == Lines::options && !text->starts_with('-')) {
            fault = "every element is an option with its value, as \"--exclusive\", got " +
                    quoted_text(*text);
        }
        if (fault.empty()) {
            result.push_back(*text);
        } else {
            std::string wrong = table.name().empty() ? "" : table.name() + ".";
            wrong.append(key).append(": ").append(fault);
            table.diagnostics().add(element.place, wrong);
        }
    }
    return result;
}

int count(TableReader& table, std::string_view key, int least, int otherwise) {
    return static_cast<int>(table.integer(key, least, most).value_or(otherwise));
}

std::int64_t size(TableReader& table, std::string_view key) {
    const std::optional<std::string> text = table.text(key);
    if (!text) {
        return 0;
    }
    const std::optional<MemorySize> parsed = parse_memory_size(*text);
    if (!parsed || parsed->fraction != 0) {
        table.complain(key, "expected a size like \"480GiB\", got " + quoted_text(*text));
        return 0;
    }
    return parsed->bytes;
}

double seconds(TableReader& table, std::string_view key, double otherwise) {
    const std::optional<std::string> text = table.text(key);
    if (!text) {
        return otherwise;
    }
    const std::optional<double> parsed = parse_duration(*text);
    if (!parsed || *parsed < 1) {
        table.complain(key, "expected a time like \"90s\", \"30min\", \"24h\" or \"1-12:00:00\", "
                            "got " +
                                quoted_text(*text));
        return otherwise;
    }
    return *parsed;
}

/// A path with $NAME and ${NAME} filled in from the environment, so that one file is for many
/// users.
std::string path(TableReader& table, std::string_view key) {
    const std::string text = line(table, key);
    std::string result;
    std::size_t at = 0;
    while (at < text.size()) {
        if (text[at] != '$') {
            result += text[at++];
            continue;
        }
        const bool braces = at + 1 < text.size() && text[at + 1] == '{';
        const std::size_t begin = at + (braces ? 2 : 1);
        std::size_t end = begin;
        while (end < text.size() && is_word(text[end])) {
            ++end;
        }
        const std::string name = text.substr(begin, end - begin);
        const char* found = name.empty() ? nullptr : std::getenv(name.c_str());
        if (found == nullptr || (braces && (end == text.size() || text[end] != '}'))) {
            table.complain(key, "there is no variable " + quoted_text(text.substr(at, end - at)) +
                                    " in the environment");
            return "";
        }
        result += found;
        at = end + (braces ? 1 : 0);
    }
    return result;
}

SiteFile::Node parse_node(TableReader& top) {
    SiteFile::Node node;
    std::optional<TableReader> table = top.table("node");
    if (!table) {
        if (!top.has("node")) {
            top.missing("node", "a table [node] with cpus and memory");
        }
        return node;
    }
    for (const auto& [key, sample] :
         {std::pair("cpus", "cpus = 64, those that a job may have of a node"),
          std::pair("memory", "memory = \"480GiB\", what a job may have of a node")}) {
        if (!table->has(key)) {
            table->missing(key, sample);
        }
    }
    node.cpus = count(*table, "cpus", 1, node.cpus);
    node.memory = size(*table, "memory");
    node.gpus = count(*table, "gpus", 0, node.gpus);
    node.gpu_memory = size(*table, "gpu_memory");
    node.gpu_type = word(*table, "gpu_type");
    node.gres = table->choice("gpu_syntax", {"gpus-per-node", "gres"}).value_or(0) == 1;
    if (table->has("ranks")) {
        node.ranks = count(*table, "ranks", 1, 1);
    }
    if (node.gpus > 0 && !table->has("gpu_memory")) {
        table->missing("gpu_memory", "gpu_memory = \"80GiB\", that of one GPU");
    }
    if (node.ranks && *node.ranks > node.cpus) {
        table->complain("ranks", fmt::format("a node of {} cpus has none for each of {} ranks",
                                             node.cpus, *node.ranks));
    }
    table->finish();
    return node;
}

SiteFile::Launcher parse_launcher(TableReader& top) {
    SiteFile::Launcher launcher;
    std::optional<TableReader> table = top.table("launcher");
    if (!table) {
        return launcher;
    }
    if (table->choice("name", {"srun", "mpirun"}).value_or(0) == 1) {
        launcher.name = SiteFile::Launcher::Name::mpirun;
        if (table->has("mpi")) {
            table->complain("mpi", "is an option of srun; mpirun has none such");
        }
    }
    if (table->has("mpi")) {
        launcher.mpi = word(*table, "mpi");
    }
    launcher.options = lines(*table, "options", Lines::options);
    table->finish();
    return launcher;
}

SiteFile::Limits parse_limits(TableReader& top) {
    SiteFile::Limits limits;
    std::optional<TableReader> table = top.table("limits");
    if (!table) {
        if (!top.has("limits")) {
            top.missing("limits", "a table [limits] with time");
        }
        return limits;
    }
    if (!table->has("time")) {
        table->missing("time", "time = \"24h\", the longest a job may take");
    }
    limits.seconds = seconds(*table, "time", limits.seconds);
    limits.nodes = count(*table, "nodes", 1, limits.nodes);
    limits.array_tasks = count(*table, "array_tasks", 1, limits.array_tasks);
    limits.requeues = count(*table, "requeues", 0, limits.requeues);
    limits.stop_seconds = seconds(*table, "stop_before", limits.stop_seconds);
    if (limits.seconds > 0 && limits.stop_seconds >= limits.seconds) {
        table->complain("stop_before", "must be shorter than limits.time");
    }
    constexpr double most_stop = 65535; // of sbatch
    if (limits.stop_seconds > most_stop) {
        table->complain("stop_before", "sbatch takes at most 65535 seconds");
    }
    table->finish();
    return limits;
}

std::vector<std::pair<std::string, std::string>> parse_environment(TableReader& top) {
    std::vector<std::pair<std::string, std::string>> variables;
    const TableValue* const value = top.value("environment");
    std::optional<TableReader> table = top.table("environment");
    if (!table) {
        return variables;
    }
    for (const auto& [name, entry] : std::get<TableEntries>(value->data)) {
        const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), is_word) &&
                           std::isdigit(static_cast<unsigned char>(name.front())) == 0;
        if (!plain) {
            top.diagnostics().add(entry.key_place,
                                  "environment." + quoted_text(name) +
                                      ": no name of a variable: letters, digits and _");
        }
        const std::optional<std::string> text = table->text(name);
        if (plain && text && std::any_of(text->begin(), text->end(), is_control)) {
            table->complain(name, "must be one line without control characters");
        }
        variables.emplace_back(name, text.value_or(""));
    }
    return variables;
}

void parse_values(const TableEntries& values, SiteFile& site, Diagnostics& diagnostics) {
    TableReader top(values, {1, 1}, "", diagnostics);
    site.partition = word(top, "partition");
    site.account = word(top, "account");
    site.qos = word(top, "qos");
    site.constraint = word(top, "constraint");
    site.reservation = word(top, "reservation");
    site.summary_partition = word(top, "summary_partition");
    site.options = lines(top, "options", Lines::options);
    site.modules = lines(top, "modules", Lines::any);
    site.program = path(top, "program");
    site.scratch = path(top, "scratch");
    if (top.has("logs")) {
        site.logs = path(top, "logs");
    }
    site.node = parse_node(top);
    site.launcher = parse_launcher(top);
    site.limits = parse_limits(top);
    site.environment = parse_environment(top);
    top.finish();
}

} // namespace

SiteFile load_site_file(const std::string& path) {
    constexpr std::int64_t most_bytes = MiB;
    return parse_site_text(read_user_text(path, "the site file", most_bytes), path);
}

SiteFile parse_site_text(const std::string& text, const std::string& name) {
    SiteFile site;
    site.path = name;
    Diagnostics diagnostics;
    if (const std::optional<TableEntries> values = parse_toml(text, 0, diagnostics)) {
        parse_values(*values, site, diagnostics);
    }
    if (!diagnostics.entries().empty()) {
        refuse_toml("the site file is wrong", name, diagnostics);
    }
    return site;
}

} // namespace runner::slurm
