// SPDX-License-Identifier: BSD-3-Clause
#include "runner/data_verbs.hpp"

#include "io/sand_file.hpp"
#include "jobs/toml_text.hpp"
#include "runner/convert.hpp"
#include "runner/verb_parser.hpp"

namespace runner {

Command parse_inspect(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner inspect data/image.h5:/image");
    std::string what;
    InspectCommand command;
    parser.add_argument("FILE[:/dataset]", what, "a .sand or HDF5 file, or one dataset");
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
                      "a third dataset: counts the differences divided by its elements too");
    parser.add_flag("--json", command.json, "print the result as JSON");
    parser.add_trust();
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.rules = parser.rules();
    if (!by.empty()) {
        command.by = parser.whole_dataset("--divide-by", by);
    }
    command.tolerance = parser.amount("--tolerance", tolerance);
    command.a = parser.whole_dataset("A:/x", a);
    command.b = parser.whole_dataset("B:/y", b);
    return command;
}

Command parse_render(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner render data/image.h5:/image image.png --size 800\n  "
                            "runner render data/image.h5:/image out/image.h5:/image both.png\n  "
                            "runner render out/sand.h5:/frames out/sand.png --frames all");
    std::vector<std::string> names;
    std::string size = "1024";
    RenderCommand command;
    parser.add_arguments("FILE:/x... OUT.png", names,
                         "datasets, and the picture to make of them, side by side");
    parser.add_frames();
    parser.add_palette();
    parser.add_option("--size", size, "PIXELS",
                      "pixels of the longer side of each, at most (default 1024)");
    parser.add_flag("--same-contrast", command.same_contrast,
                    "show equal values of several datasets as equal grey");
    parser.add_trust();
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.rules = parser.rules();
    constexpr std::int64_t most_pixels = 32768;
    command.frames = parser.frames().value_or(command.frames);
    command.palette = parser.palette();
    command.size = parser.integer("--size", size, 1, most_pixels);
    command.picture = names.back();
    names.pop_back();
    if (!command.picture.ends_with(".png")) {
        parser.refuse("the picture is a PNG: its name ends in .png, not " +
                      quoted_text(command.picture));
    }
    for (const std::string& name : names) {
        command.what.push_back(parser.whole_dataset("FILE:/x", name));
    }
    if (names.empty()) {
        parser.refuse("no dataset is named before " + quoted_text(command.picture));
    }
    return command;
}

Command parse_convert(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner convert start.sand start.h5\n  "
                            "runner convert out/sand.h5 out/sand.png --frames 0:3000:100");
    std::string input;
    std::string output;
    std::string first_generation;
    ConvertCommand command;
    parser.add_argument("IN", input, "a .sand file, or HDF5[:/dataset] (default /frames)");
    parser.add_argument("OUT", output, "the file to make: .sand, .h5[:/dataset] or .png");
    parser.add_frames();
    parser.add_option("--first-generation", first_generation, "G",
                      "of the input's first frame, over what it says itself (a .sand file: 1)");
    parser.add_palette();
    parser.add_flag("--overwrite", command.overwrite, "replace files of these names");
    parser.add_trust();
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.input = parser.dataset("IN", input);
    command.output = parser.dataset("OUT", output);
    for (DatasetName* name : {&command.input, &command.output}) {
        if (name->dataset.empty()) {
            name->dataset = sand_dataset;
        }
    }
    check_formats(command.input.file, command.output.file);
    command.frames = parser.frames();
    command.palette = parser.palette();
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

} // namespace runner
