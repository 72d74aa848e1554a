// SPDX-License-Identifier: BSD-3-Clause
// Runs the CPU form of convolution on cases that another program made:
//     test_convolve_oracle FOLDER...
// Each folder holds case.txt (a name and its values a line) and image.raw; result.raw is added.
#include "kernels/convolve/convolve.hpp"
#include "tests/support/convolve_cases.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace runner {
namespace {

struct Case {
    Convolution convolution;
    std::int64_t frames = 1;
};

Boundary boundary_named(const std::string& name) {
    static const std::map<std::string, Boundary> names = {{"constant", Boundary::constant},
                                                          {"nearest", Boundary::nearest},
                                                          {"reflect", Boundary::reflect},
                                                          {"mirror", Boundary::mirror},
                                                          {"wrap", Boundary::wrap}};
    return names.at(name);
}

Case read_case(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::map<std::string, std::string> values;
    for (std::string name, rest; in >> name && std::getline(in, rest);) {
        values[name] = rest.substr(1);
    }
    const auto taps = [&](const char* name) {
        std::istringstream text(values.at(name));
        std::vector<double> numbers;
        for (double number = 0; text >> number;) {
            numbers.push_back(number);
        }
        return numbers;
    };
    Case result;
    Convolution& c = result.convolution;
    c.in_type = element_type(values.at("in_type")).value();
    c.out_type = element_type(values.at("out_type")).value();
    result.frames = std::stoll(values.at("frames"));
    c.frame_rows = std::stoll(values.at("rows"));
    c.columns = std::stoll(values.at("columns"));
    c.boundary = boundary_named(values.at("boundary"));
    c.fill = std::stod(values.at("fill"));
    c.row_taps = taps("row_taps");
    c.column_taps = taps("column_taps");
    if (values.contains("depth_taps")) {
        c.layers = std::stoll(values.at("layers"));
        c.depth_taps = taps("depth_taps");
    }
    return result;
}

std::vector<std::byte> read_bytes(const std::filesystem::path& file) {
    std::vector<std::byte> bytes(std::filesystem::file_size(file));
    std::ifstream in(file, std::ios::binary);
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!in) {
        throw std::runtime_error("cannot read " + file.string());
    }
    return bytes;
}

void run_case(CpuQueue& queue, const std::filesystem::path& folder) {
    const Case made = read_case(folder / "case.txt");
    const std::vector<std::byte> result =
        convolve_on(queue, made.convolution, whole_image(made.convolution, made.frames),
                    read_bytes(folder / "image.raw"));
    std::ofstream out(folder / "result.raw", std::ios::binary);
    out.write(reinterpret_cast<const char*>(result.data()),
              static_cast<std::streamsize>(result.size()));
    out.close();
    if (!out) {
        throw std::runtime_error("cannot write " + (folder / "result.raw").string());
    }
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    try {
        runner::CpuQueue queue(2);
        for (int i = 1; i < argc; ++i) {
            runner::run_case(queue, argv[i]);
        }
    } catch (const std::exception& error) {
        std::cerr << "test_convolve_oracle: " << error.what() << '\n';
        return 1;
    }
    return testing::Test::HasFailure() ? 1 : 0;
}
