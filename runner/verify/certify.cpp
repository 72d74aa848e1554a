// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/certify.hpp"

#include "base/array_info.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/open_rows.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "runner/job_file/job_sample.hpp"
#include "runner/job_file/job_text.hpp"
#include "runner/output/complete_output.hpp"
#include "runner/output/identity.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/verify/certificate.hpp"
#include "runner/verify/check_levels.hpp"
#include "runner/verify/finished_output.hpp"
#include "runner/verify/kept_rows.hpp"
#include "runner/verify/verify.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace runner::verify {
namespace {

/// An attribute of the record; null where there is none.
Json recorded(const FinishedOutput& output, std::string_view name) {
    for (const auto& [key, value] : output.record) {
        if (key != name) {
            continue;
        }
        if (const auto* text = std::get_if<std::string>(&value)) {
            return *text;
        }
        if (const auto* integer = std::get_if<std::int64_t>(&value)) {
            return *integer;
        }
        if (const auto* number = std::get_if<double>(&value)) {
            return *number;
        }
    }
    return {};
}

Json recorded_all(const FinishedOutput& output, std::initializer_list<std::string_view> names) {
    Json json = Json::object();
    for (const std::string_view name : names) {
        json[name] = recorded(output, name);
    }
    return json;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(std::move(line));
    }
    return lines;
}

/// Whether a line of an identity says only how the output, or what was made on the way to it
/// ("before."), is stored.
bool is_of_storage(std::string_view line) {
    constexpr std::string_view earlier = "before.";
    while (line.starts_with(earlier)) {
        line.remove_prefix(earlier.size());
    }
    constexpr std::array<std::string_view, 12> keys = {
        "output.chunk",         "output.shard",      "output.parts",  "output.compression",
        "output.level",         "output.shuffle",    "output.format", "output.levels",
        "output.level_factors", "output.downsample", "output.ngff",   "output.tile"};
    const std::string_view key = line.substr(0, line.find(" = "));
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Json identity_json(const FinishedOutput& output) {
    const Json identity = recorded(output, output::identity_attribute);
    if (!identity.is_string()) {
        return {};
    }
    std::vector<std::string> lines = lines_of(output::without_layout(identity.get<std::string>()));
    lines.erase(std::remove_if(lines.begin(), lines.end(), is_of_storage), lines.end());
    return lines;
}

/// Where and how the result was made and is stored: all that may differ between two runs of a job.
Json machine_json(const FinishedOutput& output) {
    Json machine = Json::object();
    machine["file"] = output.file;
    machine["job_file"] = output.job.text;
    machine["settings"] = lines_of(recorded(output, "job_settings").get<std::string>());
    for (const std::string_view name :
         {"backend", "devices", "ranks", "runs", "chunk_rows", "wall_seconds"}) {
        machine[name] = recorded(output, name);
    }
    const OutputLayout& layout = output.job.output.layout;
    machine["chunk"] = layout.chunk;
    machine["compression"] = name_of(layout.compression);
    return machine;
}

std::vector<OutputField> datasets_of(const FinishedOutput& output) {
    return output.fields.empty()
               ? std::vector<OutputField>{{output.job.output.dataset, output.all_frames()}}
               : output.fields;
}

std::string dataset_text(const std::string& name, const std::string& type,
                         std::span<const std::int64_t> shape) {
    return name + " " + type + " " + shape_text(shape);
}

std::string difference_of(const DatasetDigest& wanted, const DatasetDigest& found,
                          const std::string& name) {
    if (wanted.type != found.type || wanted.shape != found.shape) {
        return "it is " + dataset_text(name, found.type, found.shape) +
               ", and the certificate's is " +
               dataset_text(wanted.dataset, wanted.type, wanted.shape);
    }
    const auto [of_wanted, of_found] =
        std::mismatch(wanted.row_checksums.begin(), wanted.row_checksums.end(),
                      found.row_checksums.begin(), found.row_checksums.end());
    if (of_wanted != wanted.row_checksums.end()) {
        const std::int64_t first =
            (of_wanted - wanted.row_checksums.begin()) * wanted.rows_per_checksum;
        const RowRange rows{first, std::min(first + wanted.rows_per_checksum, wanted.rows())};
        return name + ", " + rows_text(rows, {ElementType::uint8, wanted.shape}) +
               ": the checksum differs, and this is the first that does";
    }
    return wanted.checksum == found.checksum
               ? ""
               : name + ": the checksum of all elements differs, and none of its rows";
}

/// Compares the dataset of this name. What has another type or shape is not read.
std::string difference_in(FileAccess& files, const CertificateCheck& request,
                          const DatasetDigest& wanted) {
    const RowsFormat* const format = rows_format_of(request.file);
    const std::string name = !request.dataset.empty() ? request.dataset
                             : format != nullptr      ? std::string(format->dataset)
                                                      : wanted.dataset;
    if (format == nullptr && !files.has_dataset(request.file, name)) {
        return "it has no dataset " + name;
    }
    const DatasetLayout layout = files.layout(request.file, name);
    const auto reader = files.open(layout, request.threads);
    const ArrayInfo& array = reader->info().array;
    DatasetDigest found;
    found.type = element_name(array);
    found.shape = array.shape;
    if (found.type == wanted.type && found.shape == wanted.shape) {
        found =
            digest_rows(*reader, {{{name, array}}, wanted.rows_per_checksum, {}}).datasets.front();
    }
    return difference_of(wanted, found, name);
}

[[noreturn]] void refuse_wrong(const FinishedOutput& output, RowRange rows) {
    throw Error(ExitCode::differs, {"cannot certify the output",
                                    output.file + ":" + output.datasets_text() + ", " +
                                        rows_text(rows, output.all_frames()),
                                    "their checksum differs from the one that the output lists",
                                    "See runner verify " + shell_word(output.file)});
}

/// The frames of an output that keeps some have checksums in two lists, in another order than that
/// of its certificate. They are read twice.
void check_kept_frames(FileAccess& files, const FinishedOutput& output, int threads) {
    if (!output.keeps_frames()) {
        return;
    }
    const std::vector<WrongRows> made =
        among_all_rows(output, check_runs(*open_stored_rows(files, output, threads), output.runs));
    const std::vector<WrongRows> kept = wrong_kept_rows(files, output, output.kept, threads);
    if (!made.empty() || !kept.empty()) {
        refuse_wrong(output, made.empty() ? kept.front().rows : made.front().rows);
    }
}

/// The coarser levels of the output, which are what its image makes them.
std::vector<DatasetDigest> digest_levels(FileAccess& files, const FinishedOutput& output,
                                         int threads) {
    const OutputDataset image = output.dataset();
    const std::vector<CoarserLevel> levels = coarser_levels(image);
    std::vector<DatasetDigest> digests;
    if (levels.empty()) {
        return digests;
    }
    if (const std::vector<WrongFile> wrong = check_levels(files, output, {}, threads);
        !wrong.empty()) {
        throw Error(ExitCode::differs,
                    {"cannot certify the output", output.file + "/" + wrong.front().text(),
                     wrong.front().why, "See runner verify " + shell_word(output.file)});
    }
    const std::vector<DatasetLayout> places = places_of_levels(files, image);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const ArrayInfo& array = levels[i].dataset.array;
        const auto reader = has_levels_in_file(image.layout.format)
                                ? open_layout_rows(places[i + 1], threads)
                                : files.open(places[i + 1], threads);
        const std::vector<OutputField> field = {{"/" + std::to_string(i + 1), array}};
        digests.push_back(
            digest_rows(*reader, {field, usual_rows_per_checksum(row_count(array)), {}})
                .datasets.front());
    }
    return digests;
}

/// Compares the levels that the certificate lists, of a store that has as many arrays.
std::string difference_in_levels(FileAccess& files, const CertificateCheck& request,
                                 const std::vector<DatasetDigest>& levels) {
    const RowsFormat* const format = rows_format_of(request.file);
    if (levels.empty() || !request.dataset.empty() || format == nullptr ||
        format->folder == nullptr ||
        files.content(request.file, "").datasets.size() != levels.size() + 1) {
        return "";
    }
    for (const DatasetDigest& level : levels) {
        CertificateCheck of_level = request;
        of_level.dataset = level.dataset;
        if (std::string difference = difference_in(files, of_level, level); !difference.empty()) {
            return difference;
        }
    }
    return "";
}

} // namespace

std::string certify(const CertifyRequest& request, Prober& prober) {
    ProbedFiles files(prober, finished_output_rules());
    const FinishedOutput output = read_finished_output(files, request.file);
    check_kept_frames(files, output, request.threads);
    const auto reader = open_all_rows(files, output, request.threads);
    const ArrayInfo array = output.all_frames();
    const std::span<const RowHash> runs = output.runs;
    const DigestedRows digested =
        digest_rows(*reader, {datasets_of(output), usual_rows_per_checksum(row_count(array)),
                              runs.first(output.keeps_frames() ? 0 : runs.size())});
    if (digested.wrong) {
        refuse_wrong(output, *digested.wrong);
    }
    check_runs_undamaged(output);
    Json certificate = {{"certificate", certificate_version},
                        {"kind", output.job.kind},
                        {"job", explain_result(output.job)},
                        {"identity", identity_json(output)},
                        {"input", recorded_all(output, {"input_file", "input_dataset",
                                                        "input_bytes", "input_modified"})},
                        {"datasets", datasets_json(digested.datasets)},
                        {"versions", Json{{"runner", output.version}}},
                        {"machine", machine_json(output)}};
    if (const std::vector<DatasetDigest> levels = digest_levels(files, output, request.threads);
        !levels.empty()) {
        certificate["levels"] = datasets_json(levels);
    }
    constexpr std::size_t indent = 2;
    constexpr std::size_t width = 100;
    return certificate.lines(indent, width);
}

CertificateResult check_certificate(const CertificateCheck& request, Prober& prober) {
    constexpr std::int64_t most_bytes = 16 * MiB;
    const auto [datasets, levels] = parse_certificate(
        request.certificate, read_user_text(request.certificate, "the certificate", most_bytes));
    const bool is_single = !request.dataset.empty() || rows_format_of(request.file) != nullptr;
    if (is_single && datasets.size() > 1) {
        throw Error(ExitCode::usage, {"cannot check one dataset", request.file,
                                      "the certificate is of " + std::to_string(datasets.size()) +
                                          " datasets of an HDF5 file",
                                      "Name that file alone"});
    }
    ProbedFiles files(prober, request.rules);
    CertificateResult result;
    result.certificate = request.certificate;
    result.file = request.file;
    for (const DatasetDigest& wanted : datasets) {
        result.datasets += (result.datasets.empty() ? "" : ", ") +
                           dataset_text(wanted.dataset, wanted.type, wanted.shape);
        if (!result.differs()) {
            result.difference = difference_in(files, request, wanted);
        }
    }
    if (!result.differs()) {
        result.difference = difference_in_levels(files, request, levels);
    }
    return result;
}

std::string certificate_text(const CertificateResult& result) {
    const std::string file = printable(result.file);
    const std::string certificate = printable(result.certificate);
    return result.differs() ? "differs: " + file + ": " + printable(result.difference) + "\n" +
                                  file + " is not the result of " + certificate + "\n"
                            : file + " is the result of " + certificate + ": " +
                                  printable(result.datasets) + "\n";
}

} // namespace runner::verify
