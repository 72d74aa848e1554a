// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner::batch {

/// A batch's state folder says how far it is, to `runner status` and to the next run; what counts
/// is in the outputs themselves, so that it may be removed at any time. In it, as lines of JSON:
///
///   datasets.jsonl       a head, then a line a dataset; made whole or not at all
///   log-HOST-PID-N.jsonl what one process did, a line an event, appended in one write each
///
/// docs/batch.md lists the fields. Every process has a log of its own, so that any number of them
/// share the folder; a line that is torn or unknown is passed over.

/// A part of a file's name that no other process of this host uses.
std::string own_name();

/// A dataset as the plan lists it.
struct ListedDataset {
    std::string input;
    std::string output;
    std::string key;        ///< changes with all that the job file and the command line say of it
    std::int64_t bytes = 0; ///< read and written; 0 where it is not known
    std::int64_t rows = 0;  ///< of the output
};

struct DatasetList {
    std::string name; ///< of the job
    std::string kind;
    std::vector<ListedDataset> datasets;
};

/// Makes the folder if need be and puts the list in place. @throws Error (output), also where a
/// file that is no such list has its name.
void write_list(const std::string& folder, const DatasetList& list);

/// @throws Error (input) where there is none or it is damaged.
DatasetList read_list(const std::string& folder);

/// A short checksum of a text: 16 hexadecimal digits.
std::string checksum_text(const std::string& text);

} // namespace runner::batch
