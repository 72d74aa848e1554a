// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/dataset_layout.hpp"
#include "io/input/file_access.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/masked_rows.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Which elements of a job's input masks mark, and what they become.
struct InputMask {
    /// A mask of the input's shape, which is read beside the rows.
    struct Rows {
        DatasetLayout layout;
        std::optional<DatasetPart> part;
        MaskBits bits = MaskBits::any;
    };

    std::vector<std::string> names; ///< of the masks, for people
    std::shared_ptr<const MaskFlags>
        flags; ///< of the masks of a frame, joined; null: there is none
    std::vector<Rows> rows;
    MaskedElement element;

    bool known() const { return flags != nullptr || !rows.empty(); }
    /// Bytes in memory, with so many threads that read.
    std::int64_t bytes(int threads) const;
    /// What the job's identity says of it: a line. Files of masks are beside it among the files
    /// that the job reads.
    std::string identity() const;
    /// For people: "/mask, 12 of 1048576 elements of a frame".
    std::string text() const;
};

/// The input that masks are for: its whole shape, the part of it and the channels of a pixel.
struct MaskedInput {
    std::vector<std::int64_t> shape;
    std::optional<DatasetPart> part;
    int channels = 1;
};

/// Why a mask of this type and shape does not fit the input, for messages; "" where it does: it has
/// a frame's shape, that of several of the last axes, or all of the input's; of colour images also
/// the same without the last axis. Its own axes of extent 1 before these do not count.
std::string misfit_of(const ArrayInfo& mask, const MaskedInput& input);

/// Adds a mask that fits. That of a frame is read here. @throws Error (input).
void add_mask(InputMask& to, const DatasetLayout& mask, MaskBits bits, const MaskedInput& input,
              FileAccess& files);

/// Rows in which masked elements are marked. `open` opens a mask that is read beside them.
std::unique_ptr<RowReader>
open_masked_rows(std::unique_ptr<RowReader> rows, const InputMask& mask,
                 const std::function<std::unique_ptr<RowReader>(const DatasetLayout& layout)>& open,
                 int threads);

} // namespace runner
