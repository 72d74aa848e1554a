// SPDX-License-Identifier: BSD-3-Clause
#include "cli/data_verbs.hpp"

#include "base/format.hpp"
#include "cli/layout_options.hpp"
#include "cli/verb_parser.hpp"
#include "io/formats/rows_format.hpp"
#include "jobs/toml_text.hpp"
#include "views/convert.hpp"
#include "views/pictures/array_name.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace runner::cli {

Command parse_inspect(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner inspect data/image.h5:/image");
    std::string what;
    InspectCommand command;
    parser.add_argument("FILE[:/dataset]", what,
                        "an HDF5, .sand, .npy, .tif, .png or .nii file, or one dataset");
    parser.add_flag("--json", command.json, "print it as JSON");
    parser.add_trust();
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.rules = parser.rules();
    command.what = parser.dataset("FILE[:/dataset]", what);
    return command;
}

Command parse_compare(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner compare out/cpu.h5:/image out/gpu.h5:/image --tolerance 1e-6");
    std::string a;
    std::string b;
    std::string by;
    std::string tolerance = "0";
    CompareCommand command;
    parser.add_argument("A:/x", a, "a dataset");
    parser.add_argument("B:/y", b, "the dataset to compare it with");
    parser.add_option("--tolerance", tolerance, "T",
                      "the largest absolute difference that is still equal (default 0)");
    parser.add_option("--divide-by", by, "C:/z",
                      "a third dataset: also count the differences divided by its elements");
    parser.add_flag("--json", command.json, "print the result as JSON");
    parser.add_trust();
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.rules = parser.rules();
    if (!by.empty()) {
        command.by = parser.dataset("--divide-by", by);
    }
    command.tolerance = parser.amount("--tolerance", tolerance);
    command.a = parser.dataset("A:/x", a);
    command.b = parser.dataset("B:/y", b);
    return command;
}

namespace {

Percentiles parse_percentiles(const VerbParser& parser, const std::string& given) {
    constexpr double whole = 100;
    const std::size_t comma = given.find(',');
    if (comma == std::string::npos) {
        parser.refuse("--percentiles is two numbers like 0.5,99.5, not " + quoted_text(given));
    }
    const Percentiles shares = {parser.amount("--percentiles", given.substr(0, comma)) / whole,
                                parser.amount("--percentiles", given.substr(comma + 1)) / whole};
    if (!(shares.black < shares.white && shares.white <= 1)) {
        parser.refuse("--percentiles rise from 0 to 100, not " + quoted_text(given));
    }
    return shares;
}

/// Options of render as they are given.
struct RenderTexts {
    std::vector<std::string> names;
    std::string size = "1024";
    std::string axis;
    std::string projection;
    std::string percentiles;
    std::string colour;
};

void add_render_options(VerbParser& parser, RenderTexts& texts, RenderCommand& command) {
    parser.add_arguments("FILE:/x... OUT.png", texts.names,
                         "datasets, and the picture that shows them side by side");
    parser.add_frames();
    parser.add_palette();
    parser.add_switch("--colour", texts.colour,
                      "the last axis, of 3 or 4, is colour; =false: it is not");
    parser.add_option("--size", texts.size, "PIXELS",
                      "most pixels along the longer side of each (default 1024)");
    parser.add_option("--axis", texts.axis, "A",
                      "cut a volume across axis A, from 0, one of the last three; frames are "
                      "counted along it (default: the middle one)");
    parser.add_option("--project", texts.projection, "NAME",
                      "max, min or mean of all along --axis (default: the third last)");
    parser.add_option("--percentiles", texts.percentiles, "LOW,HIGH",
                      "of the values, shown as black and white (default 0.5,99.5; of bytes 0 and "
                      "255 themselves)");
    parser.add_flag("--same-contrast", command.same_contrast,
                    "show equal values of several datasets as equal grey");
    parser.add_flag("--difference", command.difference,
                    "with two datasets: a third picture, the second minus the first");
    parser.add_flag("--exact", command.exact,
                    "read all of what is shown; without it a frame above 1 GiB, or across the last "
                    "axis, is sampled");
    parser.add_trust();
}

/// What render shows, and the picture that it makes of that.
void take_names(const VerbParser& parser, std::vector<std::string> names, RenderCommand& command) {
    command.picture = names.back();
    names.pop_back();
    if (!command.picture.ends_with(".png")) {
        parser.refuse("the picture is a PNG and its name must end in .png, not " +
                      quoted_text(command.picture));
    }
    for (const std::string& name : names) {
        command.what.push_back(parser.dataset("FILE:/x", name));
    }
    if (names.empty()) {
        parser.refuse("no dataset is named before " + quoted_text(command.picture));
    }
    if (command.difference && names.size() != 2) {
        parser.refuse(fmt::format("--difference is of two datasets, not of {}", names.size()));
    }
}

} // namespace

Command parse_render(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner render data/image.h5:/image image.png --size 800\n  "
                            "runner render data/image.h5:/image out/image.h5:/image both.png\n  "
                            "runner render out/sand.h5:/frames out/sand.png --frames all\n  "
                            "runner render data/head.h5:/volume side.png --axis 2 --project max");
    RenderTexts texts;
    RenderCommand command;
    add_render_options(parser, texts, command);
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.rules = parser.rules();
    constexpr std::int64_t most_pixels = 32768;
    command.frames = parser.frames();
    constexpr std::int64_t most_axes = 32; // of an HDF5 dataset
    if (!texts.axis.empty()) {
        command.axis = parser.integer("--axis", texts.axis, 0, most_axes - 1);
    }
    command.projection =
        parser.choice("--project", texts.projection, {"max", "min", "mean"},
                      std::array{Projection::maximum, Projection::minimum, Projection::mean});
    if (!texts.percentiles.empty()) {
        command.percentiles = parse_percentiles(parser, texts.percentiles);
    }
    command.palette = parser.palette();
    command.colour =
        parser.choice("--colour", texts.colour, {"true", "false"}, std::array{true, false});
    if (command.colour.value_or(false) && (command.axis || command.projection)) {
        parser.refuse("--colour is of images, not of volumes that --axis and --project cut");
    }
    command.size = parser.integer("--size", texts.size, 1, most_pixels);
    take_names(parser, std::move(texts.names), command);
    return command;
}

RenderRequest render_request(const RenderCommand& command, FileAccess& files, int threads) {
    RenderRequest request;
    for (const DatasetName& what : command.what) {
        request.sources.push_back({what.file, what.dataset});
    }
    request.picture = command.picture;
    request.axis = command.axis;
    request.projection = command.projection;
    request.percentiles = command.percentiles;
    request.palette = command.palette;
    request.colour = command.colour;
    request.size = command.size;
    request.contrast =
        command.same_contrast ? RenderRequest::Contrast::same : RenderRequest::Contrast::each;
    request.difference =
        command.difference ? RenderRequest::Difference::yes : RenderRequest::Difference::no;
    request.reading = command.exact ? RenderRequest::Reading::all : RenderRequest::Reading::samples;
    request.threads = threads;
    const DatasetName& first = command.what.front();
    if (command.projection && !command.axis) {
        const auto axes = std::ssize(files.layout(first.file, first.dataset).info.array.shape);
        request.axis = std::max<std::int64_t>(axes - 3, 0);
    }
    if (command.frames) {
        request.frames = *command.frames;
    } else if (command.axis && !command.projection) {
        const std::string where = array_name(first.file, first.dataset);
        const ArrayInfo array = files.layout(first.file, first.dataset).info.array;
        const VolumeView view = view_across(array, *command.axis, where);
        request.frames = one_frame(view.image().frames / view.volumes / 2);
    }
    return request;
}

namespace {

/// --shape, --raw-dtype, --offset and --big-endian of an input that does not say them, and --dtype.
class RawOptions {
  public:
    explicit RawOptions(VerbParser& parser) : parser_(parser) {
        parser.add_option("--shape", shape_, "Z,Y,X", "extents of a raw input, slowest axis first");
        parser.add_option("--dtype", type_, "TYPE",
                          "the output's element type; with --shape and without --raw-dtype the raw "
                          "input's too: " +
                              convertible_type_names());
        parser.add_option("--raw-dtype", raw_type_, "TYPE",
                          "element type of a raw input, if --dtype names another");
        parser.add_option("--offset", offset_, "BYTES", "bytes to skip in a raw input (default 0)");
        parser.add_flag("--big-endian", big_endian_, "the elements of a raw input are big-endian");
    }

    /// Nothing where the input says it itself. @throws Error (usage).
    std::optional<DenseLayout> layout() const {
        if (shape_.empty()) {
            if (!offset_.empty() || !raw_type_.empty() || big_endian_) {
                parser_.refuse("--raw-dtype, --offset and --big-endian are of a raw input",
                               "Say what it holds: --shape Z,Y,X --dtype TYPE");
            }
            return std::nullopt;
        }
        if (type_.empty() && raw_type_.empty()) {
            parser_.refuse("a raw input needs --shape and --dtype", "Give both");
        }
        DenseLayout layout;
        layout.array = {raw_type_.empty() ? parser_.element("--dtype", type_)
                                          : parser_.element("--raw-dtype", raw_type_),
                        parser_.extents("--shape", shape_)};
        layout.offset = offset_.empty() ? 0 : parser_.integer("--offset", offset_, 0);
        layout.bytes =
            big_endian_ ? DenseLayout::Bytes::big_endian : DenseLayout::Bytes::little_endian;
        return layout;
    }

    /// The type of the output; nothing where it is the input's. @throws Error (usage).
    std::optional<ArrayInfo> output_type() const {
        const bool is_raw_type = !shape_.empty() && raw_type_.empty();
        if (type_.empty() || is_raw_type) {
            return std::nullopt;
        }
        std::optional<ArrayInfo> type = convertible_type(type_);
        if (!type) {
            parser_.refuse("--dtype: there is no type " + quoted_text(type_),
                           "Known are " + convertible_type_names());
        }
        return type;
    }

  private:
    const VerbParser& parser_;
    std::string shape_;
    std::string type_;
    std::string raw_type_;
    std::string offset_;
    bool big_endian_ = false;
};

/// Where no dataset is named: as the input's format says. What an HDF5 file has is not known yet.
void name_datasets(ConvertCommand& command) {
    const RowsFormat* format = rows_format_of(command.input.file);
    const bool is_raw = command.raw.has_value();
    if (format != nullptr && command.input.dataset.empty()) {
        command.input.dataset = format->dataset;
    }
    if (command.output.dataset.empty() && (is_raw || format != nullptr)) {
        command.output.dataset = is_raw ? "/data" : format->dataset;
    }
}

} // namespace

Command parse_convert(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner convert scan.tif scan.h5\n  "
                            "runner convert scan.raw scan.h5 --shape 512,1024,1024 --dtype uint16\n"
                            "  runner convert scan.h5 half.h5 --dtype float32\n"
                            "  runner convert scan.h5 small.h5 --chunk 1,256,2048 --compression "
                            "bitshuffle-lz4\n"
                            "  runner convert out/sand.h5 out/sand.png --frames 0:3000:100");
    std::string input;
    std::string output;
    std::string first_generation;
    std::string colour;
    ConvertCommand command;
    parser.add_argument(
        "IN", input,
        "HDF5[:/dataset] (default: as a job's), .sand, .npy, .tif, .png, .nii, .nii.gz, "
        ".mrc, .zarr, or raw");
    parser.add_argument(
        "OUT", output,
        "the file to write: .h5[:/dataset], .zarr, .sand, .npy, .tif, .nii, .nii.gz, .mrc or .png");
    RawOptions raw(parser);
    LayoutOptions layout(parser);
    parser.add_frames();
    parser.add_option("--first-generation", first_generation, "G",
                      "of the input's first frame, over what it says itself (a .sand file: 1)");
    parser.add_palette();
    parser.add_switch("--colour", colour,
                      "the input's last axis, of 3 or 4, is colour; =false: it is not");
    parser.add_flag("--clip", command.clip, "clip values to the range of --dtype");
    parser.add_flag("--overwrite", command.overwrite, "replace existing files");
    parser.add_trust();
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.input = parser.dataset("IN", input);
    command.type = raw.output_type();
    if (command.clip && !command.type) {
        parser.refuse("--clip is of a conversion to another type", "Name that with --dtype");
    }
    command.output = parser.dataset("OUT", output);
    command.raw = raw.layout();
    name_datasets(command);
    check_formats(command.input.file, command.output.file,
                  command.raw ? InputNames::are_raw : InputNames::say_format);
    command.layout = layout.layout(command.output.file);
    command.frames = parser.frames();
    command.palette = parser.palette();
    command.colour = parser.choice("--colour", colour, {"true", "false"}, std::array{true, false});
    command.rules = parser.rules();
    if (command.palette && !command.output.file.ends_with(".png")) {
        parser.refuse("--palette is for pictures");
    }
    if (!first_generation.empty()) {
        command.first_generation =
            static_cast<std::uint64_t>(parser.integer("--first-generation", first_generation, 0));
    }
    return command;
}

} // namespace runner::cli
