// SPDX-License-Identifier: BSD-3-Clause
// The library's rows as a program, for rows_oracle.py:
//   rows_tool write FILE DATASET TYPE SHAPE CHUNK COMPRESSION LEVEL SHUFFLE RANKS  < elements
//   rows_tool read FILE DATASET THREADS STEP                                       > elements
// SHAPE and CHUNK as 3,4,5; CHUNK "-" for a contiguous dataset.
#include "base/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/input/open_rows.hpp"
#include "io/output/assemble_output.hpp"
#include "io/output/create_output.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/output/output_size.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <sstream>

namespace runner {
namespace {

std::vector<std::int64_t> numbers(const std::string& text) {
    std::vector<std::int64_t> list;
    std::istringstream stream(text);
    for (std::string part; text != "-" && std::getline(stream, part, ',');) {
        list.push_back(std::stoll(part));
    }
    return list;
}

Compression compression_of(const std::string& name) {
    const auto found = std::find(compression_names.begin(), compression_names.end(), name);
    if (found == compression_names.end()) {
        throw Error(ExitCode::usage, {"unknown compression", name, "", ""});
    }
    return static_cast<Compression>(found - compression_names.begin());
}

/// Ranks take turns at the pieces of two borders' rows, so that every slab is interleaved.
void write(const std::vector<std::string>& words) {
    const OutputDataset output{
        words[1],
        words[2],
        {element_type(words[3]).value(), numbers(words[4])},
        {numbers(words[5]), compression_of(words[6]), std::stoi(words[7]), words[8] == "1"}};
    const int ranks = std::stoi(words[9]);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(std::cin), {}};
    const std::int64_t row = row_bytes(output.array);
    const std::int64_t rows = row_count(output.array);
    const std::size_t axes = output.array.shape.size();
    const std::int64_t frame = output.array.shape[axes > 1 ? axes - 2 : 0];
    create_output(output);
    std::vector<std::unique_ptr<RowWriter>> writers;
    for (int rank = 0; rank < ranks; ++rank) {
        writers.push_back(open_output_rows(output, rank, 2));
    }
    std::size_t turn = 0;
    for (std::int64_t first = 0; first < rows;) {
        const std::int64_t step =
            std::min(2 * row_alignment(output.array, output.layout), frame - first % frame);
        writers[turn++ % writers.size()]->write(
            first, step, reinterpret_cast<const std::byte*>(bytes.data()) + first * row);
        first += step;
    }
    for (const auto& writer : writers) {
        writer->finish(RowWriter::Sync::no);
    }
    assemble_output(output);
    remove_shards(output);
    write_attributes(output.file,
                     {{"text", "grüße"}, {"count", std::int64_t{-7}}, {"ratio", 0.125}});
}

void read(const std::vector<std::string>& words) {
    const auto reader = open_rows(words[1], words[2], std::stoi(words[3]));
    const ArrayInfo& array = reader->info().array;
    const std::int64_t row = row_bytes(array);
    const std::int64_t rows = row_count(array);
    const std::int64_t step = std::stoll(words[4]);
    std::vector<std::byte> bytes(static_cast<std::size_t>(step * row));
    for (std::int64_t first = 0; first < rows; first += step) {
        const std::int64_t count = std::min(step, rows - first);
        reader->read(first, count, bytes.data());
        std::fwrite(bytes.data(), 1, static_cast<std::size_t>(count * row), stdout);
    }
}

} // namespace
} // namespace runner

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    try {
        if (words.size() == 10 && words[0] == "write") {
            runner::write(words);
            return 0;
        }
        if (words.size() == 5 && words[0] == "read") {
            runner::read(words);
            return 0;
        }
        std::cerr << "rows_tool: see the source for its arguments\n";
        return 2;
    } catch (const runner::Error& error) {
        std::cerr << error.what() << '\n';
        return static_cast<int>(error.code());
    }
}
