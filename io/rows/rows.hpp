// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "base/extremes.hpp"
#include "io/rows/axes.hpp"
#include "io/rows/output_layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace runner {

/// How the rows of an output are kept in several files, its parts (docs/adr/0017). Blocks of rows
/// are dealt to the parts in turn. The rows are cut into as many ranges as there were ranks when
/// the output was made, and the blocks of a range go to parts that no other range uses, as long as
/// there are enough.
struct PartLayout {
    std::int64_t parts = 1; ///< files; 1: the elements are in the output's own file
    std::int64_t ranks = 1; ///< ranges
    std::size_t axis = 0;   ///< that blocks are cut along
    std::int64_t block = 0; ///< extent of a block along it
    int set = 0;            ///< 0 or 1: the names of the parts, so that two outputs can be there
    std::string folder;     ///< that holds the parts
    std::string owner;      ///< what the parts say that they belong to, a word

    bool several() const { return parts > 1; }
    bool operator==(const PartLayout&) const = default;
    static auto members(auto& self) {
        return std::tie(self.parts, self.ranks, self.axis, self.block, self.set, self.folder,
                        self.owner);
    }
};

/// FILE:/dataset, for messages.
inline std::string file_and_dataset(const std::string& file, const std::string& dataset) {
    return file + ":" + (dataset.starts_with('/') ? "" : "/") + dataset;
}

/// What is known of a dataset before its bytes are read.
struct DatasetInfo {
    ArrayInfo array;
    bool big_endian = false; ///< of numbers
    /// "contiguous", "chunked", "compact", "external", "virtual"; of another format than HDF5 its
    /// name or what it calls it.
    std::string storage;
    std::vector<std::int64_t> chunk;  ///< extents of a chunk when chunked
    std::vector<std::string> filters; ///< as the file names them, in order
    std::int64_t stored_bytes = 0;    ///< in the file, after compression
    /// Where the elements start in the file, when they lie there dense and whole, so that plain
    /// reads at a position give them, with their bytes turned round where they are big-endian.
    std::optional<std::int64_t> offset;
    /// What the file says of the last axis: 3 or 4, the channels of colour images; 1, an axis of
    /// the image. Nothing where it does not say.
    std::optional<int> channels;
    Axes axes; ///< what the file says of them
    /// What the file says are no values, a text each: `_FillValue = -32768`, `pixel_mask = /mask`;
    /// where parts of it say different things, one of JoinedMeaning's.
    std::vector<std::string> invalid;
    /// The number that invalid elements are: as the file says, and of a job's input as the job
    /// heeds it. NaN: of floats, NaN. Nothing: all elements are values.
    std::optional<double> invalid_value;
    /// The paths of NeXus' masks among `invalid`, in the same file. Their bits are those of
    /// MaskBits::nexus (masked_rows.hpp).
    std::vector<std::string> masks;
    /// Which axis runs fastest in the file, whatever the order in which rows are read: where it is
    /// the first, read_runs() of rows that share all numbers but the first axis' is fast, and rows
    /// of one such number alone are slow.
    enum class Order { last_fastest, first_fastest } order = Order::last_fastest;
    /// What the file says and no output has, in words: "the date". A warning names it where an
    /// output is without it although it is still true.
    std::vector<std::string> unkept;
    /// For people, what is odd and no hindrance: whoever opens an input for a person prints each as
    /// a warning, once.
    std::vector<std::string> notes;
};

/// What DatasetInfo::invalid says of a mask.
inline std::string mask_mark(const std::string& path) { return "pixel_mask = " + path; }

/// The attributes of netCDF beyond which elements are no values, and what DatasetInfo::invalid says
/// of one.
inline constexpr std::array range_attributes = {"valid_range", "valid_min", "valid_max"};
inline std::string range_mark(const std::string& attribute_and_numbers) {
    return "beyond " + attribute_and_numbers;
}

/// The storage of a .sand file's cells: frames × height × width of uint8, which a reader unpacks.
inline constexpr const char* sand_storage = "sand";

/// Runs of rows, all of one length and evenly apart, and of each row the same columns.
struct RowRuns {
    std::int64_t first = 0; ///< row that the first run begins with
    std::int64_t rows = 0;  ///< of a run
    std::int64_t runs = 1;
    std::int64_t stride = 0; ///< rows from the beginning of one run to that of the next
    std::int64_t first_column = 0;
    std::int64_t columns = 0;
};

/// Rows that follow one another in the dataset, and lie apart in memory.
struct ScatteredRows {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::byte* to = nullptr; ///< place of the first
    std::int64_t pitch = 0;  ///< bytes from the place of a row to that of the next
};

/// Memory for scattered rows of storage that is not read at positions, or a row where that is more.
inline constexpr std::int64_t scattered_rows_bytes = std::int64_t{4} << 20;

/// Reads rows of one dataset as native elements. A row is a run along the last axis, all leading
/// axes flattened into the row number; in an array of one axis each element is a row.
class RowReader {
  public:
    virtual ~RowReader() = default;

    virtual const DatasetInfo& info() const = 0;

    /// Fills `to` with rows [first, first + rows), on several threads where the storage allows it.
    /// One call at a time. @throws Error (input) naming the file and the row or byte.
    virtual void read(std::int64_t first, std::int64_t rows, std::byte* to) = 0;

    /// Fills `to` with the columns of these rows, one run after the other, dense. Storage that is
    /// not read at positions is read in whole rows. Of an array of one axis, which has rows of one
    /// element, the columns are the elements of its one run of one row. The same conditions and
    /// errors.
    virtual void read_runs(const RowRuns& runs, std::byte* to);

    /// Reads the rows to their places. The same conditions and errors.
    virtual void read_scattered(std::span<const ScatteredRows> all);
};

/// One of several datasets of an output, each of one axis or two, with as many rows.
struct OutputField {
    std::string dataset;
    ArrayInfo array;

    bool operator==(const OutputField&) const = default;
};

/// What a writer of fields takes for each of its threads, or a row where that is more.
inline constexpr std::int64_t fields_block_bytes = 1 << 20;

/// One output dataset of one file, or several that are written together.
struct OutputDataset {
    std::string file; ///< the name while it is being written
    std::string dataset;
    ArrayInfo array;
    OutputLayout layout;
    /// Where not empty: the datasets of the file, all contiguous. `array` is their joined_array()
    /// then (output_fields.hpp): its row is a row of each, one after the other, and all that is
    /// said of rows is of these.
    std::vector<OutputField> fields = {};
    /// Where it has several: the elements lie in these, and the dataset of `file` is a virtual one
    /// over them (output_parts.hpp).
    PartLayout parts = {};
    /// The mark of a part: what it is a part of, in the attribute `part` of its root.
    std::string mark = {};
    /// Its axes, of a format that describes them; known when all rows are written.
    Axes axes = {};
    /// The number that its invalid elements are, beside NaN; nothing: all others are values.
    std::optional<double> invalid_value = {};
    /// The extremes of the channels that its format states (FolderOfChunks::channels); as the axes.
    Extremes extremes = {};
};

/// Rows [first, first + rows) of an output, and where in memory their elements are.
struct RowsInMemory {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    const std::byte* data = nullptr;
};

/// Writes rows of one output on behalf of one rank.
class RowWriter {
  public:
    virtual ~RowWriter() = default;

    /// Writes rows [first, first + rows); returns when the caller's buffer is free again. Each row
    /// is written once; rows come on row_alignment() borders, cells of a .sand file as 0 … 3. One
    /// call at a time, on several threads inside. @throws Error (output) naming the file and the
    /// byte.
    virtual void write(std::int64_t first, std::int64_t rows, const std::byte* from) = 0;

    /// As write() of each run; a writer of several files writes to all of them at once.
    virtual void write_runs(std::span<const RowsInMemory> runs);

    /// Begins to bring what was written to the disk, as File::start_sync(). From any thread, beside
    /// write(). Nothing, where there are no files.
    virtual void start_sync() noexcept {}

    /// Every write() that has returned outlives this process when this does. As sync().
    virtual void hand_over() {}

    /// Every write() that has returned is on the disk when this does. From any thread, beside
    /// write(). @throws Error (output).
    virtual void sync() = 0;

    /// Closes the output; with `sync`, everything written is on the disk then.
    enum class Sync { no, yes };
    virtual void finish(Sync sync) = 0;
};

} // namespace runner
