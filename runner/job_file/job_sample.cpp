// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/job_sample.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/output/layout_choice.hpp"
#include "io/rows/written_format.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/job_file.hpp"

#include <array>
#include <charconv>
#include <span>
#include <utility>

namespace runner {
namespace {

std::string line(const std::string& key, const std::string& value) {
    return key + " = " + value + "\n";
}

std::string comment(const std::string& key, const std::string& meaning) {
    return "# " + key + ": " + meaning + "\n";
}

std::string extents(const std::vector<std::int64_t>& values) {
    return toml_text(std::span<const std::int64_t>(values));
}

std::string truth(bool value) { return value ? "true" : "false"; }

/// The fewest digits of a percentage that reads back to the same share.
std::string share_text(double fraction) {
    std::array<char, 512> text{};
    for (int digits = 0; digits < 20; ++digits) {
        const auto result = std::to_chars(text.data(), text.data() + text.size(), fraction * 100,
                                          std::chars_format::fixed, digits);
        std::string percent = std::string(text.data(), result.ptr) + "%";
        const std::optional<MemorySize> back = parse_memory_size(percent);
        if (back && back->fraction == fraction) {
            return percent;
        }
    }
    return std::string(text.data()) + "%";
}

/// In the largest unit that it is a whole number of.
std::string bytes_text(std::int64_t bytes) {
    for (const auto& [unit, name] : {std::pair(GiB, "GiB"), {MiB, "MiB"}, {KiB, "KiB"}}) {
        if (bytes % unit == 0) {
            return fmt::format("{}{}", bytes / unit, name);
        }
    }
    return fmt::format("{}B", bytes);
}

std::string size_lines(const std::string& key, const std::optional<MemorySize>& size,
                       const std::string& otherwise) {
    if (!size) {
        return comment(key, otherwise);
    }
    return line(
        key, toml_text(size->fraction != 0 ? share_text(size->fraction) : bytes_text(size->bytes)));
}

std::string count_text(const std::optional<std::int64_t>& count) {
    return count ? std::to_string(*count) : "\"auto\"";
}

std::string mask_text(const JobFile::Input::Invalid& invalid) {
    std::string keys;
    const auto add = [&keys](const std::string& key, const std::string& value) {
        keys += (keys.empty() ? "" : ", ") + key + " = " + value;
    };
    if (!invalid.mask_file.empty()) {
        add("file", toml_text(invalid.mask_file));
    }
    if (!invalid.mask_dataset.empty()) {
        add("dataset", toml_text(invalid.mask_dataset));
    }
    if (invalid.value) {
        add("value", toml_text(*invalid.value));
    }
    return "{ " + keys + " }";
}

std::string invalid_text(const JobFile::Input::Invalid& invalid) {
    using Rule = JobFile::Input::Invalid::Rule;
    switch (invalid.rule) {
    case Rule::file: return invalid.value ? mask_text(invalid) : "\"file\"";
    case Rule::none: return "\"none\"";
    case Rule::nan: return "\"nan\"";
    case Rule::mask: return mask_text(invalid);
    default: return toml_text(invalid.number);
    }
}

std::string input_lines(const JobFile::Input& input) {
    std::string text =
        "[input]\n" + (input.file.empty() ? "" : line("file", toml_text(input.file))) +
        (input.dataset.empty() ? comment("dataset", "the file's default signal (NeXus)")
                               : line("dataset", toml_text(input.dataset)));
    if (input.generate) {
        const GenerateRequest& request = *input.generate;
        text +=
            line("generate",
                 fmt::format("{{ pattern = {}, shape = {}, dtype = {}, seed = {}{} }}",
                             toml_text(request.pattern), extents(request.shape),
                             toml_text(name_of(request.type)), request.seed,
                             (takes_counts(pattern_named(request.pattern).value_or(Pattern::noise))
                                  ? ", counts = " + toml_text(request.counts)
                                  : "")));
    }
    if (input.raw) {
        text +=
            line("raw", "{ shape = " + extents(input.raw->array.shape) +
                            ", dtype = " + toml_text(name_of(input.raw->array.type)) +
                            ", offset = " + std::to_string(input.raw->offset) + ", big_endian = " +
                            truth(input.raw->bytes == DenseLayout::Bytes::big_endian) + " }");
    }
    text += toml_lines(input.axes) + toml_lines(input.selection);
    const InputRules& rules = input.rules;
    static constexpr std::array missing = {"fail", "skip", "fill"};
    text += line("allow_external", truth(rules.outside == InputRules::Outside::anywhere)) +
            line("missing", toml_text(missing.at(static_cast<std::size_t>(rules.missing))));
    text += rules.max_logical_bytes
                ? line("max_logical_bytes", toml_text(bytes_text(*rules.max_logical_bytes)))
                : comment("max_logical_bytes", "any that are stored");
    text +=
        input.colour ? line("colour", truth(*input.colour)) : comment("colour", "as the file says");
    text += line("invalid", invalid_text(input.invalid));
    return text;
}

/// Which dataset is made, and of which type.
std::string made_lines(const JobFile::Output& output) {
    return (output.dataset.empty() ? comment("dataset", "as the input's")
                                   : line("dataset", toml_text(output.dataset))) +
           (output.type ? line("dtype", toml_text(name_of(*output.type)))
                        : comment("dtype", "the kind's default for the input's"));
}

/// `comments`: a line for each step; of a job of one kind any lines.
std::string kind_lines(const JobFile& job, const std::vector<std::string>& comments) {
    if (job.pipeline) {
        return job.pipeline->canonical(comments);
    }
    std::string text = "[" + job.kind + "]\n";
    for (const std::string& each : comments) {
        text += "# " + printable(each) + "\n";
    }
    return text + job.parameters->canonical();
}

std::string compression_lines(const OutputLayout& layout) {
    return line("compression", toml_text(name_of(layout.compression))) +
           (levels_of(layout.compression).highest > 0 ? line("level", std::to_string(layout.level))
                                                      : "");
}

/// How an HDF5 file stores the datasets. Other formats have no such keys.
std::string layout_lines(const JobFile::Output& output) {
    std::string text = line("parts", count_text(output.parts));
    const OutputLayout& layout = output.layout;
    text += layout.chunk.empty() ? comment("chunk", "none, the dataset is contiguous")
                                 : line("chunk", extents(layout.chunk));
    text += compression_lines(layout);
    if (layout.compression != Compression::none && !sorts_bits(layout.compression)) {
        text += line("shuffle", truth(layout.shuffle));
    }
    return text;
}

std::string image_lines(const OutputLayout& layout) {
    if (!has_levels(layout.format)) {
        return "";
    }
    const Pyramid& pyramid = layout.pyramid;
    std::string count =
        has_levels_in_file(layout.format)
            ? line("pyramid", truth(pyramid.levels != 1))
            : line("ngff", toml_text(ngff_names.at(static_cast<std::size_t>(layout.ngff)))) +
                  line("levels", pyramid.levels == 0 ? "\"auto\"" : std::to_string(pyramid.levels));
    if (pyramid.levels == 1) {
        return count;
    }
    return count +
           (pyramid.factors.empty() ? "" : line("level_factors", extents(pyramid.factors))) +
           line("downsample",
                toml_text(downsample_names.at(static_cast<std::size_t>(pyramid.downsample))));
}

std::string output_lines(const JobFile::Output& output) {
    const std::string text = "[output]\n" +
                             (output.file.empty() ? "" : line("file", toml_text(output.file))) +
                             made_lines(output) + line("overwrite", truth(output.overwrite)) +
                             line("sync", truth(output.sync));
    if (output.layout.is_hdf5()) {
        return text + line("keep_fields", truth(output.keep_fields)) + layout_lines(output);
    }
    const OutputLayout& layout = output.layout;
    const auto extents_line = [](const char* key, const std::vector<std::int64_t>& given) {
        return given.empty() ? "" : line(key, extents(given));
    };
    const bool is_packed =
        layout.compression != Compression::none && has_layout_key(layout.format, "compression");
    return text + extents_line("chunk", layout.chunk) + extents_line("shard", layout.shard) +
           (is_packed ? compression_lines(layout) : "") +
           (layout.shuffle ? line("shuffle", truth(layout.shuffle)) : "") +
           extents_line("tile", layout.tile) + image_lines(layout);
}

std::string batch_lines(const JobFile::Batch& batch) {
    std::string inputs;
    for (const JobFile::Text& input : batch.inputs) {
        inputs += (inputs.empty() ? "" : ", ") + toml_text(input.text);
    }
    return "[batch]\n" +
           line("inputs", batch.manifest ? toml_text(batch.manifest->text) : "[" + inputs + "]") +
           line("output", toml_text(batch.output.text)) + line("state", toml_text(batch.state)) +
           "\n";
}

std::string run_lines(const JobFile::Run& run) {
    static constexpr std::array halos = {"auto", "direct", "staged"};
    return "[run]\n" + line("backend", toml_text(name_of(run.backend))) +
           size_lines("host_memory", run.host_memory,
                      "80% of the rank's part of what its host has") +
           size_lines("device_memory", run.device_memory, "80% of what is free on the rank's GPU") +
           line("chunk_rows", count_text(run.chunk_rows)) + line("lanes", count_text(run.lanes)) +
           line("io_threads", count_text(run.io_threads)) +
           line("halo_depth", count_text(run.halo_depth)) +
           line("halo_exchange", toml_text(halos.at(static_cast<std::size_t>(run.halo_exchange)))) +
           line("resume", toml_text(name_of(run.resume))) +
           line("resume_check", run.resume_check == RowCheck::all ? "\"all\"" : "\"few\"") +
           line("commit_seconds", toml_text(run.commit_seconds)) +
           line("stall_seconds", toml_text(run.stall_seconds));
}

const char* const frame = R"(name = "my_job"                 # default: the file's stem

[input]
file = "data/image.h5"          # relative to the working directory
dataset = "/image"
# Makes the file first when it is not there; docs/job-file.md lists the patterns.
# generate = { pattern = "noise", shape = [4096, 4096], dtype = "float32", seed = 1 }
# region = { rows = "200:1800", columns = "100:-100" }   # a part of each frame
# frames = "0:3000:2"           # some of the frames
# allow_external = true         # its links may lead to files in other folders
# max_logical_bytes = "100TiB"  # of a dataset whose elements need not all be stored
# axes = "tczyx"                # names of the axes, where the file does not say them
# spacing = [2.0, 0.5, 0.5]     # from element to element along the last axes
# select = { c = "DAPI", t = "0:10" }   # by names of axes: an index, a range, a channel's name
# colour = true                 # whether a last axis of 3 or 4 has the samples of colour pixels
# invalid = 65535               # the number of elements that are no values, "nan", "none", or a
#                               # mask: { dataset = "/mask" }

[output]
file = "out/image.h5"
# dataset = "/image"            # default: as the input's
# dtype = "float32"             # default: the input's
overwrite = false
# keep_fields = true            # of an NXtomo scan: its flats and darks too
# parts = "auto"                # the elements in several files in out/image.parts, written at once
# chunk = [256, 4096]           # HDF5 chunks; without them the dataset is contiguous
# compression = "deflate"       # none, deflate or zstd; needs chunk
# level = 1                     # deflate 0 to 9, zstd 1 to 22
# shuffle = true

[run]
backend = "auto"                # auto, cpu or cuda
# host_memory = "2GiB"          # per rank: a size, or a share of its part of what the host has
# device_memory = "80%"         # per rank: a size, or a share of what is free on its GPU
chunk_rows = "auto"             # rows that pass through the device at once
lanes = "auto"                  # chunks in flight
)";

} // namespace

std::string job_sample(const Kind& kind) {
    const std::string name(kind.name);
    std::string text = frame;
    if (!kind.dataset.empty()) {
        const std::string_view other = "\"/image\"";
        for (auto at = text.find(other); at != std::string::npos; at = text.find(other, at + 1)) {
            text.replace(at, other.size(), "\"" + std::string(kind.dataset) + "\"");
        }
    }
    return "# " + name + ": " + std::string(kind.summary) + ". Every key: docs/job-file.md\n" +
           line("kind", toml_text(name)) + text + "\n[" + name + "]\n" + sample_lines(kind.keys());
}

std::string explain_job(const JobFile& job, const std::vector<std::string>& steps) {
    return (job.pipeline ? "" : line("kind", toml_text(job.kind))) +
           line("name", toml_text(job.name)) + "\n" + (job.batch ? batch_lines(*job.batch) : "") +
           input_lines(job.input) + "\n" + output_lines(job.output) + "\n" + run_lines(job.run) +
           "\n" + kind_lines(job, steps);
}

std::string explain_result(const JobFile& job) {
    return (job.pipeline ? "" : line("kind", toml_text(job.kind)) + "\n") + input_lines(job.input) +
           "\n[output]\n" + made_lines(job.output) + "\n" + kind_lines(job, {});
}

} // namespace runner
