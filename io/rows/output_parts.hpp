// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/row_pieces.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// The most parts that an output may have.
inline constexpr std::int64_t most_parts = 256;

/// The attribute of a part's root that says what it is a part of, and which: part_mark().
inline constexpr const char* part_attribute = "part";

/// The attribute of an output's root that lists its parts: parts_record().
inline constexpr const char* parts_attribute = "parts";

/// The dataset of a part, at its root.
inline constexpr const char* part_dataset_name = "rows";

/// The folder of the parts of an output: OUT.parts for OUT.h5, and for OUT of any other ending.
std::string parts_folder(const std::string& file);

/// The name of a part in that folder: "0003.h5" of set 0, "0003b.h5" of set 1.
std::string part_name(std::int64_t part, int set);

/// Which set a name in the folder is of; nothing for a name that no part has. A name with ".layout"
/// behind is that of a file which exists while a part is being restored.
std::optional<int> set_of_part_name(const std::string& name);

/// The layout for an output of one dataset: `wanted` parts, fewer where there are not
/// so many blocks, for so many ranks. Blocks have some 1 MiB, end where chunks end, and are larger
/// where there would be more than some thousands. Set, folder and owner are left as they are by
/// default. A pure function.
PartLayout choose_part_layout(const ArrayInfo& array, const OutputLayout& layout,
                              std::int64_t wanted, std::int64_t ranks);

/// Whether a layout that was recorded can be of this array.
bool fits(const ArrayInfo& array, const PartLayout& parts);

/// Where each row of the array is: the source of a piece is the part.
std::vector<RowPiece> deal_rows(const ArrayInfo& array, const PartLayout& parts);

/// A part as an output of its own, by the pieces of deal_rows().
OutputDataset part_dataset(const OutputDataset& output, const std::vector<RowPiece>& pieces,
                           std::int64_t part);

/// All parts of an output.
std::vector<OutputDataset> part_datasets(const OutputDataset& output);

/// Rows that lie in all parts of a rank, so that writing these at once keeps all of them busy; 1
/// for an output of one file.
std::int64_t rows_for_all_parts(const ArrayInfo& array, const PartLayout& parts);

/// How many threads a rank writes with that has `threads` for input and output: at least one for
/// each of the parts that its rows are dealt to.
int part_threads(const PartLayout& parts, int threads);

/// The text of a part's mark.
std::string part_mark(const PartLayout& parts, std::int64_t part);

/// A layout as a line of text, and back; the folder is not in it. Nothing for other text.
std::string to_text(const PartLayout& parts);
std::optional<PartLayout> part_layout_from_text(const std::string& text);

/// The line of an identity that says where parts are, behind "layout = "; and what it says. Nothing
/// where there is no such line.
std::string parts_line(const PartLayout& parts);
std::optional<PartLayout> parts_of_identity(const std::string& identity);

/// What a finished output says of its parts: the layout and the sizes of the files.
struct PartsRecord {
    PartLayout layout;
    std::vector<std::int64_t> bytes; ///< of each part
};
std::string to_text(const PartsRecord& record);
std::optional<PartsRecord> parts_record_from_text(const std::string& text);

} // namespace runner
