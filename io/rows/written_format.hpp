// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// Where an output's elements lie in a file that keeps them in one run of bytes.
struct DataPlace {
    std::int64_t begin = 0;
    std::int64_t bytes = 0;
    std::int64_t file_bytes = 0; ///< of the whole file
};

/// Takes bytes of a file that are not elements, and where they stand.
using StructurePiece = std::function<void(std::int64_t offset, std::span<const std::byte> bytes)>;

/// A file of chunks of an output that is several files.
struct FileOfChunks {
    std::string name; ///< in the folder
    /// By ChunkGrid's order, as they follow one another; -1 for one beyond the array's end.
    std::vector<std::int64_t> chunks;
    std::string array = {};               ///< of a folder: the array's path in it, as "/1"
    std::vector<std::int64_t> shard = {}; ///< its index; empty where the file is one chunk
};

/// Where a chunk is among the files of such an output.
struct PlaceInFile {
    std::int64_t file = 0;
    std::int64_t index = 0; ///< in FileOfChunks::chunks
};

/// A coarser level of an image.
struct CoarserLevel {
    OutputDataset dataset; ///< as an output of its own, in the folder or the file of the image's
    /// Elements of the image in a block, along its last three axes; along those before it is one.
    std::array<std::int64_t, 3> factors = {1, 1, 1};
};

/// Which channel a frame, a run along the last two axes, is of: frame / stride % count.
struct Channels {
    std::int64_t count = 1;
    std::int64_t stride = 1;
};

/// How an output is several files, of which FILE.partial is a folder. When it is complete it is
/// that folder, or the files stand beside one another under names that FILE stands for: a set of
/// slices. Its chunks are packed while the rows are written, those without compression too: into
/// their files where these can grow in order (io/writers/placed_chunks.hpp), else into shards.
/// The chunks of a folder have one size, also at the array's end.
struct FolderOfChunks {
    std::int64_t (*files)(const OutputDataset& output) = nullptr; ///< of chunks
    FileOfChunks (*file)(const OutputDataset& output, std::int64_t index) = nullptr;

    /// Not null: files begin with their chunks, so that these can be written before the others are
    /// known.
    PlaceInFile (*place)(const OutputDataset& output, std::int64_t chunk) = nullptr;

    /// Extents of what a file holds, whole chunks; those at the array's end hold less. Files are
    /// counted in C order.
    std::vector<std::int64_t> (*extents)(const ArrayInfo& array,
                                         const OutputLayout& layout) = nullptr;

    /// What follows the chunks in a file of a folder. `sizes`: packed, of each of
    /// FileOfChunks::chunks.
    std::vector<std::byte> (*tail)(const OutputDataset& output, const FileOfChunks& file,
                                   std::span<const std::int64_t> sizes) = nullptr;

    /// All other files but the record, by name, with their bytes. The last one says that the output
    /// is there.
    std::vector<std::pair<std::string, std::string>> (*texts)(const OutputDataset& output) =
        nullptr;

    /// Whether such an output, of whatever extents, may have a file of this name in FILE.
    bool (*owns)(const std::string& file, const std::string& name) = nullptr;

    /// The names of all files of FILE or FILE.partial that are there, in ascending order.
    std::vector<std::string> (*list)(const std::string& file) = nullptr;

    /// Not null: each file is an output of its own, whose chunks those of FileOfChunks are.
    OutputDataset (*slice)(const OutputDataset& output, std::int64_t index) = nullptr;

    /// The file that holds the elements of a level, in C order, while levels are made.
    std::string (*level_elements)(const OutputDataset& level) = nullptr;

    /// Not null: the texts state the extremes of these channels (OutputDataset::extremes), of an
    /// output of which this returns some.
    std::optional<Channels> (*channels)(const OutputDataset& output) = nullptr;

    /// Not null: extents of a chunk, where nobody chose them, of what is filtered along the axis
    /// before the last two: with about as many elements along it as along these.
    std::vector<std::int64_t> (*cube)(const ArrayInfo& array) = nullptr;

    /// Not null: the name, in the folder, of the record of the job that made it
    /// (io/output/beside_record.hpp). Otherwise that stands beside the output.
    const char* record = nullptr;
};

/// How a format stores elements that are packed, chunk by chunk (ChunkGrid), one after the other in
/// the chunks' order from DataPlace::begin on. A last chunk of rows is cut to the array.
struct PackedFormat {
    bool (*takes)(Compression compression) = nullptr;

    /// Extents of a chunk, one for each axis, with one row axis alone that is not 1; of a folder,
    /// any.
    std::vector<std::int64_t> (*chunk)(const ArrayInfo& array,
                                       const OutputLayout& layout) = nullptr;

    /// As WrittenFormat::structure, of chunks that are packed to so many bytes.
    void (*structure)(const OutputDataset& output, std::span<const std::int64_t> sizes,
                      const StructurePiece& piece) = nullptr;

    /// What the structure in the output's file says of the sizes. @throws Error (input) where it is
    /// damaged.
    std::vector<std::int64_t> (*sizes)(const OutputDataset& output) = nullptr;

    /// The filter of its own that chunks pass through; null: that of the layout's compression.
    Filter (*filter)(const ArrayInfo& array, const OutputLayout& layout) = nullptr;

    /// Where not null, an output is a folder of these files, and both structure and sizes are null.
    const FolderOfChunks* folder = nullptr;

    /// Whether a chunk at the array's end is stored with zeros beyond it; null: none is. Formats
    /// that have it have tiles (OutputLayout::tile).
    bool (*pads)(const ArrayInfo& array, const OutputLayout& layout) = nullptr;
};

/// How files of a format other than HDF5 are written. All that such a file holds follows from the
/// array, layout and axes of the OutputDataset, but for its elements.
struct WrittenFormat {
    /// What the elements may be: of any number type, or cells of sand.
    enum class Elements { numbers, cells } elements = Elements::numbers;

    /// What output.overwrite does to a file that no record beside it says is ours: others write
    /// this format too, and their file is kept; or it is replaced.
    enum class Unknown { kept, replaced } unknown = Unknown::kept;

    /// The axes change the file's length alone.
    /// @throws Error (usage) for what the format cannot hold.
    DataPlace (*place)(const OutputDataset& output) = nullptr;

    /// Calls `piece` for all bytes before and behind the elements, with ascending offsets.
    void (*structure)(const OutputDataset& output, const StructurePiece& piece) = nullptr;

    /// Whether the structure says where the elements lie (OutputDataset::axes).
    enum class Placed { no, yes } placed = Placed::no;

    /// What the structure does not say of that, for people. Null: what a survey of the file does
    /// not find.
    std::vector<std::string> (*left_out)(const OutputDataset& output) = nullptr;

    /// As row_alignment().
    std::int64_t (*alignment)(const ArrayInfo& array) = nullptr;

    std::int64_t writer_bytes = 0; ///< memory of a writer for each of its threads

    const PackedFormat* packed = nullptr; ///< null: elements are never packed

    /// Opens files whose structure is as structure() says. @throws Error (input), (output).
    std::unique_ptr<RowReader> (*open_reader)(const OutputDataset& output, int threads) = nullptr;
    std::unique_ptr<RowWriter> (*open_writer)(const OutputDataset& output, int threads) = nullptr;

    /// What elements are packed by where nothing else is asked for. Files of a format that has one
    /// here are always packed.
    Compression usual = Compression::none;

    /// Not null: outputs may have coarser levels. What they are follows from the output's array,
    /// layout and axes. In a folder each has files as files(), file() and tail() say of its
    /// dataset. In one file the elements of the levels follow those of the image, level by level;
    /// packed, so do their chunks, and structure() and sizes() of PackedFormat are of all of them.
    /// @throws Error (usage) where they cannot be made.
    std::vector<CoarserLevel> (*levels)(const OutputDataset& output) = nullptr;

    /// @throws Error (usage) for axes that the format cannot have in their order; null: it takes
    /// all.
    void (*check_axes)(const OutputDataset& output) = nullptr;

    /// Whether files say that a last axis is the samples of colour, or that none is.
    enum class Colour { unsaid, said } colour = Colour::unsaid;
};

/// How the output is several files; null where it is one.
const FolderOfChunks* folder_of(const OutputLayout& layout);

/// WrittenFormat::check_axes of the output's format, before anything is made.
void check_axes(const OutputDataset& output);

/// The coarser levels of an output; none where it has none.
std::vector<CoarserLevel> coarser_levels(const OutputDataset& output);

/// The channels whose extremes the output's texts state; nothing where they state none.
std::optional<Channels> stated_channels(const OutputDataset& output);

/// Whether outputs of a format may have coarser levels.
bool has_levels(const WrittenFormat* format);

/// Whether these are in the file of the image, and not in a folder.
bool has_levels_in_file(const WrittenFormat* format);

/// Whether it is a set of slices.
bool is_in_slices(const OutputLayout& layout);

/// Whether an output's elements are packed in shards first: all with compression, and of several
/// files.
bool is_packed(const OutputLayout& layout);

/// Whether a chunk at the array's end is stored without what is beyond it: of a packed file of
/// another format than HDF5, and of slices.
bool cuts_chunks(const ArrayInfo& array, const OutputLayout& layout);

/// The alignment, reader and writer of a format whose elements lie dense and little-endian.
std::int64_t dense_alignment(const ArrayInfo& array);
std::unique_ptr<RowReader> open_dense_output(const OutputDataset& output, int threads);
std::unique_ptr<RowWriter> open_dense_writer(const OutputDataset& output, int threads);

/// What create_output() and restore_output() do where `output.layout.format` is not null. With
/// compression the file is empty until finish_packed(); a folder is until its chunks are put
/// together. @throws Error (output), (usage).
void create_written(const OutputDataset& output);
void restore_written(const OutputDataset& output);

/// Writes the structure about packed chunks of these sizes, which are in the file.
/// @throws Error (output).
void finish_packed(const OutputDataset& output, std::span<const std::int64_t> sizes);

/// Where each packed chunk is in a finished file, or in that of a slice. Those of coarser levels
/// follow those of the image. @throws Error (input).
struct PackedPlace {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    std::uint32_t file = 0; ///< of slices, its number
};
std::vector<PackedPlace> packed_places(const OutputDataset& output);

/// Writes the structure again, once the output's axes are known; of a folder for the first time.
/// Slices have their structure already, and all must be there. `before_last` is called when all is
/// written; in a folder before the last text gets its name. @throws Error (output), also where a
/// folder has other files.
void place_written(const OutputDataset& output, const std::function<void()>& before_last = {});

/// Whether the file has the length and, but for its elements, the bytes that create_written()
/// gives it; of a folder, whether its texts are those and no other files are in it than its own.
/// @throws Error (input) naming the first byte, or the file, that differs.
void check_written(const OutputDataset& output);

/// Refuses an output whose structure differs at this byte. @throws Error (input).
[[noreturn]] void refuse_structure_byte(const std::string& file, std::int64_t byte);

/// Writes the texts of a folder again that are missing. One that has changed is left, since
/// somebody may have put it there. @returns their names. @throws Error (output).
std::vector<std::string> restore_texts(const OutputDataset& output);

/// Whether an output says of its last axis whether it is colour: HDF5 by its marks.
inline bool says_colour(const OutputLayout& layout) {
    return layout.is_hdf5() || layout.format->colour == WrittenFormat::Colour::said;
}

/// How many samples a pixel of a picture format has: 3 or 4 where the layout says that the last
/// axis is colour, or where it says nothing, 3 of uint8; else 1.
std::int64_t samples_of_pixel(const ArrayInfo& array, const OutputLayout& layout);

} // namespace runner
