// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/generate.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/slice_names.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/input/generations.hpp"
#include "io/inspect/nexus_file.hpp"
#include "io/metadata/write_setup.hpp"
#include "io/output/default_plot.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/output/output_size.hpp"
#include "io/output/own_parts.hpp"
#include "io/output/publish_output.hpp"
#include "io/rows/row_geometry.hpp"
#include "kernels/patterns/patterns.hpp"
#include "kernels/patterns/phantom.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace runner {
namespace {

constexpr std::int64_t buffer_bytes = 64 * MiB;

Pattern checked_pattern(const GenerateRequest& request) {
    const std::optional<Pattern> pattern = pattern_named(request.pattern);
    if (!pattern) {
        throw Error(ExitCode::usage,
                    {"cannot generate the pattern", request.pattern, "there is none of that name",
                     "Known are " + pattern_names()});
    }
    return *pattern;
}

void check_shape(const GenerateRequest& request) {
    const auto& shape = request.shape;
    if (shape.empty() || std::any_of(shape.begin(), shape.end(), [](auto n) { return n < 1; })) {
        throw Error(ExitCode::usage,
                    {"cannot generate an array", shape_text(shape),
                     "every axis needs an extent of 1 or more", "Give a shape as 100,200,300"});
    }
    try {
        (void)byte_count({request.type, shape});
    } catch (const Error&) {
        throw Error(ExitCode::usage, {"cannot generate an array", shape_text(shape),
                                      "its bytes pass 2^63 - 1", "Give smaller extents"});
    }
}

/// Reported before HDF5 or the file system fails with a message of its own. What compressed chunks
/// take is not known before.
void check_room(const OutputDataset& output, const std::string& file) {
    const std::filesystem::path parent = std::filesystem::path(file).parent_path();
    const std::string folder = parent.empty() ? "." : parent.string();
    std::error_code failure;
    const std::filesystem::space_info space = std::filesystem::space(folder, failure);
    if (failure) {
        throw Error(ExitCode::output, {"cannot generate the file", file,
                                       "its folder " + folder + ": " + failure.message(),
                                       "Make it: mkdir -p " + shell_word(folder)});
    }
    const std::int64_t needed = output_room(output.array, output.layout, folder);
    if (output.layout.compression == Compression::none &&
        static_cast<std::uintmax_t>(needed) > space.available) {
        throw Error(ExitCode::output,
                    {"cannot generate the file", file,
                     "it takes " + size_text(needed) + " and " +
                         size_text(static_cast<std::int64_t>(space.available)) + " are free there",
                     "Free space, or name another disk"});
    }
}

void check_absent(const std::string& file) {
    if (is_output_there(file)) {
        clean_up_beside(file);
        throw Error(ExitCode::output,
                    {"cannot generate the file", file, "it exists", "Remove it, or name another"});
    }
}

/// A scan has frames of each sort, and what they are is written beside them.
void check_scan(const GenerateRequest& request, const std::string& file) {
    if (request.shape.size() != 3 || request.shape[0] < 3) {
        throw Error(ExitCode::usage,
                    {"cannot generate a scan", shape_text(request.shape),
                     "it has three axes, and a dark frame, a flat frame and a projection at least",
                     "Give a shape as 220,96,128"});
    }
    if (rows_format_of(file) != nullptr) {
        throw Error(ExitCode::usage,
                    {"cannot generate a scan", file,
                     "this format has no place for what its frames are", "Name a .h5 file"});
    }
}

void check_cells(const std::string& file, Pattern pattern, const GenerateRequest& request) {
    if (!is_sand_pattern(pattern) || request.type != ElementType::uint8) {
        throw Error(ExitCode::usage,
                    {"cannot generate the file", file,
                     "such a file holds cells of sand, and this is " +
                         std::string(name_of(request.type)) + " of " + request.pattern,
                     "Choose uint8 of sample-1 … sample-4 or sand-noise, or name a .h5 file"});
    }
}

/// The angle of each frame in degrees; of dark and flat frames 0.
std::vector<double> scan_angles(const std::vector<std::int32_t>& keys) {
    const auto projections = static_cast<double>(std::count(keys.begin(), keys.end(), 0));
    std::vector<double> angles;
    angles.reserve(keys.size());
    double next = 0;
    for (const std::int32_t key : keys) {
        angles.push_back(key == 0 ? 180 * next++ / projections : 0);
    }
    return angles;
}

/// What stands beside the frames of a scan.
void write_scan_facts(const GenerateRequest& request, Pattern pattern,
                      const OutputDataset& output) {
    const std::vector<std::int32_t> keys = scan_keys(request.shape[0]);
    const std::string detector = group_of_path(output.dataset);
    write_frame_numbers(output.file, path_below(detector, "image_key"),
                        std::vector<std::uint64_t>(keys.begin(), keys.end()),
                        "the scan's image_key");
    if (pattern == Pattern::phase_scan) {
        write_setup(output.file, generated_setup(request, output.dataset), detector,
                    scan_angles(keys));
    }
}

void write_pattern(const GenerateRequest& request, Pattern pattern, const OutputDataset& output,
                   const RowSteps& steps, int threads, const std::function<void()>& check) {
    const auto writer = make_rows(output, steps);
    CpuQueue queue(threads);
    const std::int64_t all = row_count(output.array);
    const Buffer rows = allocate_staging(queue, steps.rows * row_bytes(output.array));
    for (std::int64_t first = 0; first < all;) {
        if (check) {
            check();
        }
        const std::int64_t count = rows_to_border(output.array, steps.alignment, first, steps.rows);
        fill_pattern(queue, pattern, request.type, request.shape, request.seed,
                     first * row_elements(output.array), count * row_elements(output.array),
                     rows.data(), request.counts);
        writer->write(first, count, rows.data());
        first += count;
    }
    writer->finish(RowWriter::Sync::no);
    if (!output.layout.is_hdf5()) {
        return; // it has no place for them
    }
    std::vector<Attribute> attributes = {{"pattern", request.pattern},
                                         {"seed", static_cast<std::int64_t>(request.seed)}};
    if (is_scan_pattern(pattern)) {
        write_scan_facts(request, pattern, output);
    }
    if (takes_counts(pattern)) {
        attributes.emplace_back("counts", request.counts);
    }
    write_attributes(output.file, attributes);
    write_default_plot(output.file, output.dataset);
}

} // namespace

FrameRoles generated_roles(const GenerateRequest& request) {
    FrameRoles roles;
    const std::optional<Pattern> pattern = pattern_named(request.pattern);
    if (pattern && is_scan_pattern(*pattern) && request.shape.size() == 3) {
        roles.key = "image_key";
        for (const std::int32_t key : scan_keys(request.shape[0])) {
            roles.frames.push_back(role_of_key(key).value_or(FrameRole::invalid));
        }
    }
    return roles;
}

ScanSetup generated_setup(const GenerateRequest& request, const std::string& dataset) {
    if (pattern_named(request.pattern) != Pattern::phase_scan) {
        return {};
    }
    const std::string entry = entry_above(group_of_path(path_below("/", dataset)));
    const auto number = [&](const char* path, double value, const char* unit) {
        return ScanNumber{path_below(entry, path), value, ElementType::float64, unit, {}};
    };
    const PhaseScanBeam& beam = phase_scan_beam;
    return {number("instrument/beam/incident_energy", beam.energy, "keV"),
            number("instrument/detector/distance", beam.distance, "m"),
            number("instrument/detector/x_pixel_size", beam.pixel_size, "um"),
            number("instrument/detector/y_pixel_size", beam.pixel_size, "um")};
}

const std::vector<std::string>& generate_patterns() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        all.reserve(all_patterns.size());
        for (const auto& [name, pattern] : all_patterns) {
            all.emplace_back(name);
        }
        return all;
    }();
    return names;
}

void generate(const GenerateRequest& request, const std::string& file, const std::string& dataset,
              int threads, Overwrite overwrite, const GenerateStorage& storage) {
    const Pattern pattern = checked_pattern(request);
    check_shape(request);
    if (const std::string fault = output_name_fault(file); !fault.empty()) {
        throw Error(ExitCode::usage, {"cannot make the file", file, "its name " + fault, ""});
    }
    if (overwrite == Overwrite::no) {
        check_absent(file);
    }
    if (is_scan_pattern(pattern)) {
        check_scan(request, file);
    }
    if (pattern == Pattern::shadows && request.shape.size() != 3) {
        throw Error(ExitCode::usage, {"cannot generate shadows", shape_text(request.shape),
                                      "they have three axes: projections, rows and columns",
                                      "Give a shape as 198,96,128"});
    }
    OutputDataset output{
        partial_name(file), dataset, {request.type, request.shape}, storage.layout};
    output.layout.format = written_format_of(file);
    if (holds_cells(file)) {
        check_cells(file, pattern, request);
    }
    const RowSteps steps = row_steps(output, buffer_bytes, storage.memory, threads);
    check_room(output, file);
    if (overwrite == Overwrite::yes && is_folder_output(file)) {
        check_replaced(file);
    }
    PartialOutput made(file);
    write_pattern(request, pattern, output, steps, threads, storage.check);
    made.publish(overwrite, RowWriter::Sync::yes);
}

} // namespace runner
