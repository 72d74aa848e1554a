// SPDX-License-Identifier: BSD-3-Clause
#include "cli/dispatch.hpp"

#include "base/joined_meaning.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "cli/data_verbs.hpp"
#include "cli/devices_text.hpp"
#include "cli/plan_verb.hpp"
#include "io/files/text_file.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/generations.hpp"
#include "io/inspect/file_content.hpp"
#include "io/output/publish_output.hpp"
#include "io/rows/dense_rows.hpp"
#include "jobs/generate.hpp"
#include "runner/batch/batch_events.hpp"
#include "runner/batch/batch_report.hpp"
#include "runner/batch/batch_status.hpp"
#include "runner/job_file/job_sample.hpp"
#include "runner/messages.hpp"
#include "runner/page/report_page.hpp"
#include "runner/page/run_summary.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/ranks/host_memory.hpp"
#include "runner/run.hpp"
#include "runner/verify/certify.hpp"
#include "runner/verify/repair.hpp"
#include "runner/verify/verify.hpp"
#include "slurm/submit.hpp"
#include "views/compare.hpp"
#include "views/convert.hpp"
#include "views/default_dataset.hpp"
#include "views/inspect.hpp"
#include "views/made_text.hpp"
#include "views/render.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include <unistd.h>

namespace runner::cli {
namespace {

void print_as_is(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
        throw Error(ExitCode::output, {"cannot write the result", "standard output",
                                       errno_text(errno), "Send it elsewhere"});
    }
}

/// Lines for people, or JSON that printable_json() has made.
void print(const std::string& text) { print_as_is(printable_lines(text)); }

int all_cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

/// Tells what is odd about an input and no error.
void tell_notes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) {
        tell_warning(note);
    }
}

/// Prints what is odd about an input and no error.
void tell_notes_of(const DatasetName& what, FileAccess& files) {
    tell_notes(files.layout(what.file, what.dataset).info.notes);
}

/// The same before what a file holds is listed. A folder without a dataset by default may hold
/// others that can be read: the reason is then a note.
void tell_notes_of_listed(const DatasetName& what, const RowsFormat& format, FileAccess& files) {
    try {
        tell_notes_of(what, files);
    } catch (const Error& error) {
        if (error.code() != ExitCode::input || format.folder == nullptr || !what.dataset.empty()) {
            throw;
        }
        const std::vector<DatasetContent> held = files.content(what.file, "").datasets;
        if (std::all_of(held.begin(), held.end(),
                        [](const DatasetContent& each) { return each.shape.empty(); })) {
            throw;
        }
        tell_notes({format_error(error.text())});
    }
}

/// The dataset under its own name, where none is named and the file has one by default. Prints what
/// is odd about it, and about the choice.
DatasetName with_its_name(DatasetName what, FileAccess& files) {
    tell_notes_of(what, files);
    if (what.dataset.empty()) {
        what.dataset = files.layout(what.file, what.dataset).dataset;
    }
    return what;
}

/// The code of the first dataset that failed; of what is not done, that it can be resumed.
ExitCode code_of(const batch::Status& status) {
    const batch::History history = batch::read_history(status.folder);
    for (const batch::DatasetStatus& dataset : status.datasets) {
        if (dataset.is == batch::DatasetStatus::Is::failed) {
            const auto found = history.last.find(dataset.dataset.output);
            return found == history.last.end() ? ExitCode::stopped : found->second.code;
        }
    }
    const bool all = status.count(batch::DatasetStatus::Is::done) == std::ssize(status.datasets);
    return all ? ExitCode::ok : ExitCode::stopped;
}

/// One overload for each command.
struct Verbs {
    ExitCode operator()(const RunCommand& /*command*/) const {
        throw std::logic_error("a run is no verb of one process");
    }

    ExitCode operator()(const batch::Command& /*command*/) const {
        throw std::logic_error("a batch is no verb of one process");
    }

    ExitCode operator()(const StatusCommand& command) const {
        for (;;) {
            const batch::Status status = batch::read_status(command.folder);
            print(command.json ? printable_json(batch::status_json(status))
                               : batch::status_text(status, command.all ? batch::Listing::all
                                                                        : batch::Listing::some));
            if (!command.watch || status.is_over()) {
                return command.require_done ? code_of(status) : ExitCode::ok;
            }
            std::this_thread::sleep_for(std::chrono::seconds(2));
            if (::isatty(STDOUT_FILENO) == 1) {
                print_as_is("\033[H\033[2J"); // the next one in its place
            }
        }
    }

    ExitCode operator()(const slurm::SubmitCommand& command) const {
        const slurm::SubmitReport report = slurm::submit(command);
        tell_notes(report.notes);
        print(report.text);
        return report.code;
    }

    ExitCode operator()(const trial::TryCommand& command) const {
        const trial::TryReport report = trial::try_job(command);
        print(report.text);
        return report.code;
    }

    ExitCode operator()(const PlanCommand& command) const {
        const PlanReport report = plan_report(command);
        tell_notes(report.notes);
        print(report.text);
        return ExitCode::ok;
    }

    ExitCode operator()(const DevicesCommand& command) const {
        if (command.measure) {
            measure_devices();
        }
        print(command.json ? printable_json(devices_json()) : devices_text());
        return ExitCode::ok;
    }

    ExitCode operator()(const GenerateCommand& command) const {
        generate(command.request, command.file, command.dataset, all_cores(),
                 command.overwrite ? Overwrite::yes : Overwrite::no,
                 {command.layout, available_host_memory().bytes});
        print(made_text(command.file, command.dataset,
                        {command.request.type, command.request.shape}));
        return ExitCode::ok;
    }

    ExitCode operator()(const InspectCommand& command) const {
        const auto& [file, dataset] = command.what;
        Prober prober;
        ProbedFiles files(prober, command.rules);
        if (const RowsFormat* const format = rows_format_of(file)) {
            tell_notes_of_listed(command.what, *format, files);
        }
        const auto metadata = [&, &path = file](const std::string& of) {
            return files.metadata_if_read(path, of);
        };
        print(command.json ? printable_json(inspect_json(files, file, dataset, metadata))
                           : inspect_text(files, file, dataset, metadata));
        return ExitCode::ok;
    }

    ExitCode operator()(const CompareCommand& command) const {
        Prober prober;
        ProbedFiles files(prober, command.rules);
        const DatasetName a = with_its_name(command.a, files);
        const DatasetName b = with_its_name(command.b, files);
        const DatasetName by = command.by ? with_its_name(*command.by, files) : DatasetName{};
        const Comparison comparison =
            compare(files, {a.file, a.dataset, b.file, b.dataset, command.tolerance, all_cores(),
                            by.file, by.dataset});
        print(command.json ? printable_json(comparison_json(comparison))
                           : comparison_text(comparison));
        return comparison.differs() ? ExitCode::differs : ExitCode::ok;
    }

    ExitCode operator()(const RenderCommand& command) const {
        Prober prober;
        ProbedFiles files(prober, command.rules);
        RenderCommand named = command;
        for (DatasetName& what : named.what) {
            what = with_its_name(what, files);
            if (std::optional<ErrorText> text = differing_marks(
                    files.layout(what.file, what.dataset).info.invalid, what.file)) {
                text->try_this = "The picture takes them as values"; // it has no input.invalid
                tell_warning(format_error(*text));
            }
        }
        RenderRequest request = render_request(named, files, all_cores());
        request.warn = tell_warning;
        print(render(files, request));
        return ExitCode::ok;
    }

    ExitCode operator()(const ConvertCommand& command) const {
        DatasetName input = command.input;
        Prober prober;
        ProbedFiles files(prober, command.rules);
        if (command.raw) {
            tell_notes(open_raw_rows(input.file, *command.raw, 1)->info().notes);
        } else {
            if (input.dataset.empty() && rows_format_of(input.file) == nullptr) {
                const std::optional<std::string> usual = default_dataset(files, input.file);
                input.dataset = usual ? *usual : only_dataset(files.content(input.file, ""));
            }
            input = with_its_name(input, files);
        }
        ConvertRequest request;
        request.raw = command.raw;
        request.input = input.file;
        request.dataset = input.dataset;
        request.output = command.output.file;
        request.output_dataset =
            command.output.dataset.empty() ? input.dataset : command.output.dataset;
        if (!command.raw) {
            request.axes = files.layout(input.file, input.dataset).info.axes;
            request.metadata = files.metadata_if_read(input.file, input.dataset);
        }
        request.frames = command.frames;
        request.first_generation = command.first_generation;
        request.palette = command.palette;
        request.colour = command.colour;
        request.type = command.type;
        request.beyond = command.clip ? Beyond::clip : Beyond::refuse;
        request.overwrite = command.overwrite ? Overwrite::yes : Overwrite::no;
        request.layout = command.layout;
        request.warn = tell_warning;
        request.threads = all_cores();
        request.memory = available_host_memory().bytes;
        print(convert(files, request));
        return ExitCode::ok;
    }

    ExitCode operator()(const VerifyCommand& command) const {
        Prober prober;
        const verify::Verification result = verify::verify(
            {command.file, command.sample, command.recompute, command.input, all_cores()}, prober);
        print(command.json ? printable_json(verify::verification_json(result))
                           : verify::verification_text(result));
        return result.differs() ? ExitCode::differs : ExitCode::ok;
    }

    ExitCode operator()(const RepairCommand& command) const {
        Prober prober;
        print(verify::repair_text(
            verify::repair({command.file, command.input, all_cores()}, prober)));
        return ExitCode::ok;
    }

    ExitCode operator()(const CertifyCommand& command) const {
        const auto& [file, dataset] = command.what;
        Prober prober;
        if (!command.certificate) {
            print(printable_json(verify::certify({file, all_cores()}, prober)));
            return ExitCode::ok;
        }
        const verify::CertificateResult result = verify::check_certificate(
            {*command.certificate, file, dataset, command.rules, all_cores()}, prober);
        print(verify::certificate_text(result));
        return result.differs() ? ExitCode::differs : ExitCode::ok;
    }

    ExitCode operator()(const ExplainCommand& command) const {
        const JobFile file = load_job_file(command.job, command.settings);
        print(explain_job(file, file.pipeline ? step_comments(file) : found_comments(file)));
        return ExitCode::ok;
    }

    ExitCode operator()(const SaveJobCommand& command) const {
        std::error_code ignored;
        if (std::filesystem::exists(std::filesystem::symlink_status(command.file, ignored))) {
            throw Error(ExitCode::output, {"cannot write the job file", command.file,
                                           "it exists already", "Name another, or remove it"});
        }
        write_text_file(command.file, command.text);
        print("wrote " + command.file + "; to run it: runner " + shell_word(command.file) + "\n");
        return ExitCode::ok;
    }

    ExitCode operator()(const ReportCommand& command) const {
        if (const std::optional<ExitCode> code = report_batch(command)) {
            return *code;
        }
        std::vector<std::string> texts;
        std::vector<RunSummary> runs;
        for (const std::string& file : command.files) {
            texts.push_back(read_text_file(file, 256 * MiB));
            runs.push_back(summarise_report(file, texts.back()));
        }
        if (command.page) {
            write_text_file(*command.page,
                            runs.size() == 1 ? report_page(command.files.front(), texts.front(), {})
                                             : runs_page(runs));
        }
        print(command.json ? printable_json(runs_json(runs)) : runs_text(runs));
        return ExitCode::ok;
    }

    /// Reports the batch in a folder; nothing where only files are named.
    static std::optional<ExitCode> report_batch(const ReportCommand& command) {
        std::error_code ignored;
        const auto folder =
            std::find_if(command.files.begin(), command.files.end(), [&](const std::string& file) {
                return std::filesystem::is_directory(file, ignored);
            });
        if (folder == command.files.end()) {
            return std::nullopt;
        }
        if (command.files.size() > 1) {
            throw Error(ExitCode::usage,
                        {"cannot report several things at once", *folder,
                         "it is the folder of a batch", "Name a batch alone, or reports of runs"});
        }
        const batch::Report report = batch::read_report(*folder);
        if (command.page) {
            write_text_file(*command.page, batch_page(batch::report_json(report)));
        }
        print(command.json ? printable_json(batch::report_json(report))
                           : batch::report_text(report));
        return ExitCode::ok;
    }

    ExitCode operator()(const PrintCommand& command) const {
        print_as_is(command.text); // of this program alone
        return ExitCode::ok;
    }
};

} // namespace

ExitCode dispatch(const Command& command) { return std::visit(Verbs{}, command); }

} // namespace runner::cli
