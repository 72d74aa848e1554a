// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/output_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace runner {

class FileAccess;

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
    /// Where the elements start in the file, when they lie there dense, native and whole, so that
    /// plain reads at a position give them. Nothing: they must be read through HDF5.
    std::optional<std::int64_t> offset;
    /// What the file says of the last axis: 3 or 4, the channels of colour images; 1, an axis of
    /// the image. Nothing where it does not say.
    std::optional<int> channels;
    /// Which axis runs fastest in the file, whatever the order in which rows are read: where it is
    /// the first, read_runs() of rows that share all numbers but the first axis' is fast, and rows
    /// of one such number alone are slow.
    enum class Order { last_fastest, first_fastest } order = Order::last_fastest;
    /// For people, what is odd and no hindrance: whoever opens an input for a person prints each as
    /// a warning, once.
    std::vector<std::string> notes;
};

/// The storage of a .sand file's cells: frames × height × width of uint8, which a reader unpacks.
inline constexpr const char* sand_storage = "sand";

/// Opens, looks, closes. A file whose name says another format than HDF5 (io/rows_format.hpp) is
/// read as such: it has one dataset, of any name; a .sand file's is [frames, height, width].
/// @throws Error (input) naming file and dataset; for a missing dataset the message lists the ones
/// there are.
DatasetInfo inspect_dataset(const std::string& file, const std::string& dataset);

/// Memory that a reader of this dataset with so many threads takes beside the caller's, at most:
/// unpacked chunks.
std::int64_t reader_bytes(const DatasetInfo& info, int threads);

/// Runs of rows, all of one length and evenly apart, and of each row the same columns.
struct RowRuns {
    std::int64_t first = 0; ///< row that the first run begins with
    std::int64_t rows = 0;  ///< of a run
    std::int64_t runs = 1;
    std::int64_t stride = 0; ///< rows from the beginning of one run to that of the next
    std::int64_t first_column = 0;
    std::int64_t columns = 0;
};

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
};

/// `threads` ≥ 1: how many read at once where plain reads at a position do. The file stays open as
/// a plain descriptor, or within HDF5 for a dataset without an offset.
std::unique_ptr<RowReader> open_rows(const std::string& file, const std::string& dataset,
                                     int threads);

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
};

/// Rows of a frame that an output chunk spans, its extents first cut to the array's; a chunk is
/// below 4 GiB. A rank's slab and a
/// write must begin on a multiple of it within each frame of `array.shape[n-2]` rows (one frame of
/// `shape[0]` rows where there is one axis), and end on one or with the frame. 1 when contiguous.
/// In a .sand file, where rows may share a byte, the rows after which one begins on a byte border.
/// @throws Error (usage) for a layout that rows cannot be written in.
std::int64_t row_alignment(const ArrayInfo& array, const OutputLayout& layout);

/// Bytes that the elements take in the file; with compression, at most.
std::int64_t output_bytes(const ArrayInfo& array, const OutputLayout& layout);

/// Memory that a writer with so many threads takes beside the caller's, at most. Same errors.
std::int64_t writer_bytes(const ArrayInfo& array, const OutputLayout& layout, int threads);

/// Makes the file with the whole dataset laid out: contiguous, or chunked without filters, it is
/// allocated and not filled; with compression it is filled in by assemble_output. Intermediate
/// groups are made. A .sand file gets its header and its length. Nothing is synced. Replaces a file
/// of that name and removes its shards. Run by one rank, before any opens a writer. @throws Error
/// (output), and leaves no file then.
void create_output(const OutputDataset& output);

/// Brings the file that create_output made back to what it was then, but for the elements written
/// since: whatever a killed run left of HDF5's own structures, or of a .sand file's header.
/// Compressed chunks stay in their shards. @throws Error (output) when the file is shorter than its
/// dataset.
void restore_output(const OutputDataset& output);

/// A checksum of where the elements lie in the file: rows written at one layout are at their place
/// in another only where both have the same. 0 with compression.
std::uint64_t layout_hash(const OutputDataset& output);

/// Writes rows of one output on behalf of one rank.
class RowWriter {
  public:
    virtual ~RowWriter() = default;

    /// Writes rows [first, first + rows); returns when the caller's buffer is free again. Each row
    /// is written once; rows come on row_alignment() borders, cells of a .sand file as 0 … 3. One
    /// call at a time, on several threads inside. @throws Error (output) naming the file and the
    /// byte.
    virtual void write(std::int64_t first, std::int64_t rows, const std::byte* from) = 0;

    /// Every write() that has returned is on the disk when this does. From any thread, beside
    /// write().
    virtual void sync() = 0;

    /// Closes the output; with `sync`, everything written is on the disk then.
    enum class Sync { no, yes };
    virtual void finish(Sync sync) = 0;
};

/// `threads` ≥ 1 write at once. `rank` and `generation`, that of the journal, tell apart the shards
/// that compressed chunks are kept in: `FILE.shard-GENERATION-RANK`.
std::unique_ptr<RowWriter> open_output_rows(const OutputDataset& output, int rank, int threads,
                                            std::int64_t generation = 1);

/// Writes rows again into a finished output, each into its place, as often as one likes. All that
/// is not of these rows stays as it is; where compressed rows take another size than before, the
/// index of chunks changes too, which `files` does. `files` outlives the writer.
/// @throws Error (output) when the dataset is not stored as `output` says, or in the index a chunk
/// is missing, shares bytes with another or lies beyond the file: to write there would destroy what
/// is right.
std::unique_ptr<RowWriter> reopen_output_rows(FileAccess& files, const OutputDataset& output,
                                              int threads);

/// After every rank's finish(): stores the compressed chunks of all shards in the file. Nothing to
/// do for other layouts. Run by one rank. @throws Error (output) naming a chunk that is in none.
void assemble_output(const OutputDataset& output);

/// Removes the shards, once the output has its name.
void remove_shards(const OutputDataset& output);

/// Attributes on the file's root. Of an HDF5 output only: a .sand file has no place for them, nor
/// for row_hashes.hpp's.
using Attribute = std::pair<std::string, std::variant<std::string, std::int64_t, double>>;
void write_attributes(const std::string& file, const std::vector<Attribute>& attributes);

/// Syncs (if asked) the file, gives it its final name and syncs the folder; an existing file of
/// that name is replaced only when `overwrite`. @throws Error (output).
enum class Overwrite { no, yes };
void publish_output(const std::string& partial, const std::string& file, Overwrite overwrite,
                    RowWriter::Sync sync);

} // namespace runner
