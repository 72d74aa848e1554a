// SPDX-License-Identifier: BSD-3-Clause
#include "cli/manual.hpp"

#include "base/format.hpp"
#include "cli/kind_verbs.hpp"

#include <string_view>

namespace runner::cli {
namespace {

/// Text as roff shows it: no character of it is a request, and a hyphen is one that can be copied.
std::string roff(std::string_view text) {
    std::string escaped;
    bool line_begins = true;
    for (const char c : text) {
        if (line_begins && (c == '.' || c == '\'')) {
            escaped += "\\&";
        }
        switch (c) {
        case '\\': escaped += "\\e"; break;
        case '-': escaped += "\\-"; break;
        default: escaped += c;
        }
        line_begins = c == '\n';
    }
    return escaped;
}

std::string option_text(const VerbOption& option) {
    std::string text = ".TP\n";
    for (std::size_t i = 0; i < option.names.size(); ++i) {
        text += (i == 0 ? "\\fB" : ", \\fB") + roff(option.names[i]) + "\\fR";
    }
    text += option.type.empty() ? "" : " \\fI" + roff(option.type) + "\\fR";
    return text + "\n" + roff(option.meaning) + "\n";
}

std::string verb_section(const Verb& verb) {
    const VerbUsage usage = usage_of(verb);
    std::string text = ".SS \"runner " + roff(verb.name) + " " + roff(verb.arguments) + "\"\n" +
                       roff(verb.summary) + ".\n";
    for (const VerbOption& argument : usage.arguments) {
        text +=
            ".TP\n\\fI" + roff(argument.names.front()) + "\\fR\n" + roff(argument.meaning) + "\n";
    }
    for (const VerbOption& option : usage.options) {
        text += option_text(option);
    }
    return text + ".PP\nExample:\n.PP\n.nf\n  " + roff(usage.example) + "\n.fi\n";
}

} // namespace

std::string manual_page() {
    std::string text =
        ".TH RUNNER 1\n.SH NAME\nrunner \\- runs image and volume jobs on GPUs and cores\n"
        ".SH SYNOPSIS\n.B runner\n.I JOB.toml\n[options]\n.br\n.B mpirun \\-n 4 runner\n"
        ".I JOB.toml\n[options]\n.br\n.B runner\n.I VERB\n[arguments] [options]\n"
        ".SH DESCRIPTION\n"
        "Runs jobs on images and volumes that may be larger than memory, on the GPUs and "
        "cores of one or many hosts. A job is a short text file, and the result the same "
        "to the byte wherever it runs. What a job file may say is in "
        "docs/job\\-file.md; \\fBrunner init\\fR prints one to start from.\n"
        ".SH VERBS\n";
    for (const Verb& verb : verbs()) {
        text += verb_section(verb);
    }
    text += ".SH KINDS OF JOBS\n";
    for (const Verb& kind : kind_verbs()) {
        text += verb_section(kind);
    }
    text += ".SH EXIT STATUS\n";
    for (const ExitMeaning& exit : exit_meanings()) {
        text += fmt::format(".TP\n{}\n{}\n", static_cast<int>(exit.code), roff(exit.meaning));
    }
    return text +
           ".SH ENVIRONMENT\n.TP\nRUNNER_VECTORS\nthe vector instructions that kernels use on the "
           "CPU, such as avx2, in place of the best ones; the result is the same\n"
           ".SH FILES\nWhile it is written an output is called \\fIOUT\\fR.partial; beside it "
           "\\fIOUT\\fR.journal tells what is finished, and \\fIOUT\\fR.lock keeps other runs "
           "away.\nA file called STOP beside the output stops the job, to be resumed later.\n"
           ".SH SEE ALSO\n\\fBmpirun\\fR(1), \\fBsrun\\fR(1), \\fBh5dump\\fR(1)\n";
}

} // namespace runner::cli
