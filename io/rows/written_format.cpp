// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/written_format.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/files/byte_source.hpp"
#include "io/files/file.hpp"
#include "io/files/folder_tree.hpp"
#include "io/files/own_file.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/dense_rows.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// What ends the name of a file that replace_file() has not put in its place.
constexpr std::string_view unfinished = ".partial";

void each_piece(const OutputDataset& output, const StructurePiece& piece) {
    const WrittenFormat& format = *output.layout.format;
    if (is_packed(output.layout)) {
        format.packed->structure(output, format.packed->sizes(output), piece);
    } else {
        format.structure(output, piece);
    }
}

StructurePiece written_to(const File& file) {
    return [&file](std::int64_t offset, std::span<const std::byte> bytes) {
        file.write(offset, std::ssize(bytes), bytes.data());
    };
}

/// The length of the file, which its structure ends.
std::int64_t file_bytes(const OutputDataset& output) {
    if (!is_packed(output.layout)) {
        return output.layout.format->place(output).file_bytes;
    }
    std::int64_t end = 0;
    each_piece(output, [&](std::int64_t offset, std::span<const std::byte> bytes) {
        end = std::max(end, offset + std::ssize(bytes));
    });
    return end;
}

[[noreturn]] void
refuse_structure(const std::string& file, const std::string& why,
                 const std::string& remedy = "Remove the file and run the job again") {
    throw Error(ExitCode::input, {"cannot read the output", file, why, remedy});
}

/// The name that an unfinished file of a folder, which a killed run or repair left, was to get;
/// that of any other one.
std::string finished_name(const std::string& name) {
    return name.ends_with(unfinished) ? name.substr(0, name.size() - unfinished.size()) : name;
}

/// The names of files that an output that is a folder has.
std::set<std::string> names_of(const OutputDataset& output, const FolderOfChunks& folder) {
    std::set<std::string> names;
    for (std::int64_t file = 0; file < folder.files(output); ++file) {
        names.insert(folder.file(output, file).name);
    }
    for (const CoarserLevel& level : coarser_levels(output)) {
        for (std::int64_t file = 0; file < folder.files(level.dataset); ++file) {
            names.insert(folder.file(level.dataset, file).name);
        }
    }
    return names;
}

/// The first name in a folder that is none of its own files; empty where there is none.
std::string foreign_file_among(const std::set<std::string>& belong,
                               const std::vector<std::string>& there) {
    const auto foreign = std::find_if(there.begin(), there.end(), [&](const std::string& name) {
        return !belong.contains(name);
    });
    return foreign == there.end()
               ? ""
               : "it holds " + printable(*foreign) + ", which is none of its files";
}

/// What differs between the files that are there and those that belong there; empty for nothing.
std::string difference(const std::set<std::string>& belong, const std::vector<std::string>& there) {
    for (const std::string& name : belong) {
        if (!std::binary_search(there.begin(), there.end(), name)) {
            return "its file " + name + " is missing";
        }
    }
    return foreign_file_among(belong, there);
}

void write_text(const std::string& path, const std::string& text) {
    File file(path, File::Mode::create);
    file.write(0, std::ssize(text), reinterpret_cast<const std::byte*>(text.data()));
    file.sync();
    file.close();
}

/// The texts of a folder whose chunks are all there. The last one gets its name behind all others,
/// and when `before_last` is done.
void write_texts(const OutputDataset& output, const FolderOfChunks& folder,
                 const std::function<void()>& before_last) {
    std::set<std::string> names = names_of(output, folder);
    for (const CoarserLevel& level : coarser_levels(output)) {
        remove_tree(output.file + "/" + folder.level_elements(level.dataset));
    }
    std::vector<std::string> there = folder.list(output.file);
    const auto texts = folder.texts(output);
    std::set<std::string> others = {folder.record == nullptr ? "" : folder.record};
    for (const auto& [name, text] : texts) {
        others.insert(name);
    }
    std::erase_if(there, [&](const auto& name) { return others.contains(finished_name(name)); });
    if (const std::string why = difference(names, there); !why.empty()) {
        throw Error(ExitCode::output, {"cannot complete the output", output.file, why,
                                       "Move away what this program did not put there, or set "
                                       "run.resume = \"never\""});
    }
    for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
        write_text(output.file + "/" + texts[i].first, texts[i].second);
    }
    if (texts.empty()) { // of slices
        return before_last();
    }
    const std::string last = output.file + "/" + texts.back().first;
    const std::string under_way = last + std::string(unfinished);
    remove_tree(last); // of a run that was killed when all was there
    write_text(under_way, texts.back().second);
    before_last();
    if (std::rename(under_way.c_str(), last.c_str()) != 0) {
        throw Error(ExitCode::output,
                    {"cannot complete the output", last, errno_text(errno), errno_remedy(errno)});
    }
}

/// A text of a folder as it is there; nothing where no file has its name. Of a longer one enough to
/// differ.
std::optional<std::string> text_there(const std::string& path, const std::string& wanted) {
    if (mark_of(path).bytes < 0) {
        return std::nullopt;
    }
    const File file(path, File::Mode::read);
    std::string there(static_cast<std::size_t>(std::min(file.size(), std::ssize(wanted) + 1)), ' ');
    file.read(0, std::ssize(there), reinterpret_cast<std::byte*>(there.data()));
    return there;
}

/// A file of chunks may be missing: reading its rows fails.
void check_folder(const OutputDataset& output, const FolderOfChunks& folder) {
    std::set<std::string> names = names_of(output, folder);
    const auto texts = folder.texts(output);
    for (const auto& [name, text] : texts) {
        const std::string path = output.file + "/" + name;
        if (const auto there = text_there(path, text); there != text) {
            refuse_structure(path, there ? "it is not as it was made" : "it is missing",
                             there ? "Move it away, then run runner repair" : "Run runner repair");
        }
        names.insert(name);
    }
    names.insert(folder.record == nullptr ? "" : folder.record);
    std::vector<std::string> there = folder.list(output.file);
    std::erase_if(there, [&](const auto& name) { return names.contains(finished_name(name)); });
    if (const std::string why = foreign_file_among(names, there); !why.empty()) {
        refuse_structure(output.file, why, "Move it away");
    }
    for (std::int64_t i = 0; folder.slice != nullptr && i < folder.files(output); ++i) {
        check_written(folder.slice(output, i));
    }
}

/// Where the chunks of a slice lie: packed, or of so many bytes but for the last.
std::vector<PackedPlace> places_in_slice(const OutputDataset& slice, std::int64_t bytes) {
    if (is_packed(slice.layout)) {
        return packed_places(slice);
    }
    const DataPlace place = slice.layout.format->place(slice);
    std::vector<PackedPlace> places;
    for (std::int64_t at = 0; at < place.bytes; at += bytes) {
        places.push_back({place.begin + at, std::min(bytes, place.bytes - at)});
    }
    return places;
}

} // namespace

const FolderOfChunks* folder_of(const OutputLayout& layout) {
    return layout.format == nullptr || layout.format->packed == nullptr
               ? nullptr
               : layout.format->packed->folder;
}

bool is_packed(const OutputLayout& layout) {
    return layout.compression != Compression::none || folder_of(layout) != nullptr;
}

std::vector<CoarserLevel> coarser_levels(const OutputDataset& output) {
    return output.layout.pyramid.levels != 1 && has_levels(output.layout.format)
               ? output.layout.format->levels(output)
               : std::vector<CoarserLevel>();
}

std::optional<Channels> stated_channels(const OutputDataset& output) {
    const FolderOfChunks* const folder = folder_of(output.layout);
    return folder == nullptr || folder->channels == nullptr ? std::nullopt
                                                            : folder->channels(output);
}

bool has_levels(const WrittenFormat* format) {
    return format != nullptr && format->levels != nullptr;
}

bool has_levels_in_file(const WrittenFormat* format) {
    return has_levels(format) && (format->packed == nullptr || format->packed->folder == nullptr);
}

bool is_in_slices(const OutputLayout& layout) {
    const FolderOfChunks* const folder = folder_of(layout);
    return folder != nullptr && folder->slice != nullptr;
}

bool cuts_chunks(const ArrayInfo& array, const OutputLayout& layout) {
    if (layout.is_hdf5() || (folder_of(layout) != nullptr && !is_in_slices(layout))) {
        return false;
    }
    const PackedFormat* const packed = layout.format->packed;
    return packed == nullptr || packed->pads == nullptr || !packed->pads(array, layout);
}

std::int64_t dense_alignment(const ArrayInfo& /*array*/) { return 1; }

std::unique_ptr<RowReader> open_dense_output(const OutputDataset& output, int threads) {
    DenseLayout layout;
    layout.array = output.array;
    layout.offset = output.layout.format->place(output).begin;
    layout.storage = "contiguous";
    return open_dense_rows(open_plain_source(output.file), output.file, "cannot read the output",
                           std::move(layout), threads);
}

std::unique_ptr<RowWriter> open_dense_writer(const OutputDataset& output, int threads) {
    const DataPlace place = output.layout.format->place(output);
    if (File(output.file, File::Mode::update).size() != place.file_bytes) {
        refuse_changed_output(output.file);
    }
    return open_plain_writer(output, place.begin, threads);
}

void create_written(const OutputDataset& output) {
    if (folder_of(output.layout) != nullptr) {
        (void)output.layout.format->place(output);
        remove_tree(output.file);
        make_output_folder(output.file);
        return;
    }
    const DataPlace place = output.layout.format->place(output);
    File file(output.file, File::Mode::create);
    if (!is_packed(output.layout)) {
        file.resize(place.file_bytes);
        file.reserve(0, place.file_bytes);
        output.layout.format->structure(output, written_to(file));
    }
    file.close();
}

void restore_written(const OutputDataset& output) {
    if (folder_of(output.layout) != nullptr) {
        make_output_folder(output.file);
        return;
    }
    File file(output.file, File::Mode::update);
    if (is_packed(output.layout)) {
        file.resize(0);
        file.close();
        return;
    }
    const DataPlace place = output.layout.format->place(output);
    if (file.size() < place.file_bytes) {
        throw Error(ExitCode::output,
                    {"cannot resume from the partial output", output.file,
                     "it has " + size_text(file.size()) + " of " + size_text(place.file_bytes),
                     "Set run.resume = \"never\" to restart the job"});
    }
    file.resize(place.file_bytes);
    output.layout.format->structure(output, written_to(file));
    file.sync();
    file.close();
}

void finish_packed(const OutputDataset& output, std::span<const std::int64_t> sizes) {
    File file(output.file, File::Mode::update);
    output.layout.format->packed->structure(output, sizes, written_to(file));
    file.close();
}

std::vector<PackedPlace> packed_places(const OutputDataset& output) {
    std::vector<PackedPlace> places;
    if (is_in_slices(output.layout)) {
        const FolderOfChunks& folder = *folder_of(output.layout);
        const std::int64_t bytes = ChunkGrid(output.array, output.layout).part_bytes();
        for (std::int64_t file = 0; file < folder.files(output); ++file) {
            for (PackedPlace place : places_in_slice(folder.slice(output, file), bytes)) {
                place.file = static_cast<std::uint32_t>(file);
                places.push_back(place);
            }
        }
        return places;
    }
    std::int64_t offset = output.layout.format->place(output).begin;
    for (const std::int64_t bytes : output.layout.format->packed->sizes(output)) {
        places.push_back({offset, bytes});
        offset += bytes;
    }
    return places;
}

void check_axes(const OutputDataset& output) {
    const WrittenFormat* const format = output.layout.format;
    if (format != nullptr && format->check_axes != nullptr) {
        format->check_axes(output);
    }
}

void place_written(const OutputDataset& output, const std::function<void()>& before_last) {
    const auto then = before_last ? before_last : std::function<void()>([] {});
    if (const FolderOfChunks* const folder = folder_of(output.layout)) {
        write_texts(output, *folder, then);
        return;
    }
    const std::int64_t bytes = file_bytes(output);
    File file(output.file, File::Mode::update);
    each_piece(output, written_to(file));
    file.resize(bytes);
    file.close();
    then();
}

std::vector<std::string> restore_texts(const OutputDataset& output) {
    std::vector<std::string> restored;
    for (const auto& [name, text] : folder_of(output.layout)->texts(output)) {
        const std::string path = output.file + "/" + name;
        if (!text_there(path, text)) {
            replace_file(path, std::as_bytes(std::span(text)), Durable::yes);
            restored.push_back(name);
        }
    }
    return restored;
}

void check_written(const OutputDataset& output) {
    if (const FolderOfChunks* const folder = folder_of(output.layout)) {
        check_folder(output, *folder);
        return;
    }
    const std::int64_t bytes = file_bytes(output);
    const File file(output.file, File::Mode::read);
    if (file.size() != bytes) {
        refuse_structure(output.file,
                         fmt::format("it has {} bytes, and was made with {}", file.size(), bytes));
    }
    std::vector<std::byte> there;
    each_piece(output, [&](std::int64_t offset, std::span<const std::byte> made) {
        there.resize(made.size());
        file.read(offset, std::ssize(there), there.data());
        const auto differs = std::mismatch(there.begin(), there.end(), made.begin()).first;
        if (differs != there.end()) {
            refuse_structure_byte(output.file, offset + std::distance(there.begin(), differs));
        }
    });
}

void refuse_structure_byte(const std::string& file, std::int64_t byte) {
    refuse_structure(file, fmt::format("byte {} of its structure has changed", byte));
}

std::int64_t samples_of_pixel(const ArrayInfo& array, const OutputLayout& layout) {
    constexpr std::int64_t colours = 3;
    constexpr std::int64_t with_alpha = 4;
    const std::int64_t last = array.shape.size() > 2 ? array.shape.back() : 1;
    const bool is_colour = layout.channels
                               ? *layout.channels == last && (last == colours || last == with_alpha)
                               : last == colours && array.type == ElementType::uint8;
    return is_colour ? last : 1;
}

} // namespace runner
