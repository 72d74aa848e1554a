// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/stored_boxes.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"

#include <algorithm>
#include <optional>

namespace runner::verify {
namespace {

/// Where the rows of a piece are: in its chunk, and in a dense box that holds the piece.
template <class Take>
void each_row(const VolumeBox& piece, const VolumeBox& box,
              const std::array<std::int64_t, 3>& grain, const Take& take) {
    for (std::int64_t z = 0; z < piece.count[0]; ++z) {
        for (std::int64_t y = 0; y < piece.count[1]; ++y) {
            const std::int64_t layer = piece.start[0] - box.start[0] + z;
            const std::int64_t row = layer * box.count[1] + piece.start[1] - box.start[1] + y;
            take((z * grain[1] + y) * grain[2], row * box.count[2] + piece.start[2] - box.start[2]);
        }
    }
}

} // namespace

StoredBoxes::StoredBoxes(const OutputDataset& output, const DatasetLayout& places)
    : places_(places), shape_(output.array.shape), size_(size_of(output.array.type)),
      grid_(output.array, output.layout), unpacker_(places.filters, grid_.chunk_bytes()) {
    grain_ = Volumes(grid_.chunk()).extents;
}

std::vector<StoredBoxes::Piece> StoredBoxes::pieces_of(const VolumeBox& box) const {
    const std::size_t axes = shape_.size();
    std::vector<std::int64_t> element(axes, 0);
    std::int64_t volume_in_chunk = 0;
    std::int64_t volume = box.volume;
    std::int64_t volumes = 1;
    for (std::size_t axis = axes > 3 ? axes - 3 : 0; axis-- > 0;) {
        element[axis] = volume % shape_[axis];
        volume_in_chunk += element[axis] % grid_.chunk()[axis] * volumes;
        volumes *= grid_.chunk()[axis];
        volume /= shape_[axis];
    }
    std::vector<Piece> pieces;
    Piece piece{0, {box.volume}};
    const auto cut = [&](std::size_t i, std::int64_t from) {
        const std::int64_t end =
            std::min(from / grain_[i] * grain_[i] + grain_[i], box.start[i] + box.count[i]);
        piece.box.start[i] = from;
        piece.box.count[i] = end - from;
        if (i + axes >= grain_.size()) {
            element[i + axes - grain_.size()] = from;
        }
        return end;
    };
    const auto end = [&](std::size_t i) { return box.start[i] + box.count[i]; };
    for (std::int64_t z = box.start[0]; z < end(0);) {
        const std::int64_t next_z = cut(0, z);
        for (std::int64_t y = box.start[1]; y < end(1);) {
            const std::int64_t next_y = cut(1, y);
            for (std::int64_t x = box.start[2]; x < end(2);) {
                const std::int64_t next_x = cut(2, x);
                piece.chunk = grid_.chunk_at(element);
                piece.at =
                    ((volume_in_chunk * grain_[0] + z % grain_[0]) * grain_[1] + y % grain_[1]) *
                        grain_[2] +
                    x % grain_[2];
                pieces.push_back(piece);
                x = next_x;
            }
            y = next_y;
        }
        z = next_z;
    }
    return pieces;
}

const std::string& StoredBoxes::file_of(std::int64_t chunk) const {
    return places_.chunk_files.at(places_.chunks.at(static_cast<std::size_t>(chunk)).file);
}

const std::byte* StoredBoxes::chunk(std::int64_t index) {
    if (index == unpacked_) {
        return elements_;
    }
    unpacked_ = -1;
    const ChunkPlace& place = places_.chunks.at(static_cast<std::size_t>(index));
    const std::string& path = file_of(index);
    if (place.bytes == 0) {
        throw Error(ExitCode::input,
                    {"cannot read a chunk of the output", path,
                     is_there(path) ? "its size, or what it says of its chunks, cannot be right"
                                    : "it is missing",
                     ""});
    }
    const File file(path, File::Mode::read);
    packed_.resize(static_cast<std::size_t>(
        std::clamp<std::int64_t>(place.bytes, 0, most_packed_bytes(grid_.chunk_bytes()))));
    file.read(place.offset, std::ssize(packed_), packed_.data());
    std::optional<std::int64_t> least;
    if (places_.edges == EdgeChunks::cut) {
        least = grid_.cut_bytes(index);
    }
    elements_ = unpacker_.unpack(packed_, place.skipped, path, least).data();
    unpacked_ = index;
    return elements_;
}

void StoredBoxes::read(const VolumeBox& box, std::byte* to) {
    for (const Piece& piece : pieces_of(box)) {
        const std::byte* const from = chunk(piece.chunk) + piece.at * size_;
        each_row(piece.box, box, grain_, [&](std::int64_t in_chunk, std::int64_t in_box) {
            std::copy_n(from + in_chunk * size_, piece.box.count[2] * size_, to + in_box * size_);
        });
    }
}

void StoredBoxes::compare(const VolumeBox& box, const std::byte* elements,
                          const std::function<void(WrongChunk found)>& wrong) {
    for (const Piece& piece : pieces_of(box)) {
        try {
            const std::byte* const there = chunk(piece.chunk) + piece.at * size_;
            bool is_same = true;
            each_row(piece.box, box, grain_, [&](std::int64_t in_chunk, std::int64_t in_box) {
                const std::byte* const from = there + in_chunk * size_;
                is_same = is_same && std::equal(from, from + piece.box.count[2] * size_,
                                                elements + in_box * size_);
            });
            if (!is_same) {
                wrong({piece.chunk, "its elements are not those of the image's blocks"});
            }
        } catch (const Error& error) {
            const bool is_there =
                places_.chunks.at(static_cast<std::size_t>(piece.chunk)).bytes > 0;
            wrong({piece.chunk,
                   format_error({error.text().what, error.text().where, error.text().why, ""}),
                   is_there ? WrongChunk::What::chunk : WrongChunk::What::file});
        }
    }
}

} // namespace runner::verify
