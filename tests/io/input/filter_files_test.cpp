// SPDX-License-Identifier: BSD-3-Clause
// Chunks that others packed (tests/data/filters; made by make_filter_files.py), against what h5py
// reads of them, which lies beside each. RUNNER_FILTER_FILES names another folder of such files.
#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/input/dataset_layout.hpp"
#include "io/input/layout_message.hpp"
#include "io/input/open_rows.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
    const char* named = std::getenv("RUNNER_FILTER_FILES");
    return named != nullptr ? fs::path(named) : fs::path(RUNNER_FILTER_DATA);
}

struct Packed {
    std::string file;
    std::string group;
};

std::vector<Packed> all_packed() {
    std::vector<Packed> all;
    for (const auto& entry : fs::directory_iterator(folder())) {
        if (entry.path().extension() != ".h5") {
            continue;
        }
        const std::string file = entry.path().string();
        for (const std::string& path : dataset_paths(open_hdf5(file))) {
            if (path.ends_with("/packed")) {
                all.push_back({file, path.substr(0, path.rfind('/'))});
            }
        }
    }
    return all;
}

std::unique_ptr<RowReader> read_by_hdf5(const std::string& file, const std::string& dataset) {
    return open_rows_by_hdf5(file, dataset, inspect_dataset(file, dataset));
}

std::vector<std::byte> rows_of(RowReader& reader, std::int64_t step) {
    const ArrayInfo& array = reader.info().array;
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(array)));
    const std::int64_t rows = row_count(array);
    for (std::int64_t row = 0; row < rows; row += step) {
        reader.read(row, std::min(step, rows - row), bytes.data() + row * row_bytes(array));
    }
    return bytes;
}

TEST(FilterFiles, AreReadAsH5pyReadsThem) {
    const std::vector<Packed> all = all_packed();
    EXPECT_GE(all.size(), 90U);
    for (const Packed& packed : all) {
        SCOPED_TRACE(packed.file + " " + packed.group);
        const std::string name = packed.group + "/packed";
        const auto plain = rows_of(*read_by_hdf5(packed.file, packed.group + "/plain"), 1000);
        // The layout as it comes from the process that reads the file's structure.
        DatasetLayout layout = decode_layout(encode_layout(inspect_layout(packed.file, name)));
        layout.file = packed.file;
        layout.dataset = name;
        ASSERT_EQ(layout.way, DatasetLayout::Way::chunks);
        check_layout(layout, {});
        for (const std::int64_t step : {1, 7, 1000}) {
            EXPECT_EQ(rows_of(*open_layout_rows(layout, 2), step), plain) << step;
        }
    }
}

TEST(FilterFiles, AreReadByHdf5WithOurFiltersToo) {
    for (const Packed& packed : all_packed()) {
        SCOPED_TRACE(packed.file + " " + packed.group);
        const auto plain = rows_of(*read_by_hdf5(packed.file, packed.group + "/plain"), 1000);
        const auto read = read_by_hdf5(packed.file, packed.group + "/packed");
        EXPECT_EQ(rows_of(*read, 1000), plain);
    }
}

/// With one byte of a stored chunk changed: other elements, or an error that names the chunk.
TEST(FilterFiles, DamagedChunksAreNamedOrReadAsOtherElements) {
    const fs::path copy = fs::path(testing::TempDir()) / "damaged.h5";
    int refused = 0;
    for (const Packed& packed : all_packed()) {
        if (fs::path(packed.file).filename() != "each.h5") {
            continue;
        }
        SCOPED_TRACE(packed.file + " " + packed.group);
        const DatasetLayout good = inspect_layout(packed.file, packed.group + "/packed");
        fs::copy_file(packed.file, copy, fs::copy_options::overwrite_existing);
        DatasetLayout layout = good;
        layout.file = layout.holder = copy.string();
        File file(copy.string(), File::Mode::update);
        const ChunkPlace& chunk = layout.chunks.at(1);
        const auto refuses = [&](std::int64_t at, std::byte change) {
            std::byte byte{};
            file.read(chunk.offset + at, 1, &byte);
            const std::byte changed = byte ^ change;
            file.write(chunk.offset + at, 1, &changed);
            bool thrown = false;
            try {
                (void)rows_of(*open_layout_rows(layout, 1), 1000);
            } catch (const Error& error) {
                thrown = true;
                EXPECT_EQ(error.code(), ExitCode::input);
                EXPECT_NE(error.text().where.find("chunk from [0, 16]"), std::string::npos)
                    << error.text().where;
            }
            file.write(chunk.offset + at, 1, &byte);
            return thrown;
        };
        for (std::int64_t at = 0; at < chunk.bytes; at += 1 + chunk.bytes / 40) {
            refused += refuses(at, std::byte{0xff}) ? 1 : 0;
        }
    }
    EXPECT_GT(refused, 100);
    fs::remove(copy);
}

} // namespace
} // namespace runner
