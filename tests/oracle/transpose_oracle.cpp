// SPDX-License-Identifier: BSD-3-Clause
// Runs the CPU form of transposition on cases that another program made:
//     test_transpose_oracle FOLDER
// FOLDER/cases.txt has a line a case: number, three extents, the permutation, bytes an element; the
// array is in NUMBER.in, the result goes to NUMBER.out.
#include "kernels/transpose/transpose.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

namespace runner {
namespace {

void run_case(CpuQueue& queue, const std::filesystem::path& folder, const std::string& number,
              const Transposition& t) {
    const std::int64_t bytes = t.shape[0] * t.shape[1] * t.shape[2] * t.element_bytes;
    const Buffer in = allocate_device(queue, bytes);
    const Buffer out = allocate_device(queue, bytes);
    std::ifstream source(folder / (number + ".in"), std::ios::binary);
    if (!source.read(reinterpret_cast<char*>(in.data()), bytes)) {
        throw std::runtime_error("case " + number + " has too few bytes");
    }
    transpose(queue, t, in.data(), out.data());
    std::ofstream result(folder / (number + ".out"), std::ios::binary);
    if (!result.write(reinterpret_cast<const char*>(out.data()), bytes)) {
        throw std::runtime_error("cannot write the result of case " + number);
    }
}

void run_all(const std::filesystem::path& folder) {
    CpuQueue queue(2);
    std::ifstream cases(folder / "cases.txt");
    std::string number;
    std::array<std::int64_t, 3> shape{};
    std::array<int, 3> permutation{};
    int element_bytes = 0;
    while (cases >> number >> shape[0] >> shape[1] >> shape[2] >> permutation[0] >>
           permutation[1] >> permutation[2] >> element_bytes) {
        run_case(queue, folder, number, dense_transposition(shape, permutation, element_bytes));
    }
}

} // namespace
} // namespace runner

int main(int argc, char** argv) {
    try {
        if (argc != 2) {
            throw std::runtime_error("takes a folder");
        }
        runner::run_all(argv[1]);
    } catch (const std::exception& error) {
        std::cerr << "test_transpose_oracle: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
